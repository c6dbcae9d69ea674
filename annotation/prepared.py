"""Queries that are put together once in a process: for small ones that takes longer than running.

A query is written with stand-ins for what differs from call to call: numbers or UUIDs that occur
nowhere else among its parameters.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connection, models
from django.db.models.query import get_related_populators
from django.db.models.sql.compiler import SQLCompiler

M = TypeVar("M", bound=models.Model)


def stand_in(number: int) -> UUID:
    """A UUID that stands for another one in a query."""
    return UUID(int=number)


class Prepared(Generic[M]):
    """Rows of a model, with what `select_related` and `annotate` bring, by a fixed statement."""

    def __init__(self, make: Callable[[], models.QuerySet[M]]) -> None:
        self.make = make
        self.sql = ""

    def rows(self, real: Mapping[Any, Any]) -> list[M]:
        """Run the query with the real values in the place of the stand-ins."""
        if not self.sql:
            self._prepare()
        known = {_stored(stand): _stored(value) for stand, value in real.items()}
        with connection.cursor() as cursor:
            cursor.execute(self.sql, [known.get(_stored(one), one) for one in self.params])
            found = cursor.fetchall()
        if self.converters:
            found = self.compiler.apply_converters(found, self.converters)
        return [self._row(values) for values in found]

    def _prepare(self) -> None:
        rows = self.make()
        compiler: SQLCompiler = rows.query.get_compiler(connection=connection)
        sql, self.params = compiler.as_sql()
        self.compiler = compiler
        self.converters = compiler.get_converters([column for column, *_ in compiler.select])
        columns = compiler.klass_info["select_fields"]  # type: ignore[index]
        self.fields = slice(columns[0], columns[-1] + 1)
        self.names = [compiler.select[n][0].target.attname for n in columns]  # type: ignore[attr-defined]
        self.related = get_related_populators(  # type: ignore[no-untyped-call]
            compiler.klass_info, compiler.select, connection.alias
        )
        self.sql = sql

    def _row(self, values: Any) -> M:
        model = self.compiler.klass_info["model"]  # type: ignore[index]
        row: M = model.from_db(connection.alias, self.names, values[self.fields])
        for related in self.related:
            related.populate(values, row)
        for name, column in self.compiler.annotation_col_map.items():  # type: ignore[union-attr]
            setattr(row, name, values[column])
        return row


def _stored(value: Any) -> Any:
    """As the database's driver gets it."""
    is_written = isinstance(value, UUID) and not connection.features.has_native_uuid_field
    return value.hex if is_written else value
