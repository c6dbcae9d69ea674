"""The pages on how well a campaign, or every campaign of a study, was annotated."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from annotation.models import Campaign
from annotation.quality import verdict
from annotation.quality.people import CUT_SECONDS
from annotation.quality.tables import HEADER
from dashboards.pages.page import Document, Page, StudyPage

# Traps that not everybody saw through are shown, so many at most.
WORST = 20
RULE = {
    "pass": verdict.PAIRS_TO_PASS,
    "fail": verdict.PAIRS_TO_FAIL,
    "items": verdict.ITEMS,
    "percent": round(verdict.RATE * 100),
}


def quality_context(request: HttpRequest, campaign: Campaign, document: Document) -> Document:
    """Set beside each annotator's numbers who that is now: decisions rest on no older state."""
    people = {row.label: row for row in campaign.annotators.all()}
    rates = document["trap_rates"]
    return {
        "annotators": [
            row | {"person": people[row["annotator"]]}
            for row in document["annotators"]
            if row["annotator"] in people
        ],
        "cut_seconds": CUT_SECONDS,
        "low_score": verdict.LOW_SCORE,
        "rule": RULE,
        "worst_traps": [one for one in rates if one["statistic"] < 1][:WORST],
    }


def annotators_of(document: Document) -> list[Document]:
    """Return a row for every annotator."""
    found: list[Document] = document["annotators"]
    return found


def combine(campaigns: Sequence[Campaign], documents: Sequence[Document]) -> Document:
    """Put the campaigns of a study below each other, as in tables 2-5 of Cheng et al. 2023."""
    return {"study": campaigns[0].study if campaigns else "", "campaigns": list(documents)}


def annotators_of_all(document: Document) -> list[Document]:
    """Return a row for every annotator of every campaign."""
    return [row for each in document["campaigns"] for row in annotators_of(each)]


def study_context(request: HttpRequest, study: str, document: Document) -> Document:
    """Name every line after its campaign."""
    slugs = [each["campaign"] for each in document["campaigns"]]
    campaigns = {
        row.slug: row for row in Campaign.objects.filter(slug__in=slugs).select_related("test_set")
    }
    return {"lines": [(campaigns[each["campaign"]], each) for each in document["campaigns"]]}


QUALITY: Page[Any] = Page(
    name="quality",
    title="Quality",
    kind="quality",
    template="dashboards/quality.html",
    columns=HEADER,
    rows=annotators_of,
    context=quality_context,
    has_scores=False,
)
STUDY_QUALITY: StudyPage[Any] = StudyPage(
    name="quality",
    title="Quality",
    kind="quality",
    template="dashboards/study_quality.html",
    columns=HEADER,
    rows=annotators_of_all,
    context=study_context,
    combine=combine,
    has_scores=False,
)
