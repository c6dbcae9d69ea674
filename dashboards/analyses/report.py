"""The report as a document: what it says, and the same as PDF, made by a worker."""

import base64
from typing import Any

from django.utils import timezone

from annotation.models import Campaign
from dashboards.filters import Filters
from dashboards.report.parts import parts
from dashboards.report.pdf import pdf_of

VERSION = 2


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the report; `pdf` is base64, empty where `pdf_problem` says why.

    It is of the whole campaign: of the filters only the form of the scores counts.
    """
    document = parts(campaign, Filters(scores=filters.scores))
    document["as_of"] = timezone.now().strftime("%Y-%m-%d %H:%M:%S UTC")
    pdf, problem = pdf_of(document)
    rows = document["correlations"]["rows"]
    return document | {
        "pdf": base64.b64encode(pdf).decode(),
        "pdf_problem": problem,
        "rows": rows,
    }
