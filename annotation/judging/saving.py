"""The rows of checked answers: new judgments, their parts, and the assignments they complete.

Assignments come before their annotator: two windows of a person that wait for each other's rows
would be one too many.
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
    """What was read before is not so any more."""


def is_plain(made: Sequence[tuple[Judgment, Answer]]) -> bool:
    """Whether nothing but a judgment is to be stored."""
    (judgment, answer), *others = made
    item = judgment.assignment.item
    return not (others or answer.spans or answer.playing or item.suggestions)


def save_plain(judgment: Judgment) -> None:
    """Store a first answer with nothing else.

    In PostgreSQL by one statement, in place of five that each wait for a reply. It needs no
    transaction, and within one a savepoint, so that a refusal leaves the rest as it was.
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
    """Store the new judgments of a screen with their spans; a statement a table, not a row."""
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
    """The spans of an answer without what is left of planted ones."""
    return judged(shown_to(assignment), answer.spans, answer.offers)


def _save_fates(made: Sequence[tuple[Judgment, Answer]]) -> None:
    """Store what became of every suggestion, in one statement if there was any."""
    found = []
    for judgment, answer in made:
        own = fates(shown_to(judgment.assignment), answer.spans, answer.offers)
        for fate in own:
            fate.judgment = judgment
        found += own
    if found:
        SuggestionFate.objects.bulk_create(found)


def _complete(judgments: Sequence[Judgment]) -> None:
    """Plain statements: for these two, putting them together would take the longer time."""
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
