"""What pages show, computed by workers: one module an analysis.

An analysis module has `VERSION`, to be raised whenever its document changes, and
`compute(campaign, filters)`, which returns a document of plain JSON values (None for nan). One that
answers several questions has `asked(question)`, which returns such an object for one of them. A
page that lets its reader choose more names a subclass of `page_choice.Choice` as `FILTERS`.
"""

from importlib import import_module
from typing import Any, Protocol

from annotation.filters import Filters
from annotation.models import Campaign

KINDS: dict[str, str] = {
    "correlations": "dashboards.correlations.document",
    "compare": "dashboards.compare.document",
    "overview": "dashboards.overview.document",
    "whatif": "dashboards.whatif.document",
    "samplesize": "dashboards.whatif.samplesize",
    "significance": "dashboards.significance.document",
    "layers": "dashboards.layers.document",
    "scatter": "dashboards.scatter.document",
    "systems": "dashboards.systems.document",
    "report": "dashboards.report.document",
    "bundle": "dashboards.bundle.document",
    "trust": "dashboards.trust.document",
    "quality": "dashboards.quality.document",
    "agreement": "dashboards.quality.agreement",
    "power": "dashboards.power.document",
}

# What may take longer than a reader waits: resampling, and all pages at once.
SLOW = ("significance", "whatif", "samplesize", "layers", "compare", "report", "bundle")
# What all numbers carry, before the numbers.
FIRST = ("trust",)


class Analyse(Protocol):
    """What an analysis module looks like."""

    VERSION: int

    def compute(self, campaign: Campaign | None, filters: Filters) -> dict[str, Any]:
        """Return the document; only an analysis of what readers state takes no campaign."""
        ...


def load(kind: str) -> Analyse:
    """Import an analysis; KeyError for an unknown kind.

    `kind` may carry a question after a colon, as in `correlations:kendall-b/item`.
    """
    name, _, question = kind.partition(":")
    module: Any = import_module(KINDS[name])
    analysis: Analyse = module.asked(question) if question else module
    return analysis


def filters_of(kind: str) -> type[Filters]:
    """Return the filters of an analysis: those of all pages, or with choices of its own."""
    module: Any = import_module(KINDS[kind.partition(":")[0]])
    found: type[Filters] = getattr(module, "FILTERS", Filters)
    return found


def about(campaign: Campaign) -> dict[str, str]:
    """Return what documents say of their campaign."""
    return {
        "campaign": campaign.slug,
        "name": campaign.name,
        "direction": campaign.test_set.direction,
        "length_ratio": str(campaign.length_ratio),
        "origin": campaign.origin,
    }
