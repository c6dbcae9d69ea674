"""Forms of adjudication: limits of the queue, and gold for another campaign."""

from collections.abc import Iterable

from django import forms

from annotation.adjudication.decisions import MAX_TOLERANCE
from annotation.models import Campaign, Item


class LimitsForm(forms.Form):
    """By how much answers differ that come before a reviewer."""

    gap = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000,
        label="Points apart",
        help_text="The highest and the lowest answer of an item. Empty: points do not matter.",
    )
    overlap = forms.FloatField(
        required=False,
        min_value=0.01,
        max_value=1,
        label="Overlap of marked errors below",
        help_text="F1 of the characters that two people marked, up to 1. Empty: errors do not "
        "matter.",
    )

    def __init__(self, *args: object, campaign: Campaign, **kwargs: object) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)  # type: ignore[arg-type]
        self.fields["overlap"].widget.attrs["step"] = "any"
        if campaign.judging.spans is None:
            del self.fields["overlap"]

    def clean(self) -> dict[str, object]:
        """At least one limit."""
        data = super().clean() or self.cleaned_data
        if not self.errors and not any(value is not None for value in data.values()):
            raise forms.ValidationError("Give at least one limit.")
        return data


class GiveForm(forms.Form):
    """Which campaign gets what from the decisions."""

    target = forms.ChoiceField(label="Campaign")
    kind = forms.ChoiceField(
        choices=[(Item.Kind.TUTORIAL, "Practice, told afterwards"), (Item.Kind.GOLD, "Gold")],
        label="As",
        help_text="Open pools take gold, of outputs that they do not rate themselves.",
    )
    tolerance = forms.IntegerField(
        initial=10,
        min_value=0,
        max_value=MAX_TOLERANCE,
        label="Points up and down",
        help_text="Scores so far from the decision are right.",
    )

    def __init__(self, *args: object, drafts: Iterable[Campaign], **kwargs: object) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)  # type: ignore[arg-type]
        self.fields["target"].choices = [(each.slug, each.name) for each in drafts]  # type: ignore[attr-defined]
