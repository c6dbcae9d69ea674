"""Build statements once per process: building small statements takes longer than running them.

A query is written with placeholders for what differs from call to call: numbers or UUIDs that
occur nowhere else among its parameters. PostgreSQL also plans it only once a connection.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import signature
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connection, models
from django.db.backends.sqlite3.base import FORMAT_QMARK_REGEX
from django.db.models.query import get_related_populators
from django.db.models.sql.compiler import SQLCompiler

M = TypeVar("M", bound=models.Model)
# The types of values that need no conversion, by that of their column.
PLAIN: Mapping[type[Any], type[Any]] = {
    models.BooleanField: bool,
    models.CharField: str,
    models.TextField: str,
    models.IntegerField: int,
    models.SmallIntegerField: int,
    models.PositiveIntegerField: int,
    models.PositiveSmallIntegerField: int,
    models.FloatField: float,
}


def placeholder(number: int) -> UUID:
    """Return a placeholder for a UUID in a query."""
    return UUID(int=number)


def placeholder_key(number: int) -> int:
    """Return a placeholder for a key in a query."""
    return 1_900_000_000 + number


class Statement:
    """A query whose result is values, not rows of a model."""

    def __init__(self, make: Callable[[], models.QuerySet[Any, Any]]) -> None:
        self.make = make
        self.sql = ""
        self.planned: tuple[str, list[Any]] | None = None

    def values(self, real: Mapping[Any, Any]) -> list[Any]:
        """Run the query with values in place of the placeholders."""
        with self.run(real) as cursor:
            found = cursor.fetchall()
        if self.converters:
            found = self.compiler.apply_converters(found, self.converters)
        return list(found)

    def run(self, real: Mapping[Any, Any]) -> Any:
        """Return the cursor; the caller closes it."""
        if not self.sql:
            self.sql = self._prepare()
        cursor = connection.cursor()
        if connection.vendor == "postgresql":
            self.planned = self.planned or _planned(self.sql, self.params, real)
            sql, stands = self.planned
            _execute_planned(cursor, sql, [real[stand] for stand in stands])
        else:
            known = {_stored(stand): _stored(value) for stand, value in real.items()}
            _execute_known(cursor, self.sql, [known.get(_stored(one), one) for one in self.params])
        return cursor

    def _prepare(self) -> str:
        compiler: SQLCompiler = self.make().query.get_compiler(connection=connection)
        sql, self.params = compiler.as_sql()
        self.compiler = compiler
        self.converters = compiler.get_converters([column for column, *_ in compiler.select])
        return sql


class Prepared(Statement, Generic[M]):
    """A fixed statement for rows of a model with `select_related` and `annotate`.

    `Manager.raw` is Django's public way to rows of a statement, but knows no `select_related`; so
    related rows are made as Django's own compiler does it (`get_related_populators`), and
    `make test-newest` tells when that changes.
    """

    def __init__(self, make: Callable[[], models.QuerySet[M]]) -> None:
        super().__init__(make)

    def rows(self, real: Mapping[Any, Any]) -> list[M]:
        """Run the query with values in place of the placeholders."""
        return [self._row(values) for values in self.values(real)]

    def _prepare(self) -> str:
        sql = super()._prepare()
        compiler = self.compiler
        about: Any = compiler.klass_info
        columns = about["select_fields"]
        self.fields = slice(columns[0], columns[-1] + 1)
        select: Any = compiler.select
        self.names = [select[n][0].target.attname for n in columns]
        self.model: type[M] = about["model"]
        self.related = _populators(about, select, connection.alias)
        self.annotated: Mapping[str, int] = compiler.annotation_col_map or {}
        return sql

    def _row(self, values: Any) -> M:
        row: M = self.model.from_db(connection.alias, self.names, values[self.fields])
        for related in self.related:
            related.populate(values, row)
        for name, column in self.annotated.items():
            setattr(row, name, values[column])
        return row


def insert(
    row: models.Model, *, where: tuple[str, str] = ("", ""), values: Sequence[Any] = ()
) -> bool:
    """Store a new row with a key from the database; True if it was stored.

    `where` is for PostgreSQL: parts of the same statement (`WITH …`) that change other rows by
    `values`, and the name of the one that has to give a row.
    """
    about = row._meta
    fields = [field for field in about.local_concrete_fields if not field.primary_key]
    own = [_saved(field, field.pre_save(row, True)) for field in fields]
    with connection.cursor() as cursor:
        execute(cursor, _insertion(type(row), *where), [*values, *own])
        found = cursor.fetchone()
    if found is None:
        return False
    (row.pk,) = found
    row._state.adding, row._state.db = False, connection.alias
    return True


def _saved(field: "models.Field[Any, Any]", value: Any) -> Any:
    """Return what is stored of a value: of a number or text in a column of its kind, itself."""
    plain = PLAIN.get(type(field))
    if plain and (value is None or type(value) is plain):
        return value
    return field.get_db_prep_save(value, connection)


@cache
def _insertion(model: type[models.Model], parts: str, name: str) -> str:
    about, quote = model._meta, connection.ops.quote_name
    columns = [quote(str(f.column)) for f in about.local_concrete_fields if not f.primary_key]
    marks = ", ".join(["%s"] * len(columns))
    row = f"SELECT {marks} FROM {name}" if name else f"VALUES ({marks})"  # noqa: S608
    return (
        f"{parts} INSERT INTO {quote(about.db_table)} ({', '.join(columns)})"
        f" {row} RETURNING {quote(str(about.pk.column))}"
    )


def execute(cursor: Any, sql: str, values: Sequence[Any]) -> None:
    """Run one of few short statements, whose only placeholders %s are values."""
    if connection.vendor == "postgresql":
        _execute_planned(cursor, _numbered(sql), values)
    else:
        _execute_known(cursor, sql, values)


def _execute_known(cursor: Any, sql: str, values: Sequence[Any]) -> None:
    """Run a statement in SQLite, whose placeholders are rewritten once per process.

    Django rewrites them with every call, which takes as long as a join of seven tables.
    """
    if connection.queries_logged or connection.execute_wrappers:
        cursor.execute(sql, values)
        return
    connection.validate_no_broken_transaction()
    with connection.wrap_database_errors:
        sqlite3.Cursor.execute(cursor.cursor, _with_marks(sql), values)


@cache
def _with_marks(sql: str) -> str:
    """Return a statement with the placeholders of SQLite's driver."""
    return FORMAT_QMARK_REGEX.sub("?", sql).replace("%%", "%")


@cache
def _numbered(sql: str) -> str:
    first, *others = sql.split("%s")
    return first + "".join(f"${n}{part}" for n, part in enumerate(others, 1))


def _execute_planned(cursor: Any, sql: str, values: Sequence[Any]) -> None:
    """Run a statement with values $1, $2 …; PostgreSQL plans it once per connection."""
    driver: Any = connection.connection
    known = vars(driver).setdefault("planned", {})
    if sql not in known:
        name = f"planned_{len(known)}"
        with connection.wrap_database_errors:
            driver.execute(f"PREPARE {name} AS {sql}")
        known[sql] = name
    marks = f"({', '.join(['%s'] * len(values))})" if values else ""
    cursor.execute(f"EXECUTE {known[sql]} {marks}", values)


def _planned(sql: str, params: Sequence[Any], real: Iterable[Any]) -> tuple[str, list[Any]]:
    """Return the statement with numbered placeholders, and the placeholders by number."""
    compose: Any = connection.ops.compose_sql  # type: ignore[attr-defined]
    composed: str = compose(sql, params)
    stands: list[Any] = []
    for stand in real:
        literal = re.escape(compose("%s", [stand]).strip())
        composed, n = re.subn(rf"(?<!\w){literal}(?!\w)", f"${len(stands) + 1}", composed)
        stands += [stand] * (n > 0)
    return composed, stands


def _populators(*arguments: Any) -> Any:
    """Return Django's populators; from 6.1 on, deferred fields are fetched row by row as before."""
    make: Any = get_related_populators
    more = (models.FETCH_ONE,) if "fetch_mode" in signature(make).parameters else ()
    return make(*arguments, *more)


def _stored(value: Any) -> Any:
    """Return the form that the database driver expects."""
    is_written = isinstance(value, UUID) and not connection.features.has_native_uuid_field
    return value.hex if is_written else value
