"""Format numbers in table cells."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from annotation.filters import Filters
from annotation.filters.choice import Z
from annotation.models import Campaign
from annotation.web import navigation
from core import languages, numbers
from core.numbers import NOTHING, decimals
from dashboards.home import next_step
from dashboards.pages.rail import Rail, rail_of

register = template.Library()


@register.simple_tag
def cell(value: float | None, places: int = 3) -> SafeString:
    """Return a table cell with a number, which `sort.js` sorts by its full value."""
    text = f"{value:,}" if isinstance(value, int) else decimals(value, places)
    full = "" if value is None else f"{value:.5g}"
    # Numbers alone: a page has a thousand of them.
    return mark_safe(f'<td class="num" data-value="{full}">{text}</td>')  # noqa: S308


@register.filter
def estimate(value: Sequence[Any] | None, places: int = 3) -> str:
    """Format `[0.5, [0.4, 0.6]]` as `0.500 [0.400, 0.600]`."""
    if value is None or value[0] is None:
        return NOTHING
    number, interval = value
    return f"{decimals(number, places)} {numbers.interval(interval, places)}".rstrip()


@register.filter
def bounds(row: Any, places: int = 3) -> str:
    """Format the `low` and `high` of a row in brackets."""
    return numbers.interval((row.low, row.high), places)


@register.filter
def percent(share: float | None) -> str:
    """Format `0.9` as `90%`."""
    return NOTHING if share is None else f"{share:.0%}"


@register.filter
def percents(interval: Sequence[float] | None) -> str:
    """Format `[0.8, 0.95]` as `[80, 95]`."""
    return numbers.interval([100 * end for end in interval], 0) if interval else ""


@register.filter
def change(row: Any, places: int = 3) -> str:
    """Format the `difference` of a row with sign and interval: `Δ +0.012 [−0.010, 0.030]`."""
    number = decimals(row.difference, places)
    sign = "" if number.startswith(("−", NOTHING)) else "+"
    ends = numbers.interval((row.difference_low, row.difference_high), places)
    return f"Δ {sign}{number} {ends}".rstrip()


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


register.filter("direction", languages.direction)
