"""Documents and tables of a study like Cheng et al. (2023): 390 measures, 4 × 270 outputs.

    OMP_NUM_THREADS=1 python -m benchmarks.dashboards.seed [KIND ...]

The study is that of the tests (`tests.extensions.paper.seed`) in full size: two directions, two
lengths, 372 measures of layers beside 18 metrics. Prints seconds of the processor and the peak of
memory of every document of one campaign with nothing in memory, then of `manage.py study_tables`.
Bounds: 60 s and 1 GB for a document, 25 s for all tables of the study.
"""

import argparse
import resource
import tempfile
from io import StringIO
from multiprocessing import get_context
from pathlib import Path

from benchmarks import crowd
from benchmarks.dashboards.documents import KINDS, compute, used
from metaeval.repeats import refuse_repeats

SYSTEMS = ("Target Embedding", "Length Embedding", "Translate-then-Summarize", "Prompt")
LAYERS = {
    "bert-base-multilingual-cased": range(13),
    "bart-large-mnli": range(25),
    "roberta-large-mnli": range(25),
    "deberta-xlarge-mnli": range(61),
}
STUDY = "lengths"
DOCUMENT_SECONDS, TABLES_SECONDS, PEAK_MIB = 60.0, 25.0, 1e9 / 2**20


def plant() -> None:
    """Import the four files by the commands of docs/seed-study.md."""
    from django.core.management import call_command

    from tests.extensions.paper import seed

    seed.N_SEGMENTS, seed.SYSTEMS, seed.JUDGED = 270, SYSTEMS, SYSTEMS
    with tempfile.TemporaryDirectory() as folder:
        files = seed.make(layers=LAYERS).write(Path(folder))
        judged = files["ratings"], files["segments"], files["outputs"]
        quiet = {"stdout": StringIO()}
        call_command("import_judgments", *judged, study=STUDY, question=seed.QUESTION, **quiet)
        pairs = [f"{STUDY}-{direction}" for direction in seed.DIRECTIONS]
        call_command("import_scores", pairs[0], files["scores"], also=pairs[1:], **quiet)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(kinds: list[str]) -> None:
    """Print a line for every document, then for all tables; exit with 1 if a bound is missed."""
    from django.core.cache import cache
    from django.core.management import call_command

    from annotation.models import Campaign
    from core.caching import clear_caches

    campaign, missed = Campaign.objects.filter(study=STUDY).order_by("pk")[0], []
    for kind in kinds:
        clear_caches()
        cache.clear()
        seconds = used(lambda kind=kind: compute(kind, campaign))
        print(f"{kind:24s} {seconds:8.2f} s {peak():8.0f} MiB", flush=True)
        missed += [f"{kind}: {seconds:.1f} s"] * (seconds > DOCUMENT_SECONDS)
    clear_caches()
    cache.clear()
    with tempfile.TemporaryDirectory() as folder:
        tables = {"to": Path(folder), "here": True, "stdout": StringIO()}
        seconds = used(lambda: call_command("study_tables", STUDY, **tables))
    print(f"{'all tables':24s} {seconds:8.2f} s {peak():8.0f} MiB")
    missed += [f"all tables: {seconds:.1f} s"] * (seconds > TABLES_SECONDS)
    missed += [f"peak {peak():.0f} MiB"] * (peak() > PEAK_MIB)
    raise SystemExit("\n".join(["Bounds missed:", *missed]) if missed else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", default=KINDS, metavar="KIND")
    kinds = refuse_repeats(parser).parse_args().kinds
    crowd.prepare("sqlite")
    from django.db import connections

    connections.close_all()
    planting = get_context("fork").Process(target=plant)
    planting.start()
    planting.join()
    from core import gc_tuning

    gc_tuning.freeze()
    measure(list(kinds))


if __name__ == "__main__":
    main()
