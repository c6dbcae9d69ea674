"""The job: what it stores, that it stores it once, and what it says where it cannot."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from django.apps import apps

from annotation.models import Reference, TestSet
from core.work import processes
from tests.metrics import fakes
from tests.training.doing import run_job
from tests.training.preferences.test_starting import TEXTS, start
from training.jobs import starting
from training.models import PreferenceResult, TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row
from training.perturbations.files import GivenFile
from training.preferences import judging


def differences(metric: str, condition: str, measure: str) -> list[float]:
    row = PreferenceResult.objects.get(metric=metric, condition=condition, measure=measure)
    return np.frombuffer(bytes(row.differences), dtype="<f8").tolist()


def test_segments_of_one_document_are_one_unit(harbour: TestSet) -> None:
    """Four segments of two documents: too few of them for an interval."""
    for segment in harbour.segments.all():
        segment.document = f"d{segment.position // 2}"
        segment.save()
    job = run_job(start(harbour)[0])
    row = PreferenceResult.objects.get(job=job, condition="texts", measure="ordered-output")
    assert (row.n, row.statistic, row.low, row.high) == (3, 1 / 3, None, None)


def test_each_measure_under_each_condition_is_a_row(harbour: TestSet) -> None:
    job = run_job(start(harbour)[0])
    assert job.status == "done", job.message
    rows = PreferenceResult.objects.filter(job=job)
    assert rows.count() == 4
    row = rows.get(condition="texts", measure="ordered-output")
    # By hand: 6 words reversed, the same text, excluded, and sorted.
    np.testing.assert_equal(differences("ordered", "texts", "ordered-output"), [-5, 0, np.nan, 2])
    assert (row.n, row.statistic, row.mean, row.median, row.ties) == (3, 1 / 3, -1, 0, 1 / 3)
    assert row.low == pytest.approx(0.0615, abs=5e-4)
    assert row.high == pytest.approx(0.7923, abs=5e-4)
    assert row.signature == "ordered|version:1"
    told = {each["condition"]: each for each in job.result["conditions"]}
    assert told["texts"]["file"] == "texts.txt"
    assert (told["texts"]["segments"], told["texts"]["left_out"]) == (3, 1)
    assert told["texts"]["altered"] == "f e d c b a"


def test_each_distinct_text_is_scored_once(harbour: TestSet) -> None:
    run_job(start(harbour)[0])
    seen = [(each.source, each.hypothesis) for each in fakes.Counting.seen]
    assert len(seen) == len(set(seen))


def test_other_references_are_what_a_metric_compares_with(harbour: TestSet) -> None:
    first = harbour.segments.first()
    Reference.objects.create(segment=first, name="B", text="second")
    job = run_job(start(harbour, metrics=["compared"], conditions=["texts"])[0])
    assert job.status == "done", job.message
    assert {each.references for each in fakes.Counting.seen} == {("second",)}
    row = PreferenceResult.objects.get(measure="compared-output")
    assert (row.n, row.statistic) == (1, 0)
    np.testing.assert_equal(
        differences("compared", "texts", "compared-output"), [-5, np.nan, np.nan, np.nan]
    )


def test_a_metric_that_cannot_answer_is_named_and_the_others_go_on(harbour: TestSet) -> None:
    job = run_job(start(harbour, metrics=["speechless", "ordered"], conditions=["texts"])[0])
    assert job.status == "done"
    (warning,) = job.result["warnings"]
    assert warning["code"] == "preferences.metric-failed"
    failed = warning["parameters"]["error"]
    assert (failed["code"], failed["parameters"]["segment"]) == (
        "preferences.segment-failed",
        "4",
    )
    assert set(PreferenceResult.objects.values_list("metric", flat=True)) == {"ordered"}
    alone = run_job(start(harbour, metrics=["speechless"], conditions=["texts"])[0])
    assert (alone.status, alone.message.code) == ("failed", "preferences.metric-failed")


def test_a_worker_that_goes_leaves_whole_results_and_the_next_goes_on(
    harbour: TestSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, _ = start(harbour, metrics=["ordered", "speechless"], conditions=["reorder", "clauses"])
    stored = PreferenceResult.objects.filter(job=job)
    # It has to stop once the first condition of the first metric is stored.
    with monkeypatch.context() as stopping:
        stopping.setattr(processes, "is_stopping", stored.exists)
        half = run_job(job)
    assert (half.status, stored.count()) == ("queued", 2)
    before = set(stored.values_list("pk", flat=True))
    fakes.Counting.seen.clear()
    assert run_job(job).status == "done"
    assert stored.count() == 8
    assert before < set(stored.values_list("pk", flat=True))


def test_a_job_that_was_cancelled_meanwhile_stores_nothing_more(
    harbour: TestSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, _ = start(harbour)
    compare = judging.Judge.compare

    def cancelled(self: Any, *rest: Any) -> Any:
        rows = compare(self, *rest)
        starting.cancel(job)
        return rows

    monkeypatch.setattr(judging.Judge, "compare", cancelled)
    assert run_job(job).status == "cancelled"
    assert not PreferenceResult.objects.exists()


def test_two_workers_store_once(harbour: TestSet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first was thought dead: while it scored, a second one did the whole job."""
    job, _ = start(harbour)
    compare = judging.Judge.compare

    def overtaken(self: Any, *rest: Any) -> Any:
        monkeypatch.setattr(judging.Judge, "compare", compare)
        TrainingJob.objects.update(status="queued", owner="")
        assert run_job(job).status == "done"
        return compare(self, *rest)

    monkeypatch.setattr(judging.Judge, "compare", overtaken)
    assert run_job(job).status == "done"
    assert PreferenceResult.objects.count() == 4


def test_source_order_by_our_own_aligner(harbour: TestSet) -> None:
    """Parallel text teaches it that the verb stands last in the source."""
    harbour.source_language = "de"
    harbour.save()
    nouns = {"Hafen": "harbour", "Kran": "crane", "Boot": "boat", "Seil": "rope", "Netz": "net"}
    verbs = {"sehen": "see", "heben": "lift", "holen": "fetch", "malen": "paint", "nehmen": "take"}
    nouns, verbs = nouns | {"Anker": "anchor"}, verbs | {"suchen": "seek"}
    rows = [
        Row("c", f"wir {noun} {verb}", f"we {verbs[verb]} {nouns[noun]}")
        for noun in nouns
        for verb in verbs
    ]
    corpus = corpora.add(name="small", source_language="de", target_language="en", rows=rows)
    for segment, row in zip(harbour.segments.all(), rows, strict=False):
        segment.source = row.source
        segment.save()
        segment.references.update(text=row.target)
    job = run_job(start(harbour, conditions=["source-order"], files={}, corpora=[corpus])[0])
    assert job.status == "done", job.message
    (found,) = job.result["conditions"]
    assert (found["original"], found["altered"]) == ("we see harbour", "we harbour see")
    # Four sentences alone teach it nothing.
    alone = run_job(start(harbour, conditions=["source-order"], files={})[0])
    assert alone.message.code == "preferences.none-altered"


def test_a_condition_that_nobody_knows(harbour: TestSet) -> None:
    given = {"test_set": "harbour", "metrics": "ordered", "conditions": "upside-down"}
    job = starting.start(kind="preferences", name="odd", given=given, enqueue=False)
    assert run_job(job).message.code == "preferences.unknown-condition"
    gone = starting.start(
        kind="preferences", name="odd", given=given | {"test_set": "gone"}, enqueue=False
    )
    assert run_job(gone).message.code == "preferences.no-test-set"


def test_progress_reaches_its_end(harbour: TestSet, monkeypatch: pytest.MonkeyPatch) -> None:
    job = run_job(start(harbour, metrics=["ordered", "speechless"], conditions=["reorder"])[0])
    assert job.progress["step"] == job.progress["total"] == 2 * 2 * 3


def test_the_seed_repeats_an_order(harbour: TestSet) -> None:
    found = []
    for seed in (3, 3, 4):
        job = run_job(start(harbour, conditions=["reorder"], seed=seed)[0])
        found.append(job.result["conditions"][0]["altered"])
    assert found[0] == found[1] != found[2]


def test_files_are_read_from_the_database(harbour: TestSet) -> None:
    words = GivenFile("w.tsv", "源文\tsource\n港口\tharbour\n".encode())
    job = run_job(
        start(harbour, conditions=["word-by-word"], files={"word-by-word": words, "texts": TEXTS})[
            0
        ]
    )
    (told,) = job.result["conditions"]
    assert (told["file"], told["altered"].split()[0]) == ("w.tsv", "source")
    assert 0 < told["coverage"] < 0.5
    for row in PreferenceResult.objects.filter(job=job):
        assert (row.n, row.statistic, row.coverage) == (0, None, told["coverage"])
    (warning,) = job.result["warnings"]
    assert warning["parameters"]["coverage"] == told["coverage"]
    # What an older version stored is filled in from the job.
    PreferenceResult.objects.update(coverage=None)
    import_module("training.migrations.0008_dictionary_coverage").fill_in(apps, None)
    assert {row.coverage for row in PreferenceResult.objects.all()} == {told["coverage"]}
