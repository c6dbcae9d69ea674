"""The form that starts translations of a test set."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotation.access import visible_test_sets
from annotation.models import TestSet
from annotation.uploads.files import parse_ratio
from core.messages import translated
from metaeval.reasons import reason_of
from training.jobs.starting import refusal
from training.translation.lengths import UNITS
from training.translation.requests import METHODS, OF
from training.translation.systems import starting
from training.translation.systems.starting import AUTO, Plan

FIELDS = ("method", "of", "unit", "beam", "metric", "language_model")
# Fields of :func:`starting.plan` that have another name here.
NAMES = {"share": "ratios", "system": "name"}


class TranslateForm(forms.Form):
    """A test set, a model and the target lengths. After `is_valid`, `plan` is the dry run."""

    test_set = forms.ModelChoiceField(
        TestSet.objects.all(), to_field_name="slug", label=_("Test set"), empty_label=None
    )
    model = forms.CharField(
        max_length=500,
        label=_("Model"),
        help_text=_("The number of a training, a name on the Hugging Face hub, or a folder."),
        widget=forms.TextInput(attrs={"list": "known-models", "autocomplete": "off"}),
    )
    name = forms.CharField(
        max_length=120,
        label=_("Name of the system"),
        help_text=_("The length ratio is added to the name: name@0.8."),
    )
    ratios = forms.CharField(
        max_length=100,
        label=_("Length ratios"),
        initial="0.8, 0.5",
        help_text=_("Ratios or percentages, separated by commas. Use 1 without a length control."),
    )
    of = forms.ChoiceField(
        choices=lambda: [
            ("", _("the reference if there is one, else the source")),
            *((key, translated(about)) for key, about in OF.items()),
        ],
        required=False,
        label=_("Relative to the length of"),
    )
    method = forms.ChoiceField(
        choices=lambda: [
            (AUTO, _("the length control of the model if it has one, else exact")),
            *((key, translated(about)) for key, about in METHODS.items()),
        ],
        initial=AUTO,
        label=_("Method"),
    )
    unit = forms.ChoiceField(
        choices=lambda: [(key, translated(label)) for key, label in UNITS.items()],
        label=_("Length counted in"),
    )
    beam = forms.IntegerField(min_value=1, max_value=64, initial=4, label=_("Beams"))
    metric = forms.CharField(
        required=False,
        label=_("Metric"),
        help_text=_("For the method n-best: a metric without references that ranks the outputs."),
    )
    language_model = forms.CharField(
        required=False,
        label=_("Language model"),
        help_text=_("For the method extract: a causal language model."),
    )
    queue = forms.ChoiceField(choices=[("gpu", "gpu"), ("cpu", "cpu")], label=_("Queue"))

    def __init__(
        self, user: Any, data: Any = None, initial: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial=dict(initial or {}))
        self.user = user
        self.plan: Plan | None = None
        self.fields["test_set"].queryset = visible_test_sets(user)  # type: ignore[attr-defined]

    @property
    def main(self) -> list[forms.BoundField]:
        """Return the fields that are always shown."""
        return [self[name] for name in ("test_set", "model", "name", "ratios", "of", "method")]

    @property
    def advanced(self) -> list[forms.BoundField]:
        """Return the fields that are folded."""
        return [self[name] for name in ("unit", "beam", "metric", "language_model", "queue")]

    @property
    def has_folded_errors(self) -> bool:
        """Return True if a folded field has an error."""
        return any(field.errors for field in self.advanced)

    def clean_ratios(self) -> list[Decimal]:
        """Read ratios and percentages."""
        parts = [part.strip() for part in self.cleaned_data["ratios"].split(",") if part.strip()]
        try:
            return [parse_ratio(part) for part in parts]
        except ValueError as error:
            raise refusal(reason_of(error)) from error

    def clean(self) -> dict[str, Any]:
        """Check all that can be checked without loading the model."""
        data = super().clean() or self.cleaned_data
        if self.errors:
            return data
        try:
            self.plan = starting.plan(
                test_set=data["test_set"],
                name=data["name"],
                model=data["model"],
                shares=data["ratios"],
                given={field: data[field] for field in FIELDS},
                user=self.user,
                queue=data["queue"],
            )
        except ValidationError as error:
            for field, errors in error.error_dict.items():
                self.add_error(NAMES.get(field, field), ValidationError(errors))
        return data
