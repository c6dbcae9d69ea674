"""Tables computed once per state of the data: the key holds everything that a number rests on."""

import hashlib
import json
from collections.abc import Sequence

from django.core.cache import cache
from django.db.models import Count, Max, Sum
from django.utils import timezone

from annotation.models import Campaign, Judgment
from dashboards.correlations import N_HYBRIDS, CampaignCorrelations, correlate
from metrics.models import MetricRun
from metrics.scores import latest_signatures

VERSION = 1
KEEP_SECONDS = 24 * 3600


def correlations(campaign: Campaign, scores: str = "z") -> tuple[CampaignCorrelations, str]:
    """Return the table of a campaign and when it was computed (ISO time)."""
    key = f"correlations:{_state(campaign, scores)}"
    stored = cache.get(key)
    if stored is None:
        stored = (correlate(campaign, scores), timezone.now().isoformat(timespec="seconds"))
        cache.set(key, stored, KEEP_SECONDS)
    result: tuple[CampaignCorrelations, str] = stored
    return result


def _state(campaign: Campaign, scores: str) -> str:
    """Hash what may change: judgments are only added, scores only appear, settings are few."""
    judgments = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    runs = MetricRun.objects.filter(test_set=campaign.test_set)
    parts: Sequence[object] = (
        VERSION,
        N_HYBRIDS,
        campaign.pk,
        scores,
        campaign.z_pool,
        campaign.seed,
        sorted(campaign.systems.values_list("pk", flat=True)),
        judgments.aggregate(Max("pk"), Count("pk")),
        campaign.published_scores.aggregate(Max("pk"), Count("pk")),
        sorted(row.pk for row in latest_signatures(campaign.test_set).values()),
        runs.aggregate(Sum("done"), Max("pk"), Count("pk")),
    )
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()
