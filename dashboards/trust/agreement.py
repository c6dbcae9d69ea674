"""Agreement of annotators on outputs, and on outputs and traps, for documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Campaign, Item
from annotation.quality import Agreement, JudgmentColumns, agreement_of
from dashboards.documents.head import Estimate, ends
from metaeval.messages import Message, message

OUTPUTS = message("agreement.outputs", "outputs")
WITH_TRAPS = message("agreement.with-traps", "outputs and traps")


@dataclass(frozen=True)
class AgreementLine:
    """Agreement on some `items`: `n` judgments of `n_units` that two or more annotators rated.

    `has_traps`: traps are among the items. `basis` is, by statistic, the method of its interval.
    """

    items: Message
    has_traps: bool
    n: int
    n_units: int
    one_vs_rest: Estimate
    alpha_z: Estimate
    alpha_raw: Estimate
    basis: Mapping[str, Message]
    warnings: Sequence[Message] = ()


def agreement(campaign: Campaign, columns: JudgmentColumns) -> list[AgreementLine]:
    """Return a line for outputs alone and, where there are traps, one for both; each with its z."""
    targets, traps = columns.is_kind(Item.Kind.TARGET), columns.is_kind(Item.Kind.TRAP)
    sets = {False: targets} | ({True: targets | traps} if traps.any() else {})
    found = {
        has_traps: agreement_of(columns, chosen, seed=campaign.seed)
        for has_traps, chosen in sets.items()
    }
    return [
        agreement_line(each, has_traps) for has_traps, each in found.items() if each is not None
    ]


def agreement_line(found: Agreement, has_traps: bool) -> AgreementLine:
    """Return agreement as a line of a document."""
    figures = found.figures
    return AgreementLine(
        items=WITH_TRAPS if has_traps else OUTPUTS,
        has_traps=has_traps,
        n=found.n,
        n_units=found.n_units,
        **{key: (one.statistic, ends(one.interval)) for key, one in figures.items()},
        basis={key: one.basis for key, one in figures.items()},
        warnings=found.cautions,
    )
