"""Runs of judges against a real server: verdicts, faults, budgets, connections, death."""

import json
import re
import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from metrics import catalogue
from metrics.families.judges import client
from metrics.families.judges.crew import Crew
from metrics.families.judges.scorer import Judge
from metrics.judges import report, spending
from metrics.judges.connections import Connections, account
from metrics.judges.replies import RunDesk
from metrics.judges.spending import Budget
from metrics.models import (
    FailedText,
    JudgeConnection,
    JudgeReply,
    JudgeSpending,
    MetricRun,
    MetricSignature,
    SegmentScore,
    SegmentSpans,
)
from metrics.runs import scoring, slices, starting, streaming
from metrics.scores import load_scores
from tests.metrics.conftest import reread, work_off
from tests.metrics.judges.server import KEY, Answer, Server, prompt_of, serving
from tests.world import World

Status = MetricRun.Status


def output_of(asked: dict[str, Any]) -> str:
    """The translation that a question of the built-in templates shows."""
    return re.search(r"to judge:\n(.*)\n", prompt_of(asked))[1]  # type: ignore[index]


def score_by_length(asked: dict[str, Any], times: int) -> Answer:
    if "to judge" not in prompt_of(asked):  # the probe
        return Answer('{"score": 50}')
    return Answer(json.dumps({"score": len(output_of(asked)) % 101}))


@pytest.fixture
def judge(world: World, settings: Any) -> Callable[..., MetricRun]:
    """Configure a judge at a server and start a run of it."""

    def start(server: Server, budget: Budget = spending.NO_LIMIT, **given: Any) -> MetricRun:
        fields = given.pop("endpoint", {})
        settings.JUDGE_ENDPOINTS = [server.endpoint(**fields)]
        options = {"endpoint": "local", "model": "tiny", "template": "direct-assessment@1"} | given
        if catalogue.find("judge-a") is None:
            catalogue.configure(family="judge", name="judge-a", label="Judge A", options=options)
        started = starting.start(
            test_set=world.test_set, metrics=["judge-a"], enqueue=False, budget=budget
        )
        assert not started.refused, started.refused
        return started.runs[0]

    return start


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(scoring, "RETRY_SECONDS", 0.0)


def scores(world: World, column: int = 0) -> dict[str, float]:
    """The scores by text."""
    signature = MetricSignature.objects.get(metric="judge-a")
    systems = list(world.test_set.systems.all())
    outputs = [output for system in systems for output in system.outputs.all()]
    rows = load_scores(signature, systems, [output.content_key for output in outputs])
    return {each.text: row[column] for each, row in zip(outputs, rows, strict=True)}


def test_every_text_has_the_score_that_the_server_gave(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    with serving(score_by_length) as server:
        run = work_off(judge(server))
    assert (run.status, run.failed) == (Status.DONE, 0)
    assert run.signature is not None
    assert "|served:tiny org/tiny|" in run.signature.signature
    assert "|output:schema|" in run.signature.signature
    found = scores(world)
    assert found
    assert found == {text: len(text) % 101 for text in found}
    asked = server.seen[-1]
    assert asked["response_format"]["json_schema"]["strict"] is True
    assert (asked["temperature"], asked["seed"], asked["model"]) == (0.0, 1, "tiny")


def test_a_second_judge_of_the_same_words_asks_nothing(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    with serving(score_by_length) as server:
        first = work_off(judge(server))
        n = len(server.seen)
        first.signature.scores.all().delete()  # type: ignore[union-attr]
        again = work_off(judge(server))
        assert len(server.seen) == n
    row = JudgeSpending.objects.get(run=again)
    assert (row.calls, row.reread, row.tokens) == (0, again.done, 0)
    assert again.status == Status.DONE


def test_a_model_that_is_always_new_stays_the_same(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    """llama.cpp and vLLM say when they were asked where others say when a model was made."""
    with serving(score_by_length) as server:
        server.models = [{"id": "tiny", "created": 1795405397}]
        first = work_off(judge(server))
        first.signature.scores.all().delete()  # type: ignore[union-attr]
        server.models = [{"id": "tiny", "created": 1795405398}]
        again = work_off(judge(server))
    assert (again.status, again.signature) == (Status.DONE, first.signature)


def bad(**fields: Any) -> Callable[[dict[str, Any], int], Answer]:
    """A server that answers badly about one text, whenever it is asked."""

    def respond(asked: dict[str, Any], times: int) -> Answer:
        is_one = "to judge" in prompt_of(asked) and output_of(asked) == bad.text  # type: ignore[attr-defined]
        return Answer(**fields) if is_one else score_by_length(asked, times)

    return respond


FAULTS = {
    "refused": ({"refusal": "I cannot help with that."}, "Refused: “I cannot help"),
    "filtered": ({"content": "", "finish_reason": "content_filter"}, "Refused: the server's"),
    "cut": ({"content": '{"score": 8', "finish_reason": "length"}, "Cut: the reply is longer"),
    "half JSON": ({"raw": '{"choices": [{"mess'}, "Unreadable: the reply is no JSON"),
    "other schema": ({"content": '{"rating": 80}'}, "Unreadable: it has no “score”"),
    "too much": ({"content": '{"score": 850}'}, "Unreadable: the score 850 is not between"),
    "other language": ({"content": "Die Bewertung ist gut."}, "Unreadable: it is no number"),
    "empty": ({"content": ""}, "Unreadable: the reply is empty"),
    "words": ({"content": "I cannot help with that."}, "Unreadable: it is no number"),
    "of the text": ({"status": 400, "raw": "{}"}, "Unreadable: the reply has status 400"),
    "no object": ({"raw": "[1]"}, "Unreadable: the reply is no JSON"),
}


@pytest.mark.parametrize(("fields", "why"), FAULTS.values(), ids=FAULTS)
def test_an_unusable_reply_is_asked_for_once_more_and_then_missing(
    world: World, judge: Callable[..., MetricRun], fields: dict[str, Any], why: str
) -> None:
    bad.text = world.test_set.systems.first().outputs.first().text  # type: ignore[attr-defined, union-attr]
    with serving(bad(**fields)) as server:
        run = work_off(judge(server))
        about = [each for each in server.seen if f"judge:\n{bad.text}\n" in prompt_of(each)]  # type: ignore[attr-defined]
    assert (run.status, run.failed, len(about)) == (Status.DONE, 1, 2)
    failed = FailedText.objects.get(run=run)
    assert failed.output.text == bad.text  # type: ignore[attr-defined]
    assert failed.error.startswith(why)
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
        run = work_off(judge(server))
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
        run = work_off(judge(server, endpoint={"timeout": 0.3, "connections": 4}))
        assert server.most_open <= run.total + 4
    assert (run.status, run.failed) == (Status.DONE, 0)
    assert {text: len(text) % 101 for text in scores(world)} == scores(world)
    assert JudgeSpending.objects.get(run=run).lost == run.total
    assert set(JudgeConnection.objects.values_list("holder", flat=True)) == {""}


def test_no_connection_waits_for_the_end_of_a_slice(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first text is answered once one from behind its slice is asked about."""
    monkeypatch.setattr(Judge, "first_slice", 2)
    is_further = threading.Event()

    def respond(asked: dict[str, Any], times: int) -> Answer:
        if "to judge" in prompt_of(asked):
            if len({prompt_of(each) for each in server.seen}) > 3:  # the probe, and a slice
                is_further.set()
            assert is_further.wait(60)
        return score_by_length(asked, times)

    with serving(respond) as server:
        run = work_off(judge(server, endpoint={"connections": 3, "timeout": 120}))
    assert (run.status, run.done, run.failed) == (Status.DONE, run.total, 0)
    worker = run.workers.get()
    assert (worker.segments, run.slices.count()) == (run.total, 0)


def test_a_run_that_ends_meanwhile_is_asked_about_no_more(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled over its first text: what is answered stays, and nothing else is asked."""
    monkeypatch.setattr(Judge, "first_slice", 1)
    monkeypatch.setattr(streaming, "STORE_SECONDS", 0)
    keep, stop, is_stopped = RunDesk.store, Crew.stop, threading.Event()

    def store(desk: RunDesk, replies: Any) -> Any:
        tokens = keep(desk, replies)
        if len(server.seen) > 1:
            assert starting.cancel(run)
        return tokens

    def stop_and_tell(crew: Crew) -> None:
        stop(crew)
        is_stopped.set()

    def respond(asked: dict[str, Any], times: int) -> Answer:
        if len(server.seen) > 2:  # on its way when the run ends
            assert is_stopped.wait(60)
        return score_by_length(asked, times)

    monkeypatch.setattr(RunDesk, "store", store)
    monkeypatch.setattr(Crew, "stop", stop_and_tell)
    with serving(respond) as server:
        run = judge(server, endpoint={"connections": 1, "timeout": 120})
        run = work_off(run)
        assert len(server.seen) <= 3
    assert run.status == Status.CANCELLED
    assert (JudgeReply.objects.count(), SegmentScore.objects.count()) == (2, 1)


@pytest.mark.parametrize(
    ("status", "raw"), [(401, f"bad key {KEY}"), (404, "no such model"), (302, ""),
                        (429, '{"error": {"code": "insufficient_quota"}}')],
)  # fmt: skip
def test_what_does_not_pass_ends_the_run_and_shows_no_key(
    judge: Callable[..., MetricRun],
    status: int,
    raw: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("LOCAL_KEY", KEY)
    caplog.set_level("DEBUG")

    def respond(asked: dict[str, Any], times: int) -> Answer:
        if "to judge" not in prompt_of(asked):
            return Answer('{"score": 1}')
        return Answer(status=status, raw=raw, headers={"Location": "http://127.0.0.1:1/"})

    with serving(respond) as server:
        run = work_off(judge(server, endpoint={"key_variable": "LOCAL_KEY"}))
        assert server.keys == {f"Bearer {KEY}"}
    assert run.status == Status.FAILED
    assert f"The endpoint local answered {status}" in run.message
    assert KEY not in run.message + caplog.text
    assert not any(KEY in reply.body for reply in JudgeReply.objects.all())
    assert KEY not in run.signature.signature  # type: ignore[union-attr]


def test_a_key_that_comes_back_is_not_kept(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_KEY", KEY)
    with serving(lambda asked, times: Answer(content=f"your key is {KEY}")) as server:
        run = work_off(judge(server, endpoint={"key_variable": "LOCAL_KEY"}))
    assert run.failed
    assert JudgeReply.objects.exists()
    assert not any(KEY in reply.body for reply in JudgeReply.objects.all())
    assert not any(KEY in failed.error for failed in FailedText.objects.all())


def test_a_budget_is_never_exceeded_and_what_was_answered_stays(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    paid = {"prompt_price": 1_000_000.0 - 1, "completion_price": 1.0, "connections": 3}
    with serving(score_by_length) as server:
        run = work_off(judge(server, Budget(money=800.0), endpoint=paid))
        n = len(server.seen)
        row = JudgeSpending.objects.get(run=run)
        assert run.status == Status.FAILED
        assert run.message.startswith("Stopped at the budget.")
        assert 0 < row.money <= 800
        assert 0 < sum(np.isfinite(list(scores(world).values()))) < run.total
        # With more money it goes on, and pays for the rest alone.
        again = work_off(judge(server, Budget(money=1e6), endpoint=paid))
        assert again.status == Status.DONE
        assert len(server.seen) - n == again.total - again.reused


def test_a_budget_is_spent_by_one_process_at_a_time(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the connections are free for a second worker, the budget is not."""
    keep, seen = RunDesk.keep_connections, []

    def look(desk: RunDesk) -> None:
        JudgeConnection.objects.filter(endpoint="local", number__gt=1).update(
            holder="", expires_at="2000-01-01T00:00:00Z"
        )
        other = account(run.pk)
        seen.append((other.take(), Connections(desk.endpoint).take()))
        keep(desk)

    monkeypatch.setattr(RunDesk, "keep_connections", look)
    with serving(score_by_length) as server:
        run = judge(server, Budget(tokens=10**6), endpoint={"connections": 4})
        assert work_off(run).status == Status.DONE
    assert seen[0] == (0, 2)
    assert account(run.pk).take() == 1


def test_without_a_budget_nobody_waits(judge: Callable[..., MetricRun]) -> None:
    with serving(score_by_length) as server:
        run = work_off(judge(server))
    assert not JudgeConnection.objects.filter(endpoint=f"budget of run {run.pk}").exists()


def test_what_a_report_raises_undoes_no_score(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(report, "update", Mock(side_effect=RuntimeError("odd")))
    with serving(score_by_length) as server:
        run = work_off(judge(server))
    assert (run.status, run.failed) == (Status.DONE, 0)
    assert "could not say what its scores look like" in caplog.text


def test_what_costs_money_does_not_start_without_a_budget(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    with serving(score_by_length) as server, pytest.raises(AssertionError, match="give it a budg"):
        judge(server, endpoint={"completion_price": 2.0})
    assert not MetricRun.objects.exists()


def test_no_more_connections_than_declared_are_open(judge: Callable[..., MetricRun]) -> None:
    with serving(score_by_length) as server:
        work_off(judge(server, endpoint={"connections": 3}))
        assert 1 < server.most_open <= 3
    assert set(JudgeConnection.objects.values_list("holder", flat=True)) == {""}


def test_connections_in_use_elsewhere_are_left_alone(judge: Callable[..., MetricRun]) -> None:
    with serving(score_by_length) as server:
        run = judge(server, endpoint={"connections": 3})
        held = [JudgeConnection(endpoint="local", number=n, holder="other") for n in (0, 1)]
        JudgeConnection.objects.bulk_create(held)
        later = "2999-01-01T00:00:00Z"
        JudgeConnection.objects.update(expires_at=later)
        assert work_off(run).status == Status.DONE
        assert server.most_open == 1


def test_a_private_address_is_refused_unless_it_is_allowed(
    judge: Callable[..., MetricRun],
) -> None:
    with serving(score_by_length) as server:
        run = work_off(judge(server, endpoint={"allow_private": False}))
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
        run = work_off(run)
        assert (run.status, run.failed) == (Status.QUEUED, 0)
        assert "cannot be used now: status 502" in run.message
        is_down[0] = False
        run.slices.update(not_before="2000-01-01T00:00:00Z")
        scoring.forget()
        run = work_off(run)
    assert (run.status, run.failed) == (Status.DONE, 0)


def spans(asked: dict[str, Any], times: int) -> Answer:
    if "to judge" not in prompt_of(asked):
        return Answer('{"errors": []}')
    word = output_of(asked).split()[0]
    passes = asked["seed"]
    error = {"side": "target", "span": word, "context": "", "category": "style"}
    extra = {"side": "target", "span": "not there", "context": "", "category": "other"}
    errors = [error | {"severity": "major"}]
    return Answer(json.dumps({"errors": errors + [extra | {"severity": "minor"}] * (passes == 1)}))


def test_spans_are_stored_beside_the_scores(world: World, judge: Callable[..., MetricRun]) -> None:
    with serving(spans) as server:
        run = work_off(judge(server, template="error-spans@1", passes=3))
    assert run.status == Status.DONE
    assert set(scores(world).values()) == {(-6 - 5 - 5) / 3}
    assert set(np.round(list(scores(world, 1).values()), 6)) == {round(3**-0.5, 6)}
    rows = SegmentSpans.objects.filter(signature=run.signature)
    assert rows.count() == run.total
    for row in rows:
        # The other error was named by one pass of three.
        assert [span[:5] for span in row.spans] == [
            ["target", 0, row.spans[0][2], "major", "style"]
        ]
        assert row.spans[0][5] == 1.0
    report = JudgeSpending.objects.get(run=run).report
    assert report["flawless"] == 0
    assert [each["severity"] for each in report["severities"]] == ["minor", "major", "critical"]
    assert report["served"] == [["tiny-2026", run.total * 3 + 1]]  # the probe, too


def test_of_three_passes_one_may_be_unusable_and_two_may_not(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    texts = [o.text for o in world.test_set.systems.first().outputs.all()[:2]]  # type: ignore[union-attr]

    def respond(asked: dict[str, Any], times: int) -> Answer:
        if "to judge" in prompt_of(asked):
            is_first = asked["seed"] == 1
            if output_of(asked) == texts[0] and is_first:
                return Answer(content="no")
            if output_of(asked) == texts[1] and not is_first:
                return Answer(content="no")
        return Answer('{"score": 40}')

    with serving(respond) as server:
        run = work_off(judge(server, passes=3))
    assert scores(world)[texts[0]] == 40
    assert np.isnan(scores(world)[texts[1]])
    assert "(2 of 3 replies)" in FailedText.objects.get(run=run).error


def pairs(asked: dict[str, Any], times: int) -> Answer:
    """The longer one is better, and A where they are as long."""
    found = re.search(
        r"Translation A \(.*?\):\n(.*)\n\nTranslation B \(.*?\):\n(.*)\n\n", prompt_of(asked)
    )
    if found is None:
        return Answer('{"better": "A"}')
    a, b = map(len, found.groups())
    return Answer(json.dumps({"better": "B" if b > a else "A"}))


def test_pairs_are_asked_in_both_orders(world: World, judge: Callable[..., MetricRun]) -> None:
    with serving(pairs) as server:
        run = work_off(judge(server, template="pairwise@1"))
    found = scores(world)
    for segment in world.test_set.segments.all():
        texts = sorted({output.text for output in segment.outputs.all()})
        for text in texts:
            others = [other for other in texts if other != text]
            if not others:
                assert np.isnan(found[text])
                continue
            won = [0.5 + 0.5 * np.sign(len(text) - len(other)) for other in others]
            assert found[text] == pytest.approx(np.mean(won))
    assert "|outputs:" in run.signature.signature  # type: ignore[union-attr]
    # Each ordered pair was asked once, though both of its outputs need it.
    prompts = [prompt_of(each) for each in server.seen]
    assert len(prompts) == len(set(prompts))


def lists(asked: dict[str, Any], times: int) -> Answer:
    texts = dict(re.findall(r"^([A-Z]): (.*)$", prompt_of(asked), re.MULTILINE))
    if not texts:
        return Answer('{"ranks": {"A": 1, "B": 2}}')
    order = sorted({len(text) for text in texts.values()}, reverse=True)
    return Answer(json.dumps({"ranks": {a: order.index(len(t)) + 1 for a, t in texts.items()}}))


def test_lists_place_an_output_among_all(world: World, judge: Callable[..., MetricRun]) -> None:
    with serving(lists) as server:
        work_off(judge(server, template="listwise@1", passes=2))
    found = scores(world)
    for segment in world.test_set.segments.all():
        texts = sorted({output.text for output in segment.outputs.all()})
        if len(texts) == 2 and len(texts[0]) != len(texts[1]):
            assert found[max(texts, key=len)] == 1
            assert found[min(texts, key=len)] == 0
        elif len(texts) < 2:
            assert np.isnan(found[texts[0]])


def test_a_server_without_schemas_is_asked_without(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    def respond(asked: dict[str, Any], times: int) -> Answer:
        if "response_format" in asked:
            return Answer(status=400, raw='{"error": "response_format is not supported"}')
        return Answer("Score: 71/100")

    with serving(respond) as server:
        run = work_off(judge(server))
    assert "|output:plain|" in run.signature.signature  # type: ignore[union-attr]
    assert set(scores(world).values()) == {71}


def test_the_estimate_follows_what_was_seen(world: World, judge: Callable[..., MetricRun]) -> None:
    with serving(score_by_length) as server:
        run = work_off(judge(server, endpoint={"completion_price": 1e6}, budget=Budget(money=1e9)))
        info = catalogue.get("judge-a")
        found = spending.estimate(info, world.test_set)
    assert found is not None
    row = JudgeSpending.objects.get(run=run)
    assert found.is_seen
    assert found.calls == run.total
    # The probe was counted, too.
    assert found.tokens == pytest.approx(row.tokens, rel=0.1)
    assert found.money == pytest.approx(5 * run.total)


def test_a_worker_without_endpoint_or_key_takes_nothing(
    judge: Callable[..., MetricRun], settings: Any
) -> None:
    with serving(score_by_length) as server:
        run = judge(server, endpoint={"key_variable": "SURELY_NOT_SET"})
        assert work_off(run).status == Status.QUEUED
        assert server.seen == []
    settings.JUDGE_ENDPOINTS = []
    assert reread(run).status == Status.QUEUED
    assert work_off(run).status == Status.QUEUED


def test_a_server_that_refuses_everything_is_given_up(judge: Callable[..., MetricRun]) -> None:
    def respond(asked: dict[str, Any], times: int) -> Answer:
        return Answer(refusal="No.")

    with serving(respond) as server:
        run = work_off(judge(server))
    assert run.status == Status.FAILED
    assert "Refused: “No.”" in run.message


def test_a_new_run_tries_what_was_missing_once_more_and_ends_well(
    world: World, judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad.text = max((o.text for s in world.test_set.systems.all() for o in s.outputs.all()), key=len)  # type: ignore[attr-defined]
    with serving(score_by_length) as server:
        server.respond = bad(refusal="No.")
        first = work_off(judge(server))
        monkeypatch.setattr(slices, "HOPELESS", 1)
        again = work_off(judge(server))
        assert (first.status, first.failed) == (again.status, again.failed) == (Status.DONE, 1)
        about = [each for each in server.seen if f"judge:\n{bad.text}\n" in prompt_of(each)]  # type: ignore[attr-defined]
        assert len(about) == 4
        server.respond = score_by_length
        last = work_off(judge(server))
    assert (last.status, last.failed, last.done) == (Status.DONE, 0, last.total)
