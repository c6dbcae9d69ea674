"""An answer as it comes in, and what its protocol allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.core.exceptions import ValidationError
from django.utils.formats import number_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.judging.screens import span_sides
from annotation.models import Assignment, ErrorSpan, Item, Judgment
from annotation.models.judgment import MAX_SCORE
from annotation.protocols import Span, SpanScheme
from annotation.protocols.base import TARGET

MAX_SPANS = 200
MAX_COMMENT = 2_000

NO_SCORE_HERE = _("This protocol takes no score: it follows from the marked errors.")
NO_SPANS_HERE = _("This protocol takes no marked errors.")
COMMENT_TOO_LONG = _("A comment has at most %(max)s characters.")


@dataclass(frozen=True)
class Answer:
    """One answer to one item. `seen` is the revision that the person had in front of them, 0 for
    none; `visible_ms` and `active_ms` are what the browser reports, None if it does not, and
    `waited_ms` how long it kept the answer for want of a connection."""

    public_id: UUID
    submit_key: UUID
    started_at: datetime
    seen: int
    score: int | None = None
    spans: tuple[Span, ...] = ()
    comment: str = ""
    is_flagged: bool = False
    visible_ms: int | None = None
    active_ms: int | None = None
    waited_ms: int = 0


def check(answer: Answer, assignment: Assignment) -> None:
    """Raise ValidationError for an answer that the protocol of the campaign does not allow.

    `assignment` comes with its campaign, item, output and segment loaded.
    """
    protocol = assignment.annotator.campaign.judging
    _check_score(answer.score, protocol.has_score)
    if len(answer.comment) > MAX_COMMENT:
        longest = number_format(MAX_COMMENT, force_grouping=True)
        raise ValidationError(COMMENT_TOO_LONG, params={"max": longest})
    if answer.spans:
        if protocol.spans is None:
            raise ValidationError(NO_SPANS_HERE)
        _check_spans(answer.spans, protocol.spans, assignment)


def _check_score(score: int | None, has_score: bool) -> None:
    if not has_score:
        if score is not None:
            raise ValidationError(NO_SCORE_HERE)
    elif type(score) is not int or not 0 <= score <= MAX_SCORE:
        raise ValidationError(
            _("A score is a whole number from 0 to 100, not %(score)s."),
            params={"score": repr(score)},
        )


def _check_spans(spans: Sequence[Span], scheme: SpanScheme, assignment: Assignment) -> None:
    if len(spans) > MAX_SPANS:
        raise ValidationError(
            _("At most %(max)s errors can be marked in one item."), params={"max": MAX_SPANS}
        )
    if len(set(spans)) < len(spans):
        raise ValidationError(_("The same error is marked twice."))
    sides = span_sides(assignment.annotator.campaign)
    for number, span in enumerate(spans, start=1):
        if problem := _problem(span, scheme, sides, assignment.item):
            raise ValidationError(
                _("Error %(number)s: %(problem)s"), params={"number": number, "problem": problem}
            )


def _problem(span: Span, scheme: SpanScheme, sides: Sequence[str], item: Item) -> str:
    if span.side not in sides:
        return gettext("nothing can be marked in this text (%(side)s).") % {"side": span.side}
    if span.severity not in scheme.severity_keys:
        return gettext("unknown severity “%(severity)s”.") % {"severity": span.severity}
    allowed = scheme.category_keys or {""}
    if span.category not in allowed:
        if not span.category:
            return gettext("no category is chosen.")
        return gettext("unknown category “%(category)s”.") % {"category": span.category}
    length = len(_rated(item) if span.side == TARGET else item.segment.source)
    tokens = len(scheme.tokens) if span.side == TARGET else 0
    if length <= span.start < length + tokens and span.end == span.start + 1:
        return ""
    if not 0 <= span.start < span.end <= length:
        return gettext(
            "it goes from %(start)s to %(end)s, outside the text, whose length is %(length)s."
        ) % {"start": span.start, "end": span.end, "length": length}
    return ""


def _rated(item: Item) -> str:
    if item.text or item.output is None:
        return item.text
    return item.output.text


def is_same(answer: Answer, stored: Judgment) -> bool:
    """Whether an answer says what is stored already, its spans fetched; times do not matter."""
    same = (answer.score, answer.comment, answer.is_flagged) == (
        stored.score,
        stored.comment,
        stored.is_flagged,
    )
    return same and sorted(map(_key, answer.spans)) == sorted(map(_key, stored.spans.all()))


def _key(span: Span | ErrorSpan) -> tuple[str, int, int, str, str]:
    return span.side, span.start, span.end, span.severity, span.category
