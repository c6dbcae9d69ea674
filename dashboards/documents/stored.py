"""Store documents as JSON, with null for nan, under a hash of what determines their numbers."""

import hashlib
import json
import zlib
from enum import Enum
from typing import Any, TypeVar

import msgspec
import numpy as np
from django.db.models import Count, Max, Sum

from annotation.models import Campaign
from annotation.quality.current import judgments_added
from core.caching import ttl_cache
from metrics.models import MetricRun
from metrics.scores import latest_signatures

# Hash everything that determines the numbers of a campaign.


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


D = TypeVar("D")
# Measured: objects take 1.0 (one long text) to 3.7 times the memory of their JSON.
OBJECTS = 3


def encoded(document: Any) -> bytes:
    """Return a document as JSON; null for numbers that are not finite, lists for arrays."""
    return msgspec.json.encode(document, enc_hook=_listed)


def _listed(value: object) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Enum):
        return value.value
    raise NotImplementedError(f"{type(value).__name__} is not a type of a document")


def pack(document: Any) -> bytes:
    """Return a document as stored; raise msgspec.ValidationError if it could not be read again."""
    text = encoded(document)
    _read(text, type(document))
    return zlib.compress(text, 6)


def as_stored(document: D) -> D:
    """Return a document that has just been computed as readers get it, with None for nan."""
    return _read(encoded(document), type(document))


# Tests and extensions import it under this name.
settled = as_stored


def _read(text: bytes, shape: type[D]) -> D:
    return msgspec.json.decode(text, type=shape)


def unpack(payload: bytes | memoryview, shape: Any) -> Any:
    """The inverse of `pack`; None for a document of another shape, which an older version left."""
    return sized(payload, shape)[0]


def sized(payload: bytes | memoryview, shape: Any) -> tuple[Any, int]:
    """Return the same, and its approximate size in memory in bytes."""
    text = zlib.decompress(payload)
    try:
        return msgspec.json.decode(text, type=shape), OBJECTS * len(text)
    except msgspec.ValidationError:
        return None, 0
