"""z-scores of a campaign's judgments, over the pool that the campaign states."""

import numpy as np
from numpy.typing import NDArray

from annotation.models import Annotator, Campaign, Item
from annotation.quality.columns import JudgmentColumns
from metaeval.judgments import ZScores, z_scores


def standardise(columns: JudgmentColumns, pool: str) -> ZScores:
    """Standardise every judgment per annotator (ddof 1).

    `pool` says which judgments enter an annotator's mean and standard deviation: those of
    outputs only (`targets`: repeats do not count twice), or `all`, control items included.
    """
    return z_scores(columns.score, columns.annotator, pool=_in_pool(columns, pool))


def remarks(columns: JudgmentColumns, pool: str, standard: ZScores) -> tuple[str, ...]:
    """Say whom the z-scores leave out, by the names that annotators have on pages."""
    if not standard.warnings:
        return ()
    labels = dict(Annotator.objects.filter(pk__in=standard.annotators).values_list("pk", "label"))
    named = [labels[pk] for pk in columns.annotator.tolist()]
    said = z_scores(columns.score, named, pool=_in_pool(columns, pool)).warnings
    return tuple(warning.message for warning in said)


def _in_pool(columns: JudgmentColumns, pool: str) -> NDArray[np.bool_] | None:
    return None if pool == Campaign.ZPool.ALL else columns.is_kind(Item.Kind.TARGET)
