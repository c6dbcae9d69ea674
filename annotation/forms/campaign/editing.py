"""The form of a campaign, for an existing draft, and the effect of a preset on what was typed."""

import hashlib
import json
import re
from copy import copy
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import QueryDict

from annotation.campaigns import require_status
from annotation.campaigns.sampling import store_sample
from annotation.campaigns.shares import has_imported_items
from annotation.forms.campaign.form import CampaignForm, check_traps, free_slug, slug_stem
from annotation.models import AuditEntry, Campaign, RepeatableAnswer, TestSet
from annotation.presets import fitting, made_here, mark_missing, propose, ratio_label, refill
from annotation.presets.filling import standard_text
from metaeval.messages import message

IMPORTED = message(
    "campaign.items-imported",
    "The items of this campaign were imported with their task, so only its name and its people can "
    "be changed.",
)
CHANGED = message(
    "campaign.changed-elsewhere",
    "This draft has been changed in another tab or by somebody else. Nothing has been saved here. "
    "Save again to replace those changes.",
)

# A draft's slug changed; its old address leads to the new one.
ADDRESS = "address"


class ChangedError(Exception):
    """The draft is no longer what the page was made from."""


class DraftForm(CampaignForm):
    """All settings of a draft, except its test set. Standard instructions are shown as blank.

    `version` is that of the draft which the page shows: what was refused does not make it newer.
    """

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, test_set=campaign.test_set, instance=campaign, **kwargs)
        self.before = copy(campaign)
        self.version: str = self.data.get("version") or version_of(campaign)
        if not self.is_bound:
            stored = {name: getattr(campaign, name) for name in self._meta.fields or ()}
            own = campaign.question != campaign.judging.ask(campaign.length_ratio)
            is_standard = campaign.instructions == standard_text(campaign, "en")
            self.initial = {**self.initial, **stored} | {
                "length_ratio": str(campaign.length_ratio),
                "systems": sorted(campaign.systems.values_list("name", flat=True)),
                "question": campaign.question if own else "",
                "instructions": "" if is_standard else campaign.instructions,
                "practice": made_here(campaign).exists(),
            }

    @transaction.atomic
    def change(self, *, is_left: bool = False) -> Campaign:
        """Store the draft; if its page `is_left`, its address follows its title.

        Raises ValidationError if it is no draft or lacks possible traps, ChangedError if its stored
        state is neither of the form's version nor what would be stored.
        """
        now = Campaign.objects.select_for_update().get(pk=self.instance.pk)
        require_status(now, Campaign.Status.DRAFT)
        if has_imported_items(now):
            raise ValidationError([IMPORTED])
        stored = version_of(now)
        campaign: Campaign = super().save(commit=False)
        if is_left:
            _fit_slug(campaign)
        mark_missing(campaign)
        refill(campaign, self.before, with_practice=self.cleaned_data["practice"])
        campaign.save()
        campaign.systems.set(self.chosen)
        store_sample(campaign)
        check_traps(campaign)
        known, self.version = self.version, version_of(campaign)
        if stored not in (known, self.version):
            self.version = stored
            raise ChangedError
        return campaign


def _fit_slug(draft: Campaign) -> None:
    """Give a draft a slug made of its title, if nobody can have its address yet."""
    is_fitting = re.fullmatch(rf"{re.escape(slug_stem(draft))}(-\d+)?", draft.slug)
    is_known = draft.annotators.exists() or draft.access_links.exists()
    if draft.slug_follows and not is_fitting and not is_known:
        before, draft.slug = draft.slug, free_slug(draft)
        AuditEntry.objects.create(
            campaign=draft, action=ADDRESS, details={"before": before, "now": draft.slug}
        )


def version_of(campaign: Campaign) -> str:
    """Return a hash of the stored settings of a draft."""
    names = (name for name in CampaignForm.Meta.fields if name != "systems")
    settings = Campaign.objects.filter(pk=campaign.pk).values(*names).get()
    systems = sorted(campaign.systems.values_list("pk", flat=True))
    stored = [settings, systems, made_here(campaign).exists()]
    text = json.dumps(stored, default=str, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def draft_of(user: User, key: str) -> Campaign | None:
    """Return the draft that a page with this key has created."""
    row = RepeatableAnswer.objects.filter(user=user, key_hash=_hashed(key)).first()
    stored = bytes(row.answer or b"").decode() if row else ""
    return Campaign.objects.filter(pk=stored).first() if stored.isdecimal() else None


@transaction.atomic
def create_once(form: CampaignForm, user: User, key: str) -> Campaign:
    """Create the draft, or return the one that the same request has created before."""
    hashed = _hashed(key or uuid4().hex)
    row, is_first = RepeatableAnswer.objects.get_or_create(user=user, key_hash=hashed)
    if not is_first and (made := draft_of(user, key)):
        return made
    campaign = form.create(user)
    row.answer = str(campaign.pk).encode()
    row.save(update_fields=["answer"])
    return campaign


def _hashed(key: str) -> str:
    return hashlib.sha256(f"draft:{key}".encode()).hexdigest()


def with_preset(data: QueryDict, test_set: TestSet) -> QueryDict:
    """Return what was typed, with the settings that its preset proposes.

    The length ratio and the systems stay if the preset is for such outputs.
    """
    typed = data.copy()
    for name in [name for name in typed if name.startswith("answers")]:
        del typed[name]
    preset = fitting(test_set, typed.get("preset", ""))
    try:
        ratio: Decimal | None = Decimal(typed.get("length_ratio", ""))
    except InvalidOperation:
        ratio = None
    stays = ratio in set(test_set.systems.values_list("length_ratio", flat=True))
    stays = stays and (ratio != 1) == preset.is_shortened
    values, _ = propose(preset, test_set, ratio if stays else None)
    if stays and typed.getlist("systems"):
        del values["systems"]
    name = typed.get("name", "")
    is_usual = ratio is not None and name.startswith(f"{test_set.name}, {ratio_label(ratio)}")
    if name and (stays or not is_usual):
        del values["name"]
    for name, value in (values | {"practice": True}).items():
        typed.setlist(name, value if isinstance(value, list) else [str(value)])
    return typed
