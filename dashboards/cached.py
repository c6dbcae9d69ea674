"""Tables computed once per state of the data: the key holds everything that a number rests on."""

import hashlib
import json
from collections.abc import Sequence

from django.core.cache import cache
from django.db.models import Count, Max, Sum
from django.utils import timezone

from annotation.models import Campaign, Judgment, Output
from dashboards.correlations import N_HYBRIDS, CampaignCorrelations, correlate
from metrics.models import MetricRun
from metrics.scores import latest_signatures

VERSION = 1
KEEP_SECONDS = 24 * 3600
# Up to here all metrics together take well under a second.
MANY_OUTPUTS = 6_000


def is_quick(campaign: Campaign, scores: str = "z") -> bool:
    """Whether the table of a campaign is there already, or computed within a second."""
    outputs = Output.objects.filter(system__campaigns=campaign)
    return outputs.count() <= MANY_OUTPUTS or cache.get(_key(campaign, scores)) is not None


def correlations(campaign: Campaign, scores: str = "z") -> tuple[CampaignCorrelations, str]:
    """Return the table of a campaign and when it was computed (ISO time)."""
    key = _key(campaign, scores)
    stored = cache.get(key)
    if stored is None:
        stored = (correlate(campaign, scores), timezone.now().isoformat(timespec="seconds"))
        cache.set(key, stored, KEEP_SECONDS)
    result: tuple[CampaignCorrelations, str] = stored
    return result


def _key(campaign: Campaign, scores: str) -> str:
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
    state = json.dumps(parts, default=str).encode()
    return f"correlations:{hashlib.sha256(state).hexdigest()}"
