"""No file of unfinished numbers is a 200: 202 with Retry-After until all its parts are there."""

import re
from collections.abc import Iterator
from importlib import import_module

from django.conf import LazySettings
from django.http.response import HttpResponseBase
from django.test import Client

from annotation.models import Campaign
from core import extensions
from dashboards import urls
from tests.addresses import fill
from tests.dashboards.documents.working import compute_waiting
from tests.world import add_system, make_campaign

DATA, DRAWN = ("json", "csv", "tex"), ("svg",)
TAKEN = {"report-file": ("html", "pdf", "json", "csv"), "bundle-file": ("zip", "json", "csv")}
# What is no document: who is at work now, and results that a job has stored for good.
LIVE = {"monitor-data", "preference-table-data", "preferences-data", "preferences-figure"}
# Rests on what readers state and on judgments, but on no verdict.
MISSING = re.compile(rb'"(?:trust|comparison)": ?null|not known yet|being computed')


def files(campaign: Campaign) -> Iterator[str]:
    """Every address of numbers in a format, of the campaign, its study and others."""
    pages = (each.urls for each in extensions.installed() if each.results or each.study)
    modules = (urls, *map(import_module, pages))
    for entry in (entry for module in modules for entry in module.urlpatterns):
        route = re.sub(r"<\w+:", "<", f"/{entry.pattern}")
        fmt = (entry.default_args or {}).get("fmt") or "<fmt>" in route or route.endswith("html")
        if not fmt or entry.name in LIVE:
            continue
        slug = campaign.study if route.startswith("/studies/") else campaign.slug
        # Whether a figure is there is known when its document is: any name waits.
        formats = DRAWN if "<figure>" in route else TAKEN.get(str(entry.name), DATA)
        query = f"?campaign={slug}" if route.startswith(("/matrix", "/compare")) else ""
        for address in fill(route, {"slug": [slug], "fmt": formats, "figure": ["metrics"]}):
            yield address + query
    yield f"/api/results/{campaign.slug}/"


def text(answer: HttpResponseBase) -> bytes:
    return answer.getvalue()  # type: ignore[attr-defined,no-any-return]


def is_waiting(answer: HttpResponseBase) -> bool:
    """Whether an answer says when to ask again, or that there is no such file."""
    if answer.status_code == 202:
        return answer["Retry-After"].isdigit()
    # A figure that this document never has, a format that a page never has.
    return answer.status_code in (404, 501)


def test_no_file_of_unfinished_numbers_is_there(
    rated: Campaign, as_researcher: Client, settings: LazySettings
) -> None:
    settings.ANALYSES_IN_PLACE = False
    rated.study = "port"
    rated.save(update_fields=["study"])
    # Another length, for what compares both.
    make_campaign(
        rated.test_set, "short", study="port", length_ratio="0.50", status=Campaign.Status.CLOSED
    ).systems.set([add_system(rated.test_set, "strong", "0.50")])
    addresses = list(dict.fromkeys(files(rated)))
    assert len(addresses) > 40
    wrong = {}
    for address in addresses:
        answer = as_researcher.get(address)
        if not is_waiting(answer):
            wrong[address] = answer.status_code
    assert wrong == {}
    # The verdict and what takes a moment are there, intervals and tests are not.
    compute_waiting(only_quick=True)
    partial, n_whole = {}, 0
    for address in (each for each in addresses if ".csv" not in each):
        answer = as_researcher.get(address)
        if answer.status_code == 200:
            n_whole += 1
            if found := MISSING.search(text(answer)):
                partial[address] = found[0]
        elif not is_waiting(answer):
            partial[address] = answer.status_code
    assert partial == {}
    assert n_whole > 10
    for name in ("correlations", "results"):
        assert as_researcher.get(f"/campaigns/{rated.slug}/{name}.json").status_code == 202
