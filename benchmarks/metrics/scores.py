"""Planted scores of eighteen measures, for the scripts that measure pages."""

import numpy as np

from annotation.models import Campaign, Output
from metrics import registry
from metrics.base import Scores
from metrics.models import MetricRun, MetricSignature
from metrics.scores import store_scores

# Measures without statistics of their own: ROUGE's nine over words and over characters.
METRICS = ("rouge", "rouge-characters")


def plant_scores(
    campaign: Campaign, outputs: list[Output], quality: Scores, rng: np.random.Generator
) -> None:
    """Store scores that share a `quality` (n outputs,) and have noise of their own."""
    for name in METRICS:
        _plant(campaign, name, outputs, quality, rng)


def _plant(
    campaign: Campaign,
    name: str,
    outputs: list[Output],
    quality: Scores,
    rng: np.random.Generator,
) -> None:
    info = registry.get_info(name)
    signature = MetricSignature.objects.create(
        metric=name, signature=f"{name}|planted", measures=list(info.measures)
    )
    noise = rng.normal(size=(len(outputs), info.width)) * np.linspace(0.8, 1.6, info.width)
    scores: Scores = quality[:, None] + noise
    store_scores(signature, [row.content_key for row in outputs], scores)
    run = MetricRun.objects.create(
        test_set=campaign.test_set,
        metric=name,
        signature=signature,
        status=MetricRun.Status.DONE,
        total=len(outputs),
        done=len(outputs),
    )
    run.systems.set(campaign.systems.all())
