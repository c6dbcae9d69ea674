"""How many judgments a campaign needs, from the judgments of a pilot."""

import numpy as np

from annotation.models import Campaign, Item, Judgment
from annotation.models.judgment import VALUE
from metaeval.judgments import z_scores
from metaeval.judgments.planning import VarianceComponents, variance_components

RAW, Z = "raw", "z"


def pilot_components(campaign: Campaign, scores: str) -> VarianceComponents:
    """Estimate variance components from the outputs that a campaign has judged so far.

    Control items, repeats, excluded annotators and targets whose text is no output here (human
    translations of imported data) are left out.
    """
    rows = list(
        Judgment.objects.filter(
            is_current=True,
            assignment__annotator__campaign=campaign,
            assignment__annotator__excluded_at=None,
            assignment__item__kind=Item.Kind.TARGET,
            assignment__item__output__isnull=False,
        )
        .order_by()
        .values_list(
            "assignment__item__output__system_id",
            "assignment__item__segment_id",
            "assignment__annotator_id",
            VALUE,
        )
    )
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    system, segment, annotator = table[:, :3].astype(np.int64).T
    values = table[:, 3]
    if scores == Z:
        values = z_scores(values, annotator).z
    return variance_components(values, system, segment, annotator)
