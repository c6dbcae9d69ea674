"""The sentence of a study in every case that there is."""

from collections.abc import Sequence

import pytest

from dashboards.results.answer import FIXED
from extensions.studies.headline import Asked, Column, Named, Trend, answer
from tests.dashboards.chinese import told_answer

CASES = ("refused.",)
LABELS = {"a": "Alpha", "b": "Beta", "c": "Gamma"}


def metrics(*averages: float | None) -> list[Named]:
    return [Named(key, label, mean) for (key, label), mean in zip(LABELS.items(), averages,
            strict=False)]  # fmt: skip


def column(name: str, keys: str, leader: str = "", case: str = "compared") -> Column:
    return Column(name, case, leader or keys[:1], frozenset(keys))


def untold(*cases: str) -> list[Column]:
    return [Column(f"task {place}", case, why=f"{case}.") for place, case in enumerate(cases)]


def said(columns: Sequence[Column], *averages: float | None, trend: Trend | None = None) -> str:
    found = answer(Asked("tau-b", metrics(*averages), columns, trend))
    told_answer(found, [*LABELS.values(), *(column.name for column in columns), *CASES])
    return f"{found.case}: {found.text} {found.detail}".strip().replace(FIXED, " ")


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        (["a", "a"], "everywhere: Alpha is in the best group everywhere."),
        (["ab", "ab"], "everywhere: Alpha and Beta are in the best group everywhere."),
        (
            ["ba", "a"],
            "everywhere: Alpha is in the best group everywhere. Beta leads in task 0.",
        ),
        (
            ["a", "b"],
            "nowhere: No metric is in the best group everywhere: Alpha and Beta are in 1 of 2. "
            "Alpha leads in task 0. Beta leads in task 1.",
        ),
        (
            ["abc", "bac"],
            "indistinct: No metric can be told from another everywhere: Alpha comes first with "
            "τ .50.",
        ),
        (["a"], "single: Alpha agrees best with the humans in task 0."),
        (["ab"], "single: Alpha and Beta agree best with the humans in task 0."),
        (
            ["abc"],
            "indistinct: No metric can be told from another in task 0: Alpha comes first with "
            "τ .50.",
        ),
    ],
)
def test_campaigns_that_tell_metrics_apart(groups: list[str], sentence: str) -> None:
    columns = [column(f"task {place}", keys) for place, keys in enumerate(groups)]
    assert said(columns, 0.5, 0.4, 0.3) == sentence


@pytest.mark.parametrize(
    ("cases", "sentence"),
    [
        ((), "empty: No campaign has been opened yet, so there is nothing to compare."),
        (
            ("unjudged", "unjudged"),
            "unjudged: No output has a human score yet, so no metric can be compared.",
        ),
        (
            ("unjudged", "unscored"),
            "unscored: No metric has scored the outputs of any of these campaigns yet.",
        ),
        (("unscored",), "unscored: No metric has scored the outputs of this campaign yet."),
        (
            ("distrusted", "distrusted"),
            "distrusted: These judgments cannot tell which metric is good. In task 0 and task 1 "
            "the judgments bear nothing out.",
        ),
        (
            ("pending", "pending"),
            "pending: Alpha has the highest average agreement with the humans, τ .50. How sure "
            "that is, is being computed.",
        ),
        (
            ("refused", "refused"),
            "refused: Alpha has the highest average agreement with the humans, τ .50. refused.",
        ),
        (
            ("chance", "chance"),
            "chance: No metric can be told from chance in any of these campaigns.",
        ),
    ],
)
def test_campaigns_that_tell_nothing(cases: tuple[str, ...], sentence: str) -> None:
    assert said(untold(*cases), 0.5, 0.4, 0.3) == sentence


def test_campaigns_without_intervals_are_not_called_chance() -> None:
    few = "12 segments and 3 systems are too few"
    columns = [Column(f"task {n}", "uncertain", "a", why=few) for n in range(2)]
    assert said(columns, 0.5, 0.4) == (
        "uncertain: Alpha has the highest average agreement with the humans, "
        f"τ .50. In task 0 and task 1 there are no intervals: {few}."
    )


def test_some_campaigns_tell_nothing() -> None:
    told = [column("en–zh 80%", "a"), column("en–zh 50%", "ab")]
    assert said([*told, *untold("distrusted")], 0.5, 0.4, 0.3) == (
        "everywhere: Alpha is in the best group in the 2 of 3 campaigns that tell metrics apart. "
        "In task 0 the judgments bear nothing out."
    )
    assert said([told[0], *untold("unjudged")], 0.5, 0.4, 0.3) == (
        "everywhere: Alpha is in the best group in en–zh 80%, the only campaign that tells metrics "
        "apart. In task 0 no output has a human score."
    )


def test_a_metric_without_a_value_somewhere_has_no_average() -> None:
    columns = [column("x", "a"), column("y", "a")]
    assert said(columns, 0.5, 0.4, None).endswith(
        "Gamma lacks a value somewhere and has no average."
    )


def test_many_in_the_best_group_are_counted() -> None:
    every = [Named(letter, letter.upper(), 0.5) for letter in "abcdefg"]
    found = answer(Asked("tau-b", every, [column("x", "abcdef"), column("y", "abcdefg")]))
    assert found.text.replace(FIXED, " ") == (
        "6 of 7 metrics are in the best group everywhere; A comes first by the average, τ .50."
    )


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((3, 3, 0), "Agreement falls from 80% to 50% for every metric."),
        ((3, 0, 3), "Agreement rises from 80% to 50% for every metric."),
        ((3, 2, 1), "Agreement falls from 80% to 50% for 2 of 3 metrics."),
        ((3, 1, 1), ""),
        ((0, 0, 0), ""),
    ],
)
def test_how_agreement_changes_with_length(counts: tuple[int, int, int], sentence: str) -> None:
    columns = [column("x", "a"), column("y", "a")]
    found = said(columns, 0.5, 0.4, 0.3, trend=Trend("80%", "50%", *counts))
    assert found.endswith(f"everywhere. {sentence}".strip())
