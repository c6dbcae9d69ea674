"""Compute what the monitor needs often: agreement on outputs, and annotators who are too fast."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation import quality
from annotation.filters import Filters
from annotation.models import Campaign, Item
from dashboards.documents.counted import Number, Warned, warned
from dashboards.trust.verdict import too_fast
from metaeval.messages import Message

VERSION = 7


@dataclass(frozen=True)
class Figure:
    """A statistic with its interval (low, high, confidence), computed as `basis` says."""

    statistic: Number
    interval: tuple[float, float, float] | None
    method: Message | None
    basis: Message
    warnings: Sequence[Warned]


@dataclass(frozen=True)
class AgreementSoFar:
    """Agreement on `n_units` outputs; `figures` is empty where no output has two ratings.

    `too_fast` are the labels of annotators who answered faster than texts can be skimmed.
    """

    n_units: int
    figures: Mapping[str, Figure]
    warnings: Sequence[Message]
    too_fast: Sequence[str] = ()


DOCUMENT = AgreementSoFar


def compute(campaign: Campaign, filters: Filters) -> AgreementSoFar:
    """Return agreement on outputs; `filters` are ignored, because the monitor has none."""
    columns = quality.read_columns(campaign)
    chosen = columns.is_kind(Item.Kind.TARGET)
    found = quality.agreement_of(columns, chosen, seed=campaign.seed)
    fast = sorted(too_fast(campaign))
    if found is None or not found.n_units:
        return AgreementSoFar(0, {}, (), fast)
    return AgreementSoFar(found.n_units, figures_of(found), found.cautions, fast)


def figures_of(found: quality.Agreement) -> dict[str, Figure]:
    """Return the three figures by name."""
    return {
        name: Figure(one.statistic, one.interval, one.method, one.basis, warned(one.warnings))
        for name, one in found.figures.items()
    }
