"""What pages show, computed by workers: one module an analysis.

An analysis module has `VERSION`, to be raised whenever its numbers change, `DOCUMENT`, the
dataclass of its documents, and `compute(campaign, filters)`, which returns one. An analysis that
answers several questions takes one of them as `question`. A page that lets its reader choose more
names a subclass of `dashboards.panel.choice.Choice` as `FILTERS`; one whose numbers rest on other
campaigns too, which its reader chose, names them by `others(campaign, filters)`.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

from annotation.filters import Filters
from annotation.models import Campaign
from core import extensions

KINDS: dict[str, str] = {
    "results": "dashboards.results.ground",
    "correlations": "dashboards.correlations.document",
    "overview": "dashboards.overview.document",
    "whatif": "dashboards.whatif.document",
    "samplesize": "dashboards.whatif.samplesize",
    "significance": "dashboards.comparisons.document",
    "scatter": "dashboards.scatter.document",
    "systems": "dashboards.systems.document",
    "systems-pair": "dashboards.pairs.two_systems",
    "metrics-pair": "dashboards.pairs.two_metrics",
    "spans": "dashboards.spans.document",
    "report": "dashboards.report.document",
    "bundle": "dashboards.bundle.document",
    "trust": "dashboards.trust.verdict",
    "quality": "dashboards.quality.document",
    "agreement": "dashboards.quality.agreement",
    "power": "dashboards.power.document",
    **extensions.merged("analyses"),
}

# What may take longer than a reader waits: resampling, and all pages at once.
SLOW = (
    *("significance", "whatif", "samplesize", "report", "bundle"),
    *(kind for each in extensions.installed() for kind in each.slow),
)
# What all numbers carry, before the numbers.
FIRST = ("trust",)


class Analyse(Protocol):
    """What an analysis module looks like."""

    VERSION: int
    DOCUMENT: type[Any]

    def compute(self, campaign: Campaign | None, filters: Filters, **question: str) -> Any:
        """Return the document; only an analysis of what readers state takes no campaign."""
        ...


def load(kind: str) -> Analyse:
    """Import an analysis; KeyError for an unknown kind.

    `kind` may carry a question after a colon, as in `correlations:kendall-b/item`.
    """
    module: Any = import_module(KINDS[kind.partition(":")[0]])
    return module  # type: ignore[no-any-return]


def compute(kind: str, campaign: Campaign | None, filters: Filters) -> Any:
    """Return the document of an analysis, of its default question where `kind` carries none."""
    _, _, question = kind.partition(":")
    asked = {"question": question} if question else {}
    return load(kind).compute(campaign, filters, **asked)


def others(kind: str, campaign: Campaign, filters: Filters) -> Sequence[Campaign]:
    """Return the campaigns besides its own that a document rests on."""
    found: Callable[..., Sequence[Campaign]] | None = getattr(load(kind), "others", None)
    return found(campaign, filters) if found else ()


def filters_of(kind: str) -> type[Filters]:
    """Return the filters of an analysis: those of all pages, or with choices of its own."""
    found: type[Filters] = getattr(load(kind), "FILTERS", Filters)
    return found
