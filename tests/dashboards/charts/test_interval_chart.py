"""The chart of metrics: what it claims without intervals."""

from dashboards.correlations.document import Correlations
from dashboards.correlations.figures import intervals
from tests.dashboards import typed


def document(*ends: tuple[float | None, float | None]) -> Correlations:
    metrics = [
        typed.metric(f"m{n}", 0.067 + 0.008 * n, low=low, high=high)
        for n, (low, high) in enumerate(ends)
    ]
    interval = "t clustered by 30 segments"
    return Correlations(**typed.ASKED, n_hybrids=0, metrics=metrics, interval=interval)


def axis_and_text(*ends: tuple[float | None, float | None]) -> tuple[bool, str]:
    spec = intervals(document(*ends))
    assert spec is not None
    return spec["layer"][1]["encoding"]["x"]["scale"]["zero"], spec["description"]


def test_without_intervals_the_axis_begins_at_zero_and_no_line_is_explained() -> None:
    """Two values .008 apart filled the whole width, under a text about intervals."""
    zero, text = axis_and_text((None, None), (None, None))
    assert zero
    assert "95% intervals" not in text


def test_with_intervals_these_give_the_scale() -> None:
    zero, text = axis_and_text((-0.1, 0.2), (None, None))
    assert not zero
    assert "t clustered by 30 segments" in text
