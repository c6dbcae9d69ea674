"""One HTTP/1.1 connection that stays open: a request out, a response in, on asyncio's streams.

As much of the protocol as chat completions need, and little enough of a processor that one loop
keeps many connections busy.
"""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CONNECT_SECONDS = 10.0
LARGEST_HEAD, LARGEST_BODY = 2**16, 4 * 2**20


class BrokenError(OSError):
    """What came is no HTTP, or too much of it."""


@dataclass(frozen=True)
class Response:
    """A response; names of headers in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connection:
    """A connection to an address, opened where it is needed; `context` and `host` for TLS."""

    def __init__(self, address: str, port: int, context: ssl.SSLContext | None, host: str) -> None:
        self._address, self._port = address, port
        self._tls: dict[str, Any] = {"ssl": context, "server_hostname": host} if context else {}
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, request: bytes) -> Response:
        """Send a request and read the response; OSError, EOFError or ValueError without one."""
        try:
            reader, writer = await self._open()
            writer.write(request)
            response, stays_open = await _response(reader)
        except BaseException:
            self.close()
            raise
        if not stays_open:
            self.close()
        return response

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams and (self._streams[0].at_eof() or self._streams[1].is_closing()):
            self.close()
        if self._streams is None:
            async with asyncio.timeout(CONNECT_SECONDS):
                self._streams = await asyncio.open_connection(
                    self._address, self._port, limit=LARGEST_HEAD, **self._tls
                )
        return self._streams

    def close(self) -> None:
        """End the connection at once."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


async def _response(reader: asyncio.StreamReader) -> tuple[Response, bool]:
    """Return a response, and whether another may follow it."""
    version, status, headers = await _head(reader)
    while 100 <= status < 200:
        version, status, headers = await _head(reader)
    words = headers.get("connection", "").lower()
    stays_open = "close" not in words and (version != "HTTP/1.0" or "keep-alive" in words)
    if status in (204, 304):
        return Response(status, headers, b""), stays_open
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return Response(status, headers, await _chunks(reader)), stays_open
    if (length := headers.get("content-length")) is not None:
        return Response(status, headers, await _exactly(reader, int(length))), stays_open
    return Response(status, headers, await _rest(reader)), False


async def _head(reader: asyncio.StreamReader) -> tuple[str, int, dict[str, str]]:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise BrokenError("too long a head") from error
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1."):
        raise BrokenError("no HTTP/1")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return version, int(rest[:3]), headers


async def _exactly(reader: asyncio.StreamReader, size: int) -> bytes:
    if not 0 <= size <= LARGEST_BODY:
        raise BrokenError("too long a body")
    return await reader.readexactly(size)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int((await _line(reader)).partition(b";")[0], 16):
        body += await _exactly(reader, size)
        if len(body) > LARGEST_BODY or await _line(reader):
            raise BrokenError("too long a body, or no chunks")
    while await _line(reader):
        pass  # trailers
    return body


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return (await reader.readuntil(b"\r\n"))[:-2]
    except asyncio.LimitOverrunError as error:
        raise BrokenError("too long a line") from error


async def _rest(reader: asyncio.StreamReader) -> bytes:
    """Read what comes until the server closes."""
    body = b""
    while part := await reader.read(2**16):
        body += part
        if len(body) > LARGEST_BODY:
            raise BrokenError("too long a body")
    return body
