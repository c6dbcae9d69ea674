"""The answer in every case, and how to strengthen it."""

from types import SimpleNamespace

import numpy as np
import pytest
from django.utils.html import escape
from scipy.stats import norm

from annotation.models import Campaign
from dashboards.charts import dots
from dashboards.comparisons.selection import level
from dashboards.results.answer import Answer, Asked, Scored, answer, bound, number
from dashboards.results.document import Rival
from dashboards.results.page import planned, roughly, segments_needed, steps
from dashboards.templatetags.results import linked
from dashboards.trust.marks import OVER_HYBRIDS, REFUSED, UNCORRECTED, corrected
from metaeval.messages import message
from tests.dashboards import typed

TER = Scored("ter", "TER", 0.64, 0.59, 0.69)
CHRF = Scored("chrf", "chrF", 0.62, 0.57, 0.67)
BLEU = Scored("bleu", "BLEU", 0.53, 0.46, 0.6)
NO_POOL = message("scores.no-pool", "Annotator {annotator} has no judgment.", annotator="S1")
TOO_FEW = message("intervals.too-few", "12 segments and 3 systems are too few")
HOLM = corrected("holm")
FLAT = Scored("flat", "Flat", None)


def answered(*metrics: Scored, **more: object) -> Answer:
    given: dict[str, object] = {"statistic": "tau-b", "n_judged": 132, "correction": HOLM} | more
    return answer(Asked(metrics=metrics, **given))  # type: ignore[arg-type]


def codes(found: Answer) -> list[str]:
    return [each.code for each in found.details]


def text(found: Answer) -> str:
    return found.sentence.text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_best_the_alike_and_the_worse_have_a_sentence_each() -> None:
    found = answered(BLEU, TER, CHRF, better={"chrf": 0.31, "bleu": 0.0271})
    assert (found.case, found.sentence.code) == ("group", "answer.best-of-some")
    assert "τ .64 [.59, .69]" in text(found)
    assert found.sentence.parameters["metrics"] == ["TER"]
    assert found.sentence.parameters["others"] == ["chrF"]
    assert codes(found) == ["answer.worse"]
    assert found.details[0].parameters["metrics"] == ["BLEU"]
    assert found.details[0].parameters["p"].parameters == {"p": 0.03}
    assert found.keys == {"TER": "ter", "chrF": "chrf"}


def test_one_metric_alone_at_the_top() -> None:
    found = answered(TER, CHRF, BLEU, better={"chrf": 0.0123, "bleu": 1e-9})
    assert (found.case, found.sentence.code) == ("clear", "answer.best")
    assert found.details[0].parameters["metrics"] == ["chrF", "BLEU"]
    assert found.details[0].parameters["p"].parameters == {"p": 0.02}


def test_many_are_counted() -> None:
    many = [Scored(f"m{n}", f"M{n}", 0.6 - n / 1000, 0.5, 0.65) for n in range(9)]
    better = {m.key: 0.2 if place < 5 else 0.0004 for place, m in enumerate(many)}
    found = answered(TER, *many, better=better, correction=UNCORRECTED)
    assert (found.sentence.code, found.sentence.parameters["others"]) == ("answer.best-of-many", 5)
    (detail,) = found.details
    assert (detail.code, detail.parameters["n"]) == ("answer.others-worse", 4)
    assert detail.parameters["correction"] == UNCORRECTED


def test_a_difference_without_a_test_is_no_difference() -> None:
    assert answered(TER, CHRF, better={"chrf": None}).case == "indistinct"


def test_ties_share_the_first_place() -> None:
    twin = Scored("ter2", "TER (imported)", 0.64, 0.59, 0.69)
    found = answered(TER, twin, BLEU, better={"ter2": None, "bleu": 0.001})
    assert found.sentence.parameters["metrics"] == ["TER", "TER (imported)"]
    assert found.sentence.parameters["n"] == 2
    assert found.details[0].parameters["p"].parameters == {"p": 0.001}


def test_nothing_significant() -> None:
    found = answered(TER, CHRF, better={"chrf": 0.2})
    assert (found.case, codes(found)) == ("indistinct", ["answer.no-difference"])
    assert found.sentence.parameters["metrics"] == ["TER"]


def test_one_metric() -> None:
    found = answered(TER)
    assert found.case == "alone"
    assert "τ .64 [.59, .69]" in text(found)


def test_chance_is_not_agreement() -> None:
    weak = Scored("weak", "Weak", 0.05, -0.07, 0.17)
    found = answered(weak, Scored("bad", "Bad", -0.2, -0.3, -0.1))
    assert (found.case, found.sentence.parameters["metrics"]) == ("chance", ["Weak"])
    assert "τ .05 [−.07, .17]" in text(found)
    half = Scored("half", "Half", 0.55, 0.48, 0.62)
    assert answered(half, statistic="pa", chance=0.5).case == "chance"


def test_a_constant_metric_has_no_value_and_is_named() -> None:
    found = answered(TER, FLAT, BLEU, better={"bleu": 0.001, "flat": None})
    assert codes(found) == ["answer.worse", "answer.undefined-for"]
    assert found.details[-1].parameters == {"symbol": "τ", "metrics": ["Flat"]}
    assert answered(FLAT).case == "constant"


def test_metrics_with_scores_of_few_outputs_are_not_called_undefined() -> None:
    mine, holes = (Scored(name, name, None, has_few=True) for name in ("Mine", "Holes"))
    found = answered(TER, FLAT, BLEU, mine, better={"bleu": 0.001})
    assert codes(found)[1:] == ["answer.undefined-for", "answer.too-few-outputs"]
    found = answered(TER, BLEU, mine, holes, better={"bleu": 0.001})
    assert codes(found)[1:] == ["answer.too-few-outputs"]
    assert found.details[-1].parameters["metrics"] == ["Mine", "Holes"]


@pytest.mark.parametrize(
    ("metrics", "more", "case", "code"),
    [
        ([], {"n_judged": 0}, "unjudged", "answer.unjudged"),
        ([TER], {"n_judged": 0, "unusable": NO_POOL}, "unusable", "answer.unusable"),
        ([], {}, "unscored", "answer.unscored"),
        ([], {"are_whole": True}, "unscored", "answer.unscored-systems"),
        ([TER], {"distrust": REFUSED}, "distrusted", "answer.distrusted"),
        ([TER, BLEU], {"is_tested": False}, "pending", "answer.highest"),
        ([TER, BLEU], {"refused": OVER_HYBRIDS}, "refused", "answer.highest"),
        ([Scored("a", "A", 0.4)], {"no_interval": TOO_FEW}, "uncertain", "answer.alone"),
        ([Scored("a", "A", 0.4), FLAT], {"refused": TOO_FEW}, "refused", "answer.alone"),
        ([Scored("a", "A", 0.0), FLAT], {"refused": TOO_FEW}, "refused", "answer.chance"),
        ([Scored("a", "A", -0.2), FLAT], {"is_tested": False}, "pending", "answer.chance"),
        (
            [Scored("a", "A", 0.4), FLAT],
            {"is_tested": False, "chance": 0.5},
            "pending",
            "answer.chance",
        ),
    ],
)
def test_answers_without_a_ranking(
    metrics: list[Scored], more: dict[str, object], case: str, code: str
) -> None:
    found = answered(*metrics, **more)
    assert (found.case, found.sentence.code) == (case, code)
    assert "[" not in text(found)
    if case == "distrusted":
        assert found.details == [REFUSED]


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.644, ".64"), (-0.07, "−.07"), (1.0, "1.00"), (-0.001, ".00"), (0.0, ".00")],
)
def test_numbers(value: float, words: str) -> None:
    assert number(value) == words


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.0009, {}), (0.001, {"p": 0.001}), (0.0021, {"p": 0.003}), (0.05, {"p": 0.05}),
     (0.0401, {"p": 0.05}), (0.0099, {"p": 0.01})],
)  # fmt: skip
def test_bounds_are_never_below_the_p(p: float, expected: dict[str, float]) -> None:
    assert bound(p).parameters == expected


@pytest.mark.parametrize("at", [0.05, 0.05 / 325])
def test_segments_needed_find_the_difference_in_8_of_10_studies(at: float) -> None:
    """Draws of normal differences with the spread of the interval."""
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
def test_a_difference_is_never_written_as_zero(difference: float, words: str) -> None:
    found = planned("TER", "chrF", -difference, 5767, HOLM)
    assert f" {words} " in found.text
    assert found.parameters["n"] == 5800
    assert found.parameters["correction"] == HOLM


@pytest.mark.parametrize(
    ("half", "labels"),
    [(0.05, ["Plan"]), (1e-3, []), (9.0, ["View sample size"])],
    ids=["some more", "enough by now", "more than anybody judges"],
)
def test_what_is_next_where_two_metrics_cannot_be_distinguished(
    half: float, labels: list[str]
) -> None:
    line = SimpleNamespace(label="TER", value=0.6)
    home = SimpleNamespace(
        answer=SimpleNamespace(case="group"), metrics=[line], metric_rows=[line], trust=None,
        rival=Rival("chrf", "chrF", 0.02, 0.02 - half, 0.02 + half, 0.05), n_segments=44,
        correction="holm", correction_label="Holm",
    )  # fmt: skip
    found = steps(Campaign(slug="c"), home, [])  # type: ignore[arg-type]
    assert [str(step.label) for step in found] == labels
    for step in found:
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


@pytest.mark.parametrize(
    "labels", [("BLEU", "\ue0000\ue001"), ("\ue0001\ue001", "<b>{n}</b>"), ("\ue0007\ue001", "%s")]
)
def test_names_of_metrics_are_emphasised_once_and_as_they_are(labels: tuple[str, str]) -> None:
    sentence = message("x.y", "{first} and {others}", first=labels[0], others=[labels[1], "C"])
    given = Answer("x", sentence, keys=dict.fromkeys(labels, "key"))
    marked = " and ".join(f"<em>{escape(label)}</em>" for label in labels)
    assert linked({}, given) == f"{marked} and C"
