"""Forms of adjudication: limits of the queue, and gold for another campaign."""

from collections.abc import Iterable

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.adjudication.decisions import MAX_TOLERANCE
from annotation.models import Campaign, Item


class LimitsForm(forms.Form):
    """The limits of differences that reviewers decide."""

    gap = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000,
        label=_("Difference in points"),
        help_text=_(
            "Between the highest and the lowest score of an item. Leave blank to ignore scores."
        ),
    )
    overlap = forms.FloatField(
        required=False,
        min_value=0.01,
        max_value=1,
        label=_("Maximum overlap of marked errors"),
        help_text=_(
            "F1 of the characters that two annotators marked, up to 1. Items with a smaller "
            "overlap are listed. Leave blank to ignore errors."
        ),
    )

    def __init__(self, *args: object, campaign: Campaign, **kwargs: object) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)  # type: ignore[arg-type]
        self.fields["overlap"].widget.attrs["step"] = "any"
        if campaign.judging.spans is None:
            del self.fields["overlap"]

    def clean(self) -> dict[str, object]:
        """Require at least one limit."""
        data = super().clean() or self.cleaned_data
        if not self.errors and not any(value is not None for value in data.values()):
            raise forms.ValidationError(_("Enter at least one limit."))
        return data


class GiveForm(forms.Form):
    """The campaign that gets items from the decisions, and their kind."""

    target = forms.ChoiceField(label=_("Campaign"))
    kind = forms.ChoiceField(
        choices=[(Item.Kind.TUTORIAL, _("Practice, with feedback")), (Item.Kind.GOLD, _("Gold"))],
        label=_("Kind of items"),
        help_text=_("Open pools can get only gold items, of outputs that they do not rate."),
    )
    tolerance = forms.IntegerField(
        initial=10,
        min_value=0,
        max_value=MAX_TOLERANCE,
        label=_("Tolerance in points"),
        help_text=_("Scores within this distance of the decision are right."),
    )

    def __init__(self, *args: object, drafts: Iterable[Campaign], **kwargs: object) -> None:
        super().__init__(*args, **{"label_suffix": ""} | kwargs)  # type: ignore[arg-type]
        self.fields["target"].choices = [(each.slug, each.name) for each in drafts]  # type: ignore[attr-defined]
