"""What a worker says of itself; real ones are in test_workers."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from celery.concurrency import prefork, solo

from core.work import processes
from metrics.checkpoints import places
from metrics.models.fleet import Worker, WorkerChild
from metrics.stock import inventory
from metrics.workers import capability, reporter
from metrics.workers.reporter import Reporter, children_of
from tests.metrics.fleet import comet, empty_models, encoder, make_worker
from tests.worker_packages import full


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return empty_models(tmp_path, monkeypatch)


@pytest.fixture
def mine(db: None) -> Reporter:
    return Reporter("gpu0@here", ["gpu"])


def row() -> Worker:
    return Worker.objects.get(name="gpu0@here")


def test_a_sign_of_life(mine: Reporter) -> None:
    mine.beat()
    first = row()
    long_ago = first.seen_at - timedelta(hours=1)
    Worker.objects.update(seen_at=long_ago)
    assert (first.pid, first.queues, first.is_stopping) == (os.getpid(), ["gpu"], False)
    assert first.devices[-1]["kind"] == "cpu"
    assert (first.memory or 0) > 2**20
    mine.is_stopping = True
    mine.beat()
    second = row()
    assert second.seen_at > long_ago + timedelta(minutes=30)
    assert (second.started_at, second.is_stopping) == (first.started_at, True)


def test_children_come_and_go(db: None) -> None:
    pids = [os.getpid(), os.getppid()]
    reporter_ = Reporter("gpu0@here", ["gpu"], lambda: pids)
    reporter_.beat()
    first, second = row().children.all()
    assert (first.pid, second.pid) == tuple(pids)
    assert (first.memory or 0) > 2**20
    WorkerChild.objects.filter(pk=first.pk).update(resident=["acme/x"])
    pids.pop()
    reporter_.beat()
    (left,) = row().children.all()
    assert (left.pk, left.resident) == (first.pk, ["acme/x"])


def test_a_child_tells_what_it_has_in_memory(
    mine: Reporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine.find_children = lambda: [os.getpid()]
    monkeypatch.setattr(reporter._Child, "reported", {})
    reporter.report_child()
    assert reporter._Child.reported == {}, "its worker has not written it yet"
    mine.beat()
    monkeypatch.setattr(reporter, "resident", lambda: ["acme/x"])
    monkeypatch.setattr(reporter, "device_in_use", lambda: "NVIDIA A100 1")
    reporter.report_child()
    (child,) = row().children.all()
    assert (child.resident, child.device) == (["acme/x"], "NVIDIA A100 1")
    mine.beat()
    assert row().children.get().resident == ["acme/x"]


@pytest.mark.needs("extensions.neural")
@full
def test_what_metrics_of_its_queues_lack_here(mine: Reporter, models: Path) -> None:
    encoder(models / "lucadiliello/BLEURT-20")
    mine.beat()
    mine.inspect()
    lacks = row().lacks
    assert "chrf" not in lacks
    assert "bleurt-20" not in lacks
    (lack,) = lacks["bertscore-bart"]
    assert lack["code"] == "worker.checkpoint-missing"
    assert row().lacking["bertscore-bart"][0].text == lack["text"]


def test_a_row_that_was_dropped_comes_back(mine: Reporter) -> None:
    mine.beat()
    Worker.objects.all().delete()
    mine.inspect()
    mine.beat()
    assert row().name == "gpu0@here"
    mine.leave()
    assert not Worker.objects.exists()


def test_two_processes_of_one_name_are_two_rows(mine: Reporter) -> None:
    mine.beat()
    Reporter("gpu0@here", ["gpu"], uid="another").beat()
    assert Worker.objects.filter(name="gpu0@here").count() == 2


@pytest.mark.needs("extensions.neural")
def test_checkpoints_are_reported_with_a_fingerprint_where_metrics_use_them(
    mine: Reporter, models: Path
) -> None:
    encoder(models / "roberta-large-mnli", layers=24)
    comet(models / "acme" / "spare")
    make_worker("old@one", silent=30 * 3600)
    mine.beat()
    mine.inspect()
    told = row().checkpoints
    assert set(told) == {"roberta-large-mnli", "acme/spare"}
    assert told["roberta-large-mnli"]["layers"] == 25
    assert len(told["roberta-large-mnli"]["fingerprint"]) == 12
    assert "fingerprint" not in told["acme/spare"]
    assert not Worker.objects.filter(name="old@one").exists()


@pytest.mark.needs("extensions.neural")
def test_no_child_is_forked_during_a_look_but_may_be_while_files_are_hashed(
    mine: Reporter, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look imports the hub's package: a child that inherits the lock of that hangs for ever."""
    encoder(models / "roberta-large-mnli")
    mine.beat()
    seen: dict[str, bool] = {}

    def watch(module: object, name: str) -> None:
        action = getattr(module, name)

        def watched(*given: object) -> object:
            seen[name] = processes.forking.locked()
            return action(*given)

        monkeypatch.setattr(module, name, watched)

    watch(inventory, "everything_here")
    watch(capability, "lacking")
    watch(places, "fingerprint")
    mine.inspect()
    assert seen == {"everything_here": True, "lacking": True, "fingerprint": False}


def test_what_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "RESIDENT", [])
    assert reporter.resident() == []
    places.RESIDENT.append(lambda: ["acme/x"])
    assert reporter.resident() == ["acme/x"]


def test_a_pool_that_has_ended_has_no_children(monkeypatch: pytest.MonkeyPatch) -> None:
    # A pool within the process says that a child began: this process would count as one.
    monkeypatch.setattr(solo.signals.worker_process_init, "send", lambda **_: None)
    assert children_of(prefork.TaskPool(limit=2)) == []
    assert children_of(solo.TaskPool(limit=1)) == [os.getpid()]
