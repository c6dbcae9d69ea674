"""The table of judgments as Parquet, written in portions to a temporary file."""

import tempfile
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

from annotation.exports.judgments import SCALE, header_of, judgment_dicts
from annotation.filters import EVERYTHING, Filters
from annotation.models import Campaign
from metaeval.messages import MessageError, message

CHUNK = 10_000
BYTES = 1 << 18
INSTALL = message("export.no-parquet", "Parquet needs pyarrow: pip install -r requirements/web.txt")
WHOLE = (
    "score", "revision", "visible_ms", "active_ms", "paid_ms", "sent_together", "screen", "column",
    "n_columns", "context_openings", "plays",
)  # fmt: skip
KEYS = ("item", "partner", "judgment")
TRUTHS = ("is_simulated", "is_current", "is_flagged", "is_excluded")
REALS = ("z_targets", "z_all", "seconds", "penalty", "hter", "inclusion")
TIMES = ("started_at", "submitted_at")


class MissingPackageError(MessageError):
    """A package is not installed; the message has the command that installs it."""


def parquet_bytes(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[bytes]:
    """Yield a Parquet file with the columns of `header_of` and typed values.

    Its metadata contain the chosen `filters`, as in an address.
    """
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingPackageError(INSTALL) from error
    schema = _schema(pyarrow, header_of(campaign)).with_metadata({"filters": filters.query()})
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
        **dict.fromkeys(WHOLE, pa.int32()),
        **dict.fromkeys(KEYS, pa.int64()),
        **dict.fromkeys(TRUTHS, pa.bool_()),
        **dict.fromkeys(REALS, pa.float64()),
        **dict.fromkeys(TIMES, pa.timestamp("us", tz="UTC")),
        "spans": pa.list_(span),
        **{name: pa.int32() for name in header if name.startswith(SCALE)},
    }
    return pa.schema([(name, types.get(name, pa.string())) for name in header])
