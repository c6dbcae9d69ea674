"""The form of a campaign, for an existing draft."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.campaigns import require_status
from annotation.campaigns.sampling import store_sample
from annotation.campaigns.shares import has_imported_items
from annotation.forms.campaign.form import CampaignForm, check_traps
from annotation.models import Campaign
from annotation.presets import mark_missing
from metaeval.messages import message

IMPORTED = message(
    "campaign.items-imported",
    "The items of this campaign were imported with their task, so only its name and its people can "
    "be changed.",
)


class DraftForm(CampaignForm):
    """All settings of a draft, except its test set and practice items."""

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, test_set=campaign.test_set, instance=campaign, **kwargs)
        del self.fields["practice"]
        if not self.is_bound:
            stored = {name: getattr(campaign, name) for name in self._meta.fields or ()}
            own = campaign.question != campaign.judging.ask(campaign.length_ratio)
            self.initial = {**self.initial, **stored} | {
                "length_ratio": str(campaign.length_ratio),
                "systems": sorted(campaign.systems.values_list("name", flat=True)),
                "question": campaign.question if own else "",
            }

    @transaction.atomic
    def change(self) -> Campaign:
        """Store the draft. Raises ValidationError if it is no draft or lacks possible traps."""
        now = Campaign.objects.select_for_update().get(pk=self.instance.pk)
        require_status(now, Campaign.Status.DRAFT)
        if has_imported_items(now):
            raise ValidationError([IMPORTED])
        campaign: Campaign = super().save(commit=False)
        mark_missing(campaign)
        campaign.save()
        campaign.systems.set(self.chosen)
        store_sample(campaign)
        check_traps(campaign)
        return campaign
