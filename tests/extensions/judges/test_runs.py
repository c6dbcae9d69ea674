"""Runs of judges against a real server: verdicts, what is stored, what is asked again."""

import json
import re
import threading
from collections.abc import Callable
from io import StringIO
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from extensions.judges import report
from extensions.judges.replies import RunContext
from extensions.judges.request_pool import RequestPool
from extensions.judges.scoring.scorer import Judge
from metrics.models import (
    FailedText,
    JudgeReply,
    JudgeSpending,
    MetricRun,
    SegmentScore,
    SegmentSpans,
)
from metrics.runs import saving, starting
from tests.extensions.judges.answers import output_of, score_by_length, scores
from tests.extensions.judges.server import Answer, prompt_of, serving
from tests.metrics.conftest import drain
from tests.world import World

Status = MetricRun.Status


def test_every_text_has_the_score_that_the_server_gave(
    world: World, judge: Callable[..., MetricRun]
) -> None:
    with serving(score_by_length) as server:
        run = drain(judge(server))
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
        first = drain(judge(server))
        n = len(server.seen)
        first.signature.scores.all().delete()  # type: ignore[union-attr]
        again = drain(judge(server))
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
        first = drain(judge(server))
        first.signature.scores.all().delete()  # type: ignore[union-attr]
        server.models = [{"id": "tiny", "created": 1795405398}]
        again = drain(judge(server))
    assert (again.status, again.signature) == (Status.DONE, first.signature)


def test_a_run_that_ends_meanwhile_is_asked_about_no_more(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled over its first text: nothing else is asked, and what is on its way is kept."""
    monkeypatch.setattr(Judge, "first_slice", 1)
    monkeypatch.setattr(saving, "STORE_SECONDS", 0)
    keep, stop, is_stopped = RunContext.store, RequestPool.stop, threading.Event()

    def store(context: RunContext, replies: Any) -> Any:
        tokens = keep(context, replies)
        if len(server.seen) > 1:
            starting.cancel(run)
        return tokens

    def stop_and_tell(pool: RequestPool) -> None:
        stop(pool)
        is_stopped.set()

    def respond(asked: dict[str, Any], times: int) -> Answer:
        if len(server.seen) > 2:  # on its way when the run ends
            assert is_stopped.wait(60)
        return score_by_length(asked, times)

    monkeypatch.setattr(RunContext, "store", store)
    monkeypatch.setattr(RequestPool, "stop", stop_and_tell)
    with serving(respond) as server:
        run = judge(server, endpoint={"connections": 1, "timeout": 120})
        run = drain(run)
    assert run.status == Status.CANCELLED
    assert len(server.seen) == 3  # the probe, the first text, and the one that was on its way
    assert (JudgeReply.objects.count(), SegmentScore.objects.count()) == (3, 1)
    assert JudgeSpending.objects.get(run=run).calls == 3


def test_what_a_report_raises_undoes_no_score(
    judge: Callable[..., MetricRun], monkeypatch: pytest.MonkeyPatch, logged: StringIO
) -> None:
    monkeypatch.setattr(report, "update", Mock(side_effect=RuntimeError("odd")))
    with serving(score_by_length) as server:
        run = drain(judge(server))
    assert (run.status, run.failed) == (Status.DONE, 0)
    assert "The callback of" in logged.getvalue()


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
        run = drain(judge(server, template="error-spans@1", passes=3))
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
        run = drain(judge(server, passes=3))
    assert scores(world)[texts[0]] == 40
    assert np.isnan(scores(world)[texts[1]])
    assert FailedText.objects.get(run=run).error.parameters["count"] == 2


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
        run = drain(judge(server, template="pairwise@1"))
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
        drain(judge(server, template="listwise@1", passes=2))
    found = scores(world)
    for segment in world.test_set.segments.all():
        texts = sorted({output.text for output in segment.outputs.all()})
        if len(texts) == 2 and len(texts[0]) != len(texts[1]):
            assert found[max(texts, key=len)] == 1
            assert found[min(texts, key=len)] == 0
        elif len(texts) < 2:
            assert np.isnan(found[texts[0]])
