"""Results of any kind as facts, tables and curves."""

import pytest

from metaeval.messages import Message, message
from training.jobs import presenting
from training.models import TrainingJob
from training.sweeps import compare_jobs


def test_a_document_is_taken_apart() -> None:
    shown = presenting.show({
        "held_out": {"after": {"cosine": 0.5}},
        "notes": [{"code": "a", "pattern": "One.", "parameters": {}}],
        "layers": [8, 12],
        "curve": [{"found": 0.25, "pairs": 100}, {"found": 0.75, "pairs": 300}],
    })  # fmt: skip
    assert [(each.code, each.value) for each in shown.facts] == [
        ("held_out.after.cosine", 0.5),
        ("notes", [message("a", "One.")]),
        ("layers", [8, 12]),
    ]
    label = shown.facts[0].label
    parts = [label.parameters[each].code for each in ("whole", "part")]
    assert (label.code, parts) == ("result.within", ["result.after", "result.cosine"])
    assert codes(shown.tables[0].columns) == ["result.pairs", "result.found"]
    assert shown.tables[0].rows == [[100, 0.25], [300, 0.75]]
    (chart,) = shown.charts
    assert codes([chart.title, chart.across]) == ["result.found", "result.pairs"]
    assert (chart.bottom, chart.top, chart.first, chart.last) == (
        0.2,
        pytest.approx(0.8),
        0.25,
        0.75,
    )
    assert chart.line == "0.0,110.0 320.0,10.0"


def codes(messages: list[Message]) -> list[str]:
    return [each.code for each in messages]


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([2.083, 2.0831], (1.95, 2.2)),
        ([0.9, 0.9], (0.84, 0.96)),
        ([0.0, 0.0], (0.0, 0.6)),
        ([-1.0, 1.0], (-1.0, 1.0)),
        ([0.0, 100.0], (0.0, 100.0)),
    ],
)
def test_axes_do_not_magnify_what_hardly_changes(
    values: list[float], ends: tuple[float, float]
) -> None:
    assert presenting.axis_of(values) == pytest.approx(ends)


def test_a_constant_value_is_a_flat_line() -> None:
    rows = [{"step": step, "accuracy": 0.9} for step in (0, 100)]
    (chart,) = presenting.show({"curve": rows}).charts
    assert [y for _, y in chart.dots] == pytest.approx([60.0, 60.0])


def test_what_is_no_curve_is_not_drawn() -> None:
    assert presenting.show({"rows": [{"a": 1}, {"a": 2}]}).charts == []
    assert presenting.show({"curve": [{"step": 1, "loss": 0.5}]}).charts == []
    rows = [{"step": 1, "loss": float("nan")}, {"step": 2, "loss": 1.0}]
    assert presenting.show({"curve": rows}).charts == []


def test_a_count_that_does_not_change_is_left_to_the_table() -> None:
    rows = [{"step": 1, "compared": 9, "loss": 2.0}, {"step": 2, "compared": 9, "loss": 1.0}]
    shown = presenting.show({"curve": rows})
    assert codes([chart.title for chart in shown.charts]) == ["result.loss"]
    assert codes(shown.tables[0].columns) == ["result.step", "result.compared", "result.loss"]


def test_estimates_are_a_table_with_their_intervals() -> None:
    estimate = {"value": 0.5, "low": 0.25, "high": 0.75}
    shown = presenting.show({
        "n_train": 34,
        "held_out": {
            "pearson": {"head": estimate, "gain": {"value": -0.125}},
            "kendall": {"head": {"value": None, "low": None, "high": None}, "gain": estimate},
        },
    })  # fmt: skip
    assert [(each.code, each.value) for each in shown.facts] == [("n_train", 34)]
    (table,) = shown.tables
    assert table.has_heads
    assert codes(table.columns) == ["estimate.measure", "estimate.head", "estimate.gain"]
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
    assert (shown.facts[0].code, shown.facts[0].value) == ("held_out.n", 40)


def job(pk: int, found: float | None, **options: object) -> TrainingJob:
    result = {} if found is None else {"n": 5, "accuracy": found, "encoder": "x"}
    return TrainingJob(pk=pk, kind="remap", name="j", options={"same": 1, **options}, result=result)


def test_a_sweep_shows_what_differs() -> None:
    made = [job(1, 0.5, alpha=1), job(2, 0.7, alpha=2), job(3, None, alpha=3)]
    table = compare_jobs(made)
    assert (table.settings, codes(table.measures)) == ([("alpha", "alpha")], ["result.accuracy"])
    assert [(settings, values) for _, settings, values in table.rows] == [
        ([1], [0.5]), ([2], [0.7]), ([3], [None])
    ]  # fmt: skip
    assert table.groups == []


def test_seeds_are_averaged_by_setting() -> None:
    made = [
        job(1, 0.5, alpha=1, seed=1), job(2, 0.7, alpha=1, seed=2), job(3, 0.9, alpha=2, seed=1),
        job(4, None, alpha=2, seed=2),
    ]  # fmt: skip
    first, second = compare_jobs(made).groups
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
    assert codes(compare_jobs(made).measures) == ["result.trained", "result.accuracy"]


def test_jobs_without_results_still_make_a_table() -> None:
    table = compare_jobs([job(1, None, alpha=1), job(2, None, alpha=2)])
    assert (table.settings, table.measures) == ([("alpha", "alpha")], [])
