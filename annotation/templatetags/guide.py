"""The steps to an open campaign above a page, and the next step of a campaign."""

from typing import Any

from django import template

from annotation import protocols
from annotation.campaigns import effort, hindrances
from annotation.models import Campaign, TestSet
from annotation.protocols.paces import Pace
from annotation.web import guide as steps
from annotation.web import navigation
from annotation.web.sentences import said

register = template.Library()
register.filter("hindrances", hindrances)
GUIDED = ("setup", "people", "monitor", "export")


@register.inclusion_tag("shell/_guide.html")
def guide(page: str) -> dict[str, Any]:
    """The steps on a page without a campaign."""
    return {"steps": steps.first_steps(page)}


@register.inclusion_tag("shell/_guide.html", takes_context=True)
def draft_guide(context: dict[str, Any], campaign: Campaign, page: str) -> dict[str, Any]:
    """The steps of a draft, on all its pages."""
    is_draft = campaign.status == Campaign.Status.DRAFT
    return {"steps": steps.steps(campaign, page)} if is_draft and _runs_it(context) else {}


@register.inclusion_tag("shell/_guide.html", takes_context=True)
def next_guide(context: dict[str, Any], campaign: Campaign, page: str) -> dict[str, Any]:
    """The next step of another campaign, on pages that name none of their own."""
    is_guided = navigation.tab_of(navigation.CAMPAIGN, page).name in GUIDED
    if campaign.status == Campaign.Status.DRAFT or not is_guided or not _runs_it(context):
        return {}
    return {"next": steps.next_step(campaign)}


@register.inclusion_tag("annotation/_cost.html")
def campaign_cost(test_set: TestSet) -> dict[str, Any]:
    """What a design takes and can tell: what the page's script needs to say so at every change."""
    paces = effort.paces()
    known = {
        name: {"pace": _told(paces.get(name)), "spread": _told(effort.spread_of(protocol))}
        for name, protocol in protocols.PROTOCOLS.items()
    }
    outputs = effort.outputs_of(test_set)
    data = {"protocols": known, "outputs": outputs, "quantiles": effort.QUANTILES}
    return {"data": data}


def _told(found: Pace | effort.Spread | None) -> dict[str, Any] | None:
    """The fields, words in the language of the page."""
    if found is None:
        return None
    return {
        name: said(value) if isinstance(value, str) else value
        for name, value in vars(found).items()
    }


def _runs_it(context: dict[str, Any]) -> bool:
    runs_it = context.get("is_admin", False)
    return bool(runs_it() if callable(runs_it) else runs_it)
