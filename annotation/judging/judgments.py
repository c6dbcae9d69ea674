"""Stage 4: check and store the answers of one screen, all of them or none.

Judgments are only added. Most are first answers. These are stored without reading again: the unique
constraints and a conditional UPDATE detect changes since the page was read. If something changed,
and for all other answers, a lock on the assignment serialises submits of one item (a row lock in
PostgreSQL, an IMMEDIATE transaction in SQLite). The constraints detect what the lock cannot: the
same key sent for two items at once.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, Signer
from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from annotation import pool
from annotation.entry.welcome import RefusedError, refuse_unless_open
from annotation.judging.answerable import USER, with_texts
from annotation.judging.answers import (
    Answer,
    ChangedError,
    check,
    counted,
    is_plain,
    is_same,
    rated_text,
    save,
    save_plain,
)
from annotation.judging.screens import is_editable
from annotation.judging.timing import least_time, limit_of_rows, times_of
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment
from annotation.protocols import Protocol, Span
from core.database.prepared import Prepared, placeholder
from core.database.waits import write_lock
from metaeval.edits import edit_count
from metaeval.messages import Message, message, plural

# Measure how much of an output a post-edit changed.


def hter(output: str, post_edit: str) -> float:
    """Return the edits from an output to its post-edit in percent of the post-edit's tokens.

    Human-targeted translation edit rate (Snover et al. 2006, section 4): insertions, deletions,
    substitutions and shifts of words; case and punctuation count, and scripts without blanks go by
    character. It exceeds 100 where more was taken away than was left.

    >>> hter("the cat sat on mat", "the cat sat on the mat")
    16.666666666666664
    """
    text, edited = (_tokenizer()(each.rstrip()).split() for each in (output, post_edit))
    edits = edit_count(text, edited)
    return 100 * (edits / len(edited) if edited else float(edits > 0))


@cache
def _tokenizer() -> Any:
    from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

    return TercomTokenizer(normalized=True, asian_support=True, case_sensitive=True)


def edits_of(
    protocol: Protocol,
    item: Item,
    *,
    score: int | None,
    post_edit: str | None,
    spans: Sequence[Span],
) -> dict[str, float | None]:
    """Return HTER, and the penalty of an answer without a score: of its spans, or of its edits.

    `spans` are those of the answer that count.
    """
    edited = None if post_edit is None else hter(rated_text(item), post_edit)
    penalty = protocol.spans.penalty(spans) if protocol.spans else edited
    return {"hter": edited, "penalty": penalty if score is None else None}


Rule = Campaign.SpeedRule
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
START_MAX_AGE = timedelta(days=7)
# The first salt signs; the others are accepted, because forms that are open or wait offline during
# an upgrade were signed by the previous release.
START_SALTS = (
    "judgment-start:1",
    "annotation.judging.judgments.start",
    "annotation.judgments.start",
)

START_MISSING = message(
    "rating.start-missing",
    "The time at which this page was opened is missing or damaged. Submit again to save the score.",
)
START_TOO_OLD = message(
    "rating.start-too-old",
    "This page was opened more than 7 days ago. Read the texts again, then submit.",
)
TOO_LATE = message(
    "rating.too-late", "This rating can no longer be changed. Your earlier rating is saved."
)
KEY_OF_ANOTHER_ITEM = message(
    "rating.other-item",
    "This form was already submitted for another item. Submit again to save the score.",
)


class TooLateError(RefusedError):
    """The edit window of an answer has closed, so sending it again does not help."""


class TooFastError(RefusedError):
    """The answer came faster than anyone can read; it is accepted after `seconds`."""

    def __init__(self, seconds: int) -> None:
        super().__init__(
            plural(
                "rating.too-fast",
                "Please take the time to read: you can submit in {n} second.",
                "Please take the time to read: you can submit in {n} seconds.",
                n=seconds,
            )
        )
        self.seconds = seconds


class ConflictError(RefusedError):
    """Another answer is already stored; sending with a new key and its revision replaces it."""


def issue_start(*, user_id: int, public_id: UUID) -> str:
    """Return a signed start time, in microseconds, valid for this user and this item only.

    It has the precision of judgments: a rounded time could precede the previous answer.
    """
    microseconds = (timezone.now() - EPOCH) // timedelta(microseconds=1)
    return _signer(START_SALTS[0], user_id, public_id).sign(str(microseconds))


def read_start(stamp: str, *, user_id: int, public_id: UUID) -> datetime:
    """Return the time that `issue_start` signed; raises ValidationError if forged or too old."""
    try:
        microseconds = int(_unsigned(stamp, user_id, public_id))
    except BadSignature:
        raise ValidationError([START_MISSING]) from None
    started_at = EPOCH + timedelta(microseconds=microseconds)
    if timezone.now() - started_at > START_MAX_AGE:
        raise ValidationError([START_TOO_OLD])
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

    `rows` are their assignments as just read, with their texts. With `draws_next`, the next screen
    of a pool is claimed in the same transaction. A key that was sent before returns what it stored
    then. An answer to an older revision than the current one is refused, so that nobody overwrites
    an answer that they have not seen. Among several answers, those equal to the stored ones store
    nothing: changing one segment of a document revises only that segment, and times are those of
    new answers.

    Raises Assignment.DoesNotExist for another annotator's item, NotOpenError if the campaign takes
    no answers, TooLateError after the edit window, TooFastError for a first answer faster than
    anyone can read (if the campaign checks that), ConflictError if the stored answer differs, and
    ValidationError for an answer that the protocol does not allow.
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
    """Store first answers without reading again; the constraints detect conflicts."""
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
    """Return the judgment for each answer: one of `earlier`, or a new one."""
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
    """Lock assignments in a fixed order, so that two submits cannot deadlock; return them by id."""
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
    """Wait for the annotator's other submits if speed is checked, so that times do not overlap."""
    if _rule(rows[0]) == Rule.OFF:
        return
    now = Annotator.objects.select_for_update().get(pk=rows[0].annotator_id)
    for row in rows:
        row.annotator.answered_at = now.answered_at


def _standing(
    assignment: Assignment, answer: Answer, earlier: Sequence[Judgment], *, is_alone: bool
) -> Judgment | None:
    """Return the stored judgment for an answer, or None if a new one must be made.

    `earlier` has the judgments that the keys stored before, and the current ones.
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
    """Return the current answer of an assignment, with the assignment set on it."""
    own = (row for row in earlier if row.assignment_id == assignment.pk and row.is_current)
    current = next(own, None)
    if current is not None:
        current.assignment = assignment
    return current


def _stored(rows: Iterable[Assignment], answers: Sequence[Answer]) -> list[Judgment]:
    """Return judgments with one of the keys, and current ones, with spans (two queries)."""
    keys = [answer.submit_key for answer in answers]
    current = Q(assignment__in=[row.pk for row in rows], is_current=True)
    found = Judgment.objects.filter(Q(submit_key__in=keys) | current)
    kept = ["fates"] if any(row.item.suggestions for row in rows) else []
    return list(found.prefetch_related("spans", *kept))


def _step_back(assignments: Sequence[int]) -> None:
    """Unmark the current answers of some assignments, before newer ones are stored."""
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
    """Return the current answer if the new one equals it; else raise ConflictError."""
    if not is_same(answer, current):
        raise ConflictError(_differs(current, answer))
    return current


def _differs(current: Judgment, answer: Answer) -> Message:
    if current.score is None or current.score == answer.score:
        return message(
            "rating.differs",
            "You already rated this item differently in another window. "
            "Submit again to replace that rating with this one.",
        )
    return message(
        "rating.score-differs",
        "You already rated this item {old} in another window. Submit again to change it to {new}.",
        old=current.score,
        new=answer.score,
    )


def _make(
    answer: Answer,
    assignment: Assignment,
    current: Judgment | None,
    together: tuple[int, int],
    least: timedelta,
) -> Judgment:
    """Return a new judgment; `together` is (number of new answers, limit of paid seconds)."""
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
