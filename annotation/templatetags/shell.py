"""The frame around a researcher's pages: facts, tabs, and the pages beside the one that is read."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.http import QueryDict
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from annotation.campaigns.facts import facts, study_facts
from annotation.filters.form import Choice
from annotation.models import Campaign
from annotation.web import navigation
from annotation.web.navigation import Link

register = template.Library()
register.filter("facts", facts)
register.filter("study_facts", study_facts)


@register.simple_tag
def campaign_tabs(campaign: Campaign, page: str) -> list[Link]:
    """The tabs of a campaign's page."""
    address = navigation.campaign_address(campaign.slug)
    return navigation.tab_links(navigation.CAMPAIGN, page, address)


@register.simple_tag
def study_tabs(study: str, page: str) -> list[Link]:
    """The tabs of a study's page."""
    return navigation.tab_links(navigation.STUDY, page, navigation.study_address(study))


@register.simple_tag
def study_pages(study: str, page: str) -> list[Link]:
    """The pages of the rail of a study."""
    places = navigation.tab_of(navigation.STUDY, page).places
    address = navigation.study_address(study)
    return [Link(place.label, address(place), place.name == page) for place in places]


@register.simple_tag(takes_context=True)
def campaign_pages(context: dict[str, Any], page: str) -> list[Link]:
    """The pages of the rail, with what they take of the reader's choice."""
    request = context.get("request")
    query = request.GET if request else QueryDict()
    runs_it = context.get("is_admin", False)
    is_admin = runs_it() if callable(runs_it) else bool(runs_it)
    return navigation.page_links(context["campaign"], page, query, is_admin=is_admin)


@register.filter
def options(choices: Sequence[Choice]) -> SafeString:
    """The markup of many choices: tags of a template take milliseconds for hundreds of workers."""
    return mark_safe("".join(map(_option, choices)))  # noqa: S308  escaped one by one


def _option(choice: Choice) -> str:
    return f"<option{' selected' if choice.is_chosen else ''}>{escape(choice.value)}</option>"
