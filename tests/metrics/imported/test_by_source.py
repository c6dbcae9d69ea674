"""Rows of scores without keys belong to the segments that have their sources."""

import pytest

from annotation.models import TestSet
from annotation.uploads import InputFile
from metrics.imported import checking
from metrics.imported.files import Choices
from tests.files.doors import of_talks
from tests.files.test_rules import separated

pytestmark = pytest.mark.django_db
# The third and the last segment say the same.
SOURCES = ["S 1", "S 2", "Yes.", "S 4", "Yes."]


def read(
    sources: list[str], output: str = "{system} {key}"
) -> tuple[dict[str, list[float | None]], set[str], set[str]]:
    """Return the scores of each system by segment, errors and warnings of scores 0, 1, 2 …"""
    test_set = of_talks(5)
    for segment, source in zip(test_set.segments.order_by("position"), SOURCES, strict=True):
        test_set.segments.filter(pk=segment.pk).update(source=source)
    rows = [
        {
            "system": system,
            "src": source,
            "mt": output.format(system=system, key=number + 1),
            "COMET": str(number),
        }
        for system in ("Nemo", "Online-W")
        for number, source in enumerate(sources)
    ]
    file = InputFile.holding("t.csv", separated(rows).encode())
    checked = checking.check(TestSet.objects.get(), [file], Choices())
    names = dict(test_set.systems.values_list("pk", "name"))
    keys = list(test_set.segments.order_by("position").values_list("pk", flat=True))
    found = {
        names[system]: [row.get(key) for key in keys]
        for draft in checked.drafts
        for system, row in draft.held.outputs.items()
    }
    report = checked.report
    return found, {e.code for e in report.errors}, {w.code for w in report.warnings}


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]])
def test_scores_follow_their_sources(order: list[int]) -> None:
    found, errors, warnings = read([SOURCES[place] for place in order])
    assert not errors
    assert "scores.rows-in-order" not in warnings
    assert set(found) == {"Nemo", "Online-W"}
    for row in found.values():
        assert [SOURCES[order[int(score or 0)]] for score in row] == SOURCES
        assert row.index(row[2]) < row.index(row[4])
        assert (row[2] or 0) < (row[4] or 0)  # rows with one source are in order


def test_sources_in_other_spellings_keep_the_order_with_a_warning() -> None:
    found, errors, warnings = read(["S 1", "S  2", "Yes .", "S 4", "Yes ."])
    assert not errors
    assert "scores.sources-unclear" in warnings
    assert found["Nemo"] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "sources",
    [["S 4", "S 2", "Yes.", "S 1", "Other."], ["S 2", "S 1", "Yes.", "Yes.", "Yes."]],
)
def test_rows_in_another_order_need_known_sources(sources: list[str]) -> None:
    _, errors, _ = read(sources)
    assert "spans.source-unclear" in errors


def test_scores_of_the_stored_outputs_need_no_warning() -> None:
    _, errors, warnings = read(SOURCES)
    assert not errors
    assert not warnings & {"scores.of-other-outputs", "columns.unused"}


@pytest.mark.parametrize("output", ["{system}  {key}.", "", "Another."])
def test_other_outputs_than_the_stored_are_a_warning(output: str) -> None:
    found, errors, warnings = read(SOURCES, output)
    assert not errors
    assert "scores.of-other-outputs" in warnings
    assert found["Nemo"] == [0, 1, 2, 3, 4]
