"""Store checked answers: judgments, their parts, and the assignments that they complete.

Assignments are locked before their annotator, so that two windows of an annotator cannot deadlock.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict

from django.db import connection, transaction

from annotation.judging.answers import Answer, shown_to
from annotation.models import (
    Assignment,
    ErrorSpan,
    Judgment,
    Playback,
    SuggestionFate,
)
from annotation.pool import releases
from annotation.prefill.suggestions import fates, judged
from annotation.protocols import Span
from core.database.prepared import execute, insert

COMPLETE = """UPDATE annotation_assignment SET completed_at = %%s
WHERE id IN (%s) AND completed_at IS NULL AND released_at IS NULL"""
ANSWERED = "UPDATE annotation_annotator SET answered_at = %s"
ONE = f"""WITH completed AS ({COMPLETE % "%s"} RETURNING annotator_id),
answered AS ({ANSWERED} FROM completed WHERE id = annotator_id)"""


class ChangedError(Exception):
    """Rows have changed since they were read."""


def is_plain(made: Sequence[tuple[Judgment, Answer]]) -> bool:
    """Return whether an answer consists of one judgment without parts."""
    (judgment, answer), *others = made
    item = judgment.assignment.item
    return not (others or answer.spans or answer.playing or item.suggestions)


def save_plain(judgment: Judgment) -> None:
    """Store a first answer without parts.

    PostgreSQL needs one statement instead of five round trips. It needs no transaction; within one
    it uses a savepoint, so that a refusal does not affect the rest. Raises ChangedError if the
    assignment was completed or released meanwhile.
    """
    if connection.vendor != "postgresql":
        with transaction.atomic():
            insert(judgment)
            _complete([judgment])
        return
    assignment, at = judgment.assignment, judgment.submitted_at
    with transaction.atomic() if connection.in_atomic_block else nullcontext():
        if not insert(judgment, where=(ONE, "completed"), values=[at, assignment.pk, at]):
            raise ChangedError
    assignment.completed_at = at


def save(made: Sequence[tuple[Judgment, Answer]]) -> None:
    """Store the new judgments of a screen with their parts, with one statement per table."""
    if not made:
        return
    judgments = [judgment for judgment, _ in made]
    if len(judgments) == 1:
        insert(judgments[0])
    else:
        Judgment.objects.bulk_create(judgments)
    spans = [
        ErrorSpan(judgment=judgment, **asdict(span))
        for judgment, answer in made
        for span in counted(answer, judgment.assignment)
    ]
    if spans:
        ErrorSpan.objects.bulk_create(spans)
    _save_fates(made)
    played = [Playback(judgment=j, events=a.playing) for j, a in made if a.playing]
    if played:
        Playback.objects.bulk_create(played)
    for judgment in judgments:
        if judgment.assignment.released_at is not None:
            releases.keep_late(judgment.assignment)
    _complete(judgments)


def counted(answer: Answer, assignment: Assignment) -> tuple[Span, ...]:
    """Return the spans of an answer that count: those that are not remains of planted errors."""
    return judged(shown_to(assignment), answer.spans, answer.offers)


def _save_fates(made: Sequence[tuple[Judgment, Answer]]) -> None:
    """Store what annotators did with suggestions, in one statement."""
    found = []
    for judgment, answer in made:
        own = fates(shown_to(judgment.assignment), answer.spans, answer.offers)
        for fate in own:
            fate.judgment = judgment
        found += own
    if found:
        SuggestionFate.objects.bulk_create(found)


def _complete(judgments: Sequence[Judgment]) -> None:
    """Mark assignments as completed and the annotator as active.

    Plain SQL, because building these two statements would take longer than running them. Raises
    ChangedError if an assignment was completed or released meanwhile.
    """
    given_at, annotator = judgments[0].submitted_at, judgments[0].assignment.annotator_id
    at = connection.ops.adapt_datetimefield_value(given_at)
    new = [each.assignment for each in judgments if each.assignment.completed_at is None]
    with connection.cursor() as cursor:
        if new:
            marks = ", ".join(["%s"] * len(new))
            execute(cursor, COMPLETE % marks, [at, *(assignment.pk for assignment in new)])
            if cursor.rowcount < len(new):
                raise ChangedError
        execute(cursor, f"{ANSWERED} WHERE id = %s", [at, annotator])
    for assignment in new:
        assignment.completed_at = given_at
