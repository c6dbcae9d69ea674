"""What annotators say of outputs that share a screen: WMT26's check of their differences."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.models import Campaign, Item, Output
from annotation.quality.columns import JudgmentColumns
from metaeval.judgments.agreement import ScreenAgreement, screen_agreement


@dataclass(frozen=True)
class Likely:
    """How likely the differences of one annotator are (`ScreenAgreement`), over `screens`.

    With `is_unlikely` WMT26 would drop the annotator; here a person looks.
    """

    agreement: float
    screens: int
    is_unlikely: bool


def likely_of(campaign: Campaign, columns: JudgmentColumns) -> Mapping[int, Likely]:
    """Return it by annotator, for campaigns that show several systems beside each other.

    Of outputs alone, without practice and controls; none for other campaigns.
    """
    if not campaign.judging.layout.has_systems:
        return {}
    own = columns.select(columns.is_kind(Item.Kind.TARGET))
    found = _computed(own) if len(own) else None
    if found is None or not found.n:
        return {}
    return {
        int(annotator): Likely(float(found.agreement[n]), int(found.screens[n]), found.flagged[n])
        for n, annotator in enumerate(found.annotators)
    }


def _computed(own: JudgmentColumns) -> ScreenAgreement:
    rows = Output.objects.filter(pk__in=set(own.output.tolist())).order_by()
    systems = dict(rows.values_list("pk", "system"))
    return screen_agreement(
        own.score,
        own.annotator.tolist(),
        own.screen.tolist(),
        own.segment.tolist(),
        [systems[output] for output in own.output.tolist()],
    )
