"""The chart of metrics: what it claims without intervals."""

from dashboards.correlations.document import Correlations
from dashboards.correlations.page import intervals
from metaeval.messages import Message, message
from tests.dashboards import typed

METHOD = message("test.method", "t clustered by 30 segments")


def document(*ends: tuple[float | None, float | None]) -> Correlations:
    metrics = [
        typed.metric(f"m{n}", 0.067 + 0.008 * n, low=low, high=high)
        for n, (low, high) in enumerate(ends)
    ]
    return Correlations(**typed.ASKED, n_hybrids=0, metrics=metrics, interval=METHOD)


def axis_and_lines(*ends: tuple[float | None, float | None]) -> tuple[bool, list[Message]]:
    """Return whether the axis begins at zero, and the notes on the lines."""
    spec = intervals(document(*ends))
    assert spec is not None
    notes = [each for each in spec["description"] if each.code == "figure.interval-lines"]
    return spec["layer"][1]["encoding"]["x"]["scale"]["zero"], notes


def test_without_intervals_the_axis_begins_at_zero_and_no_line_is_explained() -> None:
    """Two values .008 apart filled the whole width, under a text about intervals."""
    zero, notes = axis_and_lines((None, None), (None, None))
    assert zero
    assert notes == []


def test_with_intervals_these_give_the_scale() -> None:
    zero, (note,) = axis_and_lines((-0.1, 0.2), (None, None))
    assert not zero
    assert note.parameters["method"] == METHOD
