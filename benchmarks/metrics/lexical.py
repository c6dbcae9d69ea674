"""ROUGE against google's rouge-score, chrF, chrF++ and TER against sacrebleu.

    python -m benchmarks.metrics.lexical [--pairs 10000] [--data ../shared/data]

English pairs are newstest2017 outputs with their references; Chinese pairs are its sources, each
against another one, as a text is that was written anew. Both programs tokenize within the measured
time and must agree to the last digit. Exit status 1 where they differ or a bound is missed.
"""

import argparse
import csv
import sys
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.lib_ter import translation_edit_rate

from benchmarks.ratios import row, status, timed
from metaeval.edits import edit_count
from metaeval.repeats import refuse_repeats
from metrics.base import SegmentInput
from metrics.families.lexical.tokens import rouge_tokenizer
from metrics.registry import load

TYPES = ["rouge1", "rouge2", "rougeL"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    options = refuse_repeats(parser).parse_args()
    n = options.pairs
    words = english(options.data / "wmt17", n)
    letters = chinese(options.data / "wmt17" / "zh-en", n)
    return status(
        [
            *(rouge(*each) for each in (("en", "English", words), ("zh", "Chinese", letters))),
            *(chrf(*each) for each in (("chrf", CHRF(), words), ("chrf++", CHRF(6, 2), words))),
            ter("words", words[: n // 5], str.split),
            ter("characters", letters[: n // 100], list),
        ]
    )


def rouge(language: str, name: str, inputs: list[SegmentInput]) -> bool:
    metric = load("rouge", source_language="", target_language=language)
    scorer = RougeScorer(TYPES, tokenizer=rouge_tokenizer(language))
    seconds = equal(
        lambda: metric.score(inputs).tolist(),
        lambda: [flat(scorer, segment) for segment in inputs],
    )
    job = f"ROUGE-1/2/L, {len(inputs):,} {name} pairs"
    return row(job, "rouge-score", seconds, bound=5, limit="Python")


def flat(scorer: RougeScorer, segment: SegmentInput) -> list[float]:
    """The nine values of rouge-score in our column order."""
    scores = scorer.score(segment.references[0], segment.hypothesis)
    return [value for kind in TYPES for value in scores[kind]]


def chrf(name: str, scorer: CHRF, inputs: list[SegmentInput]) -> bool:
    metric = load(name, source_language="de", target_language="en")
    seconds = equal(
        lambda: metric.score(inputs)[:, 0].tolist(),
        lambda: [scorer.sentence_score(x.hypothesis, [*x.references]).score for x in inputs],
    )
    return row(f"{name}, {len(inputs):,} pairs", "sacrebleu", seconds, bound=2, limit="Python")


def ter(what: str, inputs: list[SegmentInput], tokens: Callable[[str], list[str]]) -> bool:
    pairs = [(tokens(each.hypothesis), tokens(each.references[0])) for each in inputs]
    seconds = equal(
        lambda: [edit_count(*pair) for pair in pairs],
        lambda: [translation_edit_rate(*pair)[0] for pair in pairs],
    )
    job = f"TER, {len(pairs):,} pairs, by {what}"
    return row(job, "sacrebleu", seconds, bound=2, limit="arithmetic")


def equal(ours: Callable[[], Any], peer: Callable[[], Any]) -> tuple[float, float]:
    """Return both seconds; leave with status 1 where the values differ."""
    (found, own), (expected, other) = timed(ours), timed(peer)
    if found != expected:
        sys.exit("the values differ from the peer's")
    return own, other


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
