"""The sidebar of results has six pages, and others only where they have content."""

from decimal import Decimal

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from annotation.web import navigation
from annotation.web.navigation import sidebar_of
from core import extensions
from tests.world import make_user

SIX = ["Summary", "Metrics", "Metric and human", "Systems", "Robustness", "Report"]
PARTS = {
    "correlations": ["Table", "Significance", "Two metrics"],
    "systems-pair": ["All systems", "Two systems"],
    "campaign-power": ["What if", "Sample size", "Power"],
    "scatter": [],
    "report": [],
}


def labels(campaign: Campaign, page: str) -> list[str]:
    links = sidebar_of(campaign, page, QueryDict(), is_admin=True).pages
    return [str(each.label) for each in links]


def test_results_have_six_pages(rated: Campaign) -> None:
    assert rated.length_ratio < 1
    assert [name for name in labels(rated, "results") if name != "Shortness"] == SIX
    rated.length_ratio = Decimal(1)
    assert labels(rated, "results") == SIX
    # An address that is open is also listed.
    assert "Error spans" in labels(rated, "spans")
    rated.protocol = "esa"
    assert "Error spans" in labels(rated, "results")


@pytest.mark.needs("extensions.shortness")
def test_shortness_is_listed_where_outputs_had_to_be_shorter(rated: Campaign) -> None:
    assert "Shortness" in labels(rated, "results")


@pytest.mark.parametrize(("name", "parts"), PARTS.items())
def test_parts_of_a_page_are_a_row_of_links(
    name: str, parts: list[str], rated: Campaign, client: Client
) -> None:
    client.force_login(make_user("reader", "researcher"))
    page = client.get(reverse(name, args=[rated.slug])).text
    for label in parts:
        assert f">{label}</a>" in page
    assert ('<nav class="parts"' in page) == bool(parts)


def test_pages_of_a_tab_are_together_wherever_an_extension_puts_its_own(
    rated: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    between = extensions.Place("between", "Between", "results", before="significance")
    results = next(tab for tab in navigation.CAMPAIGN if tab.name == "results")
    first, *others = results.places
    tab = navigation.Tab("results", "Results", [first, others[0], between, *others[1:]])
    monkeypatch.setattr(navigation, "CAMPAIGN", (tab,))
    assert labels(rated, "results").count("Metrics") == 1
