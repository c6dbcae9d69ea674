"""The steps to an open campaign above a page, and the next step of a campaign."""

from typing import Any

from django import template

from annotation.campaigns import hindrances
from annotation.models import Campaign
from annotation.web import guide as steps
from annotation.web import navigation

register = template.Library()
register.filter("hindrances", hindrances)
GUIDED = ("setup", "people", "monitor", "export")


@register.inclusion_tag("shell/_guide.html")
def guide(page: str) -> dict[str, Any]:
    """The steps on a page without a campaign."""
    return {"steps": steps.first_steps(page)}


@register.inclusion_tag("shell/_guide.html", takes_context=True)
def campaign_guide(context: dict[str, Any], campaign: Campaign, page: str) -> dict[str, Any]:
    """The steps of a draft; of another campaign the next step, on pages that have no own."""
    runs_it = context.get("is_admin", False)
    if not (runs_it() if callable(runs_it) else runs_it):
        return {}
    if campaign.status == Campaign.Status.DRAFT:
        return {"steps": steps.steps(campaign, page)}
    is_guided = navigation.tab_of(navigation.CAMPAIGN, page).name in GUIDED
    return {"next": steps.next_step(campaign)} if is_guided else {}
