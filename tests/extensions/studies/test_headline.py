"""The answer for a study in every case."""

from collections.abc import Sequence

import pytest

from dashboards.results.answer import Answer
from extensions.studies.headline import Asked, Column, Named, Trend, answer
from metaeval.messages import Message, message

LABELS = {"a": "Alpha", "b": "Beta", "c": "Gamma"}
REFUSED = message("marks.refused", "Nothing is ranked.")


def metrics(*averages: float | None) -> list[Named]:
    return [Named(key, label, mean) for (key, label), mean in zip(LABELS.items(), averages,
            strict=False)]  # fmt: skip


def column(name: str, keys: str, leader: str = "", case: str = "compared") -> Column:
    return Column(name, case, leader or keys[:1], frozenset(keys))


def gaps(*cases: str) -> list[Column]:
    return [Column(f"task {place}", case, why=REFUSED) for place, case in enumerate(cases)]


def answered(
    columns: Sequence[Column], *averages: float | None, trend: Trend | None = None
) -> Answer:
    return answer(Asked("tau-b", metrics(*averages), columns, trend))


def codes(found: Answer) -> list[str]:
    return [each.code for each in found.details]


@pytest.mark.parametrize(
    ("groups", "case", "named", "details"),
    [
        (["a", "a"], "everywhere", ["Alpha"], []),
        (["ab", "ab"], "everywhere", ["Alpha", "Beta"], []),
        (["ba", "a"], "everywhere", ["Alpha"], ["study.leads"]),
        (["a", "b"], "nowhere", ["Alpha", "Beta"], ["study.leads", "study.leads"]),
        (["abc", "bac"], "indistinct", ["Alpha"], []),
        (["a"], "single", ["Alpha"], []),
        (["ab"], "single", ["Alpha", "Beta"], []),
        (["abc"], "indistinct", ["Alpha"], []),
    ],
)
def test_campaigns_that_distinguish_metrics(
    groups: list[str], case: str, named: list[str], details: list[str]
) -> None:
    columns = [column(f"task {place}", keys) for place, keys in enumerate(groups)]
    found = answered(columns, 0.5, 0.4, 0.3)
    assert (found.case, list(found.keys), codes(found)) == (case, named, details)


@pytest.mark.parametrize(
    ("cases", "case", "code", "details"),
    [
        ((), "empty", "study.empty", []),
        (("unjudged", "unjudged"), "unjudged", "study.unjudged", []),
        (("unjudged", "unscored"), "unscored", "study.unscored", []),
        (("unscored",), "unscored", "study.unscored", []),
        (("constant",), "constant", "study.constant", ["study.gap-constant"]),
        (
            ("distrusted", "distrusted"),
            "distrusted",
            "study.distrusted",
            ["study.gap-distrusted"],
        ),
        (("pending", "pending"), "pending", "study.highest-average", ["study.pending"]),
        (("failed",), "failed", "study.highest-average", ["study.gap-failed"]),
        (("refused", "refused"), "refused", "study.highest-average", ["marks.refused"]),
        (("chance", "chance"), "chance", "study.at-chance", []),
    ],
)
def test_campaigns_that_do_not_distinguish_metrics(
    cases: tuple[str, ...], case: str, code: str, details: list[str]
) -> None:
    found = answered(gaps(*cases), 0.5, 0.4, 0.3)
    assert (found.case, found.sentence.code, codes(found)) == (case, code, details)


def test_campaigns_without_intervals_are_not_called_chance() -> None:
    few: Message = message("intervals.few", "12 segments and 3 systems are too few")
    columns = [Column(f"task {n}", "uncertain", "a", why=few) for n in range(2)]
    found = answered(columns, 0.5, 0.4)
    assert (found.case, codes(found)) == ("uncertain", ["study.gap-uncertain"])
    assert found.details[0].parameters == {"campaigns": ["task 0", "task 1"], "cause": few}


def test_some_campaigns_do_not_distinguish_metrics() -> None:
    compared = [column("en–zh 80%", "a"), column("en–zh 50%", "ab")]
    found = answered([*compared, *gaps("distrusted")], 0.5, 0.4, 0.3)
    where = found.sentence.parameters["where"]
    assert (found.case, where.parameters) == ("everywhere", {"n": 2, "total": 3})
    assert codes(found) == ["study.gap-distrusted"]
    found = answered([compared[0], *gaps("unjudged")], 0.5, 0.4, 0.3)
    where = found.sentence.parameters["where"]
    assert where.parameters == {"campaign": "en–zh 80%"}
    assert codes(found) == ["study.gap-unjudged"]


def test_a_metric_without_a_value_somewhere_has_no_average() -> None:
    columns = [column("x", "a"), column("y", "a")]
    (detail,) = answered(columns, 0.5, 0.4, None).details
    assert (detail.code, detail.parameters["metrics"]) == ("study.no-value", ["Gamma"])


def test_many_in_the_best_group_are_counted() -> None:
    every = [Named(letter, letter.upper(), 0.5) for letter in "abcdefg"]
    found = answer(Asked("tau-b", every, [column("x", "abcdef"), column("y", "abcdefg")]))
    assert {6, 7} <= {each for each in found.sentence.parameters.values() if isinstance(each, int)}


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((3, 3, 0), ["study.agreement-falls"]),
        ((3, 0, 3), ["study.agreement-rises"]),
        ((3, 2, 1), ["study.agreement-falls"]),
        ((3, 1, 1), []),
        ((0, 0, 0), []),
    ],
)
def test_how_agreement_changes_with_length(
    counts: tuple[int, int, int], expected: list[str]
) -> None:
    columns = [column("x", "a"), column("y", "a")]
    found = answered(columns, 0.5, 0.4, 0.3, trend=Trend("80%", "50%", *counts))
    assert codes(found) == expected
