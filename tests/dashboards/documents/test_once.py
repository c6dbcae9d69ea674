"""One document reads what it rests on once, and says what it says when every part reads anew."""

from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any
from weakref import ReferenceType, WeakSet, ref

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.filters import FilterError, Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Campaign, Judgment
from annotation.quality import read_columns
from annotation.quality.exclusions import exclude_annotator
from core.caching import forget_memos, memo, memoized
from dashboards.bundle import archive
from dashboards.bundle.content import Content, read_content
from dashboards.bundle.manifest import BundleTable, expected
from dashboards.documents import kinds, results
from dashboards.documents.computing import settled
from dashboards.models import Analysis
from dashboards.pages.answers import public
from dashboards.panel.human import human_scores
from dashboards.panel.panel import Panel

# What no two readings share: when they were made.
TIMES = ("as_of", "pdf")
JUDGMENTS = ("active_ms", "paid_ms", "time_doubt")


@pytest.fixture
def with_an_exclusion(rated: Campaign) -> Campaign:
    annotator = rated.annotators.order_by("pk").first()
    assert annotator is not None
    exclude_annotator(annotator=annotator, actor=None, reason="rated without reading")
    return rated


def without_times(document: Any) -> dict[str, Any]:
    return {name: value for name, value in public(settled(document)).items() if name not in TIMES}


@pytest.mark.parametrize("chosen", [Filters(), Filters(traps="out", documents=("clinic",))])
@pytest.mark.parametrize("kind", ["report", "bundle", "trust", "overview"])
def test_judgments_are_read_once_for_the_same_numbers(
    with_an_exclusion: Campaign, kind: str, chosen: Filters
) -> None:
    with CaptureQueriesContext(connection) as queries:
        found = results.latest(kind, with_an_exclusion, chosen).document
    assert Analysis.objects.get(kind=kind).status == Analysis.Status.DONE
    asked = [each["sql"] for each in queries]
    assert sum(all(name in sql for name in JUDGMENTS) for sql in asked) == 1
    filters = kinds.filters_of(kind).from_json(chosen.as_json())
    expected = kinds.compute(kind, with_an_exclusion, filters)
    assert found is not None
    assert without_times(found) == without_times(expected)


def test_what_all_read_cannot_be_changed(with_an_exclusion: Campaign) -> None:
    with memoized():
        columns = read_columns(with_an_exclusion, with_excluded=True)
        assert read_columns(with_an_exclusion, with_excluded=True) is columns
        with pytest.raises(ValueError, match="read-only"):
            columns.score[0] = 0
        with pytest.raises(ValueError, match="read-only"):
            human_scores(with_an_exclusion).values[0] = 0
        chosen = read_columns(with_an_exclusion)
    own = read_columns(with_an_exclusion)
    assert len(own) < len(columns)
    for name in vars(own):
        np.testing.assert_array_equal(getattr(chosen, name), getattr(own, name), name)


def test_the_next_computation_reads_anew(rated: Campaign) -> None:
    """Nothing outlives a computation, also one that fails; no other thread sees it."""
    before = human_scores(rated).values
    with pytest.raises(FilterError), memoized():
        read_judgments(rated, Filters(without=("nobody",)))
    Judgment.objects.filter(assignment__annotator__campaign=rated, score__lt=50).update(score=99)
    with memoized():
        assert not np.array_equal(human_scores(rated).values, before, equal_nan=True)


def test_a_bundle_holds_nothing_that_it_read_while_tables_are_computed(
    with_an_exclusion: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents: list[ReferenceType[Content]] = []
    held: list[Content | None] = []
    panels = WeakSet[Panel]()

    def read(campaign: Campaign, filters: Filters) -> Content:
        content = read_content(campaign, filters)
        contents.append(ref(content))
        panels.add(content.panel)
        return content

    def compute(folder: Path, table: BundleTable) -> Iterator[str]:
        held.extend([*(each() for each in contents), *panels])
        return expected(folder, table)

    monkeypatch.setattr(archive, "read_content", read)
    monkeypatch.setattr(archive, "expected", compute)
    with memoized():
        archive.build(with_an_exclusion, Filters())
    assert len(held) > 1
    assert set(held) == {None}


def test_threads_and_arguments_are_kept_apart() -> None:
    calls: list[object] = []

    @memo
    def read(key: int, *, doubled: bool = False) -> int:
        calls.append((key, doubled))
        return 2 * key if doubled else key

    with memoized():
        assert (read(1), read(1), read(1, doubled=True), read(2)) == (1, 1, 2, 2)
        with memoized():
            read(1)
        read(2)
        assert len(calls) == 3
        other = Thread(target=read, args=(1,))
        other.start()
        other.join()
        assert len(calls) == 4
    read(1)
    assert len(calls) == 5


def test_what_a_computation_forgets_is_read_again() -> None:
    calls: list[int] = []
    read = memo(calls.append)
    forget_memos()
    with memoized():
        read(1)
        read(1)
        forget_memos()
        read(1)
    assert calls == [1, 1]
