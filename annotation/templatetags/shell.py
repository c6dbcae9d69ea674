"""The frame of researchers' pages: facts, tabs, first steps, and explained terms."""

from collections.abc import Callable, Sequence
from typing import Any

from django import template
from django.http import QueryDict
from django.template import Context
from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation import protocols
from annotation.access import ADMIN, ANNOTATOR, CAMPAIGN_ADMIN, RESEARCHER
from annotation.campaigns import effort, hindrances
from annotation.campaigns.facts import facts, study_facts
from annotation.filters.form import Choice
from annotation.glossary import TERMS
from annotation.models import Campaign, FileImport, TestSet
from annotation.protocols.published import Pace
from annotation.web import navigation
from annotation.web.navigation import Link, Sidebar, first_steps
from core.messages import translated
from metaeval.messages import Message

register = template.Library()
register.filter("facts", facts)
register.filter("study_facts", study_facts)


@register.simple_tag
def imports_under_way(user: Any) -> list[FileImport]:
    """Return a user's imports that have not ended."""
    return list(FileImport.objects.filter(created_by=user, state__in=FileImport.OPEN))


@register.simple_tag
def campaign_tabs(campaign: Campaign, page: str) -> list[Link]:
    """Return the tabs of a campaign's page."""
    address = navigation.campaign_address(campaign.slug)
    return navigation.tab_links(navigation.CAMPAIGN, page, address)


@register.simple_tag
def study_tabs(study: str, page: str) -> list[Link]:
    """Return the tabs of a study's page."""
    return navigation.tab_links(navigation.STUDY, page, navigation.study_address(study))


@register.simple_tag
def study_pages(study: str, page: str) -> list[Link]:
    """Return the pages of a study's current tab."""
    places = navigation.tab_of(navigation.STUDY, page).places
    address = navigation.study_address(study)
    return [Link(place.label, address(place), place.name == page) for place in places]


@register.simple_tag(takes_context=True)
def campaign_sidebar(context: Context, page: str) -> Sidebar:
    """Return the pages of a campaign's current tab, with the reader's filters that they take."""
    request = context.get("request")
    query = request.GET if request else QueryDict()
    runs_it = context.get("is_admin", False)
    is_admin = runs_it() if callable(runs_it) else bool(runs_it)
    # Two blocks of one page ask for it.
    memo = context.render_context
    if memo.get("sidebar") is None:
        memo["sidebar"] = navigation.sidebar_of(context["campaign"], page, query, is_admin=is_admin)
    sidebar: Sidebar = memo["sidebar"]
    return sidebar


@register.filter
def options(choices: Sequence[Choice]) -> SafeString:
    """Return the markup of many choices; template tags would take milliseconds for hundreds."""
    return mark_safe("".join(map(_option, choices)))  # noqa: S308  escaped one by one


def _option(choice: Choice) -> str:
    return f"<option{' selected' if choice.is_chosen else ''}>{escape(choice.value)}</option>"


register.filter("hindrances", hindrances)
ROLES = {
    ADMIN: gettext_lazy("site admin"),
    CAMPAIGN_ADMIN: gettext_lazy("campaign admin"),
    RESEARCHER: gettext_lazy("researcher"),
    ANNOTATOR: gettext_lazy("annotator"),
}


@register.filter
def role_name(group: str) -> Any:
    """Return the name of a role on pages."""
    return ROLES.get(group, group)


@register.inclusion_tag("shell/_guide.html")
def guide(page: str) -> dict[str, Any]:
    """Return the steps on a page without a campaign."""
    return {"steps": first_steps(page)}


@register.inclusion_tag("annotation/_cost.html")
def campaign_cost(test_set: TestSet) -> dict[str, Any]:
    """Return what the page's script needs to estimate time and detectable differences."""
    paces = effort.paces()
    known = {
        name: {"pace": _fields(paces.get(name)), "spread": _fields(effort.spread_of(protocol))}
        for name, protocol in protocols.PROTOCOLS.items()
    }
    outputs = effort.outputs_of(test_set)
    units = {name: [unit(1), unit(2)] for name, unit in UNITS.items()}
    data = {
        "protocols": known,
        "outputs": outputs,
        "documents": test_set.segments.order_by().values("document").distinct().count(),
        "quantiles": effort.QUANTILES,
        "units": units,
        "total": _("About {time} of rating"),
    }
    return {"data": data}


# Patterns for one and for several, in which the page's script replaces {n}.
UNITS: dict[str, Callable[[int], str]] = {
    "hours": lambda n: ngettext("{n} hour", "{n} hours", n),
    "minutes": lambda n: ngettext("{n} minute", "{n} minutes", n),
    "seconds": lambda n: ngettext("{n} second", "{n} seconds", n),
    "judgments": lambda n: ngettext("{n} judgment", "{n} judgments", n),
    "annotators": lambda n: ngettext("{n} annotator", "{n} annotators", n),
    "segments": lambda n: ngettext("{n} segment", "{n} segments", n),
}


def _fields(found: Pace | effort.Spread | None) -> dict[str, Any] | None:
    """Return the fields, with messages in the language of the page."""
    if found is None:
        return None
    return {
        name: translated(value) if isinstance(value, Message) else value
        for name, value in vars(found).items()
    }


BUTTON = '<button type="button" class="term" popovertarget="term-{0}" aria-label="{1}"></button>'
# The definition follows the first button of a page.
DEFINITION = (
    '<span id="term-{0}" class="definition" popover><strong>{1}</strong>{2} '
    '<a href="{3}#{0}">{4}</a></span>'
)


@register.simple_tag(takes_context=True)
def term(context: dict[str, Any], key: str) -> SafeString:
    """Return a button that explains a term; nothing for unknown terms and on printed pages."""
    found, request = TERMS.get(key), context.get("request")
    if found is None or request is None:
        return SafeString("")
    question = _("What is %(term)s?") % {"term": found.label}
    button = format_html(BUTTON, found.key, question)
    explained = request.__dict__.setdefault("terms", set())
    if key in explained:
        return button
    explained.add(key)
    return button + format_html(
        DEFINITION, found.key, found.label, found.text, reverse("glossary"), _("Glossary")
    )
