"""Stage 4: check and store the answers of one screen: all of them, or none.

Judgments are only ever added. First answers, which most are, are stored on what was just read, and
nothing is read then; the unique constraints and a conditional UPDATE tell if something has changed
since. Then, and for all others, the lock on the assignment makes submits of one item queue, on
PostgreSQL by row and on SQLite by IMMEDIATE transactions; the constraints decide what the lock
cannot see: the same key sent for two items at once.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, Signer
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation import pool
from annotation.campaigns.people import RefusedError, refuse_unless_open
from annotation.judging.answerable import USER, with_texts
from annotation.judging.answers import Answer, check, is_same
from annotation.judging.edits import edits_of
from annotation.judging.saving import ChangedError, counted, is_plain, save, save_plain
from annotation.judging.screens import is_editable
from annotation.judging.timing import least_time, limit_of_rows, times_of
from annotation.models import Annotator, Assignment, Campaign, Judgment
from core.database.prepared import Prepared, placeholder
from core.database.waits import write_lock

Rule = Campaign.SpeedRule
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
START_MAX_AGE = timedelta(days=7)
# Forms that are open or wait offline during an upgrade were signed by the release before: the
# first of these signs, the others are accepted. None is the name of a module, which may change.
START_SALTS = (
    "judgment-start:1",
    "annotation.judging.judgments.start",
    "annotation.judgments.start",
)

START_MISSING = _(
    "The time at which this page was opened is missing or damaged. Submit again to save the score."
)
START_TOO_OLD = _("This page was opened more than 7 days ago. Read the texts again, then submit.")
TOO_LATE = _("This answer can no longer be changed. Your earlier answer is saved.")
KEY_OF_ANOTHER_ITEM = _(
    "This form was already submitted for another item. Submit again to save the score."
)


class TooLateError(RefusedError):
    """The edit window of an answer is over; sending again does not help."""


class TooFastError(RefusedError):
    """Nobody can have read the texts yet. The same answer is accepted after `seconds`."""

    def __init__(self, seconds: int) -> None:
        sentence = ngettext(
            "Please take the time to read: you can submit in %(seconds)s second.",
            "Please take the time to read: you can submit in %(seconds)s seconds.",
            seconds,
        )
        super().__init__(sentence % {"seconds": seconds})
        self.seconds = seconds


class ConflictError(RefusedError):
    """Another answer is stored already; sending with a fresh key and its revision replaces it."""


def issue_start(*, user_id: int, public_id: UUID) -> str:
    """Return a signed start time, in microseconds, good for this user and this item only.

    As fine as the times of judgments: rounded, it could lie before the answer that went before.
    """
    microseconds = (timezone.now() - EPOCH) // timedelta(microseconds=1)
    return _signer(START_SALTS[0], user_id, public_id).sign(str(microseconds))


def read_start(stamp: str, *, user_id: int, public_id: UUID) -> datetime:
    """Return the time that `issue_start` signed; raises ValidationError if forged or too old."""
    try:
        microseconds = int(_unsigned(stamp, user_id, public_id))
    except BadSignature:
        raise ValidationError(START_MISSING, "start-missing") from None
    started_at = EPOCH + timedelta(microseconds=microseconds)
    if timezone.now() - started_at > START_MAX_AGE:
        raise ValidationError(START_TOO_OLD, "start-old")
    return started_at


def _unsigned(stamp: str, user_id: int, public_id: UUID) -> str:
    for salt in START_SALTS[:-1]:
        with suppress(BadSignature):
            return _signer(salt, user_id, public_id).unsign(stamp)
    return _signer(START_SALTS[-1], user_id, public_id).unsign(stamp)


def _signer(salt: str, user_id: int, public_id: UUID) -> Signer:
    return Signer(salt=f"{salt}:{user_id}:{public_id}")


def submit(
    *,
    user: User,
    answers: Sequence[Answer],
    rows: Sequence[Assignment] = (),
    draws_next: bool = True,
) -> list[Judgment]:
    """Store the answers of one screen and return them in order: all, or none.

    `rows` are their assignments as they were just read, with their texts. In a pool the next
    screen is claimed with the answers if `draws_next`. The same key again returns what it stored
    the first time. An answer to a revision older than the current one is refused, so that nobody
    overwrites what they have not seen. Among several, an answer that says what is stored is none:
    who changes one segment of a document revises that one, and times are those of what is new.

    Raises Assignment.DoesNotExist for an item of somebody else, NotOpenError for a campaign that
    takes no answers, TooLateError after the edit window, TooFastError for a first answer before its
    texts can be read where the campaign asks for that, ConflictError where the stored answer
    differs, ValidationError for an answer that its protocol does not allow.
    """
    is_fresh = all(row.completed_at is None and row.released_at is None for row in rows)
    known = {row.public_id: row for row in rows} if is_fresh else {}
    try:
        if known and _rule(rows[0]) == Rule.OFF:
            return _store_first(answers, known, draws_next=draws_next)
        return _store(user, answers, draws_next=draws_next)
    except (IntegrityError, OperationalError, ChangedError):
        # The same key was stored before, or another window claimed the next screen at the same
        # time. Now look first, and store the answer without a claim.
        return _store(user, answers, is_first_try=False)


def _store_first(
    answers: Sequence[Answer], known: Mapping[UUID, Assignment], *, draws_next: bool
) -> list[Judgment]:
    """Store what is rated for the first time. Nothing need be looked for: the constraints tell."""
    stored = _judgments(answers, known, [])
    made = list(zip(stored, answers, strict=True))
    claims = draws_next and pool.has_pool(stored[0].assignment.annotator.campaign)
    with write_lock():
        if not claims and is_plain(made):
            save_plain(stored[0])
            return stored
        with transaction.atomic():
            save(made)
            if claims:
                pool.claim(stored[0].assignment.annotator)
    return stored


def _store(
    user: User, answers: Sequence[Answer], *, is_first_try: bool = True, draws_next: bool = False
) -> list[Judgment]:
    with write_lock(), transaction.atomic():
        assignments = _lock(user, [answer.public_id for answer in answers])
        _queue(list(assignments.values()))
        is_new = is_first_try and all(row.completed_at is None for row in assignments.values())
        earlier = [] if is_new else _stored(assignments.values(), answers)
        stored = _judgments(answers, assignments, earlier)
        new = [each for each in zip(stored, answers, strict=True) if each[0].pk is None]
        _step_back([judgment.assignment_id for judgment, _ in new if judgment.revision > 1])
        save(new)
        if draws_next:
            pool.claim(stored[0].assignment.annotator)
    return stored


def _judgments(
    answers: Sequence[Answer], assignments: Mapping[UUID, Assignment], earlier: Sequence[Judgment]
) -> list[Judgment]:
    """Return what stands for each answer: a judgment of `earlier`, or a new one."""
    sent = [(assignments[answer.public_id], answer) for answer in answers]
    standing = [_standing(*each, earlier, is_alone=len(sent) == 1) for each in sent]
    together = standing.count(None), limit_of_rows(list(assignments.values()))
    pairs = list(zip(standing, sent, strict=True))
    first = [a for judgment, (a, _) in pairs if not (judgment or _current(a, earlier))]
    least = least_time(first) if first and _rule(first[0]) == Rule.SLOW else timedelta(0)
    made = [
        judgment or _make(answer, assignment, _current(assignment, earlier), together, least)
        for judgment, (assignment, answer) in pairs
    ]
    for each in made:
        if each.pk is None and (passed := each.submitted_at - each.started_at) < least:
            raise TooFastError(math.ceil((least - passed).total_seconds()))
    return made


def _rule(row: Assignment) -> str:
    return row.annotator.campaign.speed_rule


def _lock(user: User, public_ids: Sequence[UUID]) -> Mapping[UUID, Assignment]:
    """Lock in one order, so that two submits cannot wait for each other."""
    asked = {placeholder(n): public_id for n, public_id in enumerate(dict.fromkeys(public_ids), 1)}
    found = {row.public_id: row for row in _locked(len(asked)).rows({USER: user.pk, **asked})}
    if len(found) < len(asked):
        raise Assignment.DoesNotExist
    return found


@cache
def _locked(n_items: int) -> Prepared[Assignment]:
    own = with_texts().filter(
        public_id__in=[placeholder(number) for number in range(1, n_items + 1)],
        annotator__user=USER,
    )
    return Prepared(lambda: own.select_for_update(of=("self",)).order_by("pk"))


def _queue(rows: Sequence[Assignment]) -> None:
    """Where speed matters, wait for the annotator's other submits: times must not overlap."""
    if _rule(rows[0]) == Rule.OFF:
        return
    now = Annotator.objects.select_for_update().get(pk=rows[0].annotator_id)
    for row in rows:
        row.annotator.answered_at = now.answered_at


def _standing(
    assignment: Assignment, answer: Answer, earlier: Sequence[Judgment], *, is_alone: bool
) -> Judgment | None:
    """Return the stored judgment that stands for an answer, None where a new one is to be made.

    `earlier` are what the keys stored before, and the current answers.
    """
    check(answer, assignment)
    same_key = next((row for row in earlier if row.submit_key == answer.submit_key), None)
    current = _current(assignment, earlier)
    if same_key is not None:
        return _replay(same_key, answer, assignment, current)
    campaign = assignment.annotator.campaign
    refuse_unless_open(campaign.status)
    if current is not None and answer.seen != current.revision:
        return _settle(current, answer)
    if current is not None and not is_alone and is_same(answer, current):
        return current
    if not is_editable(campaign, assignment):
        raise TooLateError(TOO_LATE)
    return None


def _current(assignment: Assignment, earlier: Iterable[Judgment]) -> Judgment | None:
    """Return the current answer of an assignment, which it then knows loaded."""
    own = (row for row in earlier if row.assignment_id == assignment.pk and row.is_current)
    current = next(own, None)
    if current is not None:
        current.assignment = assignment
    return current


def _stored(rows: Iterable[Assignment], answers: Sequence[Answer]) -> list[Judgment]:
    """Return what the keys stored before and the current answers, with spans, in two queries."""
    keys = [answer.submit_key for answer in answers]
    current = Q(assignment__in=[row.pk for row in rows], is_current=True)
    found = Judgment.objects.filter(Q(submit_key__in=keys) | current)
    kept = ["fates"] if any(row.item.suggestions for row in rows) else []
    return list(found.prefetch_related("spans", *kept))


def _step_back(assignments: Sequence[int]) -> None:
    """The current answers of some assignments make room for newer ones."""
    if assignments:
        own = Judgment.objects.filter(assignment__in=assignments, is_current=True)
        own.update(is_current=False)


def _replay(
    same_key: Judgment, answer: Answer, assignment: Assignment, current: Judgment | None
) -> Judgment:
    if same_key.assignment_id != assignment.pk or current is None:
        raise ConflictError(KEY_OF_ANOTHER_ITEM)
    same_key.assignment = assignment
    return same_key if is_same(answer, same_key) else _settle(current, answer)


def _settle(current: Judgment, answer: Answer) -> Judgment:
    """An unseen answer stands if the new one agrees with it; else the person has to decide."""
    if not is_same(answer, current):
        raise ConflictError(_differs(current, answer))
    return current


def _differs(current: Judgment, answer: Answer) -> str:
    if current.score is None or current.score == answer.score:
        return gettext(
            "You already answered this item differently in another window. "
            "Submit again to replace that answer with this one."
        )
    return gettext(
        "You already rated this item %(old)s in another window. "
        "Submit again to change it to %(new)s."
    ) % {"old": current.score, "new": answer.score}


def _make(
    answer: Answer,
    assignment: Assignment,
    current: Judgment | None,
    together: tuple[int, int],
    least: timedelta,
) -> Judgment:
    """`together` is how many new answers came at once, and the seconds paid at most for them."""
    n_sent, cap = together
    return Judgment(
        assignment=assignment,
        revision=current.revision + 1 if current else 1,
        score=answer.score,
        ratings=dict(answer.ratings),
        choices=dict(answer.choices),
        post_edit=answer.post_edit,
        **edits_of(
            assignment.annotator.campaign.judging,
            assignment.item,
            score=answer.score,
            post_edit=answer.post_edit,
            spans=counted(answer, assignment),
        ),
        comment=answer.comment,
        is_flagged=answer.is_flagged,
        submit_key=answer.submit_key,
        sent_together=n_sent,
        **times_of(
            answer,
            before=assignment.annotator.answered_at,
            now=timezone.now(),
            cap=cap,
            together=n_sent,
            least=least,
        ),
    )
