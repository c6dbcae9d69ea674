"""Where the pages of a campaign and of a study stand: tabs, and under each the pages of its rail.

Every page has a name, the `tab` of its context; that is the name of its address unless said
otherwise. What a reader has chosen goes along to those pages that take it. Before there is a
campaign, five steps lead to one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from django.http import QueryDict
from django.urls import resolve, reverse

from annotation.filters.form import NAMES
from annotation.models import Campaign
from core import extensions
from core.extensions import Place

# Pages that ask the same question of metrics, and what says which.
ASKING = frozenset({"results", "correlations", "significance"})
QUESTION = frozenset({"statistic", "grouping", "test", "correction", "scope", "metric", "bounds"})


@dataclass(frozen=True)
class Tab:
    """One tab with its pages; the first is where it leads."""

    name: str
    label: str
    places: Sequence[Place]


@dataclass(frozen=True)
class Link:
    """What a template needs of a tab or a page."""

    label: str
    href: str
    is_current: bool


RESULTS = (
    Place("results", "Summary"),
    Place("correlations", "All metrics"),
    Place("significance", "Significance"),
    Place("scatter", "Metric and human"),
    Place("systems", "MT systems"),
    Place("metrics-pair", "Two metrics"),
    Place("systems-pair", "Two systems"),
    Place("spans", "Error spans"),
    Place("whatif", "What if"),
    Place("samplesize", "Sample size"),
    Place("power", "Power", "campaign-power"),
)
CAMPAIGN = (
    Tab(
        "setup",
        "Setup",
        (
            Place("overview", "Task and design", "campaign-setup"),
            Place("instructions", "Instructions", "campaign-instructions", is_own=True),
            Place("items", "Practice and gold items", "campaign-items", is_own=True),
            Place("suggestions", "Suggested errors", "campaign-suggestions", is_own=True),
            Place("preview", "Try it", "campaign-preview", is_own=True),
        ),
    ),
    Tab("people", "People", (Place("access", "Annotators and access"),)),
    Tab(
        "monitor",
        "Monitor",
        (
            Place("monitor", "Progress"),
            Place("quality", "Quality and exclusions"),
            Place("dashboard", "Scale, time and drift"),
            Place("remarks", "Flags and comments", "monitor-remarks"),
            Place("adjudication", "Adjudication"),
        ),
    ),
    Tab(
        "results",
        "Results",
        (*extensions.places("results", RESULTS), Place("report", "Report")),
    ),
    Tab(
        "export",
        "Export",
        (Place("export", "Judgments"), Place("bundle", "Replication bundle")),
    ),
)
STUDY = tuple(
    Tab(label, label, tuple(places))
    for label, places in groupby(extensions.places("study"), lambda each: each.tab)
)


def tab_of(tabs: Sequence[Tab], page: str) -> Tab:
    """Return the tab under which a page stands; the first for a page that stands nowhere."""
    found = (tab for tab in tabs if any(place.name == page for place in tab.places))
    return next(found, tabs[0])


def tab_links(tabs: Sequence[Tab], page: str, address: Callable[[Place], str]) -> list[Link]:
    """Return the tabs of a page."""
    current = tab_of(tabs, page)
    return [Link(tab.label, address(tab.places[0]), tab is current) for tab in tabs]


def campaign_address(slug: str) -> Callable[[Place], str]:
    """Return what finds the addresses of a campaign's pages."""
    return lambda place: reverse(place.address or place.name, args=[slug])


def study_address(study: str) -> Callable[[Place], str]:
    """Return what finds the addresses of a study's pages, some of which take it as a parameter."""
    query = QueryDict(mutable=True)
    query["study"] = study

    def find(place: Place) -> str:
        address = extensions.address(place.address, study)
        return address or f"{reverse(place.address)}?{query.urlencode()}"

    return find


def page_links(campaign: Campaign, page: str, query: QueryDict, *, is_admin: bool) -> list[Link]:
    """Return the pages beside a campaign's page, each with what it takes of the reader's choice."""
    address = campaign_address(campaign.slug)
    places = tab_of(CAMPAIGN, page).places
    return [
        Link(place.label, _with_choice(address(place), page, place.name, query), place.name == page)
        for place in places
        if is_admin or not place.is_own
        if not place.needs or place.name == page or getattr(campaign, place.needs)
    ]


def _with_choice(address: str, page: str, other: str, query: QueryDict) -> str:
    """Another page's address with what it takes of a query: filters, the question of metrics."""
    if not query:
        return address
    wanted = NAMES | QUESTION if {page, other} <= ASKING else NAMES
    taken = taken_by(address)
    kept = query.copy()
    for name in query:
        if name not in wanted or name not in taken:
            del kept[name]
    return f"{address}?{kept.urlencode()}" if kept else address


def taken_by(address: str) -> frozenset[str]:
    """Return the parameters that an address takes; none where it does not say."""
    match = resolve(address)
    takes: Any = getattr(match.func, "takes", None)
    names: frozenset[str] = takes().names if takes else frozenset()
    return names


@dataclass(frozen=True)
class Step:
    """A step: `about` says what it is or what it lacks; without an address it cannot be gone to."""

    label: str
    about: str
    address: str = ""
    is_done: bool = False
    is_current: bool = False


FIRST = (
    Step("Texts", "a test set and outputs"),
    Step("Task", "what annotators are asked"),
    Step("People", "who rates, by which links"),
    Step("Try it", "as annotators will see it"),
    Step("Open", "annotators can start"),
)
FIRST_NAMES = ("texts", "task", "people", "preview", "open")


def first_steps(name: str) -> list[Step]:
    """Return the steps where there is no campaign yet."""
    here = FIRST_NAMES.index(name)
    return [
        replace(step, is_done=number < here, is_current=number == here)
        for number, step in enumerate(FIRST)
    ]
