"""Jobs: done once, by whoever claims them; stopped, killed and wrong ones end as they should."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from metrics import catalogue
from metrics.options import Option
from tests.metrics.families.neural import small
from training import corpora, jobs, kinds, working
from training.kinds import JobError, Kind, NewMetric, Outcome, StoppedError, Work
from training.models import ParallelCorpus, TrainingJob
from training.parallel import Row, read_pairs


class Counting:
    """What the fake kind does: each test sets `act`."""

    act: Callable[[Work], Outcome]


def run(work: Work) -> Outcome:
    return Counting.act(work)


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Iterator[None]:
    settings.TRAINED_DIR = tmp_path
    kind = Kind(
        key="counting",
        label="Counting",
        description="Counts pairs.",
        path="tests.training.test_jobs:run",
        queue="cpu",
        needs_corpus=True,
        options=(Option("upto", "Up to", "integer", 3, minimum=1),),
    )
    monkeypatch.setitem(kinds.KINDS, "counting", kind)
    Counting.act = staticmethod(lambda work: Outcome({"pairs": len(work.corpora[0].pairs)}))
    return iter([None])


@pytest.fixture
def corpus(db: None) -> ParallelCorpus:
    rows = read_pairs("c.tsv", b"one\teins\ntwo\tzwei\n")
    return corpora.add(name="small", source_language="en", target_language="de", rows=rows)


def start(corpus: ParallelCorpus, **given: Any) -> TrainingJob:
    return jobs.start(
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
    working.work_off(job.pk, worker="a")
    Counting.act = staticmethod(lambda work: pytest.fail("done twice"))
    working.work_off(job.pk, worker="b")
    done = reread(job)
    assert (done.status, done.result, done.worker) == ("done", {"pairs": 2}, "a")


def test_its_metric_is_in_the_catalogue(corpus: ParallelCorpus, tmp_path: Path) -> None:
    encoder = small.bert(tmp_path / "bert", ["the harbour"])
    options = {"checkpoint": str(encoder), "layer": 1}
    metric = NewMetric("bertscore", "Trained", options)
    Counting.act = staticmethod(lambda work: Outcome({}, metric))
    job = start(corpus)
    working.work_off(job.pk, worker="a")
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
    job = jobs.start(kind="counting", name=name, given={}, corpora=[corpus], enqueue=False)
    working.work_off(job.pk, worker="a")
    assert (reread(job).status, reread(job).message) == ("done", "")


def test_a_metric_that_cannot_be_registered_fails_the_job(corpus: ParallelCorpus) -> None:
    Counting.act = staticmethod(lambda work: Outcome({}, NewMetric("bertscore", "Bad", {})))
    job = start(corpus)
    working.work_off(job.pk, worker="a")
    assert (reread(job).status, reread(job).metric) == ("failed", None)


def test_cancelling_stops_the_worker_at_its_next_report(corpus: ParallelCorpus) -> None:
    def act(work: Work) -> Outcome:
        work.report({"step": 1, "total": 2})
        assert jobs.cancel(TrainingJob.objects.get())
        work.report({"step": 2, "total": 2})
        return pytest.fail("went on")

    Counting.act = staticmethod(act)
    job = start(corpus)
    working.work_off(job.pk, worker="a")
    stopped = reread(job)
    assert (stopped.status, stopped.progress) == ("cancelled", {"step": 1, "total": 2})


def test_a_worker_that_leaves_hands_the_job_back(corpus: ParallelCorpus) -> None:
    Counting.act = staticmethod(lambda work: work.report({}))  # type: ignore[arg-type,return-value]
    job = start(corpus)
    working.work_off(job.pk, worker="a", should_stop=lambda: True)
    waiting = reread(job)
    assert (waiting.status, waiting.attempts) == ("queued", 0)


def test_a_silent_worker_loses_the_job(corpus: ParallelCorpus) -> None:
    def act(work: Work) -> Outcome:
        past = timezone.now() - timedelta(seconds=120)
        TrainingJob.objects.update(heartbeat_at=past)
        jobs.requeue_stale()
        raise StoppedError

    Counting.act = staticmethod(act)
    job = start(corpus)
    working.work_off(job.pk, worker="a")
    assert (reread(job).status, reread(job).attempts) == ("queued", 1)


def test_what_waits_in_a_queue_is_handed_out_oldest_first(
    corpus: ParallelCorpus, monkeypatch: Any
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(jobs, "hand_out", lambda job: sent.append(job.pk))
    first, second = start(corpus), start(corpus)
    assert not jobs.hand_out_next({"gpu"})
    assert jobs.hand_out_next({"cpu", "gpu"})
    working.work_off(first.pk, worker="a")
    assert jobs.hand_out_next({"cpu"})
    assert sent == [first.pk, second.pk]
    jobs.cancel(second)
    assert not jobs.hand_out_next({"cpu"})


def test_a_job_that_kills_its_workers_is_given_up(corpus: ParallelCorpus) -> None:
    job = start(corpus)
    TrainingJob.objects.update(attempts=working.MAX_ATTEMPTS)
    working.work_off(job.pk, worker="a")
    assert reread(job).message == "Given up after 5 attempts."


def test_what_cannot_be_done_says_why(corpus: ParallelCorpus) -> None:
    def act(work: Work) -> Outcome:
        raise JobError("Too few pairs: 2 of 100.")

    Counting.act = staticmethod(act)
    job = start(corpus)
    working.work_off(job.pk, worker="a")
    assert (reread(job).status, reread(job).message) == ("failed", "Too few pairs: 2 of 100.")


@pytest.mark.parametrize(
    ("given", "message"),
    [({"upto": 0}, "at least 1"), ({"upto": "x"}, "whole number"), ({"down": 1}, "no setting")],
)
def test_wrong_settings_are_named(corpus: ParallelCorpus, given: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        start(corpus, **given)


def test_a_corpus_and_a_name_are_needed(corpus: ParallelCorpus) -> None:
    with pytest.raises(ValidationError, match="corpus"):
        jobs.start(kind="counting", name="x", given={})
    for name in ("!", "ﬃ" * 16):
        with pytest.raises(ValidationError, match="name"):
            jobs.start(kind="counting", name=name, given={}, corpora=[corpus])
    with pytest.raises(ValidationError, match="kind"):
        jobs.start(kind="flying", name="x", given={})
