"""Jobs that ended early go on: by page, command and API; two of one folder never."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from core.work import reconciling, sending, working
from metaeval.messages import message
from metrics.options import Option
from tests import refusals
from tests.training.doing import refused, run_job
from training import contract
from training.contract import JobError, Outcome, StoppedError, TrainingKind, Work
from training.jobs import saving, starting, work
from training.jobs.saving import current, save_whole
from training.jobs.work import trainings
from training.models import TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row


class Doing:
    """What the kind does: each test sets `act`."""

    act: Callable[[Work], Outcome]


def run(work: Work) -> Outcome:
    return Doing.act(work)


@pytest.fixture(autouse=True)
def _doing(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    kind = TrainingKind(
        key="doing",
        label="Doing",
        description="Does it.",
        path="tests.training.jobs.test_resuming:run",
        queue="cpu",
        needs_corpus=True,
        options=(Option("upto", "Up to", "integer", 3, minimum=1),),
    )
    monkeypatch.setitem(contract.KINDS, "doing", kind)
    monkeypatch.setattr(sending, "send", lambda *_: True)
    monkeypatch.setattr(work, "LOCK_SECONDS", 0.0)
    Doing.act = staticmethod(lambda work: Outcome({"done": True}))
    rows = [Row("1", "one", "eins")]
    corpora.add(name="small", source_language="en", target_language="de", rows=rows)


def command(**changes: Any) -> str:
    out = StringIO()
    given = {"name": "it", "corpus": ["small"], "here": True} | changes
    call_command("train", "doing", stdout=out, **given)
    return out.getvalue()


def left(**changes: Any) -> TrainingJob:
    """A job whose command was killed: its row says that it runs."""
    job = starting.start(
        kind="doing", name="it", given={}, corpora=list(corpora.ParallelCorpus.objects.all()),
        here=True,
    )  # fmt: skip
    running = {"status": "running", "owner": "x.1.1", "worker": work.command_here()}
    later = timezone.now() + timedelta(days=1)
    TrainingJob.objects.update(**running | {"expires_at": later} | changes)
    return TrainingJob.objects.get(pk=job.pk)


def refuse(work: Work) -> Outcome:
    raise JobError(message("test.full", "The disk is full."))


def test_no_worker_takes_what_a_command_works_off() -> None:
    job = starting.start(
        kind="doing", name="it", given={}, corpora=corpora.ParallelCorpus.objects.all(), here=True
    )
    assert working.do_one(trainings) is None
    job.refresh_from_db()
    assert (job.status, job.worker) == ("queued", "")
    work.work_here(job)
    job.refresh_from_db()
    assert job.status == "done"


def test_a_killed_command_blocks_no_newer_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(sending, "send", lambda kind, pk, queue: bool(sent.append(pk)))
    job = left(expires_at=timezone.now() - timedelta(days=1))
    newer = starting.start(
        kind="doing", name="b", given={}, corpora=corpora.ParallelCorpus.objects.all(),
        enqueue=False,
    )  # fmt: skip
    reconciling.reconcile({"cpu"})
    assert sent == [newer.pk]
    job.refresh_from_db()
    assert (job.status, job.message) == ("failed", work.COMMAND_ENDED)
    assert job.finished_at


def test_the_same_command_goes_on_with_the_job() -> None:
    job = left()
    assert f"job {job.pk}, it, continues" in command()
    (only,) = TrainingJob.objects.all()
    assert (only.pk, only.status, only.result) == (job.pk, "done", {"done": True})
    assert "continues" not in command()
    assert TrainingJob.objects.count() == 2


@pytest.mark.parametrize("changes", [{"option": ["upto=4"]}, {"name": "other"}])
def test_another_command_begins_a_job_of_its_own(changes: dict[str, Any]) -> None:
    job = left()
    assert "continues" not in command(**changes)
    job.refresh_from_db()
    assert job.status == "running"
    assert TrainingJob.objects.count() == 2


def test_the_same_command_is_refused_while_the_first_lives() -> None:
    job = left()
    with saving.locked(job.folder, job.title), refused("training.job-in-use", CommandError):
        command()
    assert TrainingJob.objects.get().owner == "x.1.1"


def test_the_command_of_another_machine_is_left_alone_while_it_answers() -> None:
    left(worker="manage.py train on elsewhere")
    with refused("training.job-running", CommandError):
        command()
    TrainingJob.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert "continues" in command()


def test_a_worker_finds_the_folder_in_use_and_says_by_whom() -> None:
    job = starting.start(
        kind="doing", name="it", given={}, corpora=corpora.ParallelCorpus.objects.all()
    )
    with saving.locked(job.folder, message("test.other", "another job")):
        run_job(job)
    job.refresh_from_db()
    assert job.status == "failed"
    assert job.message.code == "folder.in-use"
    assert job.message.parameters["holder"].parameters["name"].code == "test.other"


def test_what_failed_goes_on_by_its_number_here_and_on_a_worker() -> None:
    Doing.act = staticmethod(refuse)
    with refusals.refused("command.ended", "test.full", kind=CommandError, name="it"):
        command()
    job = TrainingJob.objects.get()
    call_command("train", resume=job.pk, stdout=StringIO())
    job.refresh_from_db()
    assert (job.status, job.is_here, job.message) == ("queued", False, "")
    run_job(job)
    Doing.act = staticmethod(lambda work: Outcome({"done": True}))
    call_command("train", resume=job.pk, here=True, stdout=StringIO())
    job.refresh_from_db()
    assert (job.status, job.worker) == ("done", work.command_here())


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"resume": 99}, "no-job"),
        ({"resume": 1, "name": "x"}, "resume"),
        ({}, "job-kind"),
    ],
)
def test_wrong_commands(given: dict[str, Any], code: str) -> None:
    with refused(f"command.{code}", CommandError):
        call_command("train", **given)


def test_what_is_done_or_under_way_does_not_go_on() -> None:
    job = starting.start(
        kind="doing", name="it", given={}, corpora=corpora.ParallelCorpus.objects.all()
    )
    with refused("training.job-waits", ValidationError):
        starting.resume(job)
    run_job(job)
    job.refresh_from_db()
    with refused("training.job-done", ValidationError, name="it"):
        starting.resume(job)


def test_the_page_and_the_api_go_on(as_researcher: Client) -> None:
    Doing.act = staticmethod(refuse)
    job = starting.start(
        kind="doing", name="it", given={}, corpora=corpora.ParallelCorpus.objects.all()
    )
    address = job.get_absolute_url()
    assert 'id="resume"' not in as_researcher.get(address).text
    run_job(job)
    assert 'id="resume"' in as_researcher.get(address).text
    for level in ("success", "error"):
        page = as_researcher.post(f"{address}resume/", follow=True)
        assert [each.level_tag for each in page.context["messages"]] == [level]
    starting.cancel(job)
    assert as_researcher.post(f"/api/jobs/{job.pk}/resume/").json()["status"] == "queued"
    again = as_researcher.post(f"/api/jobs/{job.pk}/resume/")
    codes = [each["code"] for each in again.json()["messages"]]
    assert (again.status_code, codes[0]) == (409, "training.job-running")


def test_an_interrupted_command_cancels_and_goes_on() -> None:
    def interrupted(work: Work) -> Outcome:
        raise KeyboardInterrupt

    Doing.act = staticmethod(interrupted)
    with refused("command.job-cancelled", CommandError):
        command()
    assert TrainingJob.objects.get().status == "cancelled"
    Doing.act = staticmethod(lambda work: Outcome({}))
    assert "continues" in command()


def test_a_job_that_is_cancelled_while_it_saves_keeps_a_whole_checkpoint() -> None:
    def cancelled(work: Work) -> Outcome:
        def write(folder: Path) -> None:
            assert starting.cancel(TrainingJob.objects.get())
            (folder / "meta.json").write_text("whole")

        save_whole(work.folder, "last", write)
        work.report({"step": 1})
        return pytest.fail("went on")

    Doing.act = staticmethod(cancelled)
    with refused("command.ended", CommandError, name="it", state="Cancelled"):
        command()
    saved = current(TrainingJob.objects.get().folder, "last")
    assert saved is not None
    assert (saved / "meta.json").read_text() == "whole"


def test_stopping_is_no_failure_here() -> None:
    def stopped(work: Work) -> Outcome:
        raise StoppedError

    Doing.act = staticmethod(stopped)
    with refused("command.ended", CommandError, name="it", state="Queued"):
        command()
