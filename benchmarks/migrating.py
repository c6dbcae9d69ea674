"""How long a table keeps annotators waiting while a full database of the first release is migrated.

    python -m benchmarks.migrating [--campaigns 300] [--judgments 3000]

On a new database of the PostgreSQL server of DATABASE_URL, removed afterwards: the site of
`benchmarks.scale`, taken back to the tables of the first release. Beside `migrate`, connections
read a row of each table, or change one, fifty times a second. Prints the longest waits, and the
seconds of all.
"""

import argparse
import threading
import time

import psycopg
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from benchmarks import scale
from metaeval.repeats import refuse_repeats

# What each answer of an annotator reads or changes.
READ = ("assignment", "judgment", "item", "annotator", "campaign", "output", "segment", "system")
CHANGED = {"assignment": "completed_at = now()", "judgment": "paid_ms = 1",
           "annotator": "answered_at = now()"}  # fmt: skip


def watch(address: str, sql: str, ended: threading.Event, waits: dict[str, float]) -> None:
    """Note the longest time that a statement took."""
    with psycopg.connect(address, autocommit=True) as server:
        while not ended.is_set():
            began = time.perf_counter()
            server.execute(sql)
            waits[sql] = max(waits.get(sql, 0), time.perf_counter() - began)
            time.sleep(0.02)


def take_back() -> None:
    """Bring the tables to those of the first release: each app's first migration."""
    found = MigrationLoader(connection)
    for app in ("training", "metrics", "annotation"):
        first = min(name for label, name in found.graph.nodes if label == app)
        call_command("migrate", app, first, verbosity=0)


def compare(args: argparse.Namespace) -> None:
    """Plant, migrate and print."""
    call_command("migrate", verbosity=0)
    scale.plant(args.campaigns, args.judgments, accounts=20)
    take_back()
    scale.analysed()
    address = f"{scale.SERVER.rpartition('/')[0]}/{scale.NAME}"
    one = "annotation_{0} WHERE id = (SELECT max(id) FROM annotation_{0})"
    statements = [f"SELECT id FROM {one.format(each)}" for each in READ]  # noqa: S608
    statements += [
        f"UPDATE annotation_{each} SET {how} "  # noqa: S608
        f"WHERE id = (SELECT max(id) FROM annotation_{each})"
        for each, how in CHANGED.items()
    ]
    ended, waits = threading.Event(), dict[str, float]()
    others = [
        threading.Thread(
            target=watch, args=(address.replace("postgres://", "postgresql://"), sql, ended, waits)
        )
        for sql in statements
    ]
    for each in others:
        each.start()
    began = time.perf_counter()
    call_command("migrate", verbosity=0)
    took = time.perf_counter() - began
    ended.set()
    for each in others:
        each.join()
    for sql, wait in sorted(waits.items(), key=lambda each: -each[1]):
        print(f"{wait:.2f} s {sql.partition(' WHERE')[0]}")
    print(f"migrate: {took:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=300)
    parser.add_argument("--judgments", type=int, default=3_000, help="of each campaign")
    args = refuse_repeats(parser).parse_args()
    with psycopg.connect(scale.SERVER, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {scale.NAME}")
    try:
        compare(args)
    finally:
        connection.close()
        with psycopg.connect(scale.SERVER, autocommit=True) as server:
            server.execute(f"DROP DATABASE {scale.NAME} WITH (FORCE)")


if __name__ == "__main__":
    main()
