"""One endpoint over HTTP: connections that stay open, patience where it helps, no redirects.

Only workers import this. The key goes into one header, and into nothing that is kept, logged or
raised: what a server sends back is searched for it.
"""

import asyncio
import json
import random
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from annotation.web.addresses import is_public
from extensions.judges.calls.exchange import Connection, Response
from extensions.judges.desk import Endpoint, Reply
from metrics.base import EndpointError, MetricError

# A call is tried so often; between two tries as long as the server says, else 1 s, 2 s, 4 s, …
TRIES, FIRST_WAIT, LONGEST_WAIT = 6, 1.0, 60.0
# A server may ask for more patience than a worker has.
MOST_PATIENCE = 600.0
PASSING = {408, 409, 425, 429}
# The text is at fault, or what it was filtered for: others may be answered.
OF_THE_TEXT = {400, 413, 422}
HIDDEN = "[key]"


class UnavailableError(EndpointError):
    """The endpoint does not answer: nothing is held against the texts."""

    def __init__(self, message: str) -> None:
        super().__init__(message, permanent=False)


class StoppedError(Exception):
    """Nobody waits for this call any more."""


class Client:
    """Calls of an endpoint by one event loop at a time. `lost` counts calls that had no reply."""

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        self.endpoint, self._key = endpoint, key
        if not (key.isascii() and key.isprintable()):
            message = f"The key of the endpoint {endpoint.name} has characters that no key has."
            raise MetricError(message, permanent=True)
        parts = urlsplit(endpoint.url)
        self._host, self._path = parts.hostname or "", parts.path.rstrip("/")
        self._context = ssl.create_default_context() if parts.scheme == "https" else None
        self._port = parts.port or (443 if self._context else 80)
        self._address = _address(endpoint, self._host, self._port)
        self._headers = _headers(parts.netloc, key)
        self.lost = 0
        self.begin()

    def begin(self) -> None:
        """Make calls in another loop than before."""
        self.is_stopping, self._stopping, self._resume_at = False, asyncio.Event(), 0.0

    def stop(self) -> None:
        """Begin no call any more, in the loop that calls: those that wait to begin end."""
        self.is_stopping = True
        self._stopping.set()

    def connection(self) -> Connection:
        """Return a connection to the address that was checked; it opens with the first call."""
        return Connection(self._address, self._port, self._context, self._host)

    async def ask(self, connection: Connection, body: bytes) -> Reply:
        """Return the reply to a chat completion.

        Raises :class:`UnavailableError` after the last try, a permanent :class:`EndpointError` if
        no other question would fare better, :class:`StoppedError` where it was told to stop.
        """
        return await self._patiently(connection, "POST", "/chat/completions", body)

    def ask_alone(self, body: Mapping[str, Any]) -> Reply:
        """Ask one question, outside of a loop."""
        return self._alone("POST", "/chat/completions", json.dumps(body).encode())

    def models(self) -> list[dict[str, Any]]:
        """Return what the server says of its models, outside of a loop; empty where nothing."""
        try:
            reply = self._alone("GET", "/models", b"")
        except UnavailableError:
            raise
        except EndpointError:
            return []  # many servers list no models; what else is wrong, the first question tells
        try:
            listed = json.loads(reply.body)["data"]
            return [each for each in listed if isinstance(each, dict)]
        except (ValueError, KeyError, TypeError):
            return []

    def _alone(self, method: str, path: str, body: bytes) -> Reply:
        async def ask() -> Reply:
            self.begin()
            with closing(self.connection()) as connection:
                return await self._patiently(connection, method, path, body)

        return asyncio.run(ask())

    async def _patiently(
        self, connection: Connection, method: str, path: str, body: bytes
    ) -> Reply:
        head = f"{method} {self._path}{path} HTTP/1.1\r\n{self._headers}"
        request = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        problem = ""
        for number in range(TRIES):
            await self._wait_for_turn()
            began = time.monotonic()
            try:
                async with asyncio.timeout(self.endpoint.timeout):
                    response = await connection.send(request)
            except (OSError, EOFError, ValueError) as error:
                problem = f"no answer ({type(error).__name__})"
                self.lost += 1
                await self._pause(_backoff(number))
                continue
            reply = self._reply(response, time.monotonic() - began)
            if not _is_passing(reply):
                return self._checked(reply)
            problem = f"status {reply.status}"
            await self._rest(_retry_after(response.headers, number), of_all=reply.status == 429)
        raise UnavailableError(
            f"The endpoint {self.endpoint.name} cannot be used now: {problem}, {TRIES} times."
        )

    def _reply(self, response: Response, seconds: float) -> Reply:
        text = response.body.decode(errors="replace")
        text = text.replace(self._key, HIDDEN) if self._key else text
        return Reply(response.status, text, seconds, is_new=True)

    def _checked(self, reply: Reply) -> Reply:
        if reply.status == 200 or reply.status in OF_THE_TEXT:
            return reply
        what = "; redirects are not followed" if 300 <= reply.status < 400 else ""
        excerpt = " ".join(reply.body.split())[:200]
        raise EndpointError(
            f"The endpoint {self.endpoint.name} answered {reply.status}{what}. {excerpt}".strip(),
            permanent=True,
        )

    async def _wait_for_turn(self) -> None:
        """Wait as long as the server wants us all to."""
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
    """Whether another try may help; an account without credit stays without."""
    if reply.status == 429 and "insufficient_quota" in reply.body:
        return False
    return reply.status in PASSING or reply.status >= 500


def _backoff(number: int) -> float:
    return float(min(LONGEST_WAIT, FIRST_WAIT * 2**number) * random.uniform(0.5, 1))


def _retry_after(headers: Mapping[str, str], number: int) -> float:
    """Read Retry-After, seconds or a date; without one the usual wait."""
    given = headers.get("retry-after", "").strip()
    try:
        seconds = float(given)
    except ValueError:
        try:
            at = parsedate_to_datetime(given)
        except ValueError:
            return _backoff(number)
        seconds = (at.astimezone(UTC) - datetime.now(UTC)).total_seconds()
    if not 0 <= seconds <= MOST_PATIENCE:
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
        raise UnavailableError(f"The host of the endpoint {endpoint.name} is not known.") from error
    addresses = [str(entry[4][0]) for entry in found]
    if not endpoint.allow_private and not all(map(is_public, addresses)):
        raise MetricError(
            f"The endpoint {endpoint.name} is in a private network, which its declaration does "
            "not allow.",
            permanent=True,
        )
    return addresses[0]
