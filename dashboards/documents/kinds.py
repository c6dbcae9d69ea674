"""Registry of analyses, whose documents workers compute: one module per analysis.

An analysis module has `VERSION`, to be raised whenever its numbers change, `DOCUMENT`, the
dataclass of its documents, and `compute(campaign, filters)`, which returns one. An analysis that
answers several questions takes one of them as `question`. A page with more choices than the filters
names a subclass of `dashboards.panel.choice.Choice` as `FILTERS`. A page whose numbers also depend
on other campaigns, which its reader chose, names them by `others(campaign, filters)`.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

from annotation.filters import Filters
from annotation.models import Campaign
from core import extensions
from core.gc_tuning import relaxed

KINDS: dict[str, str] = {
    "results": "dashboards.results.document",
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
    "power": "dashboards.power",
    **extensions.merged("analyses"),
}

# Analyses that may take longer than a reader waits: resampling, and all pages at once.
SLOW = (
    *("significance", "whatif", "samplesize", "report", "bundle"),
    *(kind for each in extensions.installed() for kind in each.slow),
)
# Analyses that every page needs, computed before the others.
FIRST = ("trust",)


class Analyse(Protocol):
    """Interface of an analysis module."""

    VERSION: int
    DOCUMENT: type[Any]

    def compute(self, campaign: Campaign | None, filters: Filters, **question: str) -> Any:
        """Return the document; only an analysis of a reader's own input takes no campaign."""
        ...


def load(kind: str) -> Analyse:
    """Import an analysis; KeyError for an unknown kind.

    `kind` may carry a question after a colon, as in `correlations:kendall-b/item`.
    """
    module: Any = import_module(KINDS[kind.partition(":")[0]])
    return module  # type: ignore[no-any-return]


def compute(kind: str, campaign: Campaign | None, filters: Filters) -> Any:
    """Return the document of an analysis, of its default question where `kind` names none."""
    _, _, question = kind.partition(":")
    asked = {"question": question} if question else {}
    with relaxed():
        return load(kind).compute(campaign, filters, **asked)


def others(kind: str, campaign: Campaign, filters: Filters) -> Sequence[Campaign]:
    """Return the other campaigns that a document uses."""
    found: Callable[..., Sequence[Campaign]] | None = getattr(load(kind), "others", None)
    return found(campaign, filters) if found else ()


def filters_of(kind: str) -> type[Filters]:
    """Return the filters of an analysis: those of all pages, or with choices of its own."""
    found: type[Filters] = getattr(load(kind), "FILTERS", Filters)
    return found
