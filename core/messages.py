"""Messages on pages and in the database: translated when shown, stored with code and parameters."""

import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from babel import Locale
from babel.lists import format_list
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.dateformat import format as format_date
from django.utils.translation import get_language, gettext, ngettext, to_locale
from rest_framework import exceptions

from metaeval.messages import Message, Parameter, Writer, from_json

# Chinese marks of punctuation hold their own blank.
WITHOUT_BLANKS = ("zh-hans",)
# How stored messages begin, and what is before text that begins so.
STORED, ESCAPE = '{"code"', "\\"
# What was sent is a parameter of Django's errors, too; longer values, in characters, are not.
SHORT = 100
PLACEHOLDER, WORDS = re.compile(r"\{[^{}]*\}"), re.compile(r"[A-Za-z]")


class LocaleWriter(Writer):
    """Fills in patterns as a language writes lists, numbers and dates."""

    def __init__(self, language: str) -> None:
        self.locale = Locale.parse(to_locale(language))
        symbols = self.locale.number_symbols["latn"]
        self.marks = str.maketrans({",": symbols["group"], ".": symbols["decimal"]})

    def nested(self, value: Message) -> str:
        """Return a message within a message, translated."""
        return translated(value)

    def listed(self, values: Sequence[str]) -> str:
        """Return a list as in a sentence of the language."""
        return format_list(list(values), locale=self.locale)

    def number(self, text: str) -> str:
        """Return a number with the language's marks."""
        return text.translate(self.marks)

    def undefined(self) -> str:
        """Return the language's word."""
        return gettext("undefined")

    def moment(self, value: datetime) -> str:
        """Return a date and time of the site's time zone."""
        return format_date(timezone.localtime(value), gettext("j M Y, H:i"))


writer = lru_cache(LocaleWriter)


def translated(value: Message) -> str:
    """Return a message in the language of the page; in English where it is not translated."""
    language = get_language() or settings.LANGUAGE_CODE
    if language == settings.LANGUAGE_CODE:
        return value.text
    pattern = (
        ngettext(value.pattern, value.plural, value.count)
        if value.plural
        else gettext(value.pattern)
    )
    # A text without a translation is shown in English altogether: numbers, too.
    is_english = pattern == value.english and WORDS.search(PLACEHOLDER.sub("", pattern))
    return value.text if is_english else value.in_words(writer(language), pattern)


def shown(value: Any) -> Any:
    """Translate a message, an error of a form, or a list of them, to the page's language.

    Other values, such as names, are returned unchanged.
    """
    if isinstance(value, Message):
        return translated(value)
    if isinstance(value, ValidationError):
        return sentences(messages_of(value))
    return [shown(each) for each in value] if isinstance(value, list | tuple) else value


def sentences(messages: Iterable[Message]) -> str:
    """Return translated messages, joined in order."""
    between = "" if get_language() in WITHOUT_BLANKS else " "
    return between.join(map(translated, messages))


def invalid(code: str, pattern: str, /, **parameters: Parameter) -> ValidationError:
    """Return the refusal with one message, to raise."""
    return ValidationError([Message(code, pattern, parameters)])


def if_missing(code: str, pattern: str) -> dict[str, Any]:
    """Return the messages of the errors of a form's field that must not be blank."""
    return {"required": Message(code, pattern)}


def messages_of(error: ValidationError) -> list[Message]:
    """Return what a refusal says, in order, also of one that has its errors by field."""
    by_field = getattr(error, "error_dict", None) or {"": ValidationError(error).error_list}
    return [_message_of(name, each) for name, errors in by_field.items() for each in errors]


def _message_of(field: str, error: ValidationError) -> Message:
    """Return one error; Django's own have its code, its parameters (such as limits) and field."""
    if isinstance(error.message, Message):
        return error.message
    given = {"field": field, **(error.params or {})}
    known = {name: value for name, value in given.items()
             if isinstance(value, str | int | float | Decimal) and 0 < len(str(value)) <= SHORT
             }  # fmt: skip
    text = str(next(iter(error)))
    return Message(f"form.{error.code or 'invalid'}", "{text}", known | {"text": text})


class MessageField(models.TextField):  # type: ignore[type-arg]  # Django has no parameters
    """A message, or a user's text; a column of text like any other.

    Text that begins as stored messages do has a backslash before it in the database, so that it is
    never read as a message.
    """

    def get_prep_value(self, value: Any) -> Any:
        """Return a message as JSON, and text as it is or after a backslash."""
        if isinstance(value, Message):
            return json.dumps(as_json(value))
        text = super().get_prep_value(value)
        return ESCAPE + text if _is_marked(text) else text

    def from_db_value(self, value: Any, *_rest: Any) -> Any:
        """Return the stored message or text."""
        if not _is_marked(value):
            return value
        if value.startswith(ESCAPE):
            return value.removeprefix(ESCAPE)
        try:
            return from_json(json.loads(value))
        except (ValueError, RecursionError):  # text that an earlier version stored
            return value

    def deconstruct(self) -> Any:
        """Return the field as migrations see it: a column of text."""
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs


def _is_marked(text: str | None) -> bool:
    """Return True for text that begins as stored messages do, after any number of escapes."""
    return text is not None and text.lstrip(ESCAPE).startswith(STORED)


def as_json(value: Message) -> dict[str, Any]:
    """Return a message as programs get it."""
    found = {"code": value.code, "text": value.text, "pattern": value.pattern}
    parameters = {name: _as_json(each) for name, each in value.parameters.items()}
    return found | {"parameters": parameters} | ({"plural": value.plural} if value.plural else {})


def refusal_as_json(error: ValidationError) -> dict[str, Any]:
    """Return a refusal as programs get it: the English text, and its messages."""
    found = messages_of(error)
    return {
        "error": " ".join(each.text for each in found),
        "messages": [as_json(each) for each in found],
    }


def _as_json(value: Any) -> Any:
    if isinstance(value, Message):
        return as_json(value)
    return [_as_json(each) for each in value] if isinstance(value, list) else value


def invalid_field(field: str, *reasons: Message) -> exceptions.ValidationError:
    """Return the API's refusal of a field, with the code of each reason."""
    details = [exceptions.ErrorDetail(each.text, each.code) for each in reasons]
    return exceptions.ValidationError({field: details})
