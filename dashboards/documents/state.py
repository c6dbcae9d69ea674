"""Hash everything that determines the numbers of a campaign."""

import hashlib
import json
from typing import Any

from django.db.models import Count, Max, Sum

from annotation.models import Campaign
from annotation.quality.current import judgments_added
from core.caching import ttl_cache
from metrics.models import MetricRun
from metrics.scores import latest_signatures


def cached_state(campaign: Campaign) -> str:
    """Return a recent state, which suffices to see that a document is old."""
    return ttl_cache(("state", campaign.pk), lambda: state_of(campaign))


def state_of(campaign: Campaign) -> str:
    """Return a hash that changes with every judgment, score and setting. A few queries.

    Judgments are only added and annotators excluded, scores only appear, settings are few.
    """
    runs = MetricRun.objects.filter(test_set=campaign.test_set)
    return digest(
        campaign.pk,
        campaign.z_pool,
        campaign.seed,
        sorted(campaign.systems.values_list("pk", "is_human")),
        judgments_added(campaign),
        sorted(campaign.annotators.exclude(excluded_at=None).values_list("pk", flat=True)),
        campaign.published_scores.aggregate(Max("pk"), Count("pk")),
        sorted(row.pk for row in latest_signatures(campaign.test_set).values()),
        runs.aggregate(Sum("done"), Max("pk"), Count("pk")),
    )


def digest(*parts: Any) -> str:
    """Return a SHA-256 of plain values."""
    text = json.dumps(parts, default=str, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
