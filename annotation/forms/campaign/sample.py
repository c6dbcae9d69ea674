"""The field for the part of the test set that is judged: cells of the page, or a whole rule.

Campaign files and programs give a rule as an object (:mod:`annotation.campaigns.sampling`).
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.sampling import DOCUMENT, KEYS, LENGTH, SEGMENT, read_rule


class SampleWidget(forms.Widget):
    """Reads the cells, or a whole rule: an object, or its JSON."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        if isinstance(data.get(name), str):
            with suppress(ValueError):
                return json.loads(data[name] or "null")
        if name in data:
            return data[name]
        return {key: data[f"{name}-{key}"] for key in KEYS if data.get(f"{name}-{key}")}


class SampleField(forms.Field):
    """Cleans to a rule; None for the whole test set."""

    widget = SampleWidget
    units = ((SEGMENT, _("segments")), (DOCUMENT, _("whole documents")))
    strata = (
        ("", _("from all of them")),
        (DOCUMENT, _("evenly from all documents")),
        (LENGTH, _("evenly from four bands of length")),
    )

    def prepare_value(self, value: Any) -> Any:
        """Return a rule as JSON, as a hidden field sends it."""
        return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value

    def clean(self, value: Any) -> dict[str, Any] | None:
        """Raise ValidationError for what cannot be read or contradicts itself."""
        return read_rule(value)


def cells_of(value: Any) -> dict[str, str]:
    """Return what the cells show of a rule, or of its JSON."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = json.loads(value)
    rule = value if isinstance(value, dict) else {}
    return {
        name: "\n".join(map(str, given)) if isinstance(given, list) else str(given)
        for name, given in rule.items()
        if given is not None
    }
