"""Build the form of a metric family from its options."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from core.messages import translated
from metaeval.messages import Message
from metaeval.reasons import reason_of
from metrics import catalogue, options
from metrics.base import MetricError, MetricInfo
from metrics.models import ConfiguredMetric
from metrics.options import Family, Option, OptionError
from metrics.support import of_family

PREFIX = "option-"
KNOWN = "known-checkpoints"


class MetricForm(forms.Form):
    """Name, label and options of a new metric; after `is_valid`, `info` is its description."""

    name = forms.CharField(
        max_length=60,
        label=_("Name"),
        help_text=_(
            "Used in addresses, files and commands, and never changed. Use a–z, 0–9, + . -"
        ),
        validators=ConfiguredMetric._meta.get_field("name").validators,
    )
    label = forms.CharField(
        max_length=80, label=_("Label"), help_text=_("Shown in tables and charts.")
    )

    def __init__(
        self,
        family: Family,
        data: Mapping[str, Any] | None = None,
        initial: Mapping[str, Any] | None = None,
        known: Iterable[str] = (),
    ) -> None:
        super().__init__(data, initial={PREFIX + k: v for k, v in (initial or {}).items()})
        self.family, self.known = family, list(known)
        self.info: MetricInfo | None = None
        for option in family.options:
            choices = of_family(family.key).choices(option)
            self.fields[PREFIX + option.name] = field_of(option, choices)

    @property
    def given(self) -> dict[str, Any]:
        """Return the options that were sent; empty ones have their defaults."""
        sent = {option.name: self.data.get(PREFIX + option.name) for option in self.family.options}
        return {name: value for name, value in sent.items() if value not in (None, "")}

    @property
    def main_fields(self) -> list[forms.BoundField]:
        """Return name, label and the options that identify the metric."""
        rare = {field.name for field in self.more_fields}
        return [field for field in self if field.name not in rare]

    @property
    def more_fields(self) -> list[forms.BoundField]:
        """Return options that few people change."""
        return [self[PREFIX + o.name] for o in self.family.options if not o.is_main]

    @property
    def shows_more(self) -> bool:
        """Return True if one of those was changed or is wrong, so that it is shown."""
        return any(
            field.errors or str(field.value() or "") != str(field.field.initial or "")
            for field in self.more_fields
        )

    def clean_name(self) -> str:
        """Refuse names in use, also those of retired metrics: scores are stored under them."""
        name = str(self.cleaned_data["name"])
        if catalogue.find(name):
            raise ValidationError([catalogue.name_taken(name)])
        return name

    def clean(self) -> None:
        """Check every option alone, then whether they fit together."""
        for option in self.family.options:
            self._check(option)
        if not self.errors:
            self._describe()

    def _check(self, option: Option) -> None:
        alone = replace(self.family, options=(option,))
        given = {k: v for k, v in self.given.items() if k == option.name}
        try:
            options.clean(alone, given)
        except OptionError as error:
            self.add_error(PREFIX + option.name, ValidationError([error.problem]))

    def _describe(self) -> None:
        try:
            self.info = catalogue.describe(
                family=self.family.key,
                name=self.cleaned_data["name"],
                label=self.cleaned_data["label"],
                options=self.given,
            )
        except ValidationError as error:
            self.add_error(None, error)
        except MetricError as error:
            checkpoint = next((o for o in self.family.options if o.kind == "checkpoint"), None)
            field = PREFIX + checkpoint.name if checkpoint else None
            self.add_error(field, ValidationError([error.message]))
        except OptionError as error:
            is_own = any(option.name == error.option for option in self.family.options)
            field = PREFIX + error.option if is_own else None
            self.add_error(field, ValidationError([error.problem]))
        except (ValueError, OSError) as error:
            self.add_error(None, ValidationError([reason_of(error)]))


def field_of(option: Option, choices: Sequence[tuple[str, Message | str]] = ()) -> forms.Field:
    """Return the field of an option; its value is checked by the options, not by the field.

    ``choices`` are those of this installation.
    """
    choices = choices or _choices(option)
    shared: dict[str, Any] = {
        "label": option.label,
        "help_text": option.help,
        # The options check whether a value is needed, and which.
        "required": False,
        "initial": _initial(option),
    }
    if choices:
        return forms.CharField(
            widget=forms.Select(
                choices=[
                    (value, translated(label) if isinstance(label, Message) else label)
                    for value, label in choices
                ]
            ),
            **shared,
        )
    return forms.CharField(widget=_widget(option), **shared)


def _choices(option: Option) -> list[tuple[str, Any]]:
    if option.kind == "boolean":
        return [("yes", _("Yes")), ("no", _("No"))]
    return [(choice, choice) for choice in option.choices]


def _initial(option: Option) -> Any:
    if isinstance(option.default, bool):
        return "yes" if option.default else "no"
    return option.default


def _widget(option: Option) -> forms.Widget:
    if option.kind in ("integer", "number"):
        bounds = {"min": option.minimum, "max": option.maximum}
        step = 1 if option.kind == "integer" else "any"
        given = {name: f"{value:g}" for name, value in bounds.items() if value is not None}
        return forms.NumberInput(attrs=given | {"step": step})
    if option.kind == "checkpoint":
        return forms.TextInput(attrs={"list": KNOWN, "spellcheck": "false"})
    return forms.TextInput()
