"""Start a job for every point of a grid of settings."""

from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from training import jobs
from training.models import ParallelCorpus, TrainingJob


@transaction.atomic
def start(
    *,
    kind: str,
    name: str,
    grid: Sequence[Mapping[str, Any]],
    corpora: Sequence[ParallelCorpus] = (),
    user: Any = None,
    enqueue: bool = True,
) -> list[TrainingJob]:
    """Start all jobs or none; several share the name of a sweep. Errors as :func:`jobs.start`."""
    sweep = free_name(name) if len(grid) > 1 else ""
    shared: dict[str, Any] = {"kind": kind, "name": name, "corpora": corpora, "sweep": sweep}
    return [jobs.start(**shared, given=given, user=user, enqueue=enqueue) for given in grid]


def free_name(name: str) -> str:
    """Return a name that no sweep has yet."""
    base = slugify(name)
    taken = set(TrainingJob.objects.values_list("sweep", flat=True))
    numbered = (f"{base}-{number}" for number in count(2))
    return next(each for each in chain([base], numbered) if each not in taken)
