"""Parquet files to rows of plain values, where pyarrow is installed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any

from metaeval.files.cells import MOST_CELLS
from metaeval.files.grids import CSV, LARGEST_WORKBOOK, Grid, GridError
from metaeval.messages import message

MAGIC = b"PAR1"
PORTION = 1_000
NO_READER = message(
    "parquet.no-reader",
    "Install pyarrow to read Parquet files, or export the table as CSV or JSON Lines.",
)
UNREADABLE = message(
    "parquet.unreadable", "The Parquet file cannot be read. Export the table as CSV or JSON Lines."
)
TOO_LARGE = message(
    "parquet.too-large", "The Parquet file is too large when unpacked. Split it into several files."
)


def is_parquet(data: bytes) -> bool:
    """Return True for the bytes of a Parquet file."""
    return data.startswith(MAGIC)


def parquet_rows(data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows by number from 1, with values as JSON has them; times are ISO 8601.

    Raises GridError if pyarrow is not installed, or for a damaged or very large file.
    """
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise GridError(NO_READER) from None
    number, size = 0, 0
    try:
        schema = parquet.ParquetFile(io.BytesIO(data)).schema_arrow
        # Repeated texts stay small until they are taken out row by row.
        texts = [f.name for f in schema if arrow.types.is_string(f.type)]
        file = parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts)
        if file.metadata.num_rows * file.metadata.num_columns > MOST_CELLS:
            raise GridError(TOO_LARGE)
        for portion in file.iter_batches(batch_size=PORTION):
            for row in portion.to_pylist():
                number += 1
                plain = {str(name): _plain(value) for name, value in row.items()}
                size += sum(len(value) for value in plain.values() if isinstance(value, str))
                if size > LARGEST_WORKBOOK:
                    raise GridError(TOO_LARGE, number)
                yield number, plain
    except (arrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, GridError):
            raise
        raise GridError(UNREADABLE) from None


def read_parquet(data: bytes) -> Grid:
    """Return a Parquet file as a table of texts, as a CSV would have it. Raises GridError."""
    rows = list(parquet_rows(data))
    header = list(dict.fromkeys(name for _, row in rows for name in row))
    cells = [
        (number, ["" if (cell := row.get(name)) is None else str(cell) for name in header])
        for number, row in rows
    ]
    return Grid(CSV, header, cells)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            raise GridError(UNREADABLE) from None
    return value
