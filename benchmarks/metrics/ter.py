"""TER against sacrebleu's, the same words, same run.

    python -m benchmarks.metrics.ter [--pairs 2000] [--data ../shared/data]

English pairs are newstest2017 outputs with their references; Chinese ones, by character, are its
sources, each against another one, as a text is that was written anew. Exit status 1 where a count
differs.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sacrebleu.metrics.lib_ter import translation_edit_rate

from benchmarks.metrics.rouge import chinese, english
from metaeval.edits import edit_count
from metaeval.repeats import refuse_repeats
from metrics.base import SegmentInput

Count = Callable[[list[str], list[str]], int]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2_000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = refuse_repeats(parser).parse_args()
    words = english(options.data / "wmt17", options.pairs)
    letters = chinese(options.data / "wmt17" / "zh-en", options.pairs // 20)
    compare("outputs, by word", words, str.split)
    compare("other texts, by character", letters, list)
    return 0


def compare(what: str, inputs: list[SegmentInput], tokens: Callable[[str], list[str]]) -> None:
    pairs = [(tokens(each.hypothesis), tokens(each.references[0])) for each in inputs]
    ours, seconds, worst = timed(pairs, edit_count)
    theirs, peer, slowest = timed(
        pairs, lambda text, wanted: translation_edit_rate(text, wanted)[0]
    )
    if ours != theirs:
        sys.exit(f"{what}: the counts differ from sacrebleu's")
    print(
        f"{what}: {len(pairs)} pairs, sacrebleu {peer:.2f} s (slowest {slowest:.2f}), "
        f"touchstone {seconds:.2f} s ({worst:.3f}), ratio {peer / seconds:.1f}, counts equal"
    )


def timed(pairs: list[tuple[list[str], list[str]]], count: Count) -> tuple[list[int], float, float]:
    counts, times = [], []
    for text, wanted in pairs:
        start = time.process_time()
        counts.append(count(text, wanted))
        times.append(time.process_time() - start)
    return counts, sum(times), max(times)


if __name__ == "__main__":
    sys.exit(main())
