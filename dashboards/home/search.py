"""Search by name for everything that a reader may open, from the head of every page."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.access import (
    readable,
    researcher_required,
    signed_in,
    visible_campaigns,
    visible_test_sets,
)
from annotation.glossary import all_terms
from annotation.models import System
from annotation.web.parameters import Parameters, takes
from core import extensions
from core.extensions import Place
from core.messages import translated
from metaeval.messages import Message
from metrics import catalogue

# The most hits of each kind.
MOST = 20
LONGEST = 100
# Address and heading of the pages that do not belong to a campaign.
PAGES = (
    Place("campaigns", _("Campaigns")),
    Place("testsets", _("Test sets")),
    Place("projects", _("Projects")),
    Place("metrics", _("Metrics")),
    Place("runs", _("Runs")),
    Place("models", _("Models")),
    Place("workers", _("Workers")),
    Place("power", _("How many judgments do I need?")),
    Place("dataset-list", _("Published data sets")),
    Place("glossary", _("Glossary")),
    Place("own-account", _("Your account")),
)


@dataclass(frozen=True)
class Hit:
    """A hit; `about` describes it."""

    name: str
    address: str
    about: str = ""


@researcher_required
@takes(Parameters(frozenset({"q"})))
def search(request: HttpRequest) -> HttpResponse:
    """Show everything with all words of `q` in its name, by kind."""
    asked = " ".join(request.GET.get("q", "")[:LONGEST].split())
    found = list(_groups(request, asked.split())) if asked else []
    return render(request, "dashboards/search.html", {"asked": asked, "groups": found})


def _groups(request: HttpRequest, words: list[str]) -> Iterator[tuple[str, list[Hit]]]:
    """Yield kinds with hits, the kinds that researchers search most often first."""
    kinds = (
        (gettext("Campaigns"), _campaigns(request, words)),
        (gettext("Studies"), _studies(request, words)),
        (gettext("Test sets"), _test_sets(request, words)),
        (gettext("Systems"), _systems(request, words)),
        (gettext("Metrics"), _metrics(words)),
        (gettext("Pages"), _pages(words)),
    )
    for kind, hits in kinds:
        if shown := list(hits)[:MOST]:
            yield kind, shown


def _campaigns(request: HttpRequest, words: list[str]) -> Iterator[Hit]:
    rows = _with(visible_campaigns(signed_in(request)), words, "name", "slug", "study")
    for row in rows.order_by("name")[:MOST]:
        yield Hit(row.name, row.get_absolute_url(), row.study)


def _studies(request: HttpRequest, words: list[str]) -> Iterator[Hit]:
    rows = _with(visible_campaigns(signed_in(request)).exclude(study=""), words, "study")
    for name in rows.order_by("study").values_list("study", flat=True).distinct()[:MOST]:
        if address := extensions.address("study", name):
            yield Hit(name, address)


def _test_sets(request: HttpRequest, words: list[str]) -> Iterator[Hit]:
    rows = _with(visible_test_sets(request.user), words, "name", "slug")
    for row in rows.order_by("name")[:MOST]:
        yield Hit(row.name, reverse("testset", args=[row.slug]), row.direction)


def _systems(request: HttpRequest, words: list[str]) -> Iterator[Hit]:
    rows = readable(System.objects.select_related("test_set"), request.user)
    rows = _with(rows, words, "name")
    for row in rows.order_by("name", "pk")[:MOST]:
        yield Hit(row.name, reverse("testset", args=[row.test_set.slug]), row.test_set.name)


def _metrics(words: list[str]) -> Iterator[Hit]:
    for info in catalogue.infos().values():
        if _has(words, info.label, info.name):
            yield Hit(info.label, reverse("metric", args=[info.name]), _text(info.description))


def _pages(words: list[str]) -> Iterator[Hit]:
    for page in extensions.places("pages", PAGES):
        if _has(words, _text(page.label)):
            yield Hit(_text(page.label), reverse(page.name))
    for term in all_terms():
        if _has(words, _text(term.label)):
            address = f"{reverse('glossary')}#{term.key}"
            yield Hit(_text(term.label), address, _text(term.text))


def _text(value: Message | str | Promise) -> str:
    """Return a label in the language of the page."""
    return translated(value) if isinstance(value, Message) else gettext(str(value)) if value else ""


def _with(rows: QuerySet, words: list[str], *fields: str) -> QuerySet:  # type: ignore[type-arg]
    """Return the rows with each word in one of the fields."""
    for word in words:
        found = Q()
        for field in fields:
            found |= Q(**{f"{field}__icontains": word})
        rows = rows.filter(found)
    return rows


def _has(words: Iterable[str], *names: str) -> bool:
    text = " ".join(names).casefold()
    return all(word.casefold() in text for word in words)
