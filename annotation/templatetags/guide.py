"""The steps to an open campaign before there is one, and what a design costs."""

from typing import Any

from django import template

from annotation import protocols
from annotation.campaigns import effort, hindrances
from annotation.models import TestSet
from annotation.protocols.paces import Pace
from annotation.web import guide as steps
from annotation.web.sentences import said

register = template.Library()
register.filter("hindrances", hindrances)


@register.inclusion_tag("shell/_guide.html")
def guide(page: str) -> dict[str, Any]:
    """The steps on a page without a campaign."""
    return {"steps": steps.first_steps(page)}


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
