"""Show the steps of a draft above its pages, and the next step of any other campaign."""

from typing import Any

from django import template

from annotation.models import Campaign
from annotation.web import navigation
from dashboards.home import next_step

register = template.Library()
GUIDED = ("setup", "people", "monitor", "export")


@register.inclusion_tag("shell/_guide.html", takes_context=True)
def draft_guide(context: dict[str, Any], campaign: Campaign, page: str) -> dict[str, Any]:
    """Return the steps of a draft, on all its pages."""
    is_draft = campaign.status == Campaign.Status.DRAFT
    return {"steps": next_step.steps(campaign, page)} if is_draft and _runs_it(context) else {}


@register.inclusion_tag("shell/_guide.html", takes_context=True)
def next_guide(context: dict[str, Any], campaign: Campaign, page: str) -> dict[str, Any]:
    """Return the next step of another campaign, on pages without a next step of their own."""
    is_guided = navigation.tab_of(navigation.CAMPAIGN, page).name in GUIDED
    if campaign.status == Campaign.Status.DRAFT or not is_guided or not _runs_it(context):
        return {}
    return {"next": next_step.next_step(campaign, page)}


def _runs_it(context: dict[str, Any]) -> bool:
    runs_it = context.get("is_admin", False)
    return bool(runs_it() if callable(runs_it) else runs_it)
