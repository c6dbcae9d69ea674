"""The report as a document: what it says, and the same as PDF, made by a worker."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.bundle.manifest import Facts
from dashboards.correlations.agreement import CampaignCorrelations, MeasureRow
from dashboards.documents.head import Document
from dashboards.documents.memory import give_back
from dashboards.documents.reasons import CampaignTrust
from dashboards.documents.stored import settled
from dashboards.report.parts import Disagreements, Drawing, MetricTable, Quality, parts
from dashboards.report.pdf import pdf_of
from dashboards.results.document import Home
from dashboards.spans.document import Spans
from dashboards.systems.document import Systems
from metaeval.messages import Message

VERSION = 10


@dataclass(frozen=True, kw_only=True)
class Report(Document):
    """The pages' documents in one, `home` that of the first page, with which the report begins.

    `pdf` is base64, empty where `pdf_problem` says why.
    """

    trust: CampaignTrust
    home: Home
    facts: Facts
    filters: Mapping[str, Any]
    filter_words: Sequence[Message]
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
    pdf: str = ""
    pdf_problem: str = ""


DOCUMENT = Report


def compute(campaign: Campaign, filters: Filters) -> Report:
    """Return the report with its PDF."""
    document = written(campaign, filters)
    give_back()  # WeasyPrint takes 60 to 85 MiB.
    pdf, problem = pdf_of(document)
    return replace(document, pdf=base64.b64encode(pdf).decode(), pdf_problem=problem)


def written(campaign: Campaign, filters: Filters) -> Report:
    """Return everything but the PDF, as readers get it."""
    return settled(Report(**parts(campaign, filters)))
