"""Build the sidebar of a page from the context of its template."""

from typing import Any

from django import template

from annotation.filters import Filters
from annotation.filters.choice import Z
from dashboards.pages.rail import Rail, rail_of

register = template.Library()


@register.simple_tag(takes_context=True)
def rail(context: dict[str, Any], own: str = "") -> Rail:
    """Return the controls of the current page; `own` names the fields of its template."""
    request = context["request"]
    takes = getattr(request.resolver_match.func, "takes", None)
    page = context.get("page")
    return rail_of(
        takes().names if takes else frozenset(),
        request.GET,
        context.get("filters"),
        getattr(context.get("document"), "all_metrics", ()),
        frozenset(own.split()),
        _usual(context),
        getattr(page, "statistics", {}),
        getattr(page, "statistic", ""),
    )


def _usual(context: dict[str, Any]) -> str:
    """Return the protocol's form of the human scores."""
    shown = context.get("campaign") or next(iter(context.get("campaigns") or ()), None)
    return Filters().of(shown).scores if shown else Z
