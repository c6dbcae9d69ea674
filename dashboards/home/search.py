"""The search in the head of every page: what a reader may open, by the words of its name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext

from annotation.access import (
    not_blinded,
    researcher_required,
    signed_in,
    visible_campaigns,
    visible_test_sets,
)
from annotation.glossary import all_terms
from annotation.models import System
from annotation.web.parameters import Parameters, takes
from annotation.web.sentences import said
from core import extensions
from core.extensions import Place
from core.templatetags.messages import translated as shown
from metrics import catalogue

# So many of each kind are shown.
MOST = 20
LONGEST = 100
# Address and heading of the pages that are of no campaign.
PAGES = (
    Place("campaigns", "Campaigns"),
    Place("testsets", "Test sets"),
    Place("metrics", "Metrics"),
    Place("runs", "Runs"),
    Place("models", "Models"),
    Place("workers", "Workers"),
    Place("power", "How many judgments do I need?"),
    Place("datasets", "Published data sets"),
    Place("glossary", "Glossary"),
    Place("own-account", "Your account"),
)


@dataclass(frozen=True)
class Hit:
    """Something found; `about` says where it is."""

    name: str
    address: str
    about: str = ""


@researcher_required
@takes(Parameters(frozenset({"q"})))
def search(request: HttpRequest) -> HttpResponse:
    """What has all the words of `q` in its name, by kind."""
    asked = " ".join(request.GET.get("q", "")[:LONGEST].split())
    found = list(_groups(request, asked.split())) if asked else []
    return render(request, "dashboards/search.html", {"asked": asked, "groups": found})


def _groups(request: HttpRequest, words: list[str]) -> Iterator[tuple[str, list[Hit]]]:
    """Kinds with hits, the kinds that researchers look for most often first."""
    kinds = (
        ("Campaigns", _campaigns(request, words)),
        ("Studies", _studies(request, words)),
        ("Test sets", _test_sets(request, words)),
        ("Systems", _systems(request, words)),
        ("Metrics", _metrics(words)),
        ("Pages", _pages(words)),
    )
    for kind, hits in kinds:
        if some := list(hits)[:MOST]:
            yield kind, some


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
    rows = not_blinded(System.objects.select_related("test_set"), request.user)
    rows = _with(rows, words, "name")
    for row in rows.order_by("name", "pk")[:MOST]:
        yield Hit(row.name, reverse("testset", args=[row.test_set.slug]), row.test_set.name)


def _metrics(words: list[str]) -> Iterator[Hit]:
    for info in catalogue.infos().values():
        if _has(words, info.label, info.name):
            yield Hit(info.label, reverse("metric", args=[info.name]), shown(info.description))


def _pages(words: list[str]) -> Iterator[Hit]:
    for page in extensions.places("pages", PAGES):
        if _has(words, page.label, said(gettext(page.label))):
            yield Hit(said(gettext(page.label)), reverse(page.name))
    for term in all_terms():
        if _has(words, term.label, said(term.label)):
            address = f"{reverse('glossary')}#{term.key}"
            yield Hit(said(term.label), address, said(term.text))


def _with(rows: QuerySet, words: list[str], *fields: str) -> QuerySet:  # type: ignore[type-arg]
    """The rows with each word in one of the fields."""
    for word in words:
        found = Q()
        for field in fields:
            found |= Q(**{f"{field}__icontains": word})
        rows = rows.filter(found)
    return rows


def _has(words: Iterable[str], *names: str) -> bool:
    text = " ".join(names).casefold()
    return all(word.casefold() in text for word in words)
