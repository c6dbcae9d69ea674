"""Answers as they were sent, and checks against the protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NoReturn
from uuid import UUID

from django.core.exceptions import ValidationError

from annotation.judging.screens import span_sides
from annotation.models import Assignment, Item, Judgment
from annotation.prefill.suggestions import Suggestion, key_of, marked, offered
from annotation.protocols import Protocol, Span, SpanScheme
from annotation.protocols.asked import Scale
from annotation.protocols.base import TARGET
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
