"""Show one row per measure, then shorter forms and quality at equal compliance."""

from typing import Any

from django.http import HttpRequest

from annotation.filters.form import filter_parameters
from annotation.models import Campaign
from dashboards.pages.page import Page
from extensions.shortness.document import TOLERANCES, Shortness
from metaeval.messages import message

OWN = ("length_unit", "wanted")


def context(request: HttpRequest, campaign: Campaign, document: Shortness) -> dict[str, Any]:
    """Return the compliance of each system, and the filters that the form keeps."""
    systems = dict.fromkeys(row.system for row in document.compliant)
    lines = [(name, [row for row in document.compliant if row.system == name]) for name in systems]
    others = [(name, value) for name, value in filter_parameters(request.GET) if name not in OWN]
    return {"lines": lines, "tolerances": TOLERANCES, "kept": others}


def controls_length(campaign: Campaign) -> bool:
    """Return whether a campaign's outputs have to be shorter than their sources."""
    return campaign.length_ratio < 1


SHORTNESS = Page(
    name="shortness",
    title=message("page.shortness", "Shortness"),
    kind="shortness",
    template="shortness/campaign.html",
    columns=(
        "key", "label", "partial", "low", "high", "metric_length", "human_length", "metric_human",
        "n", "n_segments",
    ),
    context=context,
)  # fmt: skip
