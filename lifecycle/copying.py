"""A campaign once more, as a draft: its task and design, and nobody in it."""

from typing import Any

from annotation.forms.campaign.form import free_slug
from annotation.models import Campaign, Instructions
from annotation.presets import free_name

OWN = frozenset(
    {
        *("id", "slug", "name", "status", "origin", "created_by", "created_at"),
        *("opened_at", "closed_at", "notified_at", "secret", "lower_is_better", "direction"),
    }
)


def copy_campaign(campaign: Campaign, user: Any) -> Campaign:
    """Return a new draft over the same systems, with the same settings and instructions."""
    settings = {
        field.name: getattr(campaign, field.name)
        for field in Campaign._meta.concrete_fields
        if field.name not in OWN
    }
    name = free_name(f"{campaign.name[:105]} (copy)")
    made = Campaign.objects.create(slug=free_slug(name), name=name, created_by=user, **settings)
    made.systems.set(campaign.systems.all())
    Instructions.objects.bulk_create(
        [
            Instructions(
                campaign=made, language=each.language,
                instructions=each.instructions, consent=each.consent,
            )
            for each in campaign.translations.all()
        ]
    )  # fmt: skip
    return made
