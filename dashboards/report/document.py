"""The report as a document: what it says, and the same as PDF, made by a worker."""

import base64
from typing import Any

from django.utils import timezone

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.report.parts import parts
from dashboards.report.pdf import pdf_of

VERSION = 3


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the report; `pdf` is base64, empty where `pdf_problem` says why."""
    document = parts(campaign, filters)
    document["as_of"] = timezone.now().strftime("%Y-%m-%d %H:%M:%S UTC")
    pdf, problem = pdf_of(document)
    rows = document["correlations"]["rows"]
    return document | {
        "pdf": base64.b64encode(pdf).decode(),
        "pdf_problem": problem,
        "rows": rows,
    }
