"""Answers as they were sent, and checks against the protocol."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import NoReturn
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection, transaction

from annotation.judging.screens import span_sides
from annotation.models import Assignment, ErrorSpan, Item, Judgment, Playback, SuggestionFate
from annotation.pool import releases
from annotation.prefill.suggestions import Suggestion, fates, judged, key_of, marked, offered
from annotation.protocols import Protocol, Span, SpanScheme
from annotation.protocols.base import TARGET, Scale
from core.database.prepared import execute, insert
from metaeval.messages import Message, message

MAX_SPANS = 200
MAX_COMMENT = 2_000
MAX_TEXT = 20_000

NO_SCORE_HERE = message(
    "rating.no-score-here",
    "This task has no score of its own: the score is calculated from the marked errors.",
)
NO_SPANS_HERE = message("rating.no-errors-here", "Errors cannot be marked in this task.")
SCALES = message("rating.scales", "Choose a score on every scale shown.")
WRONG_CHOICE = message("rating.choices", "Choose one of the given options for every choice.")
STALE = message(
    "rating.errors-out-of-date",
    "The marked errors do not belong to this version of the page. Reload the page, then submit "
    "again.",
)
TWICE = message("rating.error-twice", "The same error is marked twice.")
NO_TEXT_HERE = message("rating.no-text-here", "The text cannot be changed in this task.")
TEXT_MISSING = message("rating.text-missing", "Your version of the text is missing.")


@dataclass(frozen=True)
class Answer:
    """One answer to one item.

    `seen` is the revision that the page showed, 0 for none. `visible_ms` and `active_ms` are times
    that the browser reports, None if it does not; `waited_ms` is how long it kept the answer
    without a connection, `idle_ms` how long the annotator did not answer its question whether they
    are still working. `offers` has, for each span, the number of the suggestion that it was, or
    None; it is empty if the browser sent nothing. `ratings` are values of the campaign's own scales
    by name, the first of which is `score` too; `choices` are options by name; `playing` records how
    the recording was played (`annotation.models.Playback`).
    """

    public_id: UUID
    submit_key: UUID
    started_at: datetime
    seen: int
    score: int | None = None
    ratings: Mapping[str, int] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    post_edit: str | None = None
    spans: tuple[Span, ...] = ()
    offers: tuple[int | None, ...] = ()
    comment: str = ""
    is_flagged: bool = False
    visible_ms: int | None = None
    active_ms: int | None = None
    waited_ms: int = 0
    idle_ms: int = 0
    playing: tuple[tuple[int, str, float], ...] = ()


def check(answer: Answer, assignment: Assignment) -> None:
    """Raise ValidationError for an answer that the protocol of the campaign does not allow.

    `assignment` comes with its campaign, item, output and segment loaded.
    """
    protocol = assignment.annotator.campaign.judging
    if assignment.item.kind == Item.Kind.DOCUMENT:
        protocol = protocol.of_document
    _check_scores(answer, protocol)
    if not _fits(answer.choices, protocol):
        raise ValidationError([WRONG_CHOICE])
    _check_text(answer.post_edit, protocol)
    if len(answer.comment) > MAX_COMMENT:
        raise ValidationError(
            [
                message(
                    "rating.comment-too-long",
                    "A comment can have at most {max} characters.",
                    max=MAX_COMMENT,
                )
            ]
        )
    if answer.spans:
        if protocol.spans is None:
            raise ValidationError([NO_SPANS_HERE])
        _check_spans(answer.spans, protocol.spans, assignment)
    _check_offers(answer, len(shown_to(assignment)))


def shown_to(assignment: Assignment) -> tuple[Suggestion, ...]:
    """Return the suggestions in an item that its annotator was shown."""
    return offered(assignment.item.suggestions, assignment.condition)


def _check_offers(answer: Answer, n_shown: int) -> None:
    """Raise ValidationError unless every span states its suggestion, and no two the same one."""
    named = [n for n in answer.offers if n is not None]
    is_told = len(answer.offers) == len(answer.spans) if n_shown else not named
    if not is_told or len(set(named)) < len(named) or not all(0 <= n < n_shown for n in named):
        raise ValidationError([STALE])


def _check_scores(answer: Answer, protocol: Protocol) -> None:
    if not protocol.has_score:
        if answer.score is not None or answer.ratings:
            raise ValidationError([NO_SCORE_HERE])
        return
    own = [scale for scale in protocol.scales if scale.key]
    if {scale.key for scale in own} != set(answer.ratings):
        raise ValidationError([SCALES])
    for scale in protocol.scales:
        value = answer.ratings[scale.key] if scale.key else answer.score
        if not scale.holds(value):
            raise ValidationError([_out_of_range(scale, value)])
    if own and answer.score != answer.ratings[own[0].key]:
        raise ValidationError([NO_SCORE_HERE])


def _out_of_range(scale: Scale, value: object) -> Message:
    if scale.is_percent:
        return message(
            "rating.not-a-percentage",
            "The score must be a whole number from 0 to 100, not {score}.",
            score=repr(value),
        )
    return message(
        "rating.out-of-range",
        "{scale} must be from {low} to {high} in steps of {step}, not {score}.",
        scale=scale.name,
        low=scale.low,
        high=scale.high,
        step=scale.step,
        score=repr(value),
    )


def _fits(chosen: Mapping[str, str], protocol: Protocol) -> bool:
    """Return whether every choice has one of its options, and nothing else was chosen."""
    own = {choice.key: choice.options for choice in protocol.choices}
    return set(chosen) == set(own) and all(chosen[key] in own[key] for key in own)


def _check_text(text: str | None, protocol: Protocol) -> None:
    if not protocol.text:
        if text is not None:
            raise ValidationError([NO_TEXT_HERE])
    elif text is None or not text.strip():
        raise ValidationError([TEXT_MISSING])
    elif len(text) > MAX_TEXT:
        raise ValidationError(
            [
                message(
                    "rating.text-too-long",
                    "Your version of the text is longer than {max} characters.",
                    max=MAX_TEXT,
                )
            ]
        )


def _check_spans(spans: Sequence[Span], scheme: SpanScheme, assignment: Assignment) -> None:
    if len(spans) > MAX_SPANS:
        raise ValidationError(
            [
                message(
                    "rating.too-many-errors",
                    "At most {max} errors can be marked in one item.",
                    max=MAX_SPANS,
                )
            ]
        )
    if len(set(spans)) < len(spans):
        raise ValidationError([TWICE])
    sides = span_sides(assignment.annotator.campaign)
    for number, span in enumerate(spans, start=1):
        _check_span(number, span, scheme, sides, assignment.item)


def _check_span(
    number: int, span: Span, scheme: SpanScheme, sides: Sequence[str], item: Item
) -> None:
    def refuse(problem: Message) -> NoReturn:
        raise ValidationError(
            [message("rating.error", "Error {number}: {problem}", number=number, problem=problem)]
        )

    if span.side not in sides:
        refuse(
            message(
                "rating.error-side",
                "errors cannot be marked in this text ({side}).",
                side=span.side,
            )
        )
    if span.severity not in scheme.severity_keys:
        refuse(
            message(
                "rating.error-severity", "unknown severity “{severity}”.", severity=span.severity
            )
        )
    if span.category not in (scheme.category_keys or {""}):
        if not span.category:
            refuse(message("rating.error-without-category", "it has no category."))
        refuse(
            message(
                "rating.error-category", "unknown category “{category}”.", category=span.category
            )
        )
    length = len(rated_text(item) if span.side == TARGET else item.segment.source)
    tokens = len(scheme.tokens) if span.side == TARGET else 0
    if length <= span.start < length + tokens and span.end == span.start + 1:
        return
    if not 0 <= span.start < span.end <= length:
        refuse(
            message(
                "rating.error-outside",
                "it goes from {start} to {end}, outside the text, whose length is {length}.",
                start=span.start,
                end=span.end,
                length=length,
            )
        )


def rated_text(item: Item) -> str:
    """Return the text that was rated; empty for a whole document."""
    if item.text or item.output is None:
        return item.text
    return item.output.text


def is_same(answer: Answer, stored: Judgment) -> bool:
    """Return whether an answer equals a stored one apart from times.

    `stored` must have its spans prefetched.
    """
    names = ("score", "ratings", "choices", "post_edit", "comment", "is_flagged")
    same = all(getattr(answer, name) == getattr(stored, name) for name in names)
    if not same or not stored.assignment.item.suggestions:
        return same and sorted(map(key_of, answer.spans)) == sorted(map(key_of, stored.spans.all()))
    given = dict(zip(answer.spans, answer.offers or [None] * len(answer.spans), strict=True))
    return given == dict(marked(stored.spans.all(), stored.fates.all()))


# Store checked answers: judgments, their parts, and the assignments that they complete.
# Assignments are locked before their annotator, so that two windows of an annotator cannot
# deadlock.

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
