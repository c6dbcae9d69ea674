"""The navigation of campaigns and studies: tabs, and the pages under each tab.

Every page has a name, the `tab` of its context, which is the name of its address unless `address`
is given. Links keep the reader's filters for pages that take them. Before there is a campaign, five
steps lead to one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Any

from django.http import QueryDict
from django.urls import resolve, reverse
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

from annotation.filters.form import NAMES
from annotation.models import Campaign
from core import extensions
from core.extensions import Place

# Pages that answer the same question about metrics, and the parameters of the question.
ASKING = frozenset({"results", "correlations", "significance"})
QUESTION = frozenset({"statistic", "grouping", "test", "correction", "scope", "metric", "bounds"})


@dataclass(frozen=True)
class Tab:
    """A tab with its pages; it links to the first one."""

    name: str
    label: str | Promise
    places: Sequence[Place]


@dataclass(frozen=True)
class Link:
    """What a template needs to link to a tab or a page."""

    label: str | Promise
    href: str
    is_current: bool


RESULTS = (
    Place("results", _("Summary")),
    Place("correlations", _("Table"), tab=_("Metrics")),
    Place("significance", _("Significance"), tab=_("Metrics")),
    Place("metrics-pair", _("Two metrics"), tab=_("Metrics")),
    Place("scatter", _("Metric and human")),
    Place("systems", _("All systems"), tab=_("Systems")),
    Place("systems-pair", _("Two systems"), tab=_("Systems")),
    Place("spans", _("Error spans"), needs="judging.spans"),
    Place("whatif", _("What if"), tab=_("Robustness")),
    Place("samplesize", _("Sample size"), tab=_("Robustness")),
    Place("power", _("Power"), "campaign-power", tab=_("Robustness")),
)
CAMPAIGN = (
    Tab(
        "setup",
        _("Setup"),
        (
            Place("overview", _("Task and design"), "campaign-setup"),
            Place("instructions", _("Instructions"), "campaign-instructions", is_own=True),
            Place("items", _("Practice and gold items"), "campaign-items", is_own=True),
            Place("suggestions", _("Suggested errors"), "campaign-suggestions", is_own=True),
            Place("preview", _("Try it"), "campaign-preview", is_own=True),
        ),
    ),
    Tab(
        "people",
        _("People"),
        (
            Place("access", _("Annotators and access")),
            Place(
                "letters",
                _("Links by e-mail"),
                needs="annotation.notifications.letters:has_recipients",
                is_own=True,
            ),
        ),
    ),
    Tab(
        "monitor",
        _("Monitor"),
        (
            Place("monitor", _("Progress"), tab=_("Progress and people")),
            Place(
                "remarks",
                _("Flags and comments"),
                "monitor-remarks",
                needs="annotation.monitor.answers:has_remarks",
                tab=_("Progress and people"),
            ),
            Place("quality", _("Agreement"), tab=_("Agreement and scale")),
            Place("adjudication", _("Adjudication"), tab=_("Agreement and scale")),
        ),
    ),
    Tab(
        "results",
        _("Results"),
        (*extensions.places("results", RESULTS), Place("report", _("Report"))),
    ),
    Tab(
        "export",
        _("Export"),
        (Place("export", _("Judgments")), Place("bundle", _("Replication bundle"))),
    ),
)
STUDY = tuple(
    Tab(str(label), label, tuple(places))
    for label, places in groupby(extensions.places("study"), lambda each: each.tab)
)


def tab_of(tabs: Sequence[Tab], page: str) -> Tab:
    """Return the tab of a page; the first tab for a page that is under none."""
    found = (tab for tab in tabs if any(place.name == page for place in tab.places))
    return next(found, tabs[0])


def tab_links(tabs: Sequence[Tab], page: str, address: Callable[[Place], str]) -> list[Link]:
    """Return the tabs of a page."""
    current = tab_of(tabs, page)
    return [Link(tab.label, address(tab.places[0]), tab is current) for tab in tabs]


def campaign_address(slug: str) -> Callable[[Place], str]:
    """Return a function that returns the addresses of a campaign's pages."""
    return lambda place: reverse(place.address or place.name, args=[slug])


def study_address(study: str) -> Callable[[Place], str]:
    """Return a function that returns the addresses of a study's pages."""
    query = QueryDict(mutable=True)
    query["study"] = study

    def find(place: Place) -> str:
        address = extensions.address(place.address, study)
        return address or f"{reverse(place.address)}?{query.urlencode()}"

    return find


@dataclass(frozen=True)
class Sidebar:
    """Links to the pages of a tab, and to the parts of the current page, if it has several."""

    pages: Sequence[Link]
    parts: Sequence[Link]


def sidebar_of(campaign: Campaign, page: str, query: QueryDict, *, is_admin: bool) -> Sidebar:
    """Return links to the pages of a campaign page's tab, with the filters that each takes."""
    address = campaign_address(campaign.slug)
    grouped: dict[str, list[Place]] = {}
    for place in tab_of(CAMPAIGN, page).places:
        is_shown = is_admin or not place.is_own
        if is_shown and (place.name == page or _has_content(campaign, place.needs)):
            grouped.setdefault(str(place.tab) or place.name, []).append(place)

    def link(place: Place, label: str | Promise, *, is_current: bool) -> Link:
        return Link(label, _with_choice(address(place), page, place.name, query), is_current)

    pages, current = [], []
    for places in grouped.values():
        if is_current := any(place.name == page for place in places):
            current = places
        pages.append(link(places[0], places[0].tab or places[0].label, is_current=is_current))
    parts = [link(place, place.label, is_current=place.name == page) for place in current]
    return Sidebar(pages, parts if len(parts) > 1 else [])


def _has_content(campaign: Campaign, needs: str) -> bool:
    """Return whether a page's condition on a campaign (`Place.needs`) holds."""
    if not needs:
        return True
    condition = import_string(needs.replace(":", ".")) if ":" in needs else attrgetter(needs)
    return bool(condition(campaign))


def _with_choice(address: str, page: str, other: str, query: QueryDict) -> str:
    """Return another page's address with the filters, and the question, that it takes."""
    if not query:
        return address
    wanted = NAMES | QUESTION if {page, other} <= ASKING else NAMES
    taken = taken_by(address)
    chosen = query.copy()
    for name in query:
        if name not in wanted or name not in taken:
            del chosen[name]
    return f"{address}?{chosen.urlencode()}" if chosen else address


def taken_by(address: str) -> frozenset[str]:
    """Return the parameters that an address takes; none if its view does not declare them."""
    match = resolve(address)
    takes: Any = getattr(match.func, "takes", None)
    names: frozenset[str] = takes().names if takes else frozenset()
    return names


@dataclass(frozen=True)
class Step:
    """A step; `about` says what it is or what is missing. Without an address it has no link."""

    label: str | Promise
    about: str | Promise
    address: str = ""
    is_done: bool = False
    is_current: bool = False


FIRST = (
    Step(_("Texts"), _("a test set and outputs")),
    Step(_("Task"), _("what annotators do")),
    Step(_("People"), _("annotators and their links")),
    Step(_("Try it"), _("as annotators will see it")),
    Step(_("Open"), _("annotators can start")),
)
FIRST_NAMES = ("texts", "task", "people", "preview", "open")


def first_steps(name: str) -> list[Step]:
    """Return the steps that are shown before there is a campaign."""
    here = FIRST_NAMES.index(name)
    return [
        replace(step, is_done=number < here, is_current=number == here)
        for number, step in enumerate(FIRST)
    ]
