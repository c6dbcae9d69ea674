"""The report: the pages' numbers, warnings first, texts in any script, nothing fetched."""

import builtins
import re
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.filters import Filters
from annotation.models import Annotator, Campaign, Judgment, Output
from dashboards.correlations.agreement import correlate
from dashboards.report import document
from dashboards.report.document import written
from dashboards.report.parts import Drawing, metric_tables
from tests.dashboards import typed
from tests.dashboards.scatter.test_scatter import campaign  # noqa: F401  the same rated campaign
from tests.refusals import tells
from tests.world import World

SLUG = "harbour-80"


def test_it_shows_the_numbers_of_the_pages(campaign: Campaign, as_researcher: Client) -> None:  # noqa: F811
    page = as_researcher.get(reverse("report-file", args=[SLUG, "html"])).text
    for row in correlate(campaign).rows:
        assert f">{row.tau:.3f}<".replace("-", "−") in page
        assert row.signature in page
    assert f"Seed of all draws: {campaign.seed}." in page
    assert page.index('class="answer"') < page.index("Table 1.") < page.index("<h2>Warnings</h2>")
    assert page.index("Appendix") < page.index("Overview")


@pytest.mark.usefixtures("true_reports")
def test_the_pdf_is_made_by_the_worker_and_sent_as_stored(
    campaign: Campaign,  # noqa: F811
    as_researcher: Client,
) -> None:
    answer = as_researcher.get(reverse("report-file", args=[SLUG, "pdf"]))
    assert answer["Content-Type"] == "application/pdf"
    assert answer.getvalue().startswith(b"%PDF-")
    data = as_researcher.get(reverse("report-file", args=[SLUG, "json"])).json()
    assert "pdf" not in data
    assert data["facts"]["judgments"] == 8


@pytest.mark.usefixtures("true_reports")
def test_texts_of_every_script_are_in_the_pdf(campaign: Campaign) -> None:  # noqa: F811
    """Each script brings a font of its own into the file: nothing is drawn as boxes."""
    plain, problem = document.pdf_of(written(campaign, Filters()))
    assert problem is None
    Output.objects.filter(system__name="strong").update(text="الميناء هادئ في الصباح")
    arabic, _ = document.pdf_of(written(campaign, Filters()))
    assert len(arabic) > len(plain)


@pytest.mark.usefixtures("true_reports")
def test_markup_in_texts_is_text_and_nothing_is_fetched(
    campaign: Campaign,  # noqa: F811
    as_researcher: Client,
    logged: StringIO,
) -> None:
    hostile = '<img src="file:///etc/passwd"><script>alert(1)</script>'
    Output.objects.update(text=hostile)
    page = as_researcher.get(reverse("report-file", args=[SLUG, "html"])).text
    assert "<script>alert" not in page
    fetching = [Drawing("file:///etc/passwd", "x")]
    document.pdf_of(replace(written(campaign, Filters()), figures=fetching))
    assert "disallowed protocol" in logged.getvalue()


@pytest.mark.usefixtures("true_reports")
def test_without_pango_the_page_says_so(
    campaign: Campaign,  # noqa: F811
    as_researcher: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("weasyprint"):
            raise OSError("cannot load library 'libpango-1.0-0'")
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    page = as_researcher.get(reverse("report", args=[SLUG])).text
    assert tells(page, "report.no-pdf")
    assert "libpango" in page
    answer = as_researcher.get(reverse("report-file", args=[SLUG, "pdf"]))
    assert answer.status_code == 501


def test_a_report_that_is_not_ready(world: World, as_researcher: Client, settings: Any) -> None:
    settings.ANALYSES_IN_PLACE = False
    answer = as_researcher.get(reverse("report-file", args=[SLUG, "pdf"]))
    assert (answer.status_code, answer["Retry-After"]) == (202, "2")
    browser = as_researcher.get(
        reverse("bundle-file", args=[SLUG, "zip"]), headers={"Accept": "text/html"}
    )
    assert browser["Location"] == reverse("bundle", args=[SLUG])
    assert 'data-case="computing"' in as_researcher.get(reverse("report", args=[SLUG])).text


def test_an_empty_campaign_has_a_report(world: World, as_researcher: Client) -> None:
    page = as_researcher.get(reverse("report-file", args=[SLUG, "html"])).text
    assert tells(page, "quality.no-judgments") or tells(page, "quality.no-annotators")


@pytest.mark.needs("extensions.studies")
def test_a_study_is_one_page(campaign: Campaign, as_researcher: Client) -> None:  # noqa: F811
    Campaign.objects.update(study="port", status="open")
    page = as_researcher.get(reverse("study-report", args=["port"])).text
    assert "Study port" in page
    assert campaign.name in page


def test_many_systems_are_cut_into_tables() -> None:
    names = [f"s{n}" for n in range(14)]
    rows = [typed.row("m", name, place) for place, name in enumerate(names)]
    tables = metric_tables(typed.systems(systems=names, columns=[typed.column(rows)]))
    assert [len(table.systems) for table in tables] == [6, 6, 2]
    assert [table.has_agreement for table in tables] == [False, False, True]
    assert metric_tables(typed.systems(systems=names)) == []


def test_an_interval_of_agreement_has_two_ends(
    campaign: Campaign,  # noqa: F811
    as_researcher: Client,
) -> None:
    """The confidence stood behind them as a third, in the report alone."""
    second = Annotator.objects.create(campaign=campaign, label="A2")
    for position, item in enumerate(campaign.items.order_by("pk")):
        given = second.assignments.create(item=item, position=position)
        key = f"00000000-0000-4000-9000-{position:012}"
        Judgment.objects.create(assignment=given, score=10 * position, submit_key=key)
    page = as_researcher.get(reverse("report-file", args=[SLUG, "html"])).text
    table = page.partition("Agreement:")[2].partition("</table>")[0]
    intervals = re.findall(r"\[([^]]*)\]", table)
    assert intervals
    assert all(len(each.split(", ")) == 2 for each in intervals)
