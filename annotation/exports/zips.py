"""Zip archives made while they are sent, the same bytes for the same contents."""

import zipfile
from collections.abc import Iterable, Iterator

EPOCH = (1980, 1, 1, 0, 0, 0)
BLOCK = 1 << 16


class _Sink:
    """A file that cannot go back, and gives away what was written."""

    def __init__(self) -> None:
        self.waiting = bytearray()

    def write(self, data: bytes) -> int:
        self.waiting += data
        return len(data)

    def flush(self) -> None:
        """Nothing is kept behind."""

    def take(self) -> bytes:
        """Return what waits, and forget it."""
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
