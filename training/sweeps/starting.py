"""Start a job for every point of a grid of settings."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain, count, product
from typing import Any

from django.db import transaction

from metaeval.messages import plural
from training.jobs import starting
from training.models import ParallelCorpus, TrainingJob

MOST_JOBS = 200
# Settings that the ReFreeEval paper varies: rules (table 11) and the released one, α (table 12),
# c2, the rows of its ablation (tables 1 to 3), seeds (table 14). Table 13 has two more values of c2
# that it does not name; the final metric has 1e-20.
SEEDS = (19, 27, 42, 55, 76, 80, 99, 153, 178, 200)
TABLES: dict[str, dict[str, tuple[Any, ...]]] = {
    "perturbation": {"rule": ("clauses", "released", "shuffle", "repeat")},
    "alpha": {"alpha": (0.0, 5.0, 10.0, 50.0, 100.0, 500.0)},
    "c2": {"c2": (0.0, 1e-20, 1e-15, 1e-10, 1e-5)},
    "ablation": {"variant": ("word-level", "fluency", "sent-fa", "sent-level", "full")},
    "seeds": {},
}
Grid = list[dict[str, Any]]


def combine(values: Mapping[str, Sequence[Any]]) -> Grid:
    """Return every combination of values, as the settings of one job each.

    ValidationError if there is none, or more than MOST_JOBS.
    """
    n_jobs = math.prod(map(len, values.values()))
    if not 0 < n_jobs <= MOST_JOBS:
        raise starting.refusal(
            plural(
                "sweep.too-many",
                "These settings would start {n} job. A sweep has 1 to {most} jobs.",
                "These settings would start {n} jobs. A sweep has 1 to {most} jobs.",
                n=n_jobs,
                most=MOST_JOBS,
            )
        )
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


@transaction.atomic
def start(
    *,
    kind: str,
    name: str,
    grid: Grid,
    corpora: Sequence[ParallelCorpus] = (),
    user: Any = None,
    enqueue: bool = True,
) -> list[TrainingJob]:
    """Start all jobs or none; several share the name of a sweep. Errors as :func:`jobs.start`."""
    sweep = free_name(name) if len(grid) > 1 else ""
    shared: dict[str, Any] = {"kind": kind, "name": name, "corpora": corpora, "sweep": sweep}
    return [starting.start(**shared, given=given, user=user, enqueue=enqueue) for given in grid]


def free_name(name: str) -> str:
    """Return a name that no sweep has."""
    base = starting.slug_of(name)
    taken = set(TrainingJob.objects.exclude(sweep="").values_list("sweep", flat=True).distinct())
    numbered = (f"{base}-{number}" for number in count(2))
    return next(each for each in chain([base], numbered) if each not in taken)
