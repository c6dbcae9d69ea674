"""How many judgments a campaign needs, from the judgments of a pilot."""

import numpy as np

from annotation.models import Campaign, Item, Output
from annotation.quality.columns import read_columns
from annotation.quality.current import NOTHING
from metaeval.judgments import z_scores
from metaeval.judgments.planning import VarianceComponents, variance_components

RAW, Z = "raw", "z"


def pilot_components(campaign: Campaign, scores: str) -> VarianceComponents:
    """Estimate variance components from the outputs that a campaign has judged so far.

    Control items, repeats, excluded annotators and targets whose text is no output here (human
    translations of imported data) are left out.
    """
    columns = read_columns(campaign)
    judged = columns.select(columns.is_kind(Item.Kind.TARGET) & (columns.output != NOTHING))
    outputs = Output.objects.filter(system__test_set=campaign.test_set).order_by()
    system_of = dict(outputs.values_list("pk", "system_id"))
    system = np.array([system_of[pk] for pk in judged.output.tolist()], dtype=np.int64)
    values = z_scores(judged.score, judged.annotator).z if scores == Z else judged.score
    documents = judged.cluster.tolist()
    return variance_components(
        values, system, judged.segment, judged.annotator, documents=documents
    )
