"""z-scores of a campaign's judgments, over the pool that the campaign states."""

from annotation.models import Campaign, Item
from annotation.quality.columns import JudgmentColumns
from metaeval.judgments import ZScores, z_scores


def standardise(columns: JudgmentColumns, pool: str) -> ZScores:
    """Standardise every judgment per annotator (ddof 1).

    `pool` says which judgments enter an annotator's mean and standard deviation: those of
    outputs only (`targets`: repeats do not count twice), or `all`, control items included.
    """
    in_pool = None if pool == Campaign.ZPool.ALL else columns.is_kind(Item.Kind.TARGET)
    return z_scores(columns.score, columns.annotator, pool=in_pool)
