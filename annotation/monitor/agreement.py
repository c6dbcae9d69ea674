"""Agreement so far: it costs most and changes slowest, so it is kept for a while."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.core.cache import cache
from django.utils import timezone

import metaeval
from annotation.models import Campaign, Item
from annotation.models.judgment import VALUE
from annotation.monitor.answers import judgments_of

AGREEMENT_SECONDS = 30
N_RESAMPLES = 200
SEED = 1


@dataclass(frozen=True)
class Figure:
    """A statistic with its interval; nan and None where it is undefined."""

    value: float
    interval: metaeval.Interval | None


@dataclass(frozen=True)
class AgreementSoFar:
    """Agreement on outputs at the time `as_of`; None where no output has two ratings."""

    as_of: datetime
    n_units: int = 0
    one_vs_rest: Figure | None = None
    alpha_z: Figure | None = None
    alpha_raw: Figure | None = None


def agreement_so_far(campaign: Campaign) -> AgreementSoFar:
    """Agreement on outputs, computed at most every `AGREEMENT_SECONDS`."""
    key = f"monitor-agreement:{campaign.pk}"
    stored = cache.get(key)
    if stored is None:
        stored = _agreement(campaign)
        cache.set(key, stored, AGREEMENT_SECONDS)
    result: AgreementSoFar = stored
    return result


def _agreement(campaign: Campaign) -> AgreementSoFar:
    rows = list(
        judgments_of(campaign)
        .filter(
            is_current=True,
            assignment__item__kind=Item.Kind.TARGET,
            assignment__annotator__excluded_at=None,
        )
        .values_list("assignment__annotator_id", "assignment__item__output_id", VALUE)
    )
    if not rows:
        return AgreementSoFar(timezone.now())
    table = np.array(rows, dtype=np.float64)
    who, what, scores = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64), table[:, 2]
    z, raw = (
        metaeval.agreement_interval(values, who, what, n_resamples=N_RESAMPLES, rng=SEED)
        for values in (metaeval.z_scores(scores, who).z, scores)
    )
    if not raw.n_units:
        return AgreementSoFar(timezone.now())
    return AgreementSoFar(
        as_of=timezone.now(),
        n_units=raw.n_units,
        one_vs_rest=Figure(z.one_vs_rest, z.one_vs_rest_interval),
        alpha_z=Figure(z.alpha, z.alpha_interval),
        alpha_raw=Figure(raw.alpha, raw.alpha_interval),
    )
