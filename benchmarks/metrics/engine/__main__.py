"""100,000 texts through the engine: scores a second, and memory along the way.

    DATABASE_URL=postgres://… python -m benchmarks.metrics.engine [--texts 100000]

Workers are processes of their own that score with a fake encoder: a vector for each text from its
hash, and P, R and F1 of 13 layers, 39 values a text. Without DATABASE_URL the database is a new
SQLite file; with it a new one is made beside it and dropped. Prints, with the bounds: contents a
second of one worker and of two from the first slice to the end, the least and most resident memory
of a worker after the first tenth of its work, and rows a second of storing alone, against
`executemany` in the same run.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.metrics.engine.fake import ROOT, WIDTH, make_texts, scratch_database, set_up
from metaeval.repeats import refuse_repeats


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def work(run_id: int, name: str) -> None:
    """A worker: print the least and most memory after its first tenth of the work."""
    from metrics.models import MetricRun
    from metrics.runs import scoring

    seen: list[int] = []
    rows = MetricRun.objects.filter(pk=run_id, status__in=MetricRun.ACTIVE)
    while rows.exists():
        scoring.drain(run_id, worker=name, report=lambda: seen.append(resident_bytes()))
        time.sleep(0.02)
    steady = seen[len(seen) // 10 :]
    print(name, min(steady), max(steady), max(seen))


def score_with(n_workers: int) -> None:
    """Score all texts anew with some workers, and print what it cost."""
    from annotation.models import TestSet
    from metrics.models import MetricRun, SegmentScore
    from metrics.runs import starting

    signature = f"fake|workers:{n_workers}"
    test_set = TestSet.objects.get()
    run = starting.start(test_set=test_set, metrics=["fake"], enqueue=False).runs[0]
    workers = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "benchmarks.metrics.engine",
                "--run",
                str(run.pk),
                "--name",
                f"w{n}",
            ],
            env=os.environ | {"FAKE_SIGNATURE": signature},
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )
        for n in range(n_workers)
    ]
    answers = [worker.communicate()[0].split() for worker in workers]
    run = MetricRun.objects.get(pk=run.pk)
    stored = SegmentScore.objects.filter(signature__signature=signature).count()
    assert (run.status, run.done, stored) == ("done", run.total, run.total), run.message
    shares = [f"{worker.name} {worker.segments:,}" for worker in run.workers.all()]
    print(f"{n_workers} workers: {run.average_rate:,.0f} texts/s ({', '.join(shares)})")
    for name, least, most, peak in answers:
        print(
            f"  {name}: {int(least) / 2**20:.0f} to {int(most) / 2**20:.0f} MiB, "
            f"±{(int(most) - int(least)) / (int(most) + int(least)):.1%}; "
            f"at most {int(peak) / 2**20:.0f} MiB"
        )


def store_alone(n_rows: int) -> None:
    """Rows a second of `store_scores` in slices of 8,192, and of executemany in the same run."""
    import numpy as np
    from django.db import connection, transaction

    from metrics.models import MetricSignature
    from metrics.scores import pack, store_scores

    rows = np.random.default_rng(1).random((n_rows, WIDTH))
    keys = [hashlib.md5(str(n).encode()).hexdigest() for n in range(n_rows)]  # noqa: S324
    slices = [slice(start, start + 8192) for start in range(0, n_rows, 8192)]
    insert = (
        'INSERT INTO metrics_segmentscore (signature_id, content_key, "values") '
        "VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
    )

    def executemany(signature: MetricSignature, keys: list[str], rows: np.ndarray) -> None:
        values = zip([signature.pk] * len(keys), keys, pack(rows), strict=True)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(insert, sorted(values))

    for name, store in (("executemany", executemany), ("ours", store_scores)):
        signature = MetricSignature.objects.create(metric="x", signature=name, measures=[])
        began = time.perf_counter()
        for part in slices:
            store(signature, keys[part], rows[part])
        print(f"storing alone, {name}: {n_rows / (time.perf_counter() - began):,.0f} rows/s")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--run", type=int)
    parser.add_argument("--name")
    given = refuse_repeats(parser).parse_args()
    if given.run:
        set_up()
        work(given.run, given.name)
        return
    with scratch_database():
        set_up()
        from django.core.management import call_command
        from django.db import connection

        call_command("migrate", verbosity=0)
        print(connection.vendor, f"{given.texts:,} texts; load", os.getloadavg())
        make_texts(given.texts)
        store_alone(given.texts)
        for n_workers in (1, 2):
            score_with(n_workers)
        connection.close()


if __name__ == "__main__":
    main()
