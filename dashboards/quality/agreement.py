"""Compute what the monitor needs often: agreement on outputs, and annotators who are too fast."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation import quality
from annotation.filters import Filters
from annotation.models import Campaign, Item
from annotation.quality.columns import scale_of
from annotation.quality.report import alphas_of
from annotation.quality.verdict import check
from dashboards.documents.reasons import Number, Warned, warned
from dashboards.trust.verdict import too_fast
from metaeval.messages import Message

VERSION = 8


@dataclass(frozen=True)
class Figure:
    """A statistic with its interval (low, high, confidence), computed as `basis` says."""

    statistic: Number
    interval: tuple[float, float, float] | None
    method: Message | None
    basis: Message
    warnings: Sequence[Warned]


@dataclass(frozen=True)
class Assessed:
    """An annotator's verdict with the control items failed, and α with the others on z-scores."""

    annotator: str
    verdict: str
    failed: Sequence[Message]
    alpha: Number


@dataclass(frozen=True)
class AgreementSoFar:
    """Agreement on `n_units` outputs; `figures` is empty where no output has two ratings.

    `too_fast` are the labels of annotators who answered faster than texts can be skimmed.
    """

    n_units: int
    figures: Mapping[str, Figure]
    warnings: Sequence[Message]
    too_fast: Sequence[str] = ()
    people: Sequence[Assessed] = ()


DOCUMENT = AgreementSoFar


def compute(campaign: Campaign, filters: Filters) -> AgreementSoFar:
    """Return agreement on outputs; `filters` are ignored, because the monitor has none."""
    columns = quality.read_columns(campaign)
    chosen = columns.is_kind(Item.Kind.TARGET)
    found = quality.agreement_of(columns, chosen, seed=campaign.seed)
    fast, people = sorted(too_fast(campaign)), _assessed(campaign, columns)
    if found is None or not found.n_units:
        return AgreementSoFar(0, {}, (), fast, people)
    return AgreementSoFar(found.n_units, figures_of(found), found.cautions, fast, people)


def _assessed(campaign: Campaign, columns: quality.JudgmentColumns) -> list[Assessed]:
    """Assess everyone by their control items; excluded annotators have no agreement."""
    people = list(campaign.annotators.order_by("pk").values("pk", "label", "excluded_at"))
    alphas = alphas_of(columns, [one for one in people if one["excluded_at"] is None])
    everybody = quality.read_columns(campaign, with_excluded=True)
    checks = [
        check(own, scale=scale_of(campaign))
        for own in everybody.by_annotator([one["pk"] for one in people])
    ]
    return [
        Assessed(one["label"], each.verdict.value, each.failed, alphas.get(one["label"]))
        for one, each in zip(people, checks, strict=True)
    ]


def figures_of(found: quality.Agreement) -> dict[str, Figure]:
    """Return the three figures by name."""
    return {
        name: Figure(one.statistic, one.interval, one.method, one.basis, warned(one.warnings))
        for name, one in found.figures.items()
    }
