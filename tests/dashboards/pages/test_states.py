"""Where a page has no numbers it says what is missing, why, and what to do next."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client, RequestFactory
from django.urls import reverse

from annotation.models import Campaign, Judgment
from dashboards.comparisons import document as significance
from dashboards.documents.results import MORE, NEWER, Result
from metaeval.messages import Message
from metrics.models import SegmentScore
from tests.dashboards.conftest import make_rated
from tests.refusals import tells
from tests.world import World, make_campaign, make_test_set

# What pages of a campaign without judgments have.
EMPTY = 'id="empty-title"'
PAGES = ("correlations", "significance", "systems", "scatter", "quality")


@pytest.mark.parametrize(
    ("status", "next_page"),
    [
        (Campaign.Status.DRAFT, "campaign-setup"),
        (Campaign.Status.OPEN, "monitor"),
        (Campaign.Status.CLOSED, "campaign-setup"),
    ],
)
def test_an_empty_campaign(as_researcher: Client, status: Campaign.Status, next_page: str) -> None:
    campaign = make_campaign(make_test_set("bare", segments=2), "bare", status=status)
    for name in PAGES:
        page = as_researcher.get(f"/campaigns/{campaign.slug}/{name}/")
        assert page.status_code == 200, name
        assert EMPTY in page.text, name
        assert f'href="{reverse(next_page, args=[campaign.slug])}"' in page.text, name


def test_a_campaign_that_somebody_judged_is_not_empty(
    rated: Campaign, as_researcher: Client
) -> None:
    page = as_researcher.get(f"/campaigns/{rated.slug}/systems/").text
    assert EMPTY not in page


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("", "S1"),
        ("?min_seconds=100000", "filters"),
    ],
)
def test_judgments_without_a_human_score_are_not_called_absent(
    rated: Campaign, as_researcher: Client, query: str, why: str
) -> None:
    """Everybody gave one score to everything, or the reader's filters leave nothing."""
    Judgment.objects.update(score=50)
    page = as_researcher.get(f"/campaigns/{rated.slug}/results/{query}").text
    assert 'data-case="unusable"' in page
    assert why in page
    assert EMPTY not in page
    systems = as_researcher.get(f"/campaigns/{rated.slug}/systems/{query}").text
    assert 'id="systems-table"' not in systems


@pytest.mark.parametrize("name", ["correlations", "significance", "whatif", "samplesize"])
def test_pages_without_a_human_score_say_that_and_not_that_metrics_are_missing(
    rated: Campaign, as_researcher: Client, name: str
) -> None:
    Judgment.objects.update(score=50)
    page = as_researcher.get(f"/campaigns/{rated.slug}/{name}/").text
    assert 'data-name="unusable"' in page
    assert f'href="{reverse("monitor", args=[rated.slug])}">Review annotators' in page


def test_scores_of_documents_alone_are_human_scores(world: World, as_researcher: Client) -> None:
    campaign = Campaign.objects.create(
        test_set=world.test_set, slug="of-documents", name="Documents", origin="imported",
        status=Campaign.Status.CLOSED, created_by=world.admin,
    )  # fmt: skip
    systems = list(world.test_set.systems.all())
    campaign.systems.set(systems)
    for system in systems:
        campaign.published_parts.create(system=system, level="document", name="d1", value=70)
    for name in ("results", "correlations"):
        page = as_researcher.get(f"/campaigns/{campaign.slug}/{name}/").text
        assert tells(page, "human.parts-only")
        assert EMPTY not in page
        assert "Review annotators" not in page


def test_scoring_is_no_step_where_the_ratings_give_no_score(
    rated: Campaign, as_researcher: Client
) -> None:
    Judgment.objects.update(score=50)
    page = as_researcher.get(f"/campaigns/{rated.slug}/results/").text
    assert reverse("run-start", args=[rated.test_set.slug]) not in page


def test_undefined_z_scores_are_not_called_missing_ratings(
    rated: Campaign, as_researcher: Client
) -> None:
    Judgment.objects.update(score=50)
    page = as_researcher.get(f"/campaigns/{rated.slug}/quality/").text
    assert not tells(page, "agreement.alpha-no-pairs")
    assert tells(page, "agreement.no-pairs")


def failing(*_: Any, **__: Any) -> None:
    raise RuntimeError("the matrix is singular")


@pytest.mark.parametrize(
    "name",
    ["significance", pytest.param("study", marks=pytest.mark.needs("extensions.studies"))],
)
def test_a_document_that_failed(
    world: World, as_researcher: Client, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(significance, "compute", failing)
    Campaign.objects.filter(pk=world.campaign.pk).update(study="port", status="open")
    address = {
        "significance": f"/campaigns/{world.campaign.slug}/significance/",
        "study": "/studies/port/significance/",
    }[name]
    page = as_researcher.get(f"{address}?scores=raw")
    assert page.status_code == 200
    assert tells(page.text, "paper.not-computed")
    assert "the matrix is singular" in page.text
    assert 'data-case="none"' in page.text
    assert f'href="{address}?scores=raw">Try again' in page.text
    assert f'href="{address}">' in page.text


@pytest.mark.parametrize(("document", "has_older"), [(None, False), (object(), True)])
def test_a_worker_that_is_away(document: object, has_older: bool) -> None:
    result = Result(document, None, is_fresh=False, waits_for="slow")
    shown = render_to_string("dashboards/_no_worker.html", {"result": result})
    assert 'data-waits-for="slow"' in shown
    assert "python manage.py worker" in shown
    assert ('data-case="older"' in shown) == has_older


@pytest.mark.needs("extensions.studies")
def test_what_may_not_be_read(world: World, as_researcher: Client) -> None:
    Campaign.objects.filter(pk=world.campaign.pk).update(is_private=True)
    for address in (f"/campaigns/{world.campaign.slug}/significance/", "/studies/none/"):
        page = as_researcher.get(address)
        assert page.status_code == 404
        assert f'href="{reverse("campaigns")}"' in page.text


def test_a_choice_that_is_refused_has_a_way_back(world: World, as_researcher: Client) -> None:
    address = f"/campaigns/{world.campaign.slug}/significance/"
    page = as_researcher.get(f"{address}?correction=none&scope=column")
    assert page.status_code == 400
    assert "column" in page.text
    assert f'href="{address}">' in page.text


@pytest.mark.parametrize("pending", [NEWER, MORE])
@pytest.mark.parametrize("template", ["_age", "_state"])
def test_the_age_of_older_numbers(template: str, pending: Message) -> None:
    as_of = datetime(2026, 3, 5, 14, 7, tzinfo=UTC)
    result = Result({"rows": []}, as_of, is_fresh=False, pending=pending)
    page = render_to_string(
        f"dashboards/{template}.html", {"result": result, "request": RequestFactory().get("/")}
    )
    assert "5 Mar 2026, 14:07" in page
    assert f"{pending.text} are being computed" in page


def test_a_metric_with_scores_of_few_outputs_is_not_called_undefined(
    as_researcher: Client,
) -> None:
    larger = make_rated("larger", segments=40)
    scores = SegmentScore.objects.filter(signature__metric="chrf").order_by("pk")
    scores.exclude(pk__in=list(scores.values_list("pk", flat=True)[::6])).delete()
    page = as_researcher.get(f"/campaigns/{larger.slug}/results/").text
    assert re.search("Too few outputs have scores of [^.]*chrF", page)
