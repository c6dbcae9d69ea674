"""What goes wrong at an endpoint: faults that pass, end a run, or leave a text without a score."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import numpy as np
import pytest

from extensions.judges import client
from extensions.judges.scoring.scorer import Judge
from metaeval.messages import message
from metrics.base import MetricError, UnfinishedError
from metrics.models import (
    FailedText,
    JudgeConnection,
    JudgeReply,
    JudgeSpending,
    MetricRun,
    Slice,
)
from metrics.runs import scoring, slices
from tests.extensions.judges.answers import bad, score_by_length, scores
from tests.extensions.judges.server import KEY, Answer, prompt_of, serving
from tests.metrics.conftest import drain, reread
from tests.world import World

Status = MetricRun.Status


FAULTS = {
    "refused": ({"refusal": "I cannot help with that."}, "reply.refused"),
    "filtered": ({"content": "", "finish_reason": "content_filter"}, "reply.filtered"),
    "cut": ({"content": '{"score": 8', "finish_reason": "length"}, "reply.truncated"),
    "half JSON": ({"raw": '{"choices": [{"mess'}, "reply.not-json"),
    "other schema": ({"content": '{"rating": 80}'}, "reply.no-key"),
    "too much": ({"content": '{"score": 850}'}, "reply.score-range"),
    "other language": ({"content": "Die Bewertung ist gut."}, "reply.not-a-number"),
    "empty": ({"content": ""}, "reply.empty"),
    "words": ({"content": "I cannot help with that."}, "reply.not-a-number"),
    "of the text": ({"status": 400, "raw": "{}"}, "reply.status"),
    "no object": ({"raw": "[1]"}, "reply.not-json"),
}


@pytest.mark.parametrize(("fields", "why"), FAULTS.values(), ids=FAULTS)
def test_an_unusable_reply_is_asked_for_once_more_and_then_missing(
    world: World, judge: Callable[..., MetricRun], fields: dict[str, Any], why: str
) -> None:
    bad.text = world.test_set.systems.first().outputs.first().text  # type: ignore[attr-defined, union-attr]
    with serving(bad(**fields)) as server:
        run = drain(judge(server))
        about = [each for each in server.seen if f"judge:\n{bad.text}\n" in prompt_of(each)]  # type: ignore[attr-defined]
    assert (run.status, run.failed, len(about)) == (Status.DONE, 1, 2)
    failed = FailedText.objects.get(run=run)
    assert failed.output.text == bad.text  # type: ignore[attr-defined]
    problem = failed.error.parameters.get("problem", failed.error)
    assert problem.code == why
    assert np.isnan(scores(world)[bad.text])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "fault",
    [{"status": 500}, {"status": 429, "headers": {"Retry-After": "0"}}, {"is_cut": True},
     {"status": 408}, {"status": 503, "headers": {"Retry-After": "Mon, 01 Jan 2024 00:00:00 GMT"}}],
)  # fmt: skip
def test_what_passes_is_tried_again_and_nothing_is_missing(
    world: World, judge: Callable[..., MetricRun], fault: dict[str, Any]
) -> None:
    def respond(asked: dict[str, Any], times: int) -> Answer:
        return score_by_length(asked, times) if times else Answer(content="{}", **fault)

    with serving(respond) as server:
        run = drain(judge(server))
    assert (run.status, run.failed) == (Status.DONE, 0)
    assert {text: len(text) % 101 for text in scores(world)} == scores(world)
    lost = JudgeSpending.objects.get(run=run).lost
    assert (lost > 0) == ("is_cut" in fault)


@pytest.mark.parametrize("slow", [{"wait": 30}, {"pace": 0.02}], ids=["silent", "trickling"])
def test_a_reply_has_its_seconds_however_it_comes(
    world: World, judge: Callable[..., MetricRun], slow: dict[str, Any]
) -> None:
    """Bytes that keep coming, each in time, make no reply that came in time."""

    def respond(asked: dict[str, Any], times: int) -> Answer:
        if times or "to judge" not in prompt_of(asked):
            return score_by_length(asked, times)
        return Answer('{"score": 1}', headers={"X": "x"}, **slow)

    with serving(respond) as server:
        run = drain(judge(server, endpoint={"timeout": 0.3, "connections": 4}))
        assert server.most_open <= run.total + 4
    assert (run.status, run.failed) == (Status.DONE, 0)
    assert {text: len(text) % 101 for text in scores(world)} == scores(world)
    assert JudgeSpending.objects.get(run=run).lost == run.total
    assert set(JudgeConnection.objects.values_list("holder", flat=True)) == {""}


@pytest.mark.parametrize(
    ("status", "raw"), [(401, f"bad key {KEY}"), (404, "no such model"), (302, ""),
                        (429, '{"error": {"code": "insufficient_quota"}}')],
)  # fmt: skip
def test_what_does_not_pass_ends_the_run_and_shows_no_key(
    judge: Callable[..., MetricRun],
    status: int,
    raw: str,
    monkeypatch: pytest.MonkeyPatch,
    logged: StringIO,
) -> None:
    monkeypatch.setenv("LOCAL_KEY", KEY)

    def respond(asked: dict[str, Any], times: int) -> Answer:
        if "to judge" not in prompt_of(asked):
            return Answer('{"score": 1}')
        return Answer(status=status, raw=raw, headers={"Location": "http://127.0.0.1:1/"})

    with serving(respond) as server:
        run = drain(judge(server, endpoint={"key_variable": "LOCAL_KEY"}))
        assert server.keys == {f"Bearer {KEY}"}
    assert run.status == Status.FAILED
    assert run.message.parameters["status"] == str(status)
    assert KEY not in str(run.message) + logged.getvalue()
    assert not any(KEY in reply.body for reply in JudgeReply.objects.all())
    assert KEY not in run.signature.signature  # type: ignore[union-attr]


@pytest.mark.parametrize("status", [401, 500])
def test_an_endpoint_that_never_answers_ends_the_run(
    judge: Callable[..., MetricRun], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Already while the judge is loaded: no host would fare better."""
    monkeypatch.setattr(client, "TRIES", 2)
    with serving(lambda asked, times: Answer(status=status, raw="no")) as server:
        run = judge(server)
        for _ in range(2 * slices.MAX_LOADS):
            scoring.forget()
            run = drain(run)
        n_calls = len(server.seen)
    assert run.status == Status.FAILED
    assert str(status) in str(run.message)
    assert n_calls <= 2 * slices.MAX_LOADS


def test_a_judge_that_fails_at_first_is_not_paid_for_more(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "HOPELESS", 3)
    monkeypatch.setattr(Judge, "first_slice", 3)
    with serving(lambda asked, times: Answer("I cannot help with that.")) as server:
        run = drain(judge(server))
        asked = [each for each in server.seen if "to judge" in prompt_of(each)]
    assert run.total > 3
    assert run.status == Status.FAILED
    assert len(asked) == 2 * 3
    assert Judge.first_slice == slices.HOPELESS


def test_a_key_that_comes_back_is_not_kept(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_KEY", KEY)
    with serving(lambda asked, times: Answer(content=f"your key is {KEY}")) as server:
        run = drain(judge(server, endpoint={"key_variable": "LOCAL_KEY"}))
    assert run.failed
    assert JudgeReply.objects.exists()
    assert not any(KEY in reply.body for reply in JudgeReply.objects.all())
    assert not any(KEY in str(failed.error) for failed in FailedText.objects.all())


def test_a_private_address_is_refused_unless_it_is_allowed(
    judge: Callable[..., MetricRun],
) -> None:
    with serving(score_by_length) as server:
        run = drain(judge(server, endpoint={"allow_private": False}))
        assert server.seen == []
    assert run.status != Status.DONE


def test_a_server_that_is_down_holds_nothing_against_the_texts(
    world: World, judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "TRIES", 2)
    is_down = [True]

    def respond(asked: dict[str, Any], times: int) -> Answer:
        if is_down[0] and "to judge" in prompt_of(asked):
            return Answer(status=502, raw="")
        return score_by_length(asked, times)

    with serving(respond) as server:
        run = judge(server)
        monkeypatch.setattr(scoring, "RETRY_SECONDS", 1000.0)
        run = drain(run)
        assert (run.status, run.failed) == (Status.QUEUED, 0)
        assert "status 502" in str(run.message)
        is_down[0] = False
        run.slices.update(not_before="2000-01-01T00:00:00Z")
        scoring.forget()
        run = drain(run)
    assert (run.status, run.failed) == (Status.DONE, 0)


@pytest.mark.parametrize(
    "error",
    [
        UnfinishedError(message("test.busy", "busy"), np.zeros((0, 1)), None, permanent=False),
        MetricError(message("test.problem", "busy"), permanent=False),
    ],
    ids=["unfinished", "not loaded"],
)
def test_each_further_try_comes_twice_as_late(
    monkeypatch: pytest.MonkeyPatch, error: MetricError
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(slices, "put_off", lambda row, message, seconds: waits.append(seconds))
    for attempts in range(3):
        scoring.give_up(Slice(size=10, is_loading=True, attempts=attempts), error)
    assert waits == [waits[0], 2 * waits[0], 4 * waits[0]]
    assert waits[0] > 0


def test_a_server_without_schemas_is_asked_without(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    def respond(asked: dict[str, Any], times: int) -> Answer:
        if "response_format" in asked:
            return Answer(status=400, raw='{"error": "response_format is not supported"}')
        return Answer("Score: 71/100")

    with serving(respond) as server:
        run = drain(judge(server))
    assert "|output:plain|" in run.signature.signature  # type: ignore[union-attr]
    assert set(scores(world).values()) == {71}


def test_a_worker_without_endpoint_or_key_takes_nothing(
    judge: Callable[..., MetricRun], settings: Any
) -> None:
    with serving(score_by_length) as server:
        run = judge(server, endpoint={"key_variable": "SURELY_NOT_SET"})
        assert drain(run).status == Status.QUEUED
        assert server.seen == []
    settings.JUDGE_ENDPOINTS = []
    assert reread(run).status == Status.QUEUED
    assert drain(run).status == Status.QUEUED


def test_a_server_that_refuses_everything_is_given_up(judge: Callable[..., MetricRun]) -> None:
    def respond(asked: dict[str, Any], times: int) -> Answer:
        return Answer(refusal="No.")

    with serving(respond) as server:
        run = drain(judge(server))
    assert run.status == Status.FAILED
    assert run.message.parameters["error"].code == "reply.refused"


def test_a_new_run_tries_what_was_missing_once_more_and_ends_well(
    world: World, judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad.text = max((o.text for s in world.test_set.systems.all() for o in s.outputs.all()), key=len)  # type: ignore[attr-defined]
    with serving(score_by_length) as server:
        server.respond = bad(refusal="No.")
        first = drain(judge(server))
        monkeypatch.setattr(slices, "HOPELESS", 1)
        again = drain(judge(server))
        assert (first.status, first.failed) == (again.status, again.failed) == (Status.DONE, 1)
        about = [each for each in server.seen if f"judge:\n{bad.text}\n" in prompt_of(each)]  # type: ignore[attr-defined]
        assert len(about) == 4
        server.respond = score_by_length
        last = drain(judge(server))
    assert (last.status, last.failed, last.done) == (Status.DONE, 0, last.total)
