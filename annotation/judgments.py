"""Stage 4: check and store one answer.

Judgments are only ever added. The lock on the assignment makes submits of one item queue, on
PostgreSQL by row and on SQLite by IMMEDIATE transactions; the unique constraints decide what the
lock cannot see: the same key sent for two items at once.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, Signer
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from annotation.models import Assignment, Campaign, Judgment
from annotation.models.judgment import MAX_SCORE

START_MAX_AGE = timedelta(days=7)

START_MISSING = "The start time of this page is missing or damaged. Submit again to save the score."
START_TOO_OLD = (
    "This page was opened more than 7 days ago. Read the texts once more, then submit again."
)
NOT_YET_OPEN = "This campaign is not open yet."
CLOSED = "This campaign is closed and takes no more ratings. What you rated before is saved."
KEY_OF_ANOTHER_ITEM = "This form was already sent for another item. Submit again to save the score."


class RefusedError(Exception):
    """An answer that was not stored, with the sentence that says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class NotOpenError(RefusedError):
    """The campaign takes no answers; sending again does not help."""


class ConflictError(RefusedError):
    """Another answer is stored already; sending with a fresh key and its revision replaces it."""


def issue_start(*, user_id: int, public_id: UUID) -> str:
    """Return a signed start time, in milliseconds, good for this user and this item only."""
    return _signer(user_id, public_id).sign(str(round(timezone.now().timestamp() * 1000)))


def read_start(stamp: str, *, user_id: int, public_id: UUID) -> datetime:
    """Return the time that `issue_start` signed; raises ValidationError if forged or too old."""
    try:
        milliseconds = int(_signer(user_id, public_id).unsign(stamp))
    except BadSignature:
        raise ValidationError(START_MISSING) from None
    started_at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    if timezone.now() - started_at > START_MAX_AGE:
        raise ValidationError(START_TOO_OLD)
    return started_at


def _signer(user_id: int, public_id: UUID) -> Signer:
    return Signer(salt=f"annotation.judgments.start:{user_id}:{public_id}")


def refuse_unless_open(status: str) -> None:
    """Raise NotOpenError unless a campaign with this status takes answers."""
    if status != Campaign.Status.OPEN:
        raise NotOpenError(NOT_YET_OPEN if status == Campaign.Status.DRAFT else CLOSED)


def submit(
    *,
    user: User,
    public_id: UUID,
    score: int,
    submit_key: UUID,
    started_at: datetime,
    seen: int,
) -> Judgment:
    """Store an answer and return it; the same key again returns what it stored the first time.

    `seen` is the revision that the person had in front of them, 0 for none: an answer to an
    older one is refused, so that nobody overwrites what they have not seen.

    Raises Assignment.DoesNotExist for an item of somebody else, NotOpenError for a campaign that
    takes no answers, ConflictError where the stored answer differs, ValidationError for a score
    that is no whole number from 0 to 100.
    """
    if type(score) is not int or not 0 <= score <= MAX_SCORE:
        raise ValidationError(f"A score is a whole number from 0 to {MAX_SCORE}, not {score!r}.")
    answer = Judgment(score=score, submit_key=submit_key, started_at=started_at)
    try:
        return _store(user, public_id, answer, seen)
    except IntegrityError:
        # The same key was stored between our look and our insert; now it can be seen.
        return _store(user, public_id, answer, seen)


@transaction.atomic
def _store(user: User, public_id: UUID, answer: Judgment, seen: int) -> Judgment:
    answer.assignment = assignment = _lock(user, public_id)
    same_key, current = _stored(assignment, answer.submit_key)
    if same_key is not None:
        return _replay(same_key, answer, current)
    refuse_unless_open(assignment.annotator.campaign.status)
    if current is not None and seen != current.revision:
        return _settle(current, answer)
    return _add(answer, current)


def _lock(user: User, public_id: UUID) -> Assignment:
    return (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("annotator__campaign")
        .get(public_id=public_id, annotator__user=user)
    )


def _stored(assignment: Assignment, key: UUID) -> tuple[Judgment | None, Judgment | None]:
    """Return what the key stored before, and the current answer, in one query."""
    rows = list(
        Judgment.objects.filter(Q(submit_key=key) | Q(assignment=assignment, is_current=True))
    )
    same_key = next((row for row in rows if row.submit_key == key), None)
    current = next(
        (row for row in rows if row.assignment_id == assignment.pk and row.is_current), None
    )
    return same_key, current


def _replay(same_key: Judgment, answer: Judgment, current: Judgment | None) -> Judgment:
    if same_key.assignment_id != answer.assignment_id or current is None:
        raise ConflictError(KEY_OF_ANOTHER_ITEM)
    if same_key.score != answer.score:
        return _settle(current, answer)
    same_key.assignment = answer.assignment
    return same_key


def _settle(current: Judgment, answer: Judgment) -> Judgment:
    """An unseen answer stands if the new one agrees with it; else the person has to decide."""
    if current.score != answer.score:
        raise ConflictError(
            f"You already rated this item {current.score} in another window. "
            f"Submit again to change it to {answer.score}."
        )
    current.assignment = answer.assignment
    return current


def _add(answer: Judgment, current: Judgment | None) -> Judgment:
    # The clocks of two web servers may differ by a moment.
    answer.submitted_at = max(timezone.now(), answer.started_at or timezone.now())
    if current is not None:
        answer.revision = current.revision + 1
        Judgment.objects.filter(pk=current.pk).update(is_current=False)
    answer.save(force_insert=True)
    if answer.assignment.completed_at is None:
        answer.assignment.completed_at = answer.submitted_at
        answer.assignment.save(update_fields=["completed_at"])
    return answer
