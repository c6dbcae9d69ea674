import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from pathlib import Path
from threading import Barrier, Event
from types import SimpleNamespace

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from core.database import waits
from core.work import claims, kinds, processes, reconciling, sending, working
from core.work.kinds import LOST, Lease
from tests.core.work.conftest import Errand, Errands, errands

Kind = type[Errands]


def act(monkeypatch: pytest.MonkeyPatch, action: object) -> None:
    monkeypatch.setattr(Errands, "act", staticmethod(action))


@pytest.mark.django_db
def test_rows_are_worked_off(kind: Kind) -> None:
    Errand.objects.bulk_create(Errand() for _ in range(3))
    assert working.drain(errands) == 3
    assert set(Errand.objects.values_list("status", "times")) == {("done", 1)}


@pytest.mark.django_db
def test_a_kind_gives_way_to_what_it_kept_waiting(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It rests after each row for eight times as long as others had it wait, but not for ever."""
    waits, rests = iter([0.0, 3.0, 3.0, 103.0, 103.0]), list[float]()
    rested = list[float]()

    def rest(seconds: float) -> bool:
        rests.append(seconds)
        return True

    act(monkeypatch, lambda *_: rested.append(sum(rests)))
    monkeypatch.setattr(processes, "waited", lambda: next(waits))
    monkeypatch.setattr(processes, "rest", rest)
    monkeypatch.setattr(Errands, "gives_way", 60.0)
    Errand.objects.bulk_create(Errand() for _ in range(2))
    assert working.drain(errands) == 2
    assert (rested, sum(rests)) == ([0.0, 24.0], 84.0)


@pytest.mark.django_db
def test_an_urgent_row_ends_a_rest(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody rests while it waits, and whoever rests looks again."""
    looks, rests = iter([False, False, True, True]), list[float]()
    waits = iter([0.0, 100.0, 100.0, 200.0, 200.0])

    def rest(seconds: float) -> bool:
        rests.append(seconds)
        return True

    monkeypatch.setattr(processes, "waited", lambda: next(waits))
    monkeypatch.setattr(processes, "rest", rest)
    monkeypatch.setattr(Errands, "gives_way", 60.0)
    monkeypatch.setattr(Errands, "is_urgent", lambda self, rows: next(looks))
    Errand.objects.bulk_create(Errand() for _ in range(2))
    assert working.drain(errands) == 2
    assert rests == [working.LOOK_SECONDS] * 2
    assert not list(looks)


def test_only_a_child_rests_and_not_once_its_worker_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    naps = list[float]()
    monkeypatch.setattr(processes._Self, "is_child", False)
    monkeypatch.setattr(processes.time, "sleep", naps.append)
    assert not processes.rest(1e9)
    monkeypatch.setattr(processes._Self, "is_child", True)
    stops = iter([False, False, True])
    monkeypatch.setattr(processes, "is_stopping", lambda: next(stops))
    assert not processes.rest(1e9)
    assert naps == [processes.MOMENT, processes.MOMENT]


@pytest.mark.django_db
def test_an_error_is_tried_again_and_then_final(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, logged: StringIO
) -> None:
    def fail(row: Errand, lease: Lease) -> None:
        raise ZeroDivisionError("by nothing")

    act(monkeypatch, fail)
    Errand.objects.create()
    assert working.drain(errands) == 3
    row = Errand.objects.get()
    assert (row.status, row.times, row.message.code) == ("failed", 3, "work.unexpected")
    assert row.message.parameters == {"kind": "ZeroDivisionError", "text": "by nothing"}
    assert kind.ends == [row.pk]
    assert "errand" in logged.getvalue()


@pytest.mark.django_db
def test_an_interrupt_gives_the_row_back(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(row: Errand, lease: Lease) -> None:
        raise KeyboardInterrupt

    act(monkeypatch, interrupt)
    Errand.objects.create()
    with pytest.raises(KeyboardInterrupt):
        working.drain(errands)
    row = Errand.objects.get()
    assert (row.status, row.attempts) == ("queued", 0)


@pytest.mark.django_db
def test_a_database_that_stays_away_leaves_the_row_to_its_expiry(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(row: Errand, lease: Lease) -> None:
        raise OperationalError("no route to host")

    act(monkeypatch, lose)
    monkeypatch.setattr(waits, "DATABASE_RETRIES", ())
    Errand.objects.create()
    with pytest.raises(OperationalError):
        working.drain(errands)
    assert Errand.objects.get().status == "running"


@pytest.mark.django_db
def test_a_worker_that_stops_takes_nothing_more(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopping = [False, True]
    monkeypatch.setattr(processes, "is_stopping", lambda: stopping.pop(0))
    Errand.objects.bulk_create(Errand() for _ in range(3))
    assert working.drain(errands) == 1


@pytest.mark.django_db(transaction=True)
def test_what_is_asked_for_is_done_in_place_once_it_is_stored(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work that asks for more work of its kind makes no deeper stack."""
    depth: list[int] = []

    def ask_for_more(row: Errand, lease: Lease) -> None:
        depth.append(len(depth))
        if len(depth) < 4:
            claims.ask([Errand.objects.create()])
            assert len(depth) < 4
            assert Errand.objects.filter(status="running").count() == 1

    act(monkeypatch, ask_for_more)
    with transaction.atomic():
        claims.ask([Errand.objects.create()])
        assert Errand.objects.get().status == "queued"
    assert list(Errand.objects.values_list("status", "times")) == [("done", 1)] * 4


@pytest.mark.django_db(transaction=True)
def test_many_at_once_do_everything_once(kind: Kind) -> None:
    Errand.objects.bulk_create(Errand() for _ in range(40))
    go = Barrier(6)

    def work() -> int:
        go.wait()
        try:
            return working.drain(errands)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        shares = [pool.submit(work) for _ in range(6)]
    assert sum(share.result() for share in shares) == 40
    assert set(Errand.objects.values_list("status", "times")) == {("done", 1)}


@pytest.mark.django_db(transaction=True)
def test_the_claim_is_kept_up_and_its_loss_is_noticed(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work waits for its first sign of life, is cancelled, and ended by force at last."""
    monkeypatch.setattr(kinds, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(kind, "end_seconds", lambda kind, row: 0.0)
    beats, forced = Event(), Event()
    hold = claims.hold

    def watched(row: Errand) -> bool:
        held = hold(row)
        beats.set()
        return held

    def wait(row: Errand, held: Lease) -> None:
        assert beats.wait(60)
        assert not held.should_stop
        claims.cancel(Errand.objects.all())
        assert forced.wait(60)
        assert held.is_lost
        assert held.should_stop

    monkeypatch.setattr(claims, "hold", watched)
    monkeypatch.setattr(processes, "end_now", lambda reason: forced.set())
    act(monkeypatch, wait)
    Errand.objects.create()
    assert working.drain(errands) == 1
    assert Errand.objects.get().status == "cancelled"


@pytest.mark.django_db
def test_what_does_not_move_is_ended(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    monkeypatch.setattr(processes, "end_now", ended.append)
    Errand.objects.create()
    row = working.take(errands)
    assert row is not None
    held = Lease(errands, row)
    monkeypatch.setattr(Errands, "hang_seconds", 0.0)
    held._beat()
    monkeypatch.setattr(Errands, "hang_seconds", 3600.0)
    held.progress()
    held._beat()
    assert ended == [f"errand {row.pk} has not moved for 0 s"]


# --- Reconciliation ---


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    messages: list[tuple[int, str]] = []

    def send(kind: object, pk: int, queue: str) -> bool:
        messages.append((pk, queue))
        return True

    monkeypatch.setattr(sending, "send", send)
    return messages


@pytest.mark.django_db
def test_a_message_that_was_lost_is_sent_again(kind: Kind, sent: list[tuple[int, str]]) -> None:
    past = timezone.now() - timedelta(seconds=4)
    never, long_ago = Errand.objects.create(), Errand.objects.create(sent_at=past)
    Errand.objects.create(sent_at=timezone.now() + timedelta(hours=1))
    Errand.objects.create(queue="gpu")
    assert reconciling.reconcile({"cpu"}, has_room=False) == 0
    assert reconciling.reconcile({"cpu"}) == 2
    assert sent == [(never.pk, "cpu"), (long_ago.pk, "cpu")]
    assert reconciling.reconcile({"cpu"}) == 0


@pytest.mark.django_db
def test_no_more_messages_are_tried_where_the_broker_takes_none(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    monkeypatch.setattr(sending, "send", lambda kind, pk, queue: bool(tried.append(pk)))
    Errand.objects.bulk_create(Errand() for _ in range(3))
    assert reconciling.reconcile({"cpu"}) == 0
    assert len(tried) == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("args", "named", "done"),
    [
        (["errand", 1], {}, 1),
        (["errand", 1, "cpu"], {"priority": 3}, 1),
        (["telepathy", 1], {}, 0),
    ],
)
def test_messages_of_another_version_do_no_harm(
    kind: Kind, args: list[object], named: dict[str, object], done: int
) -> None:
    Errand.objects.create()
    assert working.work.apply(args=args, kwargs=named).successful()
    assert Errand.objects.filter(status="done").count() == done
    assert Errand.objects.filter(status__in=["done", "queued"]).count() == 1


@pytest.mark.django_db
def test_a_claim_that_ran_out_is_freed(kind: Kind, sent: list[tuple[int, str]]) -> None:
    row = Errand.objects.create()
    assert working.take(errands) == row
    reconciling.reconcile({"cpu"})
    assert Errand.objects.get().status == "running"
    Errand.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    reconciling.reconcile({"cpu"})
    row = Errand.objects.get()
    assert (row.status, row.attempts) == ("queued", 1)
    assert row.message == LOST


CLAIM = """
import sys
from core.work import processes
print(processes.new_owner(), flush=True)
sys.stdin.read()
"""


def claimant() -> tuple[subprocess.Popen[str], str]:
    """Start another worker's process, which has made a claim, and return the claim's name."""
    process = subprocess.Popen(
        [sys.executable, "-c", CLAIM],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def is_freed(owner: str) -> bool:
    """Return True if the next reconciliation frees a row that was claimed under a name."""
    Errand.objects.all().delete()
    Errand.objects.create()
    assert working.take(errands) is not None
    Errand.objects.update(owner=owner)
    reconciling.reconcile()
    return Errand.objects.get().status == "queued"


@pytest.mark.django_db
def test_what_a_process_here_held_is_freed_as_soon_as_it_has_ended(kind: Kind) -> None:
    """Not while it lives, whichever worker it belongs to; a zombie has ended."""
    process, owner = claimant()
    assert not is_freed(owner)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_freed(owner)
    process.communicate()
    assert is_freed(owner)


@pytest.mark.django_db
def test_a_process_that_took_the_id_of_another_does_not_keep_its_rows(kind: Kind) -> None:
    owner = processes.new_owner()
    node, pid, start, number = owner.split(".")
    assert not is_freed(owner)
    assert is_freed(f"{node}.{pid}.{int(start) - 1}.{number}")


@pytest.mark.django_db
def test_nobody_frees_what_is_held_elsewhere(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container of the same name on the same kernel counts its own processes."""
    process, owner = claimant()
    process.communicate()
    node, rest = owner.split(".", 1)
    elsewhere = list[str]()
    read, link = Path.read_text, os.readlink
    with monkeypatch.context() as patch:
        patch.setattr(os, "readlink", lambda path: link(path) + ("1" if "pid" in path else ""))
        elsewhere.append(processes.process_space())
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", lambda path: read(path) + "another boot")
        elsewhere.append(processes.process_space())
    with monkeypatch.context() as patch:
        patch.setattr(processes.socket, "gethostname", lambda: "another host")
        elsewhere.append(processes.process_space())
    assert len({*elsewhere, node[:12]}) == 4
    assert [is_freed(f"{place}{node[12:]}.{rest}") for place in elsewhere] == [False] * 3
    assert not is_freed("0123456789abcdef.1.0")  # as earlier versions named claims
    assert is_freed(owner)


@pytest.mark.django_db
def test_one_kind_that_fails_holds_up_no_other(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, logged: StringIO
) -> None:
    def fail(self: Errands) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr(Errands, "tidy", fail)
    assert reconciling.reconcile() == 0
    assert "errand is looked after again" in logged.getvalue()


def test_messages_that_nobody_gets_become_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a worker with room sends, and where it takes nothing it waits ever longer."""
    now, rooms = [1000.0], []
    # Not the clock of the whole process: other threads would see it, too.
    monkeypatch.setattr(reconciling, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def reconcile(queues: object, *, has_room: bool) -> int:
        rooms.append(has_room)
        return int(has_room)

    monkeypatch.setattr(reconciling, "reconcile", reconcile)
    monkeypatch.setattr(reconciling.state, "reserved_requests", set())
    monkeypatch.setattr(reconciling.state, "total_count", {"work": 1})
    reconciler = reconciling.Reconciler({"cpu"}, slots=1)
    for _ in range(8):
        reconciler.round()
        now[0] += 2
    assert rooms == [True, True, False, True, False, False, False, True]
    monkeypatch.setattr(reconciling.state, "total_count", {"work": 2})
    reconciler.round()
    assert rooms[-1]
    monkeypatch.setattr(reconciling.state, "reserved_requests", {object()})
    now[0] += 1000
    reconciler.round()
    assert not rooms[-1]
