"""The report as a document, with its PDF."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.bundle.manifest import Facts
from dashboards.correlations.agreement import CampaignCorrelations, MeasureRow
from dashboards.documents.computing import as_stored, give_back
from dashboards.documents.head import Document
from dashboards.documents.reasons import CampaignTrust
from dashboards.report.parts import Disagreements, Drawing, MetricTable, Quality, parts
from dashboards.results.document import Home
from dashboards.spans.document import Spans
from dashboards.systems.document import Systems
from metaeval.messages import Message, message
from metaeval.reasons import reason_of

# Typeset a report as PDF with WeasyPrint, without fetching anything outside the document.

TEMPLATE = "dashboards/report_document.html"
STYLES = ("css/report.css",)


def pdf_of(document: Any) -> tuple[bytes, Message | None]:
    """Return a report's PDF, or no bytes and the reason."""
    try:
        from weasyprint import CSS, HTML
        from weasyprint.urls import URLFetcher
    except (ImportError, OSError) as error:
        problem = message(
            "report.no-pdf",
            "There is no PDF, because WeasyPrint cannot be loaded here ({error}). WeasyPrint needs "
            "Pango: apt install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0. The report "
            "as a page is complete and can be printed.",
            error=reason_of(error),
        )
        return b"", problem
    html = render_to_string(TEMPLATE, {"documents": [document], "is_pdf": True})
    styles = [CSS(filename=settings.BASE_DIR / "static" / name) for name in STYLES]
    # Only the document's own images may be loaded: no file, no address.
    fetcher = URLFetcher(allowed_protocols={"data"})
    drawn: bytes = HTML(string=html, url_fetcher=fetcher).write_pdf(stylesheets=styles)
    return drawn, None


VERSION = 10


@dataclass(frozen=True, kw_only=True)
class Report(Document):
    """The documents of all pages in one; `home` is that of the first page.

    `pdf` is base64 in JSON, and empty where there is a `pdf_problem`.
    """

    trust: CampaignTrust
    home: Home
    facts: Facts
    filters: Mapping[str, Any]
    filter_words: Sequence[Message | str]
    percent: str
    study: str
    is_simulated: bool
    target_language: str
    source_language: str
    quality: Quality
    correlations: CampaignCorrelations
    systems: Systems
    metric_tables: Sequence[MetricTable]
    scatter: Disagreements | None
    spans: Spans | None
    figures: Sequence[Drawing]
    versions: Mapping[str, str]
    signatures: Sequence[str]
    rows: Sequence[MeasureRow]
    as_of: str
    pdf: bytes = b""
    pdf_problem: Message | None = None


DOCUMENT = Report


def compute(campaign: Campaign, filters: Filters) -> Report:
    """Return the report with its PDF."""
    document = written(campaign, filters)
    give_back()  # WeasyPrint takes 60 to 85 MiB.
    pdf, problem = pdf_of(document)
    return replace(document, pdf=pdf, pdf_problem=problem)


def written(campaign: Campaign, filters: Filters) -> Report:
    """Return the report without the PDF, as readers get it."""
    return as_stored(Report(**parts(campaign, filters)))
