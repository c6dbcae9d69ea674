from datetime import timedelta

import pytest
from django.utils import timezone

from core.work import claims, working
from tests.core.work.conftest import Errand, Errands, errands

pytestmark = pytest.mark.django_db
Kind = type[Errands]


def reread(row: Errand) -> Errand:
    return Errand.objects.get(pk=row.pk)


def taken() -> Errand:
    row = working.take(errands)
    assert row is not None
    return row


def test_a_row_is_taken_once(kind: Kind) -> None:
    row = Errand.objects.create()
    twin = reread(row)
    assert claims.claim(row)
    assert not claims.claim(twin)
    assert working.take(errands) is None


def test_the_larger_priority_goes_first_then_the_oldest(kind: Kind) -> None:
    rows = [Errand.objects.create(priority=priority) for priority in (0, 5, 0)]
    assert [taken() for _ in rows] == [rows[1], rows[0], rows[2]]


def test_what_is_not_due_or_not_served_waits(kind: Kind) -> None:
    later = timezone.now() + timedelta(hours=1)
    Errand.objects.create(not_before=later)
    Errand.objects.create(requires="host:another one")
    assert working.take(errands) is None
    here = Errand.objects.create(requires=next(iter(errands.serves())))
    assert working.take(errands, working.due(errands, {"gpu"})) is None
    assert working.take(errands, working.due(errands, {"cpu"})) == here


def test_a_row_that_was_cancelled_is_nobodys(kind: Kind) -> None:
    Errand.objects.create()
    row = taken()
    assert claims.hold(row)
    assert claims.cancel(Errand.objects.all()) == 1
    assert not claims.hold(row)
    assert not claims.finish(row)
    assert not claims.give_back(row)
    assert not claims.fail(row, "too late")
    assert (reread(row).status, reread(row).message, kind.ends) == ("cancelled", "", [])


def test_what_another_has_taken_since_is_not_finished(kind: Kind) -> None:
    Errand.objects.create()
    first = taken()
    claims.give_back(first)
    second = taken()
    assert not claims.finish(first)
    assert claims.finish(second)
    assert reread(first).status == "done"


def test_giving_back_counts_no_attempt_and_a_retry_does(kind: Kind) -> None:
    Errand.objects.create()
    claims.give_back(taken(), message="stopping")
    row = taken()
    assert (row.attempts, row.message) == (0, "stopping")
    claims.retry(row, "one")
    claims.retry(taken(), "two")
    assert kind.ends == []
    claims.retry(taken(), "three")
    row = reread(row)
    assert (row.status, row.attempts, row.message, row.owner) == ("failed", 3, "three", "")
    assert kind.ends == [row.pk]


def test_a_retry_may_be_put_off(kind: Kind) -> None:
    Errand.objects.create()
    claims.retry(taken(), "busy", seconds=60)
    row = Errand.objects.get()
    assert 30 < (row.not_before - timezone.now()).total_seconds() <= 60
    assert working.take(errands) is None


def test_what_has_ended_can_be_asked_for_again(kind: Kind) -> None:
    row = Errand.objects.create()
    claims.fail(taken(), "no")
    assert claims.ask([row]) == 1
    again = taken()
    assert (again.attempts, again.message) == (0, "")
    assert claims.ask([row]) == 0
    assert claims.finish(again, times=7)
    assert (reread(row).status, reread(row).times) == ("done", 7)
