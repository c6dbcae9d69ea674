"""Results of any kind as facts, tables and curves."""

import pytest

from metaeval.messages import message
from training.jobs import presenting
from training.models import TrainingJob
from training.sweeps.overview import compare


def test_a_document_is_taken_apart() -> None:
    shown = presenting.show({
        "held_out": {"after": {"cosine": 0.5}},
        "remarks": [{"code": "a", "pattern": "One.", "parameters": {}}],
        "layers": [8, 12],
        "curve": [{"found": 0.25, "pairs": 100}, {"found": 0.75, "pairs": 300}],
    })  # fmt: skip
    assert shown.facts == [
        ("held out after cosine", 0.5),
        ("remarks", [message("a", "One.")]),
        ("layers", [8, 12]),
    ]
    assert (shown.tables[0].columns, shown.tables[0].rows) == (
        ["pairs", "found"],
        [[100, 0.25], [300, 0.75]],
    )
    (chart,) = shown.charts
    assert (chart.title, chart.across, chart.lowest, chart.highest) == (
        "found",
        "pairs",
        0.25,
        0.75,
    )
    assert chart.lines == ["0.0,120.0 320.0,0.0"]


def test_what_is_no_curve_is_not_drawn() -> None:
    assert presenting.show({"rows": [{"a": 1}, {"a": 2}]}).charts == []
    assert presenting.show({"curve": [{"step": 1, "loss": 0.5}]}).charts == []
    rows = [{"step": 1, "loss": float("nan")}, {"step": 2, "loss": 1.0}]
    assert presenting.show({"curve": rows}).charts == []


def test_what_does_not_change_is_left_to_the_table() -> None:
    rows = [{"step": 1, "compared": 9, "loss": 2.0}, {"step": 2, "compared": 9, "loss": 1.0}]
    shown = presenting.show({"curve": rows})
    assert [chart.title for chart in shown.charts] == ["loss"]
    assert shown.tables[0].columns == ["step", "compared", "loss"]


def test_estimates_are_a_table_with_their_intervals() -> None:
    estimate = {"value": 0.5, "low": 0.25, "high": 0.75}
    shown = presenting.show({
        "n_train": 34,
        "held_out": {
            "pearson": {"head": estimate, "gain": {"value": -0.125}},
            "kendall": {"head": {"value": None, "low": None, "high": None}, "gain": estimate},
        },
    })  # fmt: skip
    assert shown.facts == [("n train", 34)]
    (table,) = shown.tables
    assert table.has_heads
    assert [str(each) for each in table.columns] == ["measure", "head", "gain"]
    shown_rows = [[each.code if each else None for each in row] for row in table.rows]
    assert shown_rows == [
        ["estimate.pearson", "estimate.interval", "estimate.value"],
        ["estimate.kendall", None, "estimate.interval"],
    ]
    assert table.rows[0][1].parameters == estimate


def test_other_intervals_stay_facts() -> None:
    """ReFreeEval's accuracies before and after are no estimates by name."""
    shown = presenting.show({"held_out": {"n": 40, "gain": 0.5, "low": 0.25, "high": 0.75}})
    assert shown.tables == []
    assert shown.facts[0] == ("held out n", 40)


def job(pk: int, found: float | None, **options: object) -> TrainingJob:
    result = {} if found is None else {"n": 5, "accuracy": found, "encoder": "x"}
    return TrainingJob(pk=pk, kind="remap", name="j", options={"same": 1, **options}, result=result)


def test_a_sweep_shows_what_differs() -> None:
    made = [job(1, 0.5, alpha=1), job(2, 0.7, alpha=2), job(3, None, alpha=3)]
    table = compare(made)
    assert (table.settings, table.measures) == (["alpha"], ["accuracy"])
    assert [(settings, values) for _, settings, values in table.rows] == [
        ([1], [0.5]), ([2], [0.7]), ([3], [None])
    ]  # fmt: skip
    assert table.groups == []


def test_seeds_are_averaged_by_setting() -> None:
    made = [
        job(1, 0.5, alpha=1, seed=1), job(2, 0.7, alpha=1, seed=2), job(3, 0.9, alpha=2, seed=1),
        job(4, None, alpha=2, seed=2),
    ]  # fmt: skip
    first, second = compare(made).groups
    assert first[:2] == ([1], 2)
    # 0.5 and 0.7: mean 0.6, standard deviation 0.2/√2.
    assert first[2][0] == pytest.approx((0.6, 0.2 / 2**0.5))
    assert second == ([2], 1, [(0.9, None)])


def test_what_was_held_out_comes_first_and_settings_not_again() -> None:
    made = [job(1, 0.5, alpha=1), job(2, 0.7, alpha=2)]
    for each in made:
        each.result |= {
            "recipe": dict(each.options),
            "held_out": {"trained": each.result["accuracy"]},
        }
    assert list(presenting.findings(made[0])) == ["held_out", "n", "accuracy", "encoder"]
    assert compare(made).measures == ["held out trained", "accuracy"]


def test_jobs_without_results_still_make_a_table() -> None:
    table = compare([job(1, None, alpha=1), job(2, None, alpha=2)])
    assert (table.settings, table.measures) == (["alpha"], [])
