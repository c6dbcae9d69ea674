"""The order of references is part of a content's key."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from annotation import uploads
from annotation.models import TestSet
from annotation.uploads.drafts import SegmentDraft, SystemDraft
from metrics import registry
from metrics.base import MetricInfo, Scores, SegmentInput, one_measure
from metrics.models import MetricRun
from metrics.runs import starting
from metrics.scores import system_scores
from tests.metrics import fakes
from tests.metrics.conftest import drain

pytestmark = pytest.mark.django_db

LEFT, RIGHT = "Quiet.", "It was a quiet morning."
OUTPUTS = {"1": "Quiet morning.", "2": "Nobody came."}


class First(fakes.Counting):
    """The length of the first reference less that of the output."""

    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        rows = [[len(each.references[0]) - len(each.hypothesis)] for each in inputs]
        return np.array(rows, dtype=np.float64)


def make_info(name: str) -> MetricInfo:
    return one_measure(name, name, needs_source=False, needs_reference=True)


@pytest.fixture(autouse=True)
def first(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    path = "tests.metrics.runs.test_reference_order:First"
    monkeypatch.setitem(registry.METRICS, "first", (make_info("first"), path))
    return


def make_set(slug: str, references: dict[str, str]) -> TestSet:
    """Two segments, the second with one reference; one system."""
    draft = uploads.TestSetDraft(
        slug=slug,
        name=slug,
        source_language="zh",
        target_language="en",
        segments=[
            SegmentDraft("1", "很安静。", references=references),
            SegmentDraft("2", "没有人。", references={"A": "Nobody came."}),
        ],
        systems=[SystemDraft("one", outputs=OUTPUTS)],
    )
    return uploads.store(draft).test_set


def score(test_set: TestSet, metric: str) -> MetricRun:
    (run,) = starting.start(test_set=test_set, metrics=[metric], enqueue=False).runs
    return drain(run)


def values(test_set: TestSet, measure: str = "first") -> list[float]:
    return list(system_scores(test_set).measures[measure].values[0])


def expected(first: str) -> list[float]:
    return [len(first) - len(OUTPUTS["1"]), 0]


def test_sets_with_references_in_another_order_share_no_score() -> None:
    one, other = (
        make_set("one", {"A": LEFT, "B": RIGHT}),
        make_set("other", {"A": RIGHT, "B": LEFT}),
    )
    score(one, "first")
    score(other, "first")
    assert values(one) == expected(LEFT)
    assert values(other) == expected(RIGHT)


def test_references_are_read_by_name_however_they_are_stored() -> None:
    """By code points: a database may put `a` before `B`."""
    one, other = (
        make_set("one", {"B": LEFT, "a": RIGHT}),
        make_set("other", {"a": RIGHT, "B": LEFT}),
    )
    keys = [list(each.systems.get().outputs.values_list("content_key")) for each in (one, other)]
    assert keys[0] == keys[1]
    score(one, "first")
    assert values(one) == values(other) == expected(LEFT)
