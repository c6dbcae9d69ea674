"""How each correlation depends on the number of segments: the same campaign, larger and smaller.

Segments are drawn with replacement, all systems' outputs of a segment together, so the band at
100 % is the percentile bootstrap's for the campaign as it is (Deutsch et al. 2021, with segments
drawn and systems fixed). It shows how a correlation settles; of few segments it is too narrow an
interval, which the page says (`docs/statistics.md`, coverage).
"""

from typing import Any

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign
from annotation.uploads.problems import some
from dashboards import brief
from dashboards.plain import plain
from dashboards.selectors import Floats, human_scores

VERSION = 2
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
FEWEST_SAMPLES, MOST_SAMPLES = 40, 200
# Cells to compare for tau in all: seconds on one core.
BUDGET = 90_000_000
TAIL = 2.5


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the curves; `rows` has one dict for measure, statistic and share."""
    human = human_scores(campaign, filters)
    measures = brief.read_measures(campaign, human)
    judged = (~np.isnan(human.values)).any(axis=0)
    n = int(judged.sum())
    samples = n_samples(human.n * len(measures) * sum(SHARES))
    notes = list(human.warnings)
    if human.published_systems is not None:
        notes.append("System scores are means over the drawn segments, not the published ones.")
    if brought := [one.label for one in measures if one.systems is not None]:
        notes.append(
            f"{some(brought, 3)}: system scores are means over the drawn segments, not "
            "the imported ones."
        )
    if not n:
        notes.append("No output of this campaign has a human score yet.")
    elif not measures:
        notes.append("No metric has scored this campaign's outputs yet.")
    rng = np.random.default_rng(campaign.seed)
    sizes = [max(2, round(share * n)) for share in SHARES] if n else []
    drawn = [brief.draw(rng, samples, n, size) for size in sizes]
    rows = [
        row
        for one in (measures if n else [])
        for row in _rows(_judged(one, judged), human.values[:, judged], drawn, sizes)
    ]
    result: dict[str, Any] = plain(
        {
            "campaign": campaign.slug,
            "human_scores": human.source,
            "n_segments": n,
            "n_samples": samples,
            "seed": campaign.seed,
            "shares": list(SHARES),
            "sizes": sizes,
            "rows": rows,
            "warnings": list(dict.fromkeys(notes)),
        }
    )
    return result


def n_samples(cells: float) -> int:
    """As many samples as the budget allows, within the bounds."""
    return int(min(MOST_SAMPLES, max(FEWEST_SAMPLES, BUDGET // max(1.0, cells))))


def _judged(one: brief.Brief, judged: Any) -> brief.Brief:
    statistics = None if one.statistics is None else one.statistics[:, judged]
    names = (one.key, one.label, one.metric, one.signature)
    return brief.Brief(*names, one.values[:, judged], statistics, one.corpus, one.sign)


def _rows(
    one: brief.Brief, human: Floats, drawn: list[Floats], sizes: list[int]
) -> list[dict[str, Any]]:
    rows = []
    # All samples at once: the cells are put in order once, not for every size.
    sampled = np.split(brief.resampled(human, one, np.concatenate(drawn)), len(drawn))
    for share, size, found in zip(SHARES, sizes, sampled, strict=True):
        for name, values in zip(brief.STATISTICS, found.T, strict=True):
            known = values[~np.isnan(values)]
            low, high = np.percentile(known, [TAIL, 100 - TAIL]) if len(known) else (np.nan,) * 2
            rows.append(
                {
                    "key": one.key,
                    "label": one.label,
                    "statistic": name,
                    "share": share,
                    "n_segments": size,
                    "mean": float(known.mean()) if len(known) else None,
                    "low": float(low),
                    "high": float(high),
                    "n_defined": len(known),
                }
            )
    return rows
