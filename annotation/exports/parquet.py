"""The table of judgments as Parquet, written in portions to a temporary file."""

import tempfile
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

from annotation.campaigns.facts import n_removed
from annotation.exports.judgments import header_of, judgment_dicts
from annotation.filters import EVERYTHING, Filters
from annotation.imports.judgments.exported.columns import Type, type_of
from annotation.models import Campaign
from metaeval.messages import MessageError, message

CHUNK = 10_000
BYTES = 1 << 18
INSTALL = message("export.no-parquet", "Parquet needs pyarrow: pip install -r requirements/web.txt")


class MissingPackageError(MessageError):
    """A package is not installed; the message has the command that installs it."""


def parquet_bytes(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[bytes]:
    """Yield a Parquet file with the columns of `header_of` and typed values.

    Its metadata contain the chosen `filters`, as in an address, and how many judgments of erased
    persons were removed.
    """
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingPackageError(INSTALL) from error
    metadata = {"filters": filters.query(), "judgments_removed": str(n_removed(campaign))}
    schema = _schema(pyarrow, header_of(campaign)).with_metadata(metadata)
    rows = judgment_dicts(campaign, filters)
    with tempfile.TemporaryFile() as file:
        with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
            while portion := list(islice(rows, CHUNK)):
                writer.write_table(pyarrow.Table.from_pylist(portion, schema=schema))
        file.seek(0)
        while block := file.read(BYTES):
            yield block


def _schema(pa: Any, header: tuple[str, ...]) -> Any:
    span = pa.struct(
        [
            ("side", pa.string()),
            ("start", pa.int32()),
            ("end", pa.int32()),
            ("severity", pa.string()),
            ("category", pa.string()),
        ]
    )
    types = {
        Type.WHOLE: pa.int32(),
        Type.KEY: pa.int64(),
        Type.REAL: pa.float64(),
        Type.TRUTH: pa.bool_(),
        Type.TIME: pa.timestamp("us", tz="UTC"),
        Type.SPANS: pa.list_(span),
    }
    return pa.schema([(name, types.get(type_of(name), pa.string())) for name in header])
