"""Documents over real judgments: with nothing in memory, unchanged, and after one more judgment.

    OMP_NUM_THREADS=1 python -m benchmarks.dashboards.documents [--judgments 60000] [KIND ...]

The campaign is that of `benchmarks.crowd`: crowd judgments of WMT21 ru-en multiplied to 36,000 by
200 workers over 30,000 outputs, or to as many as are asked for, and 18 measures. Everything is
computed in this process, as a worker of documents does it. Prints seconds of the processor: of
reading the panel alone, then of every document, and the peak of memory. The bounds are 2 s for the
values after a judgment, 20 s for what-if and sample size, 10 s for all others, and 500 MB.
"""

import argparse
import resource
import time
import uuid
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

from benchmarks import crowd
from metaeval.repeats import refuse_repeats

VALUES, LONG = ("correlations",), ("whatif", "samplesize")
VALUES_SECONDS, LONG_SECONDS, OTHER_SECONDS, PEAK_MIB = 2.0, 20.0, 10.0, 500 * 1e6 / 2**20
KINDS = (
    *("correlations", "significance", "significance:hybrids", "scatter", "systems", "trust"),
    *("overview", "quality", "layers", "compare", "whatif", "samplesize", "report", "bundle"),
)


def used(action: Callable[[], object]) -> float:
    """Return seconds of the processor."""
    began = time.process_time()
    action()
    return time.process_time() - began


def answer(campaign: Any, number: int) -> None:
    """Somebody revises one answer, as a submit stores it."""
    from annotation.models import Judgment

    rows = Judgment.objects.filter(assignment__annotator__campaign=campaign, is_current=True)
    old = rows.order_by("pk")[number]
    Judgment.objects.filter(pk=old.pk).update(is_current=False)
    key = uuid.uuid4()
    old.pk, old._state.adding = None, True
    old.revision, old.score, old.submit_key = old.revision + 1, (old.score or 0) // 2, key
    old.is_current = True
    old.save()


def compute(kind: str, campaign: Any) -> None:
    from annotation.filters import Filters
    from core.caching import memoized
    from dashboards.documents import kinds
    from dashboards.documents.computing import give_back

    filters = kinds.filters_of(kind).from_json(Filters().as_json())
    with memoized():
        kinds.compute(kind, campaign, filters)
    give_back()


def measure(name: str, number: int, campaign: Any, action: Callable[[], object]) -> float:
    """Print a line; return the seconds after a judgment."""
    from django.core.cache import cache

    from core.caching import clear_caches

    clear_caches()
    cache.clear()
    cold, again = used(action), used(action)
    answer(campaign, number)
    after = used(action)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:24s} {cold:8.2f} {again:8.2f} {after:8.2f} {peak:8.0f}", flush=True)
    return after


def planted(n_judgments: int) -> Any:
    """Plant the crowd in a process of its own: no worker that computes has planted before."""
    from django.db import connections

    from annotation.models import Campaign

    connections.close_all()
    planting = get_context("fork").Process(target=crowd.plant, args=(n_judgments,))
    planting.start()
    planting.join()
    return Campaign.objects.get(slug="crowd")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=KINDS, metavar="KIND")
    parser.add_argument("--judgments", type=int, default=crowd.JUDGMENTS)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    given = refuse_repeats(parser).parse_args()
    crowd.prepare(given.database)
    from annotation.filters import Filters
    from annotation.models import Campaign
    from core import gc_tuning
    from dashboards.panel.panel import read_panel

    gc_tuning.freeze()  # as workers do once they are loaded
    campaign = Campaign.objects.filter(slug="crowd").first() or planted(given.judgments)
    print(f"{'':24s} {'cold':>8s} {'again':>8s} {'after':>8s} {'peak MiB':>8s}")
    measure("the panel alone", 0, campaign, lambda: read_panel(campaign, Filters()).scored)
    missed = []
    for number, kind in enumerate(given.kinds, start=1):
        seconds = measure(kind, number, campaign, lambda kind=kind: compute(kind, campaign))
        bound = LONG_SECONDS if kind in LONG else OTHER_SECONDS
        if seconds > (VALUES_SECONDS if kind in VALUES else bound):
            missed.append(f"{kind}: {seconds:.1f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    missed += [f"peak {peak:.0f} MiB"] if peak > PEAK_MIB else []
    raise SystemExit("\n".join(["Bounds missed:", *missed]) if missed else 0)


if __name__ == "__main__":
    main()
