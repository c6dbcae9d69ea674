"""Send requests to one endpoint over HTTP: open connections, retries, no redirects.

Only workers import this. The key goes into one header only. It is never stored, logged or raised:
it is removed from everything that a server sends back.
"""

import asyncio
import json
import random
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from annotation.web.addresses import is_public
from extensions.judges.context import Endpoint, Reply
from metaeval.messages import Message, message
from metaeval.reasons import reason_of
from metrics.base import EndpointError, MetricError

# One HTTP/1.1 connection that stays open: a request out, a response in, on asyncio's streams.
# As much of the protocol as chat completions need, and little enough of a processor that one
# loop keeps many connections busy.

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


# Number of tries; between two, wait as long as the server says, else 1 s, 2 s, 4 s, …
TRIES, FIRST_WAIT, LONGEST_WAIT = 6, 1.0, 60.0
# A server may ask for a longer wait than a worker can afford.
LONGEST_RETRY_AFTER = 600.0
PASSING = {408, 409, 425, 429}
# The text or a filter is at fault: other texts may be answered.
OF_THE_TEXT = {400, 413, 422}
HIDDEN = "[key]"


class UnavailableError(EndpointError):
    """The endpoint does not answer; the texts are not at fault."""

    def __init__(self, message: Message) -> None:
        super().__init__(message, permanent=False)


class StoppedError(Exception):
    """The call was stopped before it was sent."""


class Client:
    """Calls of an endpoint by one event loop at a time. `lost` counts calls that had no reply."""

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        self.endpoint, self._key = endpoint, key
        if not (key.isascii() and key.isprintable()):
            problem = message(
                "judge.wrong-key",
                "The key of the endpoint {endpoint} contains characters that are not allowed in a "
                "key.",
                endpoint=endpoint.name,
            )
            raise MetricError(problem, permanent=True)
        parts = urlsplit(endpoint.url)
        self._host, self._path = parts.hostname or "", parts.path.rstrip("/")
        self._context = ssl.create_default_context() if parts.scheme == "https" else None
        self._port = parts.port or (443 if self._context else 80)
        self._address = _address(endpoint, self._host, self._port)
        self._headers = _headers(parts.netloc, key)
        self.lost = 0
        self.begin()

    def begin(self) -> None:
        """Prepare calls in a new event loop."""
        self.is_stopping, self._stopping, self._resume_at = False, asyncio.Event(), 0.0

    def stop(self) -> None:
        """Stop sending; waiting calls end. Call this in the event loop of the calls."""
        self.is_stopping = True
        self._stopping.set()

    def connection(self) -> Connection:
        """Return a connection to the address that was checked; it opens with the first call."""
        return Connection(self._address, self._port, self._context, self._host)

    async def ask(self, connection: Connection, body: bytes) -> Reply:
        """Return the reply to a chat completion.

        Raises :class:`UnavailableError` after the last try, a permanent :class:`EndpointError` if
        every other question would fail as well, :class:`StoppedError` after :meth:`stop`.
        """
        return await self._with_retries(connection, "POST", "/chat/completions", body)

    def ask_alone(self, body: Mapping[str, Any]) -> Reply:
        """Ask one question, outside of a loop."""
        return self._alone("POST", "/chat/completions", json.dumps(body).encode())

    def models(self) -> list[dict[str, Any]]:
        """Return the models that the server lists, outside of a loop; empty where it lists none."""
        try:
            reply = self._alone("GET", "/models", b"")
        except UnavailableError:
            raise
        except EndpointError:
            return []  # many servers list no models; the first question shows other faults
        try:
            listed = json.loads(reply.body)["data"]
            return [each for each in listed if isinstance(each, dict)]
        except (ValueError, KeyError, TypeError):
            return []

    def _alone(self, method: str, path: str, body: bytes) -> Reply:
        async def ask() -> Reply:
            self.begin()
            with closing(self.connection()) as connection:
                return await self._with_retries(connection, method, path, body)

        return asyncio.run(ask())

    async def _with_retries(
        self, connection: Connection, method: str, path: str, body: bytes
    ) -> Reply:
        head = f"{method} {self._path}{path} HTTP/1.1\r\n{self._headers}"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        problem: Message | None = None
        for number in range(TRIES):
            await self._wait_for_turn()
            began = time.monotonic()
            try:
                async with asyncio.timeout(self.endpoint.timeout):
                    response = await connection.send(request)
            except (OSError, EOFError, ValueError) as error:
                problem = message("judge.no-answer", "no answer: {error}", error=reason_of(error))
                self.lost += 1
                await self._pause(_backoff(number))
                continue
            reply = self._reply(response, time.monotonic() - began)
            if not _is_passing(reply):
                return self._checked(reply)
            problem = message("judge.status", "status {status}", status=str(reply.status))
            await self._rest(_retry_after(response.headers, number), of_all=reply.status == 429)
        raise UnavailableError(
            message(
                "judge.unavailable",
                "The endpoint {endpoint} cannot be used now ({problem} after {count} tries).",
                endpoint=self.endpoint.name,
                problem=problem,
                count=TRIES,
            )
        )

    def _reply(self, response: Response, seconds: float) -> Reply:
        text = response.body.decode(errors="replace")
        text = text.replace(self._key, HIDDEN) if self._key else text
        return Reply(response.status, text, seconds, is_new=True)

    def _checked(self, reply: Reply) -> Reply:
        if reply.status == 200 or reply.status in OF_THE_TEXT:
            return reply
        given = {
            "endpoint": self.endpoint.name,
            "status": str(reply.status),
            "excerpt": " ".join(reply.body.split())[:200],
        }
        if 300 <= reply.status < 400:
            problem = message(
                "judge.redirected",
                "The endpoint {endpoint} answered with status {status}. Redirects are not "
                "followed. {excerpt}",
                **given,
            )
        else:
            problem = message(
                "judge.refused-by-endpoint",
                "The endpoint {endpoint} answered with status {status}. {excerpt}",
                **given,
            )
        raise EndpointError(problem, permanent=True)

    async def _wait_for_turn(self) -> None:
        """Wait as long as the server wants all calls to wait."""
        while (seconds := self._resume_at - time.monotonic()) > 0:
            await self._pause(seconds)
        if self.is_stopping:
            raise StoppedError

    async def _rest(self, seconds: float, *, of_all: bool) -> None:
        if of_all:
            self._resume_at = max(self._resume_at, time.monotonic() + seconds)
        else:
            await self._pause(seconds)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
                raise StoppedError


def _is_passing(reply: Reply) -> bool:
    """Return True if another try may help; it does not for an account without credit."""
    if reply.status == 429 and "insufficient_quota" in reply.body:
        return False
    return reply.status in PASSING or reply.status >= 500


def _backoff(number: int) -> float:
    return float(min(LONGEST_WAIT, FIRST_WAIT * 2**number) * random.uniform(0.5, 1))


def _retry_after(headers: Mapping[str, str], number: int) -> float:
    """Read Retry-After, in seconds or as a date; without it return the usual wait."""
    given = headers.get("retry-after", "").strip()
    try:
        seconds = float(given)
    except ValueError:
        try:
            at = parsedate_to_datetime(given)
        except ValueError:
            return _backoff(number)
        seconds = (at.astimezone(UTC) - datetime.now(UTC)).total_seconds()
    if not 0 <= seconds <= LONGEST_RETRY_AFTER:
        return LONGEST_WAIT if seconds > 0 else 0.0
    return seconds


def _headers(host: str, key: str) -> str:
    named = {"Host": host, "User-Agent": "Touchstone", "Accept": "application/json"}
    named |= {"Accept-Encoding": "identity", "Content-Type": "application/json"}
    if key:
        named["Authorization"] = f"Bearer {key}"
    return "".join(f"{name}: {value}\r\n" for name, value in named.items())


def _address(endpoint: Endpoint, host: str, port: int) -> str:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        problem = message(
            "judge.unknown-host",
            "The host of the endpoint {endpoint} cannot be found.",
            endpoint=endpoint.name,
        )
        raise UnavailableError(problem) from error
    addresses = [str(entry[4][0]) for entry in found]
    if not endpoint.allow_private and not all(map(is_public, addresses)):
        problem = message(
            "judge.private-network",
            "The endpoint {endpoint} is in a private network, which its declaration does not "
            "allow.",
            endpoint=endpoint.name,
        )
        raise MetricError(problem, permanent=True)
    return addresses[0]
