"""Rows that tests share instead of making them again for each."""

import fcntl
import pickle
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.db.models import AutoField
from django.test import TransactionTestCase

Made = TypeVar("Made")
SharedRows = Callable[[Callable[[], Made]], AbstractContextManager[Made]]


@contextmanager
def share(blocker: Any, make: Callable[[], Made]) -> Iterator[Made]:
    """Keep what `make` stores until the end of the context; tests inside roll back to it."""
    with blocker.unblock(), ExitStack() as making:
        making.enter_context(transaction.atomic())
        making.callback(transaction.set_rollback, True)
        random.seed(7)
        made = make()
        at_end = making.pop_all()
    yield made
    with blocker.unblock():
        at_end.close()


class Snapshots:
    """What takes long to make is made once a run, and then copied in: for transactional tests.

    SQLite copies its pages. Other databases make it again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def load(self, make: Callable[[], Made]) -> Made:
        """Fill the empty database with what `make` stores, and return what it returns."""
        if connection.vendor != "sqlite":
            return make()
        made_here: list[bool] = []
        folder = self.folder / f"{make.__module__}.{make.__name__}"
        file = folder / "snapshot.sqlite3"

        def first(_: Path) -> Made:
            made_here.append(True)
            made = make()
            with closing(sqlite3.connect(file)) as copy:
                _pages().backup(copy)
            return made

        made = once_a_run(folder, first)
        if not made_here:
            with closing(sqlite3.connect(file)) as copy:
                copy.backup(_pages())
            ContentType.objects.clear_cache()  # of another process, maybe with other keys
        return made


def once_a_run(folder: Path, make: Callable[[Path], Made]) -> Made:
    """What `make` returns and leaves in the folder; the run's other processes wait and read it."""
    folder.mkdir(exist_ok=True)
    kept = folder / "made"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(make(folder)))
    made: Made = pickle.loads(kept.read_bytes())  # noqa: S301  our own, of this run
    return made


# The folder that all processes of a run share, once a session knows it.
RUN: list[Path] = []


def rows_once(name: str, make: Callable[[], object]) -> None:
    """Store what `make` stores beside what is there; on SQLite one process of a run makes it.

    The others insert its rows: `make` must do nothing but store, and draw nothing that differs.
    """
    if connection.vendor != "sqlite" or not RUN:
        make()
        return
    made_here: list[bool] = []
    before = dict(_tables())
    # What is there may have other keys: roles that were stored again after a flush.
    there = sha256(pickle.dumps(before)).hexdigest()

    def first(_: Path) -> list[tuple[str, list[tuple[Any, ...]]]]:
        made_here.append(True)
        make()
        return [(table, list(set(rows) - set(before[table]))) for table, rows in _tables()]

    rows = once_a_run(RUN[0] / f"rows-{name}-{there}", first)
    if not made_here:
        with transaction.atomic():  # foreign keys are looked at when all is there
            for table, new in rows:
                _insert(table, new)


def _tables() -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            yield table, cursor.execute(f'SELECT * FROM "{table}"').fetchall()  # noqa: S608


def _insert(table: str, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        connection.ensure_connection()
        insert = f'INSERT INTO "{table}" VALUES ({marks})'  # noqa: S608
        connection.connection.executemany(insert, rows)


def copy_pages(here: str | Path, there: str | Path) -> None:
    """Copy what is committed of one SQLite file to another."""
    with closing(sqlite3.connect(here)) as source, closing(sqlite3.connect(there)) as target:
        source.backup(target)


def _pages() -> sqlite3.Connection:
    connection.ensure_connection()
    found: sqlite3.Connection = connection.connection
    return found


# What migrations leave: roles, permissions, and the content types that these speak of.
STAY = ("auth_group", "auth_permission", "django_content_type")


@contextmanager
def emptied_quickly() -> Iterator[None]:
    """Transactional tests empty the tables with rows; Django would empty and fill all, slowly.

    A test that changes what stays has Django do it.
    """
    flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]
    at_first = _staying()

    def empty(case: TransactionTestCase) -> None:
        _delete_rows() if _staying() == at_first else flush(case)

    with patch.object(TransactionTestCase, "_fixture_teardown", empty):
        yield


def _staying() -> list[Any]:
    return [_read(f'SELECT * FROM "{table}" ORDER BY id') for table in STAY]  # noqa: S608


def count_from_far() -> None:
    """Let each table's keys begin at a number of its own, as where others stored rows before.

    A test or a page that guesses a key, or takes one table's for another's, then finds nothing.
    """
    for number, table in enumerate(sorted({*_tables_of_models()} - {*STAY}), 1):
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                cursor.execute(
                    "INSERT INTO sqlite_sequence VALUES (%s, %s)", [table, 1000 * number]
                )
            else:
                setting = "SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)"
                cursor.execute(setting, [f'"{table}"', 1000 * number])


def _tables_of_models() -> list[str]:
    """Those that are there, and whose key the database counts."""
    with connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor))
    return [
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if isinstance(model._meta.pk, AutoField) and model._meta.db_table in there
    ]


@transaction.atomic  # foreign keys are looked at when all is gone
def _delete_rows() -> None:
    with connection.cursor() as cursor:
        found = connection.introspection.django_table_names(only_existing=True, include_views=False)
        tables = sorted(set(found) - {*STAY})
        rows = (f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM \"{table}\")" for table in tables)  # noqa: S608
        for (table,) in _read(" UNION ALL ".join(rows)):
            cursor.execute(f'DELETE FROM "{table}"')  # noqa: S608


def _read(statement: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())
