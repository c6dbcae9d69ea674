from io import StringIO
from threading import Event

import pytest
from django.db import connections

from core.work import processes
from core.work.processes import Periodic

DEADLINE = 60


def test_it_calls_until_told_to_stop() -> None:
    third, calls = Event(), []

    def action() -> None:
        calls.append(1)
        if len(calls) == 3:
            third.set()

    with Periodic("test", 0.001, action) as thread:
        assert third.wait(DEADLINE)
    assert not thread.is_alive()
    after = len(calls)
    assert len(calls) == after


def test_it_ends_when_the_action_says_so() -> None:
    answers = [True, None, False]
    thread = Periodic("test", 0.001, lambda: answers.pop(0))
    thread.start()
    thread.join(DEADLINE)
    assert not thread.is_alive()
    assert answers == []


def test_an_action_that_fails_is_called_again(logged: StringIO) -> None:
    answers: list[object] = [RuntimeError("database is away"), False]

    def action() -> object:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    thread = Periodic("heartbeat", 0.001, action)
    thread.start()
    thread.join(DEADLINE)
    assert answers == []
    assert "heartbeat failed and is tried again" in logged.getvalue()


def test_its_connection_is_closed_after_every_call_while_no_child_is_forked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[bool] = []
    monkeypatch.setattr(connections, "close_all", lambda: closed.append(processes.forking.locked()))
    answers = [True, False]
    thread = Periodic("test", 0.001, lambda: answers.pop(0))
    thread.start()
    thread.join(DEADLINE)
    assert closed == [True, True]
