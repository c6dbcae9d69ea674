"""What a translation is asked with on its page."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.models import TestSet
from annotation.uploads.submissions import parse_ratio
from training.translation.lengths import UNITS
from training.translation.requests import METHODS, OF
from training.translation.systems import starting
from training.translation.systems.starting import AUTO, Plan

FIELDS = ("method", "of", "unit", "beam", "metric", "language_model")
# What :func:`starting.plan` calls what is named otherwise here.
NAMES = {"share": "ratios", "system": "name"}


class TranslateForm(forms.Form):
    """A test set, a model and the wanted lengths. After `is_valid`, `plan` is the dry run."""

    test_set = forms.ModelChoiceField(
        TestSet.objects.all(), to_field_name="slug", label="Test set", empty_label=None
    )
    model = forms.CharField(
        max_length=500,
        label="Model",
        help_text="The number of a training, or a checkpoint by its hub name or directory.",
        widget=forms.TextInput(attrs={"list": "known-models", "autocomplete": "off"}),
    )
    name = forms.CharField(
        max_length=120, label="Name of the system", help_text="Its lengths are added: name@0.8."
    )
    ratios = forms.CharField(
        max_length=100,
        label="Length ratios",
        initial="0.8, 0.5",
        help_text="Shares or per cent, separated by commas. 1 without a length control.",
    )
    of = forms.ChoiceField(
        choices=[("", "the reference where there is one, else the source"), *OF.items()],
        required=False,
        label="Share of what",
    )
    method = forms.ChoiceField(
        choices=[(AUTO, "as the model was trained; else exact"), *METHODS.items()], initial=AUTO
    )
    unit = forms.ChoiceField(choices=[(unit, unit) for unit in UNITS], label="Counted in")
    beam = forms.IntegerField(min_value=1, max_value=64, initial=4, label="Beams")
    metric = forms.CharField(
        required=False, help_text="For several rewards: a metric without references that ranks."
    )
    language_model = forms.CharField(
        required=False, label="Language model", help_text="For extracts: a causal model."
    )
    queue = forms.ChoiceField(choices=[("gpu", "gpu"), ("cpu", "cpu")], label="Whose workers do it")

    def __init__(
        self, user: Any, data: Any = None, initial: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial=dict(initial or {}))
        self.user = user
        self.plan: Plan | None = None

    @property
    def main(self) -> list[forms.BoundField]:
        """What is shown at once."""
        return [self[name] for name in ("test_set", "model", "name", "ratios", "of", "method")]

    @property
    def advanced(self) -> list[forms.BoundField]:
        """What is folded."""
        return [self[name] for name in ("unit", "beam", "metric", "language_model", "queue")]

    @property
    def has_folded_errors(self) -> bool:
        """Whether what is folded has to be seen."""
        return any(field.errors for field in self.advanced)

    def clean_ratios(self) -> list[Decimal]:
        """Read shares and per cent."""
        parts = [part.strip() for part in self.cleaned_data["ratios"].split(",") if part.strip()]
        try:
            return [parse_ratio(part) for part in parts]
        except ValueError as error:
            raise ValidationError(f"{error}.") from error

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
            )
        except ValidationError as error:
            for field, messages in error.message_dict.items():
                self.add_error(NAMES.get(field, field), messages)
        return data
