"""Forms of the power analysis: a difference, a design, and the variances of scores."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.quality.columns import RAW, Z
from core.messages import invalid
from metaeval.judgments.planning.power import DESIGNS
from metaeval.messages import message

MAX_SEGMENTS, MAX_ANNOTATORS, MAX_CELLS = 5_000, 20, 12
DESIGN_LABELS = {
    "same_segments": _("Same segments"),
    "same_annotators": _("Same segments and annotators"),
    "independent": _("Different segments"),
}


class NumberList(forms.CharField):
    """Whole numbers separated by commas or blanks; sorted, without duplicates."""

    def __init__(self, *, least: int, most: int, **kwargs: Any) -> None:
        super().__init__(max_length=200, **kwargs)
        self.least, self.most = least, most

    def to_python(self, value: Any) -> Any:
        """Return the numbers. Raises ValidationError for parts that are not numbers."""
        parts = str(value or "").replace(",", " ").split()
        if wrong := next((part for part in parts if not part.isascii() or not part.isdigit()), ""):
            raise forms.ValidationError(
                [message("power.not-a-number", "“{text}” is not a whole number.", text=wrong[:40])]
            )
        numbers = sorted({int(part) for part in parts if len(part) < 10})
        if len(parts) > MAX_CELLS or any(len(part) >= 10 for part in parts):
            raise forms.ValidationError(
                [
                    message(
                        "power.too-many",
                        "Enter at most {n} numbers with at most 9 digits each.",
                        n=MAX_CELLS,
                    )
                ]
            )
        if numbers and not self.least <= numbers[0] <= numbers[-1] <= self.most:
            raise forms.ValidationError(
                [
                    message(
                        "power.out-of-range",
                        "Enter numbers from {least} to {most}.",
                        least=self.least,
                        most=self.most,
                    )
                ]
            )
        return numbers

    def prepare_value(self, value: Any) -> Any:
        """Return numbers as text, separated by commas."""
        return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value

    def validate(self, value: Any) -> None:
        """Require at least one number."""
        if not value and self.required:
            raise invalid("power.no-number", "Enter at least one number.")

    def run_validators(self, value: Any) -> None:
        """Do nothing: `to_python` has checked the length."""


class PowerForm(forms.Form):
    """All settings except the variances; missing ones get their default."""

    DEFAULTS: Mapping[str, Any] = {
        "difference": 5.0,
        "n_systems": 2,
        "design": DESIGNS[1],
        "alpha": 0.05,
        "annotators_per_item": (1, 2, 3, 5),
        "n_segments": "",
    }
    # Fields that are folded until one is set.
    SELDOM = ("design", "alpha", "n_segments")

    difference = forms.FloatField(
        label=_("Difference to detect"),
        min_value=0.001,
        max_value=1000,
        help_text=_("The true difference between two systems, in the unit of the scores."),
    )
    n_systems = forms.IntegerField(
        label=_("Systems"),
        min_value=2,
        max_value=100,
        help_text=_("All pairs are compared: α is divided by their number (Bonferroni)."),
    )
    design = forms.ChoiceField(
        label=_("What two systems share"),
        choices=[(name, DESIGN_LABELS[name]) for name in DESIGNS],
        help_text=_(
            "Annotators are shared if the same annotators judge both outputs of a segment."
        ),
    )
    alpha = forms.FloatField(label=_("α"), min_value=0.0001, max_value=0.5)
    annotators_per_item = NumberList(
        label=_("Annotators per item"),
        least=1,
        most=MAX_ANNOTATORS,
        help_text=_("For example 1, 2, 3."),
    )
    n_segments = NumberList(
        label=_("Segments"),
        least=2,
        most=MAX_SEGMENTS,
        required=False,
        help_text=_("For example 100, 200, 400. Leave blank for numbers around the result."),
    )

    def __init__(self, data: Any = None, **kwargs: Any) -> None:
        sent = {} if data is None else data.dict()
        super().__init__({**self.defaults(), **sent}, **kwargs)
        for name, field in self.fields.items():
            if isinstance(field.widget, forms.NumberInput):
                field.widget.attrs.setdefault("step", "any")
            if self.errors.get(name):
                field.widget.attrs["aria-invalid"] = "true"

    def defaults(self) -> dict[str, Any]:
        """Return the initial values."""
        return {
            name: ", ".join(map(str, value)) if isinstance(value, tuple) else value
            for name, value in self.DEFAULTS.items()
        }

    @property
    def has_seldom(self) -> bool:
        """Whether a folded field is set or faulty."""
        usual = self.defaults()
        return any(
            self.errors.get(name) or str(self.data[name]) != str(usual[name])
            for name in self.SELDOM
        )

    def question(self) -> dict[str, Any]:
        """Return the number of systems and the arguments of `metaeval.power_table`; `n_segments`
        may be empty."""
        data = self.cleaned_data
        names = ("n_systems", "difference", "design", "alpha", "annotators_per_item", "n_segments")
        n_systems = data["n_systems"]
        return {name: data[name] for name in names} | {"n_pairs": n_systems * (n_systems - 1) // 2}


class PilotForm(PowerForm):
    """Settings with variances from a campaign, on raw scores or z-scores."""

    scores = forms.ChoiceField(
        label=_("Scores"), choices=[(RAW, _("Raw scores")), (Z, _("z-scores of each annotator"))]
    )

    field_order = ["scores"]

    def defaults(self) -> dict[str, Any]:
        """Return initial values, with raw scores."""
        return super().defaults() | {"scores": RAW}

    def question(self) -> dict[str, Any]:
        """Return the question, with the chosen scores."""
        return super().question() | {"scores": self.cleaned_data["scores"]}


def spread(label: Any, help_text: Any) -> forms.FloatField:
    """Return a field for a standard deviation, in the unit of the scores."""
    return forms.FloatField(label=label, min_value=0, max_value=1000, help_text=help_text)


class StatedForm(PowerForm):
    """Settings with assumed standard deviations, before anything was judged."""

    SDS: Mapping[str, Any] = {"segment": 12, "output": 12, "annotator": 10, "residual": 18}

    segment = spread(
        _("Spread of segments"),
        _("Standard deviation: some segments are harder for all systems."),
    )
    output = spread(
        _("Spread of outputs"),
        _("Of one system over segments, beyond its mean and the segment’s difficulty."),
    )
    annotator = spread(
        _("Spread of annotators"), _("How lenient or strict annotators are. 0 for z-scores.")
    )
    residual = spread(
        _("Residual"), _("The remaining difference between two judgments of one output.")
    )

    def defaults(self) -> dict[str, Any]:
        """Return initial values, with spreads that are common on scales from 0 to 100."""
        return super().defaults() | dict(self.SDS)

    def question(self) -> dict[str, Any]:
        """Return the question, with the stated standard deviations."""
        return super().question() | {"sds": {name: self.cleaned_data[name] for name in self.SDS}}
