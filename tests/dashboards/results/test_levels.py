"""Each level has its own captions and marks, in a paper's tables and in figures."""

from types import SimpleNamespace
from typing import Any

import pytest

from dashboards.correlations.document import FLOOR_LEGEND, floored
from dashboards.results.document import Line, Mark
from dashboards.results.figures import metrics
from dashboards.results.page import tables
from dashboards.whatif.page import MEASURES, sample_size_curves
from metaeval.messages import message

SAID = message("answer.best", "A agrees best; the others are worse, p < .001.")
BELOW = "below"


def line(label: str, rank: int, value: float, other: Mark, floor: str = "") -> Line:
    ends: dict[str, Any] = {"low": value - 0.1, "high": value + 0.1, "p": 0.001}
    return Line("c", label.lower(), label, value, rank=rank, is_best=rank == 1, other=other,
                floor=floor, **ends)  # fmt: skip


@pytest.fixture
def document() -> Any:
    """A leads over segments, and B and C over systems, where they cannot be distinguished."""
    rows = [
        line("A", 1, 0.5, Mark(0.7, 0.5, 0.8, 2)),
        line("B", 2, 0.4, Mark(0.9, 0.8, 0.95, 1, is_best=True)),
        line("C", 2, 0.3, Mark(0.8, 0.7, 0.9, 1, is_best=True), floor=BELOW),
    ]
    answer = SimpleNamespace(sentence=SAID, details=[])
    ours, theirs = (message("marks.bold", text) for text in ("Bold: A.", "Bold: B and C."))
    return SimpleNamespace(
        campaign="c", name="C", rows=rows, answer=answer, baseline_marks=[], statistic_label="tau",
        beside_label="Pearson’s r over systems", marks=[ours], beside_marks=[theirs],
        older=[], over=None,
    )  # fmt: skip


def test_each_level_has_a_table_with_its_own_caption_ranks_and_marks(document: Any) -> None:
    ours, theirs = tables(document)
    assert (SAID.text in ours.heading, SAID.text in theirs.heading) == (True, False)
    assert theirs.heading.startswith("Pearson’s r over systems. ")
    bold = [each.heading.rpartition("Bold: ")[2] for each in (ours, theirs)]
    assert bold == [f"A. {FLOOR_LEGEND}", "B and C."]
    names, other_names = ([row[0].text for row in each.body] for each in (ours, theirs))
    assert (names, other_names) == (["A", "B", floored("C", BELOW)], ["A", "B", "C"])
    shown = [[(row[1].text, row[2].is_bold) for row in each.body] for each in (ours, theirs)]
    assert shown == [
        [("1", True), ("2", False), ("2", False)],
        [("2", False), ("1", True), ("1", True)],
    ]
    assert ours.label != theirs.label


def test_bands_of_the_order_are_in_its_own_panel(document: Any) -> None:
    spec = metrics(document)
    assert spec is not None
    ours, theirs = ([each["band"] for each in panel["data"]["values"]] for panel in spec["hconcat"])
    assert (ours, theirs) == ([False, True, True], [False, False, False])


def test_the_best_are_drawn_where_not_all_have_room() -> None:
    n = MEASURES + 3
    rows = [
        SimpleNamespace(label=f"m{place}", statistic="tau", n_segments=size, low=0.0, high=1.0,
                        mean=place / n if size == 20 else 1 - place / n)
        for place in range(n)
        for size in (10, 20)
    ]  # fmt: skip
    few = SimpleNamespace(rows=rows[:8], n_samples=40)
    spec = sample_size_curves(SimpleNamespace(rows=rows, n_samples=40))  # type: ignore[arg-type]
    alone = sample_size_curves(few)  # type: ignore[arg-type]
    assert spec is not None
    assert alone is not None
    drawn = {row["label"] for row in spec["data"]["values"]}
    assert drawn == {f"m{place}" for place in range(3, n)}
    codes, others = ([m.code for m in each["description"]] for each in (spec, alone))
    assert (len(codes), len(others)) == (2, 1)
