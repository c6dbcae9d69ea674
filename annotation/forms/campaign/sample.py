"""The field for the part of the test set that is judged: cells of the page, or a whole rule.

A rule is described in :mod:`annotation.campaigns.sampling`; campaign files and programs give it as
an object.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.sampling import DOCUMENT, LENGTH, SEGMENT
from metaeval.messages import Message, message

CHOICES = {"unit": (SEGMENT, DOCUMENT), "strata": (DOCUMENT, LENGTH)}
LISTS, NUMBERS = ("segments", "documents"), ("min_length", "max_length")
NAMES = (*CHOICES, *LISTS, *NUMBERS, "size")
SHARE = re.compile(r"(\d{1,3}(?:\.\d+)?) ?%")
MOST = 10**9
UNITS = ((SEGMENT, _("Segments")), (DOCUMENT, _("Whole documents")))
STRATA = (
    ("", _("from all of them")),
    (DOCUMENT, _("evenly from all documents")),
    (LENGTH, _("evenly from four bands of length")),
)
NOT_A_RULE = message("sample.not-a-rule", "Expected an object with any of these keys: {known}.",
                     known=list(NAMES))  # fmt: skip
WRONG_SIZE = message(
    "sample.size", "The number to draw must be a whole number from 1, or a share such as 10%."
)
WRONG_LENGTH = message("sample.length", "Lengths must be whole numbers.")
WRONG_ORDER = message("sample.order", "The maximum length is below the minimum length.")
NO_SIZE = message("sample.strata-without-size", "Enter how many should be drawn.")
OF_DOCUMENTS = message(
    "sample.strata-of-documents", "Whole documents can be drawn evenly only from bands of length."
)
KEYS_OF_DOCUMENTS = message(
    "sample.segments-of-documents", "List documents instead of segments, or choose segments."
)
WRONG_LIST = message("sample.list", "Expected a list of names.")


class SampleWidget(forms.Widget):
    """Reads the cells, or a whole rule: an object, or its JSON."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        if isinstance(data.get(name), str):
            with suppress(ValueError):
                return json.loads(data[name] or "null")
        if name in data:
            return data[name]
        return {key: data[f"{name}-{key}"] for key in NAMES if data.get(f"{name}-{key}")}


class SampleField(forms.Field):
    """Cleans to a rule without what has no effect; None for the whole test set."""

    widget = SampleWidget
    units, strata = UNITS, STRATA

    def prepare_value(self, value: Any) -> Any:
        """Return a rule as JSON, as a hidden field sends it."""
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value

    def clean(self, value: Any) -> dict[str, Any] | None:
        """Raise ValidationError for what cannot be read or contradicts itself."""
        if value is None or value == {}:
            return None
        if not isinstance(value, dict) or set(value) - set(NAMES):
            raise ValidationError([NOT_A_RULE])
        read = {name: _value(name, given) for name, given in value.items()}
        rule = {name: each for name, each in read.items() if each not in ("", None, [], SEGMENT)}
        if faults := list(_contradictions(rule)):
            raise ValidationError(faults)
        return {name: rule[name] for name in NAMES if name in rule} if rule != WHOLE else None


# Whole documents without a further choice are the whole test set.
WHOLE = {"unit": DOCUMENT}


def _value(name: str, given: Any) -> Any:
    if name in CHOICES:
        known = ("", *CHOICES[name])
        if given not in known:
            choice = message("sample.choice", "“{value}” is not one of {choices}.",
                             value=str(given)[:40], choices=list(CHOICES[name]))  # fmt: skip
            raise ValidationError([choice])
        return given
    if name in LISTS:
        rows = list(map(str.strip, given.splitlines())) if isinstance(given, str) else given
        if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
            raise ValidationError([WRONG_LIST])
        return list(dict.fromkeys(filter(None, rows)))
    text = "" if given is None else str(given).strip()
    if name == "size" and (share := SHARE.fullmatch(text)) and 0 < float(share[1]) <= 100:
        return f"{share[1]}%"
    if text and not (re.fullmatch(r"[0-9]{1,9}", text) and int(text) >= (name == "size")):
        raise ValidationError([WRONG_SIZE if name == "size" else WRONG_LENGTH])
    return int(text) if text else None


def _contradictions(rule: Mapping[str, Any]) -> list[Message]:
    is_whole = rule.get("unit") == DOCUMENT
    faults = {
        WRONG_ORDER: rule.get("min_length", 0) > rule.get("max_length", MOST),
        NO_SIZE: "strata" in rule and "size" not in rule,
        OF_DOCUMENTS: is_whole and rule.get("strata") == DOCUMENT,
        KEYS_OF_DOCUMENTS: is_whole and "segments" in rule,
    }
    return [fault for fault, is_so in faults.items() if is_so]


def cells_of(value: Any) -> dict[str, str]:
    """Return what the cells show: a rule, its JSON, or what was typed."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = json.loads(value)
    rule = value if isinstance(value, dict) else {}
    return {
        name: "\n".join(map(str, given)) if isinstance(given, list) else str(given)
        for name, given in rule.items()
        if given is not None
    }
