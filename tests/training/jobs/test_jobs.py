"""Jobs: done once, by whoever claims them; stopped, killed and wrong ones end as they should."""

import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from benchmarks.gpu import small
from core.work import processes, reconciling, sending, working
from core.work.kinds import LOST
from metaeval.messages import message
from metrics import catalogue
from metrics.options import Option
from tests.refusals import refused
from tests.training.doing import run_job
from training import contract
from training.contract import JobError, NewMetric, Outcome, TrainingKind, Work
from training.jobs import starting
from training.jobs.work import trainings
from training.models import ParallelCorpus, TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row, read_pairs


class Counting:
    """What the fake kind does: each test sets `act`."""

    act: Callable[[Work], Outcome]


def run(work: Work) -> Outcome:
    return Counting.act(work)


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.TRAINED_DIR = tmp_path
    kind = TrainingKind(
        key="counting",
        label="Counting",
        description="Counts pairs.",
        path="tests.training.jobs.test_jobs:run",
        queue="cpu",
        needs_corpus=True,
        options=(Option("upto", "Up to", "integer", 3, minimum=1),),
    )
    monkeypatch.setitem(contract.KINDS, "counting", kind)
    Counting.act = staticmethod(lambda work: Outcome({"pairs": len(work.corpora[0].pairs)}))
    return iter([None])


@pytest.fixture
def corpus(db: None) -> ParallelCorpus:
    rows = read_pairs("c.tsv", b"one\teins\ntwo\tzwei\n")
    return corpora.add(name="small", source_language="en", target_language="de", rows=rows)


def start(corpus: ParallelCorpus, **given: Any) -> TrainingJob:
    return starting.start(
        kind="counting", name="Count it", given=given, corpora=[corpus], enqueue=False
    )


def reread(job: TrainingJob) -> TrainingJob:
    return TrainingJob.objects.get(pk=job.pk)


def test_pairs_read_back_as_uploaded(corpus: ParallelCorpus) -> None:
    assert corpora.pairs_of(corpus) == [("one", "eins"), ("two", "zwei")]
    assert corpus.n_pairs == 2


def test_the_first_pairs_are_those_of_the_whole(db: None) -> None:
    """Also where texts are as long as they may be, in characters of four bytes."""
    rows = [Row(str(n), f"{n}" + "𠀀" * 4_990, f"{n}" + "𠀁" * 4_990) for n in range(30)]
    made = corpora.add(name="long", source_language="zh", target_language="ja", rows=rows)
    assert corpora.first_pairs(made, 20) == corpora.pairs_of(made)[:20]
    assert len(corpora.first_pairs(made, 50)) == 30


def test_a_job_is_done_once(corpus: ParallelCorpus) -> None:
    job = start(corpus)
    run_job(job)
    Counting.act = staticmethod(lambda work: pytest.fail("done twice"))
    done = run_job(job)
    assert (done.status, done.result) == ("done", {"pairs": 2})
    assert done.started_at <= done.finished_at


def test_its_metric_is_in_the_catalogue(corpus: ParallelCorpus, tmp_path: Path) -> None:
    encoder = small.bert(tmp_path / "bert", ["the harbour"])
    options = {"checkpoint": str(encoder), "layer": 1}
    metric = NewMetric("bertscore", "Trained", options)
    Counting.act = staticmethod(lambda work: Outcome({}, metric))
    job = run_job(start(corpus))
    name = f"count-it-{job.pk}"
    assert reread(job).metric == catalogue.ConfiguredMetric.objects.get(name=name)
    assert catalogue.get(name).label == "Trained"


@pytest.mark.parametrize("name", ["Über_all  2", "ﬃ" * 15])
def test_any_name_of_a_job_makes_one_of_a_metric(
    corpus: ParallelCorpus, tmp_path: Path, name: str
) -> None:
    """What was trained for hours must not be lost to what it is called."""
    encoder = small.bert(tmp_path / "bert", ["the harbour"])
    metric = NewMetric("bertscore", "Trained on " * 20, {"checkpoint": str(encoder), "layer": 1})
    Counting.act = staticmethod(lambda work: Outcome({}, metric))
    job = starting.start(kind="counting", name=name, given={}, corpora=[corpus], enqueue=False)
    run_job(job)
    assert (reread(job).status, reread(job).message) == ("done", "")


def test_a_metric_that_cannot_be_registered_fails_the_job(corpus: ParallelCorpus) -> None:
    Counting.act = staticmethod(lambda work: Outcome({}, NewMetric("bertscore", "Bad", {})))
    job = run_job(start(corpus))
    assert (reread(job).status, reread(job).metric) == ("failed", None)


def test_cancelling_stops_the_worker_at_its_next_report(corpus: ParallelCorpus) -> None:
    def act(work: Work) -> Outcome:
        work.report({"step": 1, "total": 2})
        assert starting.cancel(TrainingJob.objects.get())
        work.report({"step": 2, "total": 2})
        return pytest.fail("went on")

    Counting.act = staticmethod(act)
    job = run_job(start(corpus))
    stopped = reread(job)
    assert (stopped.status, stopped.progress) == ("cancelled", {"step": 1, "total": 2})


def test_a_worker_that_leaves_hands_the_job_back(
    corpus: ParallelCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    Counting.act = staticmethod(lambda work: work.report({}))  # type: ignore[arg-type,return-value]
    monkeypatch.setattr(processes, "is_stopping", lambda: True)
    waiting = run_job(start(corpus))
    assert (waiting.status, waiting.attempts) == ("queued", 0)


def test_a_silent_worker_loses_the_job(corpus: ParallelCorpus) -> None:
    def act(work: Work) -> Outcome:
        TrainingJob.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        reconciling.reconcile()
        work.report({"step": 1})
        return pytest.fail("went on")

    Counting.act = staticmethod(act)
    lost = run_job(start(corpus))
    assert (lost.status, lost.attempts) == ("queued", 1)
    assert lost.message == LOST


def test_whoever_lost_the_job_stores_nothing(corpus: ParallelCorpus, tmp_path: Path) -> None:
    def act(work: Work) -> Outcome:
        TrainingJob.objects.update(status="queued", owner="")
        options = {"checkpoint": str(small.bert(tmp_path / "bert", ["the harbour"])), "layer": 1}
        return Outcome({}, NewMetric("bertscore", "Trained", options))

    Counting.act = staticmethod(act)
    lost = run_job(start(corpus))
    assert (lost.status, lost.result) == ("queued", {})
    assert not catalogue.ConfiguredMetric.objects.exists()


def test_lost_messages_are_sent_again_for_what_waits_in_a_queue(
    corpus: ParallelCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(sending, "send", lambda kind, pk, queue: bool(sent.append(pk)))
    first, second, third = start(corpus), start(corpus), start(corpus)
    run_job(first)
    starting.cancel(third)
    reconciling.reconcile({"gpu"})
    assert sent == []
    reconciling.reconcile({"cpu", "gpu"})
    assert sent == [second.pk]


def test_the_oldest_is_taken_first(corpus: ParallelCorpus) -> None:
    jobs = [start(corpus), start(corpus)]
    assert [working.do_one(trainings), working.do_one(trainings)] == jobs
    assert working.do_one(trainings) is None


def test_a_job_that_kills_its_workers_is_given_up(corpus: ParallelCorpus) -> None:
    job = start(corpus)
    running = {"status": "running", "owner": "x.1.1", "attempts": trainings.max_attempts - 1}
    TrainingJob.objects.update(expires_at=timezone.now() - timedelta(seconds=1), **running)
    reconciling.reconcile()
    given_up = reread(job)
    assert (given_up.status, given_up.attempts) == ("failed", 5)
    assert given_up.finished_at


def test_an_unexpected_error_is_final_and_named(corpus: ParallelCorpus, logged: StringIO) -> None:
    def act(work: Work) -> Outcome:
        raise ZeroDivisionError("by nothing")

    Counting.act = staticmethod(act)
    job = run_job(start(corpus))
    assert (job.status, job.message.code) == ("failed", "work.unexpected")
    assert job.message.parameters == {"kind": "ZeroDivisionError", "text": "by nothing"}
    assert "by nothing" in logged.getvalue()


@pytest.mark.parametrize(
    ("lacks", "code", "name"),
    [
        ({"packages": ("no_such_package",)}, "host.missing-package", "no_such_package"),
        ({"checkpoints": lambda chosen: ["no/such"]}, "host.missing-checkpoint", "no/such"),
    ],
)
def test_a_job_waits_for_a_host_that_has_what_it_needs_and_says_so(
    corpus: ParallelCorpus,
    monkeypatch: pytest.MonkeyPatch,
    as_researcher: Client,
    lacks: dict[str, Any],
    code: str,
    name: str,
) -> None:
    able = contract.KINDS["counting"]
    monkeypatch.setitem(contract.KINDS, "counting", replace(able, **lacks))
    job = start(corpus)
    assert working.do_one(trainings) is None
    waiting = reread(job)
    assert waiting.status == "queued"
    assert [each.code for each in waiting.lacking[socket.gethostname()]] == [code]
    assert name in as_researcher.get(job.get_absolute_url()).text
    monkeypatch.setitem(contract.KINDS, "counting", able)
    assert working.do_one(trainings) == job
    assert (reread(job).status, reread(job).lacks) == ("done", {})


FEW = message("test.few", "{n} pairs are too few.", n=2)


def test_what_cannot_be_done_says_why(corpus: ParallelCorpus) -> None:
    def act(work: Work) -> Outcome:
        raise JobError(FEW)

    Counting.act = staticmethod(act)
    job = run_job(start(corpus))
    assert (reread(job).status, reread(job).message) == ("failed", FEW)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"upto": 0}, "option.problem"),
        ({"upto": "x"}, "option.problem"),
        ({"down": 1}, "training.unknown-setting"),
    ],
)
def test_wrong_settings_are_named(corpus: ParallelCorpus, given: Any, code: str) -> None:
    with refused(code):
        start(corpus, **given)


def test_a_corpus_and_a_name_are_needed(corpus: ParallelCorpus) -> None:
    with refused("training.no-corpus"):
        starting.start(kind="counting", name="x", given={})
    for name in ("!", "ﬃ" * 16):
        with refused("training.name-invalid"):
            starting.start(kind="counting", name=name, given={}, corpora=[corpus])
    with refused("training.unknown-kind"):
        starting.start(kind="flying", name="x", given={})
