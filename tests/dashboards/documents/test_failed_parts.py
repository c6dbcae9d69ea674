"""Pages name the part that could not be computed, and do not claim that it is being computed."""

from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from dashboards.documents import kinds
from dashboards.documents.reasons import Verdict
from dashboards.trust.marks import INTERVALS, PARTS, VERDICT
from tests.dashboards.documents.working import compute_waiting, end_rests
from tests.refusals import tells
from tests.world import score

PAGES = ("results", "correlations")
STUDY = "/studies/port/"


@pytest.fixture(autouse=True)
def by_worker(settings: Any) -> None:
    settings.ANALYSES_IN_PLACE = False


@pytest.fixture
def study(rated: Campaign, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign of a study whose judgments may be used."""
    trust: Any = kinds.load("trust")
    compute = trust.compute

    def usable(*asked: Any) -> Any:
        return replace(compute(*asked), verdict=Verdict.LIMITED, reasons=[])

    monkeypatch.setattr(trust, "compute", usable)
    Campaign.objects.filter(pk=rated.pk).update(study="port")
    return rated


def without(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("no systems")

    monkeypatch.setattr(kinds.load(kind), "compute", fail)


def shown(client: Client, address: str) -> str:
    """What a page shows once everything that it asks for was tried."""
    client.get(address)
    compute_waiting(ends_rests=False)
    return unescape(client.get(address).text)


@pytest.mark.parametrize(("kind", "part"), [("trust", VERDICT), ("significance", INTERVALS)])
@pytest.mark.parametrize(
    "page", [*PAGES, pytest.param("study", marks=pytest.mark.needs("extensions.studies"))]
)
def test_one_part_has_failed(
    study: Campaign,
    as_researcher: Client,
    monkeypatch: pytest.MonkeyPatch,
    page: str,
    kind: str,
    part: str,
) -> None:
    without(kind, monkeypatch)
    address = STUDY if page == "study" else reverse(page, args=[study.slug])
    text = shown(as_researcher, address)
    assert f"{str(PARTS[part]).capitalize()} could not be computed" in text
    assert "ZeroDivisionError: no systems" in text
    assert "being computed" not in text
    assert 'role="alert" data-case="older"' not in " ".join(text.split())
    if page != "correlations":
        assert 'class="answer" data-case="failed"' in text
        assert any(tells(text, code) for code in ("answer.highest", "study.highest-average"))


@pytest.mark.parametrize("kind", ["trust", "significance"])
def test_a_file_names_the_part(
    study: Campaign, as_researcher: Client, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    without(kind, monkeypatch)
    address = reverse("correlations-data", args=[study.slug, "json"])
    shown(as_researcher, address)
    answer = as_researcher.get(address)
    assert answer.status_code == 500
    error = answer.json()["error"]
    assert error["code"] == "part.failed"
    assert "ZeroDivisionError: no systems" in error["text"]


def test_a_part_that_is_computed_is_still_said_to_be(
    study: Campaign, as_researcher: Client
) -> None:
    address = reverse("results", args=[study.slug])
    as_researcher.get(address)
    compute_waiting(only_quick=True)
    text = unescape(as_researcher.get(address).text)
    assert 'data-case="pending"' in text
    assert "could not be computed" not in text


@pytest.mark.needs("extensions.studies")
def test_where_one_campaign_failed_the_study_names_it(
    study: Campaign, as_researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    without("significance", monkeypatch)
    text = shown(as_researcher, STUDY)
    assert f"{str(PARTS[INTERVALS]).capitalize()} could not be computed" in text
    assert "ZeroDivisionError" in text


@pytest.mark.parametrize("kind", ["trust", "significance"])
def test_where_a_newer_part_has_failed_no_newer_one_is_promised(
    study: Campaign, as_researcher: Client, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    address = reverse("results", args=[study.slug])
    assert "could not be computed" not in shown(as_researcher, address)
    end_rests()
    score(study.test_set, "ter")
    without(kind, monkeypatch)
    text = shown(as_researcher, address)
    assert "newer" in text.lower()
    assert "being computed" not in text


@pytest.mark.needs("extensions.studies")
def test_a_study_does_not_wait_for_what_has_failed(
    study: Campaign, as_researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    without("systems", monkeypatch)
    text = shown(as_researcher, f"{STUDY}systems/")
    assert "ZeroDivisionError" in text
    assert "being computed" not in text
