"""Judgments are only added: never lost, never doubled, never overwritten."""

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.signing import Signer
from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from annotation.campaigns import add_annotators, close_campaign, open_campaign
from annotation.entry.welcome import NotOpenError
from annotation.judging import judgments
from annotation.judging.answerable import with_texts
from annotation.judging.answers import Answer, ChangedError, save_plain
from annotation.models import Annotator, Assignment, Judgment
from tests.refusals import refused
from tests.world import World, make_world


def opened(world: World) -> Assignment:
    add_annotators(campaign=world.campaign, users=world.annotators)
    world.campaign = open_campaign(campaign=world.campaign)
    return Assignment.objects.filter(annotator__user=world.annotators[0]).order_by("position")[0]


def submit(world: World, assignment: Assignment, score: int, **changes: object) -> Judgment:
    given: dict[str, object] = {
        "public_id": assignment.public_id,
        "score": score,
        "submit_key": uuid.uuid4(),
        "started_at": timezone.now() - timedelta(seconds=5),
        "seen": 0,
    }
    user = changes.pop("user", world.annotators[0])
    answer = Answer(**(given | changes))  # type: ignore[arg-type]
    (judgment,) = judgments.submit(user=user, answers=[answer])  # type: ignore[arg-type]
    return judgment


def test_first_answer(world: World) -> None:
    assignment = opened(world)
    judgment = submit(world, assignment, 0)
    assignment.refresh_from_db()
    assert (judgment.score, judgment.revision, judgment.is_current) == (0, 1, True)
    assert assignment.completed_at == judgment.submitted_at
    assert judgment.submitted_at - judgment.started_at >= timedelta(seconds=5)


def test_a_first_answer_stands_alone_where_nothing_changed_meanwhile(world: World) -> None:
    assignment = opened(world)
    row = with_texts().get(pk=assignment.pk)
    judgment = judgments.submit(user=world.annotators[0], answers=[answer_to(row)], rows=[row])[0]
    assert row.completed_at == judgment.submitted_at
    stored = Assignment.objects.select_related("annotator").get(pk=row.pk)
    assert {stored.completed_at, stored.annotator.answered_at} == {judgment.submitted_at}


@pytest.mark.parametrize("changed", ["completed_at", "released_at"])
def test_a_row_that_changed_after_it_was_read_stores_nothing(world: World, changed: str) -> None:
    row = with_texts().get(pk=opened(world).pk)
    Assignment.objects.filter(pk=row.pk).update(**{changed: timezone.now()})
    made = Judgment(assignment=row, score=50, submit_key=uuid.uuid4(), submitted_at=timezone.now())
    with pytest.raises(ChangedError), transaction.atomic():
        save_plain(made)
    assert not Judgment.objects.exists()
    assert Annotator.objects.get(pk=row.annotator_id).answered_at is None


def test_a_key_that_is_stored_changes_nothing_else(world: World) -> None:
    first = opened(world)
    judgment = submit(world, first, 50)
    row = with_texts().filter(annotator=first.annotator_id, completed_at=None)[0]
    answers = [answer_to(row, submit_key=judgment.submit_key)]
    with refused("rating.other-item", kind=judgments.ConflictError):
        judgments.submit(user=world.annotators[0], answers=answers, rows=[row])
    row.refresh_from_db()
    assert row.completed_at is None
    assert Annotator.objects.get(pk=row.annotator_id).answered_at == judgment.submitted_at


def answer_to(row: Assignment, **changes: object) -> Answer:
    began = timezone.now() - timedelta(seconds=5)
    given = {"score": 50, "submit_key": uuid.uuid4(), "started_at": began, "seen": 0}
    return Answer(public_id=row.public_id, **(given | changes))  # type: ignore[arg-type]


def test_the_same_key_is_one_judgment(world: World) -> None:
    assignment, key = opened(world), uuid.uuid4()
    first = submit(world, assignment, 50, submit_key=key)
    assert submit(world, assignment, 50, submit_key=key).pk == first.pk
    assert Judgment.objects.count() == 1
    with refused("rating.score-differs", kind=judgments.ConflictError, old=50):
        submit(world, assignment, 60, submit_key=key)
    assert Judgment.objects.get().score == 50


def test_a_revision_keeps_the_old_value(world: World) -> None:
    assignment = opened(world)
    submit(world, assignment, 50)
    submit(world, assignment, 70, seen=1)
    rows = Judgment.objects.order_by("revision").values_list("score", "revision", "is_current")
    assert list(rows) == [(50, 1, False), (70, 2, True)]


def test_what_was_not_seen_is_not_overwritten(world: World) -> None:
    assignment = opened(world)
    submit(world, assignment, 50)
    with refused("rating.score-differs", kind=judgments.ConflictError, old=50):
        submit(world, assignment, 40)
    assert submit(world, assignment, 50).revision == 1  # the same answer is no conflict
    assert submit(world, assignment, 40, seen=1).revision == 2


@pytest.mark.parametrize("score", [-1, 101, 99999999999, 55.5, True, "50"])
def test_wrong_scores_never_reach_the_table(world: World, score: object) -> None:
    assignment = opened(world)
    with refused("rating.not-a-percentage"):
        submit(world, assignment, score)  # type: ignore[arg-type]
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("score", [-1001, 1001])
def test_the_database_refuses_them_too(world: World, score: int) -> None:
    assignment = opened(world)
    with pytest.raises(IntegrityError), transaction.atomic():
        Judgment.objects.create(assignment=assignment, score=score, submit_key=uuid.uuid4())


def test_the_database_refuses_a_second_current_one(world: World) -> None:
    assignment = opened(world)
    Judgment.objects.create(assignment=assignment, score=1, submit_key=uuid.uuid4())
    with pytest.raises(IntegrityError), transaction.atomic():
        Judgment.objects.create(assignment=assignment, score=2, revision=2, submit_key=uuid.uuid4())
    with pytest.raises(IntegrityError), transaction.atomic():
        Judgment.objects.create(
            assignment=assignment, score=2, revision=2, is_current=False, submit_key=uuid.uuid4(),
            started_at=timezone.now(), submitted_at=timezone.now() - timedelta(seconds=1),
        )  # fmt: skip


def test_only_ones_own_items_and_open_campaigns(world: World) -> None:
    assignment = opened(world)
    with pytest.raises(Assignment.DoesNotExist):
        submit(world, assignment, 50, user=world.outsider)
    close_campaign(campaign=world.campaign)
    with refused("rating.closed", kind=NotOpenError):
        submit(world, assignment, 50)
    assert not Judgment.objects.exists()


def test_a_key_serves_one_item(world: World) -> None:
    assignment, key = opened(world), uuid.uuid4()
    other = Assignment.objects.filter(annotator=assignment.annotator, position=1).get()
    submit(world, assignment, 50, submit_key=key)
    with refused("rating.other-item", kind=judgments.ConflictError):
        submit(world, other, 50, submit_key=key)
    assert Judgment.objects.count() == 1


def test_starts_are_signed_bound_and_age(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assignment = opened(world)
    user, item = world.annotators[0].pk, assignment.public_id
    stamp = judgments.issue_start(user_id=user, public_id=item)
    assert timezone.now() - judgments.read_start(stamp, user_id=user, public_id=item) < timedelta(
        seconds=60
    )
    for wrong_user, wrong_item, wrong in [
        (user + 1, item, stamp),
        (user, uuid.uuid4(), stamp),
        (user, item, "0" + stamp[1:]),
        (user, item, ""),
    ]:
        with refused("rating.start-missing"):
            judgments.read_start(wrong, user_id=wrong_user, public_id=wrong_item)
    monkeypatch.setattr(judgments, "START_MAX_AGE", timedelta(seconds=-1))
    with refused("rating.start-too-old"):
        judgments.read_start(stamp, user_id=user, public_id=item)


@pytest.mark.parametrize(
    "salt", ["annotation.judging.judgments.start", "annotation.judgments.start"]
)
def test_a_form_that_an_earlier_release_signed_is_accepted(world: World, salt: str) -> None:
    user, item = world.annotators[0].pk, opened(world).public_id
    stamp = Signer(salt=f"{salt}:{user}:{item}").sign("1")
    with refused("rating.start-too-old"):
        judgments.read_start(stamp, user_id=user, public_id=item)


def in_threads(action: Callable[[int], object], n: int = 8) -> list[object]:
    """Call `action` from n threads at once; returns results and exceptions."""
    results: list[object] = [None] * n
    gate = threading.Barrier(n)

    def call(number: int) -> None:
        gate.wait()
        try:
            results[number] = action(number)
        except Exception as error:
            results[number] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=call, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.fixture
def shared_world(transactional_db: None) -> World:
    return make_world()


def test_the_same_submit_from_eight_windows_at_once(shared_world: World) -> None:
    assignment, key = opened(shared_world), uuid.uuid4()
    results = in_threads(lambda _: submit(shared_world, assignment, 33, submit_key=key).pk)
    assert len(set(results)) == 1, results
    assert list(Judgment.objects.values_list("score", "is_current")) == [(33, True)]


def test_one_key_for_many_items_at_once_is_stored_once(shared_world: World) -> None:
    first, key = opened(shared_world), uuid.uuid4()
    rows = list(first.annotator.assignments.order_by("position")[:8])
    results = in_threads(lambda number: submit(shared_world, rows[number], 5, submit_key=key))
    stored = [result for result in results if isinstance(result, Judgment)]
    refused = [result for result in results if isinstance(result, judgments.ConflictError)]
    assert (len(stored), len(refused)) == (1, 7), results
    assert Judgment.objects.get().assignment_id == stored[0].assignment_id


def test_revisions_at_once_leave_no_gap(shared_world: World) -> None:
    """Everyone confirms what the others stored until their own answer is in."""
    assignment = opened(shared_world)

    def insist(number: int) -> Judgment:
        while True:
            current = assignment.judgments.filter(is_current=True).first()
            seen = current.revision if current else 0
            try:
                return submit(shared_world, assignment, 10 + number, seen=seen)
            except judgments.ConflictError:
                continue

    results = in_threads(insist)
    assert all(isinstance(result, Judgment) for result in results), results
    rows = list(assignment.judgments.order_by("revision"))
    assert [row.revision for row in rows] == list(range(1, 9))
    assert sorted(row.score for row in rows) == list(range(10, 18))
    assert [row.is_current for row in rows] == [False] * 7 + [True]


def test_different_submits_at_once_leave_one_answer(shared_world: World) -> None:
    assignment = opened(shared_world)
    results = in_threads(lambda number: submit(shared_world, assignment, 10 + number))
    stored = [result for result in results if isinstance(result, Judgment)]
    refused = [result for result in results if isinstance(result, judgments.ConflictError)]
    assert (len(stored), len(refused)) == (1, 7), results
    assert list(Judgment.objects.values_list("score", "revision", "is_current")) == [
        (stored[0].score, 1, True)
    ]
