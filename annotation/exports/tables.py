"""Files made while they are sent: CSV that no spreadsheet runs, JSON without nan, zip archives."""

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from django.http import Http404, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from core.text import RISKY, neutralise

# What csv writes as `str` does, and no spreadsheet runs.
PLAIN = frozenset((int, float, bool, type(None)))
BLOCK = 1 << 16
# Rows of a CSV file that are written at once.
PORTION = 100


def csv_lines(
    header: Sequence[str], rows: Iterable[Sequence[Any]], *, is_harmless: bool = False
) -> Iterator[str]:
    """Yield a CSV table in portions of lines; cells that begin like a formula are neutralised.

    `is_harmless`: those of `rows` are already.
    """
    rows = rows if is_harmless else map(_harmless, rows)
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    if header:
        writer.writerow(header)
    while True:
        # One call for many rows: each call from Python costs as much as writing a row.
        writer.writerows(islice(rows, PORTION))
        if not (lines := file.getvalue()):
            return
        yield lines
        file.seek(0)
        file.truncate()


def _harmless(row: Sequence[Any]) -> list[Any]:
    # Most texts are known to be harmless without a call.
    return [
        cell
        if (kind := type(cell)) in PLAIN or (kind is str and cell[:1] not in RISKY)
        else neutralise(cell)
        for cell in row
    ]


def in_blocks(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the same text in larger pieces: servers send, and compress, each on its own."""
    block: list[str] = []
    size = 0
    for piece in pieces:
        block.append(piece)
        size += len(piece)
        if size >= BLOCK:
            yield "".join(block)
            block, size = [], 0
    yield "".join(block)


def csv_response(name: str, lines: Iterable[str]) -> HttpResponseBase:
    """Answer with a CSV file, sent while it is made."""
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def table_response(
    fmt: str, name: str, header: Sequence[str], rows: Sequence[dict[str, Any]], document: Any
) -> HttpResponseBase:
    """Answer with `rows` as CSV or with `document` as JSON; 404 for another format."""
    if fmt == "csv":
        cells = ([row[column] for column in header] for row in rows)
        return csv_response(name, csv_lines(header, cells))
    if fmt == "json":
        return JsonResponse(document, json_dumps_params={"ensure_ascii": False})
    raise Http404


EPOCH = (1980, 1, 1, 0, 0, 0)


class _Sink:
    """A write-only file that hands over what was written."""

    def __init__(self) -> None:
        self.waiting = bytearray()

    def write(self, data: bytes) -> int:
        self.waiting += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def take(self) -> bytes:
        """Return and clear what was written."""
        data = bytes(self.waiting)
        self.waiting.clear()
        return data


def zip_bytes(files: Iterable[tuple[str, Iterable[str]]]) -> Iterator[bytes]:
    """Yield an archive of text files, given as (path, pieces) in their order."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for path, pieces in files:
            info = zipfile.ZipInfo(path, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            with archive.open(info, "w") as entry:
                for piece in pieces:
                    entry.write(piece.encode())
                    if len(sink.waiting) > BLOCK:
                        yield sink.take()
    yield sink.take()
