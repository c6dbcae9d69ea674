"""Insert many rows at once, without an object for each of them."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from django.db import connection, models
from django.utils import timezone

from core.text import batched

BATCH = 2_000
# What databases do not take as it is in Python.
CONVERTED = (models.JSONField, models.UUIDField, models.DateTimeField)


def reserve(model: type[models.Model], n: int) -> Sequence[int]:
    """Return primary keys for new rows, in order. SQLite must be in a transaction that writes."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            sequence = (
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
            )
            cursor.execute(sequence, [f'"{table}"', n])
            return sorted(pk for (pk,) in cursor.fetchall())
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        last = cursor.fetchone()
    first = last[0] + 1 if last else 1
    return range(first, first + n)


def insert(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Insert rows of plain values; fields that are not among the columns get their defaults.

    Several times the speed of bulk_create, in memory that does not grow with the rows. SQLite
    blocks other writers meanwhile. Raises the errors of the database.
    """
    fields = {field.attname: field for field in model._meta.local_concrete_fields}
    constants = {
        name: value
        for name, field in fields.items()
        if name not in columns and not field.primary_key
        and (value := _default(field)) is not None
    }  # fmt: skip
    names = [*columns, *constants]
    ends = _converted([fields[name] for name in constants], [tuple(constants.values())])
    end = next(iter(ends))
    values = (row + end for row in _converted([fields[name] for name in columns], rows))
    quote = connection.ops.quote_name
    # All names come from models, none from people.
    table, listed = (
        quote(model._meta.db_table),
        ", ".join(quote(str(fields[n].column)) for n in names),
    )
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            first = next(values, None)
            if first is None:
                return
            copy = f"COPY {table} ({listed}) FROM STDIN"
            with connection.wrap_database_errors, cursor.copy(copy) as stream:
                for row in chain([first], values):
                    stream.write_row(row)
            return
        marks = ", ".join(["%s"] * len(names))
        statement = f"INSERT INTO {table} ({listed}) VALUES ({marks})"  # noqa: S608
        for batch in batched(values, BATCH):
            cursor.executemany(statement, batch)


def _default(field: Any) -> Any:
    return timezone.now() if getattr(field, "auto_now_add", False) else field.get_default()


def _converted(fields: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Iterable[tuple[Any, ...]]:
    """Yield rows as the database takes them."""
    special = [
        (n, field.get_db_prep_save, field.get_db_prep_save({}, connection))
        if isinstance(field, models.JSONField)
        else (n, field.get_db_prep_save, None)
        for n, field in enumerate(fields)
        if isinstance(field, CONVERTED)
    ]
    for row in rows:
        values = list(row)
        for n, convert, empty in special:
            if values[n] == {}:
                values[n] = empty
            elif values[n] is not None:
                values[n] = convert(values[n], connection)
        yield tuple(values)
