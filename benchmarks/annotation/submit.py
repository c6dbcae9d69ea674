"""What a submit costs over HTTP: one annotator's median, then eight at once.

    python -m benchmarks.annotation.submit [--items 100] [--mode static|pool|active]

Starts gunicorn (2 processes x 4 threads) on a free port over a temporary SQLite file, or over
DATABASE_URL, and talks to it as the page's script does: post the answer, get the next item.
"""

import argparse
import os
import resource
import statistics
import tempfile
import threading
import time
import uuid

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ.setdefault("SECRET_KEY", "benchmark")
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django

django.setup()

from django.core.management import call_command

from annotation.models import Judgment
from benchmarks.annotation.browsing import Browser, Server
from benchmarks.planting import planted

ANNOTATORS = 8


def rate(browser: Browser, n: int) -> None:
    for _ in range(n):
        if browser.is_done:
            return
        browser.rate()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--mode", choices=("static", "pool", "active"), default="static")
    args = parser.parse_args()
    n = args.items
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    campaign, tokens = planted(
        f"sea-{uuid.uuid4().hex[:8]}", mode=args.mode, segments=n // 2, systems=2,
        annotators=ANNOTATORS + 1, per_item=ANNOTATORS + 1,
    )  # fmt: skip
    server = Server()
    try:
        alone = Browser(server.port, tokens[0])
        alone.enter()
        rate(alone, n)
        crowd = [Browser(server.port, token) for token in tokens[1:]]
        for one in crowd:
            one.enter()
        threads = [threading.Thread(target=rate, args=(one, n)) for one in crowd]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
    finally:
        server.stop()
    times = sorted(t for one in crowd for t in one.times)
    print(f"one annotator: median {1000 * statistics.median(alone.times):.1f} ms over {n} items")
    print(f"  first ten {1000 * statistics.median(alone.times[:10]):.1f} ms, "
          f"last ten {1000 * statistics.median(alone.times[-10:]):.1f} ms")  # fmt: skip
    print(f"{ANNOTATORS} annotators: {len(times) / seconds:.0f} submits/s, median "
          f"{1000 * statistics.median(times):.1f} ms, worst {1000 * times[-1]:.0f} ms")  # fmt: skip
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answers = len(alone.times) + len(times)
    print(f"processor time of the server: {1000 * (used.ru_utime + used.ru_stime) / answers:.1f}"
          " ms an answer, start included")  # fmt: skip
    mine = Judgment.objects.filter(assignment__annotator__campaign=campaign, is_current=True)
    print(f"stored {mine.count()}, sent {len(alone.times) + len(times)}")
    assert mine.count() == len(alone.times) + len(times)


if __name__ == "__main__":
    main()
