"""What a researcher asks of the power analysis: a difference, a design, and how scores vary."""

from collections.abc import Mapping
from typing import Any

from django import forms

from annotation.quality.columns import RAW, Z
from metaeval.judgments.planning.power import DESIGNS

MAX_SEGMENTS, MAX_ANNOTATORS, MAX_CELLS = 5_000, 20, 12
DESIGN_LABELS = {
    "same_segments": "Same segments",
    "same_annotators": "Same segments and annotators",
    "independent": "Different segments",
}


class NumberList(forms.CharField):
    """Whole numbers with commas or spaces between them, sorted and each once."""

    def __init__(self, *, least: int, most: int, **kwargs: Any) -> None:
        super().__init__(max_length=200, **kwargs)
        self.least, self.most = least, most

    def to_python(self, value: Any) -> Any:
        """Return the numbers, or say which part is none."""
        parts = str(value or "").replace(",", " ").split()
        if wrong := next((part for part in parts if not part.isascii() or not part.isdigit()), ""):
            raise forms.ValidationError(f"“{wrong}” is no whole number.")
        numbers = sorted({int(part) for part in parts if len(part) < 10})
        if len(parts) > MAX_CELLS or any(len(part) >= 10 for part in parts):
            raise forms.ValidationError(f"Give at most {MAX_CELLS} numbers of up to 9 digits.")
        if numbers and not self.least <= numbers[0] <= numbers[-1] <= self.most:
            raise forms.ValidationError(f"Numbers from {self.least:,} to {self.most:,}.")
        return numbers

    def prepare_value(self, value: Any) -> Any:
        """Show numbers as they are typed."""
        return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value

    def validate(self, value: Any) -> None:
        """Ask for at least one number."""
        if not value and self.required:
            raise forms.ValidationError("Give at least one number.")

    def run_validators(self, value: Any) -> None:
        """The length was bounded in `to_python`."""


class PowerForm(forms.Form):
    """Everything but the variances; what is not sent takes its default."""

    DEFAULTS: Mapping[str, Any] = {
        "difference": 5.0,
        "n_systems": 2,
        "design": DESIGNS[1],
        "alpha": 0.05,
        "annotators_per_item": (1, 2, 3, 5),
        "n_segments": "",
    }

    difference = forms.FloatField(
        label="Difference to find",
        min_value=0.001,
        max_value=1000,
        help_text="How far apart two systems are in truth, in the unit of the scores.",
    )
    n_systems = forms.IntegerField(
        label="Systems",
        min_value=2,
        max_value=100,
        help_text="All pairs are compared: α is divided by their number (Bonferroni).",
    )
    design = forms.ChoiceField(
        label="What two systems share",
        choices=[(name, DESIGN_LABELS[name]) for name in DESIGNS],
        help_text="Annotators are shared if the same people judge both outputs of a segment.",
    )
    alpha = forms.FloatField(label="α", min_value=0.0001, max_value=0.5)
    annotators_per_item = NumberList(
        label="Annotators per item", least=1, most=MAX_ANNOTATORS, help_text="Such as 1, 2, 3."
    )
    n_segments = NumberList(
        label="Segments",
        least=2,
        most=MAX_SEGMENTS,
        required=False,
        help_text="Such as 100, 200, 400. Empty: around the answer.",
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
        """What the form starts from."""
        return {
            name: ", ".join(map(str, value)) if isinstance(value, tuple) else value
            for name, value in self.DEFAULTS.items()
        }

    def question(self) -> dict[str, Any]:
        """Return the number of systems and the arguments of `metaeval.power_table`; `n_segments`
        may be empty."""
        data = self.cleaned_data
        names = ("n_systems", "difference", "design", "alpha", "annotators_per_item", "n_segments")
        n_systems = data["n_systems"]
        return {name: data[name] for name in names} | {"n_pairs": n_systems * (n_systems - 1) // 2}


class PilotForm(PowerForm):
    """A campaign is the pilot; its scores are raw or z."""

    scores = forms.ChoiceField(
        label="Scores", choices=[(RAW, "Raw scores"), (Z, "z-scores of each annotator")]
    )

    field_order = ["scores"]

    def defaults(self) -> dict[str, Any]:
        """A difference that means something in either unit."""
        return super().defaults() | {"scores": RAW}

    def question(self) -> dict[str, Any]:
        """The same with the scores that the pilot is taken in."""
        return super().question() | {"scores": self.cleaned_data["scores"]}


def spread(label: str, help_text: str) -> forms.FloatField:
    """A standard deviation, in the unit of the scores."""
    return forms.FloatField(label=label, min_value=0, max_value=1000, help_text=help_text)


class StatedForm(PowerForm):
    """Nobody has judged anything yet: standard deviations are assumed."""

    SDS: Mapping[str, Any] = {"segment": 12, "output": 12, "annotator": 10, "residual": 18}

    segment = spread(
        "Spread of segments", "Standard deviation: some segments are harder for every system."
    )
    output = spread(
        "Spread of outputs",
        "Of one system over segments, beyond its mean and the segment’s difficulty.",
    )
    annotator = spread("Spread of annotators", "How mild or strict people are. 0 for z-scores.")
    residual = spread("Residual", "What is left between two judgments of one output.")

    def defaults(self) -> dict[str, Any]:
        """Spreads as they are common on a scale of 0 to 100, to be replaced by the reader's."""
        return super().defaults() | dict(self.SDS)

    def question(self) -> dict[str, Any]:
        """The same with the standard deviations that are stated."""
        return super().question() | {"sds": {name: self.cleaned_data[name] for name in self.SDS}}
