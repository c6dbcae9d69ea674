"""The page: one line a measure, then own forms and quality at equal compliance."""

from typing import Any

from django.http import HttpRequest

from annotation.filters.form import filter_parameters
from annotation.models import Campaign
from dashboards.pages.page import Page
from extensions.shortness.document import TOLERANCES, Shortness

OWN = ("length_unit", "wanted")


def context(request: HttpRequest, campaign: Campaign, document: Shortness) -> dict[str, Any]:
    """The compliance of each system in a line, and the filters that a form keeps."""
    systems = dict.fromkeys(row.system for row in document.kept)
    lines = [(name, [row for row in document.kept if row.system == name]) for name in systems]
    kept = [(name, value) for name, value in filter_parameters(request.GET) if name not in OWN]
    return {"lines": lines, "tolerances": TOLERANCES, "kept": kept}


SHORTNESS = Page(
    name="shortness",
    title="Shortness",
    kind="shortness",
    template="shortness/campaign.html",
    columns=(
        "key", "label", "partial", "low", "high", "metric_length", "human_length", "metric_human",
        "n", "n_segments",
    ),
    context=context,
)  # fmt: skip
