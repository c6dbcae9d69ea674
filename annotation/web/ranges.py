"""Serve files in parts, as media players request them (RFC 9110, sections 13.1 and 14)."""

import re
from collections.abc import Iterator
from pathlib import Path

from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_cache_control
from django.utils.http import parse_etags

BLOCK = 64 * 1024
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


def answer(request: HttpRequest, path: Path, content_type: str, etag: str) -> HttpResponseBase:
    """Answer with a file or the requested part of it, or with 304 or 416.

    `etag` identifies the content. The response forbids browsers to guess another content type.
    Raises FileNotFoundError.
    """
    quoted = f'"{etag}"'
    size = path.stat().st_size
    response = _answered(request, path, quoted, size)
    if response.status_code != 304:
        response["Content-Type"] = content_type
        response["Content-Disposition"] = "inline"
        response["Accept-Ranges"] = "bytes"
        response["X-Content-Type-Options"] = "nosniff"
    response["ETag"] = quoted
    patch_cache_control(response, private=True, max_age=3600)
    return response


def _answered(request: HttpRequest, path: Path, etag: str, size: int) -> HttpResponseBase:
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        return HttpResponse(status=304)
    part = _part(request, etag, size)
    if part is None:
        is_head = request.method == "HEAD"
        return HttpResponse(headers={"Content-Length": str(size)}) if is_head else _whole(path)
    start, end = part
    if start > end:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    headers = {
        "Content-Range": f"bytes {start}-{end}/{size}",
        "Content-Length": str(end - start + 1),
    }
    return StreamingHttpResponse(_blocks(path, start, end), status=206, headers=headers)


def _whole(path: Path) -> FileResponse:
    return FileResponse(path.open("rb"))


def _part(request: HttpRequest, etag: str, size: int) -> tuple[int, int] | None:
    """Return the first and last requested byte; None for the whole file.

    Invalid ranges, several ranges, and ranges of another content give the whole file. The last
    byte is before the first one if the range is outside the file.
    """
    found = RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    if not found or not any(found.groups()):
        return None
    if request.headers.get("If-Range", etag) != etag:
        return None
    first, last = found.groups()
    if not first:
        return (max(0, size - int(last)), size - 1) if int(last) else (size, size - 1)
    start, end = int(first), min(int(last), size - 1) if last else size - 1
    if last and int(last) < start:
        return None
    return start, end


def _blocks(path: Path, start: int, end: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        left = end - start + 1
        while left and (block := file.read(min(BLOCK, left))):
            left -= len(block)
            yield block
