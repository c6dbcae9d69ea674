"""Rows that tests share instead of making them again for each."""

import fcntl
import pickle
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from django.db import connection, transaction

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
        self.made: dict[Callable[[], Any], tuple[Path, Any]] = {}

    def load(self, make: Callable[[], Made]) -> Made:
        """Fill the empty database with what `make` stores, and return what it returns."""
        if connection.vendor != "sqlite":
            return make()
        place = self.folder / f"{len(self.made)}.sqlite3"
        if make in self.made:
            place, made = self.made[make]
            with closing(sqlite3.connect(place)) as copy:
                copy.backup(_pages())
            return deepcopy(made)
        made = make()
        with closing(sqlite3.connect(place)) as copy:
            _pages().backup(copy)
        self.made[make] = place, deepcopy(made)
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
    return connection.connection
