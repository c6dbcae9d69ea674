"""Agreement, control items and times: data, and a part of the page *Agreement and scale*."""

from dataclasses import fields, replace
from typing import Any

from django.http import HttpRequest

from annotation.filters import Filters
from annotation.models import Campaign
from annotation.protocols.base import Scale
from annotation.quality import verdict
from annotation.quality.columns import scale_of
from annotation.quality.people import CUT_SECONDS
from dashboards.pages.page import Page
from dashboards.quality.document import Line, Quality
from metaeval.messages import message

# The most traps that are shown among those that not all annotators passed.
WORST = 20
RULE = {
    "pass": verdict.PAIRS_TO_PASS,
    "fail": verdict.PAIRS_TO_FAIL,
    "items": verdict.ITEMS,
    "percent": round(verdict.RATE * 100),
}


def context(request: HttpRequest, campaign: Campaign, document: Quality) -> dict[str, Any]:
    """Add the current state of each annotator, so that decisions do not depend on an older one."""
    people = {row.label: row for row in campaign.annotators.all()}
    rates = document.trap_rates
    scale = scale_of(campaign) or Scale()
    return {
        "warnings": document.warnings,
        "of_judgments": replace(Filters.from_query(request.GET), unit="", scale="").query(),
        "annotators": [
            (row, people[row.annotator]) for row in document.annotators if row.annotator in people
        ],
        "cut_seconds": CUT_SECONDS,
        "least": scale.low,
        "low_score": verdict.low_score(scale),
        "rule": RULE,
        "worst_traps": [one for one in rates if one.passed < one.n][:WORST],
    }


QUALITY: Page[Any] = Page(
    name="quality",
    title=message("page.quality", "Agreement and scale"),
    kind="quality",
    template="dashboards/quality.html",
    columns=[each.name for each in fields(Line) if not each.name.endswith("_passed")],
    rows=lambda document: document.annotators,
    without=("scores", "humans", "outliers"),
)
