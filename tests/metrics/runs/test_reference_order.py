"""The order of references: part of a content's key, and what is done about scores of before."""

from collections.abc import Iterator, Sequence
from importlib import import_module

import numpy as np
import pytest
from django.apps import apps

from annotation import uploads
from annotation.models import Output, Reference, TestSet
from annotation.uploads.drafts import SegmentDraft, SystemDraft
from metrics import registry
from metrics.base import MetricInfo, Scores, SegmentInput, one_measure
from metrics.models import ConfiguredMetric, MetricRun, MetricSignature, SegmentScore
from metrics.runs import starting
from metrics.scores import store_scores, system_scores
from tests.metrics import fakes
from tests.metrics.conftest import reread, work_off

pytestmark = pytest.mark.django_db
migration = import_module("metrics.migrations.0006_reference_order")

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
    return work_off(run)


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


def make_old(test_set: TestSet) -> None:
    """Give outputs the keys of before, which put references in the order of their texts."""
    for output in Output.objects.filter(system__test_set=test_set).select_related("segment"):
        references = Reference.objects.filter(segment=output.segment).values_list("text", flat=True)
        output.content_key = migration._key(output.segment.source, sorted(references), output.text)
        output.save()


def stored(test_set: TestSet, metric: str) -> list[float]:
    """Score a text of both segments by hand under a metric's signature, in a finished run."""
    signature, _ = MetricSignature.objects.get_or_create(
        signature=f"{metric}|version:1", defaults={"metric": metric, "measures": [metric]}
    )
    keys = Output.objects.filter(system__test_set=test_set).order_by("segment")
    store_scores(signature, keys.values_list("content_key", flat=True), np.array([[1.0], [2.0]]))
    run = MetricRun.objects.create(
        test_set=test_set, metric=metric, signature=signature, status="done", total=2, done=2
    )
    run.systems.set(test_set.systems.all())
    return [1.0, 2.0]


@pytest.fixture(autouse=True)
def _no_run_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run under way had before that migration is no more."""
    monkeypatch.setattr(migration, "_plan_anew", lambda apps, active: None)


def migrate() -> None:
    migration.renew(apps, None)
    migration.name_references(apps, None)


@pytest.fixture
def two() -> tuple[TestSet, TestSet]:
    """Two sets as they were stored before: the same texts, the references the other way round."""
    sets = (
        make_set("one", {"A": LEFT, "B": RIGHT}),
        make_set("other", {"A": RIGHT, "B": LEFT}),
    )
    for test_set in sets:
        make_old(test_set)
    return sets


def test_scores_that_may_be_wrong_are_dropped_and_it_is_said(
    two: tuple[TestSet, TestSet], capsys: pytest.CaptureFixture[str]
) -> None:
    for test_set in two:
        stored(test_set, "first")
    migrate()
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("1 scores are dropped: of texts with several references")
    assert "2 runs say so" in printed
    for test_set, reference in zip(two, (LEFT, RIGHT), strict=True):
        measure = system_scores(test_set).measures["first"]
        assert not measure.is_complete
        assert list(measure.values[0])[1] == 2.0  # one reference has but one order
        run = test_set.metric_runs.get()
        assert (run.status, run.done, run.total) == ("failed", 1, 2)
        assert "Scores were dropped, of 1 of its texts" in run.message
        assert (score(test_set, "first").status, values(test_set)[0]) == (
            "done",
            expected(reference)[0],
        )


@pytest.mark.parametrize("metric", ["bleu", "bleurt-20", "wmt21-comet-qe-da"])
def test_scores_that_no_order_changes_stay(two: tuple[TestSet, TestSet], metric: str) -> None:
    signature = f"{metric}|version:1"
    for test_set in two:
        found = stored(test_set, metric)
    MetricSignature.objects.filter(signature=signature).update(statistics=[])
    migrate()
    for test_set in two:
        assert values(test_set, metric) == found
        assert test_set.metric_runs.get().status == "done"


@pytest.mark.parametrize("metric", ["chrf", "rouge", "wmt22-comet-da", "no-longer-known"])
def test_what_the_order_changes_or_nobody_knows_goes(
    two: tuple[TestSet, TestSet], metric: str
) -> None:
    """chrF and ROUGE take the first of references that are equally good."""
    stored(two[0], metric)
    migrate()
    kept = SegmentScore.objects.values_list("content_key", flat=True)
    assert list(kept) == [Output.objects.get(segment__key="2", system__test_set=two[0]).content_key]


def test_a_configured_comet_goes_where_it_reads_references(two: tuple[TestSet, TestSet]) -> None:
    for name, reads in (("with", True), ("without", False)):
        description = vars(make_info(name)) | {"needs_reference": reads, "options": {}}
        ConfiguredMetric.objects.create(
            name=name, label=name, family="comet", description=description
        )
        stored(two[0], name)
    migrate()
    n_missing = {key: m.n_missing for key, m in system_scores(two[0]).measures.items()}
    assert n_missing == {"with": 1, "without": 0}


def test_scores_of_texts_that_are_gone_go(two: tuple[TestSet, TestSet]) -> None:
    stored(two[0], "first")
    stored(two[0], "ter")
    Output.objects.all().delete()
    migrate()
    kept = set(SegmentScore.objects.values_list("signature__metric", flat=True))
    assert kept == {"ter"}


def test_equal_references_have_no_order() -> None:
    test_set = make_set("equal", {"A": LEFT, "B": LEFT})
    make_old(test_set)
    found = stored(test_set, "first")
    migrate()
    assert values(test_set) == found


def test_an_installation_without_such_scores_hears_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    test_set = make_set("one", {"A": LEFT})
    score(test_set, "first")
    migrate()
    assert capsys.readouterr().out == ""
    assert reread(test_set.metric_runs.get()).status == "done"


def test_signatures_that_stay_say_which_references_they_are_of() -> None:
    old = {
        "bertscore-mbert|weights:1|revision:1": "bertscore-mbert",
        "xbertscore|against:reference|idf:no|revision:1": "xbertscore",
        "yisi-2|against:source|revision:1": "yisi-2",
        "bleurt-20|references:mean|revision:1": "bleurt-20",
    }
    for signature, metric in old.items():
        MetricSignature.objects.create(signature=signature, metric=metric, measures=[metric])
    migrate()
    assert set(MetricSignature.objects.values_list("signature", flat=True)) == {
        "bertscore-mbert|weights:1|references:best|revision:1",
        "xbertscore|against:reference|idf:no|references:best|revision:1",
        "yisi-2|against:source|revision:1",
        "bleurt-20|references:mean|revision:1",
    }
