"""Many annotators at once over HTTP, and a count of everything afterwards.

    python -m benchmarks.annotation.load --annotators 200 --minutes 5 --database sqlite
        --mode pool [--kill]

Starts gunicorn (2 processes x 4 threads). Every annotator answers item after item, with pauses of
`--think` seconds on average, and sends again with the same key what was not acknowledged. `--kill`
kills the server in the middle with -9, workers included, and starts it again. At the end nothing
acknowledged may be missing, nothing may be there twice or with another score, and no item with
somebody it was not given to or with more people than asked for; the exit status says so.

PostgreSQL is DATABASE_URL, or a database named `load` on this machine. Nothing in it is removed.
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import threading
import time
import uuid

from metaeval.repeats import refuse_repeats


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--mode", choices=("static", "pool", "active"), default="pool")
    parser.add_argument("--think", type=float, default=3.0)
    parser.add_argument("--kill", action="store_true")
    return refuse_repeats(parser).parse_args()


def prepare(database: str) -> None:
    """Settings are read from the environment, once."""
    os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-load-")
    os.environ.setdefault("SECRET_KEY", "benchmark")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    if database == "sqlite":
        os.environ["DATABASE_URL"] = ""
    else:
        os.environ.setdefault("DATABASE_URL", "postgres://postgres@127.0.0.1:5432/load")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def crowd_of(port, tokens):
    """Browsers that have signed in, eight at a time: that is not what is measured."""
    from benchmarks.annotation.browsing import Browser

    crowd = [Browser(port, token) for token in tokens]

    def enter(part):
        for one in part:
            one.enter()
            one.connection.close()

    run(threading.Thread(target=enter, args=(crowd[n::8],)) for n in range(8))
    return crowd


def run(threads) -> None:
    threads = list(threads)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def faults(campaign, crowd) -> dict[str, int]:
    """Count what may not be, from the tables alone and against what was sent."""
    from django.db.models import Count, F, Q

    from annotation.judging.upcoming import AHEAD
    from annotation.models import Annotator, Assignment, Item, Judgment
    from annotation.models.people import hash_token

    mine = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    columns = ("submit_key", "score", "assignment__annotator__token_hash", "assignment__public_id")
    stored = {str(row[0]): row[1:] for row in mine.values_list(*columns)}
    sent = {key: (one, browser) for browser in crowd for key, one in browser.sent.items()}
    given = Assignment.objects.filter(annotator__campaign=campaign)
    live = Count("assignments", filter=Q(assignments__released_at=None))
    items = Item.objects.filter(campaign=campaign).annotate(live=live)
    is_pool = campaign.assignment_mode != "static"
    return {
        "acknowledged but lost": sum(
            one.is_acknowledged and key not in stored for key, (one, _) in sent.items()
        ),
        "stored but never sent": len(stored.keys() - sent.keys()),
        "stored under another's name, item or score": sum(
            (score, owner) != (sent[key][0].score, hash_token(sent[key][1].token))
            or str(item) not in sent[key][0].item
            for key, (score, owner, item) in stored.items()
            if key in sent
        ),
        "items answered twice by one person": mine.filter(revision__gt=1).count(),
        "completed without an answer, or the reverse": given.filter(
            Q(completed_at=None, judgments__isnull=False)
            | Q(completed_at__isnull=False, judgments=None)
        ).count(),
        "items with too many people": items.filter(live__gt=campaign.annotators_per_item).count(),
        "items whose count is wrong": is_pool
        * items.exclude(live=campaign.annotators_per_item - F("wanted")).count(),
        "people with more open items than are fetched ahead": is_pool
        * Annotator.objects.filter(campaign=campaign)
        .annotate(n=Count("assignments", filter=Q(assignments__completed_at=None)))
        .filter(n__gt=AHEAD)
        .count(),
    }  # fmt: skip


def main() -> None:
    args = arguments()
    prepare(args.database)
    from annotation.models import Judgment
    from benchmarks.annotation.browsing import Server
    from benchmarks.planting import planted

    # Enough that nobody runs out: as many as could be answered in half the time.
    needed = int(args.annotators * args.minutes * 60 / max(args.think, 0.05) * 2)
    campaign, tokens = planted(
        f"load-{uuid.uuid4().hex[:8]}", mode=args.mode, systems=10, per_item=3,
        segments=max(200, needed // 30), annotators=args.annotators,
    )  # fmt: skip
    print(f"{args.database}, {args.mode}: {campaign.items.count():,} items, "
          f"{args.annotators} annotators, {args.minutes:g} minutes", flush=True)  # fmt: skip
    server = Server()
    try:
        crowd = crowd_of(server.port, tokens)
        until = time.monotonic() + args.minutes * 60
        began = time.perf_counter()
        threads = [
            threading.Thread(target=one.work, kwargs={"until": until, "think": args.think})
            for one in crowd
        ]
        for thread in threads:
            thread.start()
        if args.kill:
            time.sleep(args.minutes * 30)
            server.kill()
            print("killed -9 in the middle, started again", flush=True)
            server.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
    finally:
        server.stop()
    report(crowd, seconds)
    if not args.kill:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        answers = sum(len(one.times) for one in crowd)
        each = 1000 * (used.ru_utime + used.ru_stime) / answers
        print(f"processor time of the server: {each:.1f} ms an answer, with start and signing in")
    stored = Judgment.objects.filter(assignment__annotator__campaign=campaign).count()
    acknowledged = sum(one.is_acknowledged for each in crowd for one in each.sent.values())
    found = faults(campaign, crowd)
    print(f"acknowledged {acknowledged:,}, stored {stored:,}")
    for name, count in found.items():
        print(f"  {name}: {count}")
    sys.exit(any(found.values()))


def report(crowd, seconds: float) -> None:
    times = sorted(t for one in crowd for t in one.times)
    again = sum(one.tries > 1 for each in crowd for one in each.sent.values())
    problems = [problem for one in crowd for problem in one.problems]
    median, p95, worst = statistics.median(times), times[int(len(times) * 0.95)], times[-1]
    print(f"{len(times):,} answers in {seconds:.0f} s: {len(times) / seconds:.1f}/s; "
          f"median {1000 * median:.1f} ms, p95 {1000 * p95:.0f} ms, "
          f"worst {1000 * worst:.0f} ms")  # fmt: skip
    print(f"sent again {again}; refused or failed on the server {len(problems)} {problems[:2]}")


if __name__ == "__main__":
    main()
