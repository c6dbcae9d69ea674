"""ROUGE-1/2/L against google's rouge-score on 10,000 pairs, same tokens, same run.

    python -m benchmarks.metrics.rouge [--pairs 10000] [--data ../shared/data]

English pairs are newstest2017 outputs with their references; Chinese pairs are its sources, each
against the next one. Both programs tokenize within the measured time and must agree to the last
digit. Exit status 1 where they differ or the ratio is below 5.
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

from rouge_score.rouge_scorer import RougeScorer

from metaeval.repeats import refuse_repeats
from metrics.base import SegmentInput
from metrics.families.lexical.tokens import rouge_tokenizer
from metrics.registry import load

TYPES = ["rouge1", "rouge2", "rougeL"]
BOUND = 5.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = refuse_repeats(parser).parse_args()
    ratios = [
        compare("en", english(options.data / "wmt17", options.pairs)),
        compare("zh", chinese(options.data / "wmt17" / "zh-en", options.pairs)),
    ]
    return 0 if min(ratios) >= BOUND else 1


def compare(language: str, inputs: list[SegmentInput]) -> float:
    """Score the inputs with both programs, print their times and return the ratio."""
    metric = load("rouge", source_language="", target_language=language)
    tokenizer = rouge_tokenizer(language)
    scorer = RougeScorer(TYPES, tokenizer=tokenizer)
    ours, seconds = timed(lambda: metric.score(inputs).tolist())
    theirs, peer_seconds = timed(lambda: [flat(scorer, segment) for segment in inputs])
    if ours != theirs:
        sys.exit(f"{language}: the values differ from rouge-score")
    ratio = peer_seconds / seconds
    print(
        f"{language}: {len(inputs)} pairs, rouge-score {peer_seconds:.2f} s, "
        f"touchstone {seconds:.2f} s, ratio {ratio:.1f} (bound {BOUND:g}), values equal"
    )
    return ratio


def flat(scorer: RougeScorer, segment: SegmentInput) -> list[float]:
    """The nine values of rouge-score in our column order."""
    scores = scorer.score(segment.references[0], segment.hypothesis)
    return [value for kind in TYPES for value in scores[kind]]


def timed(work: Callable[[], list[list[float]]]) -> tuple[list[list[float]], float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def english(folder: Path, n_pairs: int) -> list[SegmentInput]:
    """Outputs of both language pairs with their references."""
    pairs: list[SegmentInput] = []
    for direction in ("zh-en", "de-en"):
        references = {row["sid"]: row["reference"] for row in read(folder / direction, "segments")}
        pairs += [
            SegmentInput("", row["output"], (references[row["sid"]],))
            for row in read(folder / direction, "outputs")
        ]
    return list(islice(cycle(pairs), n_pairs))


def chinese(folder: Path, n_pairs: int) -> list[SegmentInput]:
    """Each Chinese source against the ones that follow it, at growing distance."""
    texts = [row["source"] for row in read(folder, "segments")]
    count = len(texts)
    return [
        SegmentInput("", texts[n % count], (texts[(n + 1 + n // count) % count],))
        for n in range(n_pairs)
    ]


def read(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


if __name__ == "__main__":
    sys.exit(main())
