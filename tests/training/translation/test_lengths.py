import math
from typing import Any

import pytest

from metaeval.systems import length_deviation
from metrics.base import SegmentInput
from metrics.registry import load
from tests.metaeval.published import table
from tests.metrics.families.lexical.examples import corpus_score
from training.translation import lengths


def test_d7_wanted_lengths(checks: dict[str, Any]) -> None:
    check = checks["D7-target-length"]
    found = [lengths.wanted(share, n) for n, share in check["inputs"]["cases"]]
    assert found == check["expected"]


def test_d2_remaining_steps(checks: dict[str, Any]) -> None:
    check = checks["D2-remaining"]
    given, expected = check["inputs"], check["expected"]
    assert lengths.remaining(given["L"]) == expected["L3"]
    capped = lengths.remaining(given["L_long"], given["cap"])
    assert capped[:3] == expected["L101_first_three_capped"]
    assert (len(capped), capped[-1]) == (given["L_long"] + 1, 1)


def test_d0_bleu_without_its_penalty(checks: dict[str, Any]) -> None:
    """What translations that had to be shorter are scored by."""
    check = checks["D0-bleu-star"]
    rows = zip(check["inputs"]["hypotheses"], check["inputs"]["references"], strict=True)
    segments = [SegmentInput("", own, (reference,)) for own, reference in rows]
    for name in ("bleu", "bleu_star"):
        metric = load(name.replace("_", "-"), source_language="de", target_language="en")
        found = corpus_score(metric, metric.score(segments))
        assert found == pytest.approx(check["expected"][name], abs=check["tolerance"])


def test_d1_deviation(checks: dict[str, Any]) -> None:
    check = checks["D1-length-deviation"]
    result = length_deviation(check["inputs"]["output"], check["inputs"]["expected"])
    assert abs(result.deviations).tolist() == pytest.approx(
        check["expected"]["per_item"], abs=check["tolerance"]
    )
    assert result.statistic == pytest.approx(check["expected"]["mean"], abs=check["tolerance"])


def test_wanted_lengths_are_rounded_half_to_even_and_at_least_one() -> None:
    result = length_deviation([2, 4, 1, 3], [2.5, 3.5, 0.4, 3.2], rounding="half-even")
    assert result.statistic == 0.0
    assert length_deviation([1, 1], [0.0, 1.0], rounding="half-even").n == 1


def test_systems_of_the_isometric_task_comply_as_published() -> None:
    segments = table("length-control/en-de/segments.tsv")
    source = dict(zip(segments["seg"], segments["source"], strict=True))
    published = table("length-control/en-de/check.tsv")
    outputs = table("length-control/en-de/outputs.tsv")
    rows = list(zip(outputs["system"], outputs["seg"], outputs["output"], strict=True))
    found = {}
    for system in published["system"]:
        own = [(len(text), len(source[seg])) for name, seg, text in rows if name == system]
        found[system] = length_deviation(*zip(*own, strict=True))
    within = [100 * found[system].within for system in published["system"]]
    assert within == pytest.approx([float(x) for x in published["percent_within_10"]])
    means = [1 + found[system].bias for system in published["system"]]
    assert means == pytest.approx([float(x) for x in published["mean_length_ratio"]], abs=5e-5)


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("translation", 3), ("make", 1), ("the", 1), ("table", 2), ("I see.", 2), ("rhythm", 1),
        ("Straßenbahn", 3), ("naïve", 1), ("我喜欢生物学", 6), ("3 boats", 1), ("", 0), ("…", 0),
    ],
)  # fmt: skip
def test_syllables(text: str, n: int) -> None:
    assert lengths.counter(lengths.SYLLABLES)(text) == n


def test_words_and_characters_leave_blanks_out() -> None:
    assert lengths.counter(lengths.WORDS)("  one two  three ") == 3
    assert lengths.counter(lengths.CHARACTERS)(" a b\u3000c ") == 3


def test_shares_of_nothing_are_one_piece() -> None:
    assert lengths.wanted(0.5, 0) == 1
    assert math.isclose(lengths.wanted(1.0, 17), 17)
