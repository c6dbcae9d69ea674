"""The answer form of an item."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError

from annotation.judging.answers import MAX_COMMENT, Answer
from annotation.judging.judgments import read_start
from annotation.protocols import Protocol, Span
from annotation.protocols.base import Scale
from core.messages import messages_of
from metaeval.messages import Message, message

SCORE_MISSING = message(
    "rating.score-missing",
    "You have not chosen a score. Choose one from 0 to 100; 0 is a valid score.",
)
SCORE_WRONG = message("rating.score-wrong", "The score must be a whole number from 0 to 100.")
USUAL = Scale()
FORM_DAMAGED: Any = message(
    "rating.form-damaged",
    "Part of this form was missing or damaged. Submit again to save the score.",
)
ERRORS_DAMAGED = message(
    "rating.errors-damaged",
    "The marked errors did not arrive completely. Reload the page and try again.",
)

PLAYS = ("play", "pause", "seek")
MAX_PLAYING = 40_000

# ASCII only: int() would take digits of any script, blanks and underscores.
_WHOLE = re.compile(r"-?[0-9]{1,4}")
_MILLISECONDS = re.compile(r"[0-9]{1,12}")


def parse_score(raw: str, scale: Scale = USUAL) -> int:
    """Read a value of a scale; raise ValidationError for anything else."""
    text = raw.strip()
    if not text:
        raise ValidationError([_missing(scale) if scale.key else SCORE_MISSING])
    if not _WHOLE.fullmatch(text) or not scale.holds(int(text)):
        raise ValidationError([_wrong(scale) if scale.key else SCORE_WRONG])
    return int(text)


def _missing(scale: Scale) -> Message:
    return message(
        "rating.scale-missing",
        "{scale}: you have not chosen a score. Choose one from {low} to {high}.",
        scale=scale.name,
        low=scale.low,
        high=scale.high,
    )


def _wrong(scale: Scale) -> Message:
    return message(
        "rating.scale-wrong",
        "{scale}: the score must be from {low} to {high}, in steps of {step}.",
        scale=scale.name,
        low=scale.low,
        high=scale.high,
        step=scale.step,
    )


def score_field(number: int) -> str:
    """Return the field of a scale, numbered from 0."""
    return f"s{number}-score" if number else "score"


def choice_field(number: int) -> str:
    """Return the field of a choice, numbered from 0."""
    return f"c{number}-choice"


def parse_spans(raw: str) -> tuple[tuple[Span, ...], tuple[int | None, ...]]:
    """Read a JSON list of spans and which suggestion each was, nothing where none of them says.

    Raises ValidationError for anything else.
    """
    try:
        rows = json.loads(raw or "[]")
        offers = tuple(_offer(fields.pop("offer")) for fields in rows if "offer" in fields)
        if len(offers) not in (0, len(rows)):
            raise TypeError
        return tuple(_span(**fields) for fields in rows), offers
    except (AttributeError, TypeError, ValueError, RecursionError):
        raise ValidationError([ERRORS_DAMAGED]) from None


def _offer(number: object) -> int | None:
    if number is None or type(number) is int:
        return number
    raise TypeError


def _span(*, side: str, start: int, end: int, severity: str, category: str = "") -> Span:
    if not all(type(offset) is int for offset in (start, end)):
        raise TypeError
    if not all(type(name) is str for name in (side, severity, category)):
        raise TypeError
    return Span(side, start, end, severity, category)


def _milliseconds(raw: str) -> int | None:
    """Read milliseconds that a browser reports; None for nonsense, so that no answer is lost."""
    return int(raw) if _MILLISECONDS.fullmatch(raw) else None


def parse_playing(raw: str) -> tuple[tuple[int, str, float], ...]:
    """Read how a recording was played; as with times, nonsense is no report."""
    if not raw or len(raw) > MAX_PLAYING:
        return ()
    try:
        return tuple(_event(*each) for each in json.loads(raw))
    except (TypeError, ValueError, RecursionError):
        return ()


def _event(at: object, what: object, second: object) -> tuple[int, str, float]:
    is_known = what in PLAYS and type(at) is int and type(second) in (int, float)
    if is_known and 0 <= at < 10**12 and 0 <= second < 10**7:  # type: ignore[operator]
        return at, str(what), round(float(second), 3)  # type: ignore[return-value,arg-type]
    raise ValueError


def _is_marked(raw: str | None) -> bool:
    """Read a checkbox, which a browser does not send unless it is marked."""
    return raw is not None and raw.lower() not in ("", "false", "0")


# Checks of Django's fields. A form of Django's makes all its fields, widgets and errors anew for
# every answer, which takes longer than to read them.
_TEXT = forms.CharField(required=False, strip=False)
_COMMENT = forms.CharField(required=False, max_length=MAX_COMMENT)
_DAMAGED = {"required": FORM_DAMAGED, "invalid": FORM_DAMAGED}
_KEY = forms.UUIDField(error_messages=_DAMAGED)
_REVISION = forms.RegexField(r"^[0-9]{1,9}\Z", error_messages=_DAMAGED)


class JudgmentForm:
    """`score`, and `s1-score` … for further scales; `c0-choice` …; `text`, `spans` (JSON),
    `comment`, `flag`; `submit_key`, new with each page; the `revision` seen; the signed
    `started`; `visible_ms` and `active_ms` as the browser counted, `waited_ms` that the answer
    waited there, and `idle_ms` that nobody said to be at work; `playing` (JSON) tells how a
    recording was played.

    `cleaned_data` has the valid fields, and `errors` the refusals of the others, in their order.
    """

    def __init__(
        self, data: Any, *, user_id: int, public_id: UUID, protocol: Protocol, prefix: str = ""
    ) -> None:
        self.data, self.prefix = data, prefix
        self.user_id, self.public_id, self.protocol = user_id, public_id, protocol
        self.ratings: dict[str, int] = {}
        self.choices: dict[str, str] = {}
        self.cleaned_data: dict[str, Any] = {}

    def is_valid(self) -> bool:
        """Return whether every field can be read."""
        return not self.errors

    @cached_property
    def errors(self) -> dict[str, ValidationError]:
        """The refusal of every field that cannot be read."""
        refused = {}
        for name, clean in self._cleaners.items():
            try:
                self.cleaned_data[name] = clean(self)
            except ValidationError as error:
                refused[name] = error
        return refused

    def _raw(self, name: str) -> str | None:
        """Return what was sent in a field, named as on the page: `0-score` beside others."""
        value: str | None = self.data.get(f"{self.prefix}{name}")
        return value

    def clean_score(self) -> int | None:
        """Read the first scale; other scales have fields that only some protocols have."""
        found = [self._value(*each) for each in enumerate(self.protocol.scales)]
        return found[0] if found else None

    def _value(self, number: int, scale: Scale) -> int:
        value = parse_score(self.sent(score_field(number)), scale)
        if scale.key:
            self.ratings[scale.key] = value
        return value

    def clean_flag(self) -> bool:
        """Read the flag and the choices, which are fields that only some protocols have."""
        for number, choice in enumerate(self.protocol.choices):
            chosen = self.sent(choice_field(number))
            if chosen not in choice.options:
                raise ValidationError(
                    [
                        message(
                            "rating.choice-missing",
                            "{name}: you have not chosen an option.",
                            name=choice.key,
                        )
                    ]
                )
            self.choices[choice.key] = chosen
        return _is_marked(self._raw("flag"))

    def clean_text(self) -> str | None:
        """Read the post-edit, with line breaks as in stored texts."""
        text: str = _TEXT.clean(self._raw("text"))
        return text.replace("\r\n", "\n") if self.protocol.text else None

    def clean_spans(self) -> tuple[tuple[Span, ...], tuple[int | None, ...]]:
        """Read the marked errors."""
        return parse_spans(self._raw("spans") or "")

    def clean_comment(self) -> str:
        """Read the comment without blanks around it."""
        return str(_COMMENT.clean(self._raw("comment")))

    def clean_key(self) -> UUID:
        """Read the key of the submit."""
        key: UUID = _KEY.clean(self._raw("submit_key"))
        return key

    def clean_revision(self) -> int:
        """Read the revision that the page showed."""
        return int(_REVISION.clean(self._raw("revision")))

    def clean_started(self) -> datetime:
        """Read the signed time at which the item was issued."""
        stamp = self._raw("started") or ""
        return read_start(stamp, user_id=self.user_id, public_id=self.public_id)

    def answer(self) -> Answer:
        """Return the answer of a valid form."""
        given = self.cleaned_data
        spans, offers = given["spans"]
        return Answer(
            public_id=self.public_id,
            submit_key=given["submit_key"],
            started_at=given["started"],
            seen=given["revision"],
            score=given["score"],
            ratings=self.ratings,
            choices=self.choices,
            post_edit=given["text"],
            spans=spans,
            offers=offers,
            comment=given["comment"],
            is_flagged=given["flag"],
            visible_ms=_milliseconds(self.sent("visible_ms")),
            active_ms=_milliseconds(self.sent("active_ms")),
            waited_ms=_milliseconds(self.data.get("waited_ms", "")) or 0,
            idle_ms=_milliseconds(self.data.get("idle_ms", "")) or 0,
            playing=parse_playing(self.sent("playing")),
        )

    @property
    def problem(self) -> Message:
        """The first error of an invalid form, in the order of the fields."""
        return messages_of(next(iter(self.errors.values())))[0]

    def sent(self, name: str) -> str:
        """Return what was sent in a field."""
        return str(self._raw(name) or "")

    def valid(self, name: str) -> str | None:
        """Return what was sent in a field, if it may be sent again."""
        return None if name in self.errors else self._raw(name)

    _cleaners: Mapping[str, Callable[[Any], Any]] = {
        "score": clean_score,
        "text": clean_text,
        "spans": clean_spans,
        "comment": clean_comment,
        "flag": clean_flag,
        "submit_key": clean_key,
        "revision": clean_revision,
        "started": clean_started,
    }
