"""Agreement so far: it changes slowest of all that the monitor shows, so it is kept for a while."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.core.cache import cache
from django.utils import timezone

from annotation.models import Campaign, Item
from annotation.models.judgment import VALUE
from annotation.monitor.answers import judgments_of
from annotation.quality import Agreement
from annotation.quality.agreement import agreement

AGREEMENT_SECONDS = 30


@dataclass(frozen=True)
class AgreementSoFar:
    """Agreement on outputs at the time `as_of`; None where no output has two ratings."""

    as_of: datetime
    found: Agreement | None = None

    @property
    def n_units(self) -> int:
        """Outputs rated by two or more."""
        return self.found.n_units if self.found else 0


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
    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    who, what = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    found = agreement(table[:, 2], who, what, seed=campaign.seed)
    return AgreementSoFar(timezone.now(), found if found and found.n_units else None)
