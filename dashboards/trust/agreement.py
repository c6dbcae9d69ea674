"""Agreement of annotators on outputs, and on outputs and traps, as documents have it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Campaign, Item
from annotation.quality import Agreement, JudgmentColumns, agreement_of
from dashboards.documents.head import Estimate, ends
from metaeval.messages import Message

WITH_TRAPS = "outputs and traps"


@dataclass(frozen=True)
class AgreementLine:
    """Agreement on some `items`: `n` judgments of `n_units` that two or more rated.

    `basis` says, by statistic, how its interval was computed.
    """

    items: str
    n: int
    n_units: int
    one_vs_rest: Estimate
    alpha_z: Estimate
    alpha_raw: Estimate
    basis: Mapping[str, Message]
    doubts: Sequence[Message] = ()


def agreement(campaign: Campaign, columns: JudgmentColumns) -> list[AgreementLine]:
    """One line for outputs alone and, where there are traps, one for both; z as computed there."""
    targets, traps = columns.is_kind(Item.Kind.TARGET), columns.is_kind(Item.Kind.TRAP)
    sets = {"outputs": targets} | ({WITH_TRAPS: targets | traps} if traps.any() else {})
    found = {
        name: agreement_of(columns, chosen, seed=campaign.seed) for name, chosen in sets.items()
    }
    return [agreement_line(name, each) for name, each in found.items() if each is not None]


def agreement_line(items: str, found: Agreement) -> AgreementLine:
    """Return agreement as documents have it."""
    figures = found.figures
    return AgreementLine(
        items=items,
        n=found.n,
        n_units=found.n_units,
        **{key: (one.statistic, ends(one.interval)) for key, one in figures.items()},
        basis={key: one.basis for key, one in figures.items()},
        doubts=found.cautions,
    )
