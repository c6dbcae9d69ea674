"""The sentence that answers, in every case; and what would make it surer."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from annotation.models import Campaign
from dashboards.charts import dots
from dashboards.comparisons.selection import level
from dashboards.results.answer import FIXED, Answer, Asked, Scored, answer, bound, number
from dashboards.results.document import Rival
from dashboards.results.steps import planned, roughly, segments_needed, small, steps
from dashboards.trust.marks import OVER_HYBRIDS, REFUSED
from tests.dashboards import typed
from tests.dashboards.chinese import told, told_answer

TER = Scored("ter", "TER", 0.64, 0.59, 0.69)
CHRF = Scored("chrf", "chrF", 0.62, 0.57, 0.67)
BLEU = Scored("bleu", "BLEU", 0.53, 0.46, 0.6)
NO_POOL = "Annotator S1 has no judgment in the pool: no z-scores."
FLAT = Scored("flat", "Flat", None)


def said(*metrics: Scored, **more: object) -> Answer:
    given: dict[str, object] = {"statistic": "tau-b", "n_judged": 132, "correction": "Holm"} | more
    found = answer(Asked(metrics=metrics, **given))  # type: ignore[arg-type]
    told_answer(found, [metric.label for metric in metrics])
    return found


def text(found: Answer) -> str:
    return found.text.replace(FIXED, " ")


def test_the_best_the_alike_and_the_worse_are_told_in_one_sentence_each() -> None:
    found = said(BLEU, TER, CHRF, better={"chrf": 0.31, "bleu": 0.0271})
    assert found.case == "group"
    assert text(found) == (
        "TER agrees best with the humans, τ .64 [.59, .69]; not distinguishable from chrF."
    )
    assert found.detail == "BLEU is worse, p ≤ .03 after Holm’s correction."
    assert [part.key for part in found.parts if part.key] == ["ter", "chrf"]


def test_one_metric_alone_at_the_top() -> None:
    found = said(TER, CHRF, BLEU, better={"chrf": 0.0123, "bleu": 1e-9})
    assert found.case == "clear"
    assert text(found) == "TER agrees best with the humans, τ .64 [.59, .69]."
    assert found.detail == "chrF and BLEU are worse, p ≤ .02 after Holm’s correction."


def test_many_are_counted() -> None:
    many = [Scored(f"m{n}", f"M{n}", 0.6 - n / 1000, 0.5, 0.65) for n in range(9)]
    better = {m.key: 0.2 if place < 5 else 0.0004 for place, m in enumerate(many)}
    found = said(TER, *many, better=better, correction="")
    assert "not distinguishable from 5 others." in text(found)
    assert found.detail == "The other 4 are worse, p < .001 without correction."


def test_a_difference_without_a_test_is_no_difference() -> None:
    assert said(TER, CHRF, better={"chrf": None}).case == "indistinct"


def test_ties_share_the_first_place() -> None:
    twin = Scored("ter2", "TER (imported)", 0.64, 0.59, 0.69)
    found = said(TER, twin, BLEU, better={"ter2": None, "bleu": 0.001})
    assert text(found).startswith("TER and TER (imported) agree best with the humans, τ .64")
    assert found.detail == "BLEU is worse, p ≤ .001 after Holm’s correction."


def test_nothing_significant() -> None:
    found = said(TER, CHRF, better={"chrf": 0.2})
    assert found.case == "indistinct"
    assert text(found) == (
        "No metric can be told from another: TER comes first with τ .64 [.59, .69]."
    )
    assert found.detail == "No difference from it has p ≤ .05 after Holm’s correction."


def test_one_metric() -> None:
    found = said(TER)
    assert (found.case, text(found)) == ("alone", "TER agrees with the humans, τ .64 [.59, .69].")


def test_chance_is_not_agreement() -> None:
    weak = Scored("weak", "Weak", 0.05, -0.07, 0.17)
    found = said(weak, Scored("bad", "Bad", -0.2, -0.3, -0.1))
    assert found.case == "chance"
    assert text(found) == (
        "No metric can be told from chance: Weak comes first with τ .05 [−.07, .17]."
    )
    half = Scored("half", "Half", 0.55, 0.48, 0.62)
    assert said(half, statistic="pa", chance=0.5).case == "chance"


def test_a_constant_metric_has_no_value_and_is_named() -> None:
    found = said(TER, FLAT, BLEU, better={"bleu": 0.001, "flat": None})
    assert found.detail.endswith("Flat has no τ: it is undefined.")
    assert said(FLAT).case == "constant"


def test_metrics_with_scores_of_few_outputs_are_not_called_undefined() -> None:
    mine, holes = (Scored(name, name, None, has_few=True) for name in ("Mine", "Holes"))
    found = said(TER, FLAT, BLEU, mine, better={"bleu": 0.001})
    assert found.detail.endswith(
        "Flat has no τ: it is undefined. "
        "Too few outputs have scores of Mine to compare with the others."
    )
    found = said(TER, BLEU, mine, holes, better={"bleu": 0.001})
    assert "undefined" not in found.detail
    assert "Too few outputs have scores of Mine and Holes to compare" in found.detail


@pytest.mark.parametrize(
    ("metrics", "more", "case", "words"),
    [
        ([], {"n_judged": 0}, "unjudged", "Nobody has judged an output yet"),
        (
            [TER],
            {"n_judged": 0, "unusable": NO_POOL},
            "unusable",
            "The ratings give no human score",
        ),
        ([], {}, "unscored", "The humans have judged 132 outputs, and no metric has scored"),
        ([], {"n_judged": 1}, "unscored", "judged 1 output, and"),
        ([TER], {"distrust": REFUSED}, "distrusted", "These judgments cannot tell"),
        ([TER, BLEU], {"is_tested": False}, "pending", "TER has the highest agreement"),
        ([TER, BLEU], {"refused": OVER_HYBRIDS}, "refused", "TER has the highest agreement"),
        (
            [Scored("a", "A", 0.4)],
            {"no_interval": "12 segments and 3 systems are too few"},
            "uncertain",
            "A has the highest agreement with the humans, τ .40.",
        ),
    ],
)
def test_what_is_not_known_is_said(
    metrics: list[Scored], more: dict[str, object], case: str, words: str
) -> None:
    found = said(*metrics, **more)
    assert found.case == case
    assert words in text(found)
    assert "[" not in text(found)
    if case == "distrusted":
        assert found.detail == REFUSED


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.644, ".64"), (-0.07, "−.07"), (1.0, "1.00"), (-0.001, ".00"), (0.0, ".00")],
)
def test_numbers(value: float, words: str) -> None:
    assert number(value) == words


@pytest.mark.parametrize(
    ("p", "words"),
    [(0.0009, "p < .001"), (0.001, "p ≤ .001"), (0.0021, "p ≤ .003"), (0.05, "p ≤ .05"),
     (0.0401, "p ≤ .05"), (0.0099, "p ≤ .01")],
)  # fmt: skip
def test_bounds_are_never_below_what_they_bound(p: float, words: str) -> None:
    assert bound(p) == words


@pytest.mark.parametrize("at", [0.05, 0.05 / 325])
def test_segments_needed_find_the_difference_in_8_of_10_studies(at: float) -> None:
    """Draws of normal differences with the spread that the interval tells of."""
    n, spread, difference = 44, 0.3, 0.05
    half = norm.ppf(0.975) * spread / np.sqrt(n)
    rival = Rival("b", "B", difference, difference - half, difference + half, at)
    needed = segments_needed(rival, n)
    draws = np.random.default_rng(1).normal(difference, spread, (4000, needed))
    z = draws.mean(axis=1) / (spread / np.sqrt(needed))
    assert (z > norm.ppf(1 - at)).mean() == pytest.approx(0.8, abs=0.02)
    assert segments_needed(Rival("b", "B", 0.0, -0.1, 0.1, at), n) > 100_000


@pytest.mark.parametrize(
    ("n", "words"), [(5767, 5800), (5750, 5800), (99, 99), (101, 100), (7, 7), (96_600, 97_000)]
)
def test_counts_that_are_reckoned_have_two_digits(n: int, words: int) -> None:
    assert roughly(n) == words


@pytest.mark.parametrize(
    ("difference", "words"), [(0.0123, ".01"), (0.2, ".20"), (0.0031, ".003"), (1.5, "1.50")]
)
def test_a_difference_is_never_told_as_none(difference: float, words: str) -> None:
    assert small(difference) == words


@pytest.mark.parametrize("corrected", ["Holm’s correction", "no correction"])
def test_what_more_segments_would_do_is_conditional(corrected: str) -> None:
    found = planned("TER", "chrF", -0.0123, 5767, corrected)
    told(found)
    assert found == (
        "If TER and chrF differ by the .01 seen here, about 5,800 more segments would tell them "
        f"apart with power .8, with {corrected}, as ranks are."
    )


@pytest.mark.parametrize(
    ("half", "labels"),
    [(0.05, ["Plan"]), (1e-3, []), (9.0, ["See"])],
    ids=["some more", "enough by now", "more than anybody judges"],
)
def test_what_is_next_where_two_metrics_are_not_told_apart(half: float, labels: list[str]) -> None:
    line = SimpleNamespace(label="TER", value=0.6)
    home = SimpleNamespace(
        answer=SimpleNamespace(case="group"), metrics=[line], metric_rows=[line], trust=None,
        rival=Rival("chrf", "chrF", 0.02, 0.02 - half, 0.02 + half, 0.05), n_segments=44,
        correction="holm", correction_label="Holm",
    )  # fmt: skip
    found = steps(Campaign(slug="c"), home, [])  # type: ignore[arg-type]
    assert [step.label for step in found] == labels
    for step in found:
        told(step.text)
        assert step.address == "/campaigns/c/samplesize/"


@pytest.mark.parametrize(
    ("correction", "scope", "expected"),
    [
        # Of six pairs, each looked at from both sides, two have a smaller p than that of the second
        # and the third.
        ("none", "table", 0.05),
        ("bonferroni", "table", 0.05 / 12),
        ("holm", "table", 0.05 / 8),
        ("bh", "table", 0.05 * 3 / 12),
        ("bonferroni", "row", 0.05 / 3),
    ],
)
def test_the_level_of_a_pair_is_that_of_the_correction(
    correction: str, scope: str, expected: float
) -> None:
    above = {(0, 1): 0.3, (0, 2): 0.0001, (0, 3): 0.0002, (1, 2): 0.2, (1, 3): 0.4, (2, 3): 0.45}
    size = range(4)
    pvalues = [
        [None if i == j else above.get((i, j), 1 - above.get((j, i), 0.0)) for j in size]
        for i in size
    ]
    found = level(typed.comparison(pvalues=pvalues), (1, 2), correction, scope)
    assert found == pytest.approx(expected, rel=1e-3)


def test_an_axis_holds_everything_and_has_few_round_ticks() -> None:
    found = dots.axis([0.464, 0.688, None, 0.53])
    assert found is not None
    assert [tick.text for tick in found.ticks] == [".50", ".55", ".60", ".65"]
    assert (found.place(0.464), found.place(0.688)) == (dots.LEFT, dots.RIGHT)
    assert dots.axis([None]) is None
    alone = dots.axis([0.5])
    assert alone is not None
    assert dots.LEFT < alone.place(0.5) < dots.RIGHT
    few = dots.axis([-0.9, 0.9], dots.FEW_TICKS)
    assert few is not None
    assert [tick.text for tick in few.ticks] == ["−.5", "0", ".5"]
    assert all(len(dots.ticks(0.0, high)[0]) <= 5 for high in (0.01, 0.3, 1.0, 7.0, 99.0))
