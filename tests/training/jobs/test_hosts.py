"""Workers on several hosts with folders of their own: what one saved, the others find."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gpu import small
from config import backups
from core.shared_files import fetch_trained
from lifecycle import services
from lifecycle.resources import RESOURCE_TYPES
from metaeval.messages import message
from metrics import catalogue
from metrics.workers import capability
from tests.buckets import Hosts, s3_server, two_hosts
from tests.training.doing import run_job
from training import contract
from training.contract import JobError, NewMetric, Outcome, TrainingKind, Work
from training.jobs import starting, work
from training.jobs.saving import current, save_whole, write_whole
from training.models import TrainingJob


class Saving:
    """What the fake kind does: each test sets `act`."""

    act: Callable[[Work], Outcome]


def run(given: Work) -> Outcome:
    return Saving.act(given)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def hosts(
    server: str, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, db: None
) -> Iterator[Hosts]:
    kind = TrainingKind(
        key="saving", label="Saving", description="Saves.", queue="cpu",
        path="tests.training.jobs.test_hosts:run", needs_corpus=False, options=(),
    )  # fmt: skip
    monkeypatch.setitem(contract.KINDS, "saving", kind)
    monkeypatch.setattr(work, "BUCKET_SECONDS", 0.0)
    with two_hosts(server, settings, tmp_path, monkeypatch) as made:
        yield made


def start() -> TrainingJob:
    return starting.start(kind="saving", name="Save it", given={}, enqueue=False)


def add_step(given: Work) -> int:
    """Count the steps that were saved, on whichever host; save one more."""
    last = current(given.folder, "last")
    n = int((last / "steps").read_text()) if last else 0
    save_whole(given.folder, "last", lambda folder: _write(folder / "steps", str(n + 1)))
    write_whole(given.folder / "seen", lambda file: file.write(f"{n + 1}".encode()))
    return n + 1


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def one_step_then_fail(given: Work) -> Outcome:
    raise JobError(message("test.steps", "{n} steps", n=str(add_step(given))))


def test_each_host_goes_on_where_the_last_one_stopped(hosts: Hosts) -> None:
    Saving.act = staticmethod(one_step_then_fail)
    job = start()
    for number, host in enumerate("abab", start=1):
        hosts.on(host)
        failed = run_job(job)
        assert failed.message.parameters == {"n": str(number)}
        starting.resume(failed)
    names = {key.partition(f"{job.folder.name}/")[2] for key in hosts.keys()}  # noqa: SIM118
    assert names == {"last-4/steps", "last.current", "seen"}
    assert (job.folder / "lock").exists()


def test_a_step_that_was_not_shared_is_done_again(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host without power stores nothing more, and is wrong about the state afterwards."""
    Saving.act = staticmethod(one_step_then_fail)
    job = start()
    starting.resume(run_job(job))
    with monkeypatch.context() as patch:
        patch.setattr(work.SharedFolder, "give", lambda *_: None)
        starting.resume(run_job(job))
    for host in "ba":
        hosts.on(host)
        failed = run_job(job)
        reached = failed.message.parameters
        starting.resume(failed)
    assert reached == {"n": "3"}


def test_saved_steps_are_shared_while_the_training_goes_on(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "SHARE_SECONDS", -1.0)
    sizes = []

    def act(given: Work) -> Outcome:
        for step in range(3):
            add_step(given)
            given.report({"step": step, "total": 3})
            sizes.append({key.rpartition("last-")[2] for key in hosts.keys() if "last-" in key})  # noqa: SIM118
        return Outcome({})

    Saving.act = staticmethod(act)
    assert run_job(start()).status == "done"
    assert sizes == [{"1/steps"}, {"2/steps"}, {"3/steps"}]


def test_a_host_that_lost_the_job_stores_nothing(hosts: Hosts) -> None:
    def act(given: Work) -> Outcome:
        add_step(given)
        TrainingJob.objects.filter(pk=given.pk).update(owner="another")
        given.report({"step": 1, "total": 2})
        return pytest.fail("went on")

    Saving.act = staticmethod(act)
    run_job(start())
    assert hosts.keys() == set()


def test_a_result_waits_for_the_bucket(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    give, refused = work.SharedFolder.give, [OSError("silent"), OSError("silent")]

    def give_later(shared: Any, may_go_on: Callable[[], bool]) -> None:
        if refused:
            raise refused.pop()
        give(shared, may_go_on)

    monkeypatch.setattr(work.SharedFolder, "give", give_later)
    Saving.act = staticmethod(lambda given: Outcome({"n": add_step(given)}))
    job = run_job(start())
    assert (job.status, refused, len(hosts.keys())) == ("done", [], 3)


def train_encoder(given: Work) -> Outcome:
    folder = save_whole(given.folder, "metric", lambda path: _bert(path))
    return Outcome({}, NewMetric("bertscore", "Trained", {"checkpoint": str(folder), "layer": 1}))


def _bert(path: Path) -> None:
    shutil.copytree(small.bert(path.parent / "made", ["the harbour"]), path, dirs_exist_ok=True)


def test_a_metric_is_loaded_by_a_host_that_did_not_train_it(hosts: Hosts) -> None:
    Saving.act = staticmethod(train_encoder)
    job = run_job(start())
    assert job.metric is not None
    info = catalogue.get(job.metric.name)
    files = {path.name: path.read_bytes() for path in Path(info.checkpoint).iterdir()}
    hosts.on("b")
    assert not Path(info.checkpoint).exists()
    assert capability.lacking(info) == []
    assert {path.name: path.read_bytes() for path in Path(info.checkpoint).iterdir()} == files


def test_a_single_file_brings_its_folder_and_others_are_left_alone(
    hosts: Hosts, settings: Any
) -> None:
    Saving.act = staticmethod(lambda given: Outcome({"n": add_step(given)}))
    job = run_job(start())
    hosts.on("b")
    for absent in ("last-1/none", "nothing", "../a/other"):
        fetch_trained(job.folder / absent)
    assert not settings.TRAINED_DIR.exists()
    fetch_trained(job.folder / "last-1" / "steps")
    assert (job.folder / "last-1" / "steps").read_text() == "1"


def test_a_deleted_job_leaves_nothing_in_the_bucket(
    hosts: Hosts, django_capture_on_commit_callbacks: Any
) -> None:
    Saving.act = staticmethod(lambda given: Outcome({"n": add_step(given)}))
    job, other = run_job(start()), run_job(start())
    hosts.on("b")
    with django_capture_on_commit_callbacks(execute=True):
        services.delete(RESOURCE_TYPES["job"], job, None)
    assert {key.split("/")[1] for key in hosts.keys()} == {other.folder.name}  # noqa: SIM118


def test_a_backup_has_the_newest_state(
    hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "_copy_database", Path.touch)  # in a transaction here
    Saving.act = staticmethod(one_step_then_fail)
    job = start()
    for host in "ab":
        hosts.on(host)
        starting.resume(run_job(job))
    hosts.on("a")
    (Path(backups.settings.TRAINED_DIR) / "earlier").write_text("before there was a bucket")
    backups.save(tmp_path / "backup.tar.gz")
    with backups._opened(tmp_path / "backup.tar.gz") as archive:
        names = [name for name in archive.getnames() if name.startswith("trained/")]
        (steps,) = (name for name in names if name.endswith("steps"))
        stored = archive.extractfile(steps)
        assert stored is not None
        assert (stored.read(), "trained/earlier" in names) == (b"2", True)
    assert len(names) == len(set(names))
