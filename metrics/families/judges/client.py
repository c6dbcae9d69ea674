"""One endpoint over HTTP: connections that stay open, patience where it helps, no redirects.

Only workers import this. The key goes into one header, and into nothing that is kept, logged or
raised: what a server sends back is searched for it.
"""

import json
import random
import socket
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Event, Lock
from typing import Any
from urllib.parse import urlsplit

import urllib3

from annotation.web.addresses import is_public
from metrics.base import MetricError
from metrics.families.judges.desk import Endpoint, Reply

CONNECT_SECONDS = 10.0
LARGEST_REPLY = 4 * 2**20
# A call is tried so often; between two tries as long as the server says, else 1 s, 2 s, 4 s, …
TRIES, FIRST_WAIT, LONGEST_WAIT = 6, 1.0, 60.0
# A server may ask for more patience than a worker has.
MOST_PATIENCE = 600.0
PASSING = {408, 409, 425, 429}
# The text is at fault, or what it was filtered for: others may be answered.
OF_THE_TEXT = {400, 413, 422}
HIDDEN = "[key]"


class UnavailableError(MetricError):
    """The endpoint does not answer: nothing is held against the texts."""

    def __init__(self, message: str) -> None:
        super().__init__(message, permanent=False)


class StoppedError(Exception):
    """Nobody waits for this call any more."""


class Client:
    """Calls of an endpoint by several threads. `lost` counts calls that had no reply."""

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        self.endpoint, self._key = endpoint, key
        self._pool, self._path = _pool(endpoint)
        self._lock, self._resume_at = Lock(), 0.0
        self.stopping = Event()
        self.lost = 0

    def ask(self, body: Mapping[str, Any]) -> Reply:
        """Return the reply to a chat completion.

        Raises :class:`UnavailableError` after the last try, a permanent :class:`MetricError` where
        no other question would fare better, :class:`StoppedError` where it was told to stop.
        """
        return self._patiently("POST", "/chat/completions", json.dumps(body).encode())

    def models(self) -> list[dict[str, Any]]:
        """Return what the server says of its models; empty where it says nothing."""
        try:
            reply = self._patiently("GET", "/models", None)
        except UnavailableError:
            raise
        except MetricError:
            return []
        try:
            listed = json.loads(reply.body)["data"]
            return [each for each in listed if isinstance(each, dict)]
        except (ValueError, KeyError, TypeError):
            return []

    def close(self) -> None:
        """End all connections."""
        self.stopping.set()
        self._pool.close()

    def _patiently(self, method: str, path: str, body: bytes | None) -> Reply:
        problem = ""
        for number in range(TRIES):
            self._wait_for_turn()
            try:
                reply, headers = self._once(method, path, body)
            except (urllib3.exceptions.HTTPError, OSError) as error:
                problem = f"no answer ({type(error).__name__})"
                self._count_lost()
                self._rest(_backoff(number), of_all=False)
                continue
            if not _is_passing(reply):
                return self._checked(reply)
            problem = f"status {reply.status}"
            self._rest(_retry_after(headers, number), of_all=reply.status == 429)
        raise UnavailableError(
            f"The endpoint {self.endpoint.name} cannot be used now: {problem}, {TRIES} times."
        )

    def _count_lost(self) -> None:
        with self._lock:
            self.lost += 1

    def _once(self, method: str, path: str, body: bytes | None) -> tuple[Reply, Mapping[str, str]]:
        began = time.monotonic()
        headers = {"Accept": "application/json", "User-Agent": "Touchstone"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        headers["Host"] = urlsplit(self.endpoint.url).netloc
        response = self._pool.urlopen(
            method, self._path + path, body=body, headers=headers, retries=False,
            redirect=False, preload_content=False, assert_same_host=False,
        )  # fmt: skip
        try:
            raw = self._read(response, began + self.endpoint.timeout)
        except BaseException:
            response.close()
            raise
        finally:
            # A closed one, too: its place in the pool is free again.
            response.release_conn()
        text = raw.decode(errors="replace")
        text = text.replace(self._key, HIDDEN) if self._key else text
        return Reply(response.status, text, time.monotonic() - began, is_new=True), response.headers

    def _read(self, response: urllib3.BaseHTTPResponse, deadline: float) -> bytes:
        """Read a body; one that comes drop by drop, or never ends, is no answer."""
        parts, size = [], 0
        # As much as is there: a read that waits for more would wait as long as anything comes.
        while part := response.read1(2**16):
            parts.append(part)
            size += len(part)
            if size > LARGEST_REPLY or time.monotonic() > deadline:
                raise urllib3.exceptions.ProtocolError("too slow or too long")
        return b"".join(parts)

    def _checked(self, reply: Reply) -> Reply:
        if reply.status == 200 or reply.status in OF_THE_TEXT:
            return reply
        what = "; redirects are not followed" if 300 <= reply.status < 400 else ""
        excerpt = " ".join(reply.body.split())[:200]
        raise MetricError(
            f"The endpoint {self.endpoint.name} answered {reply.status}{what}. {excerpt}".strip(),
            permanent=True,
        )

    def _wait_for_turn(self) -> None:
        """Wait as long as the server wants us all to."""
        while (seconds := self._resume_at - time.monotonic()) > 0:
            self._pause(seconds)
        if self.stopping.is_set():
            raise StoppedError

    def _rest(self, seconds: float, *, of_all: bool) -> None:
        if of_all:
            with self._lock:
                self._resume_at = max(self._resume_at, time.monotonic() + seconds)
        else:
            self._pause(seconds)

    def _pause(self, seconds: float) -> None:
        if self.stopping.wait(seconds):
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
    given = headers.get("Retry-After", "").strip()
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


def _pool(endpoint: Endpoint) -> tuple[urllib3.HTTPConnectionPool, str]:
    """Return connections to one address of the endpoint, which was checked, and the path."""
    parts = urlsplit(endpoint.url)
    host, is_safe = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if is_safe else 80)
    address = _address(endpoint, host, port)
    shared: dict[str, Any] = {
        "maxsize": endpoint.connections,
        "block": True,
        "timeout": urllib3.Timeout(connect=CONNECT_SECONDS, read=endpoint.timeout),
    }
    if is_safe:
        pool: urllib3.HTTPConnectionPool = urllib3.HTTPSConnectionPool(
            address, port, server_hostname=host, assert_hostname=host, **shared
        )
    else:
        pool = urllib3.HTTPConnectionPool(address, port, **shared)
    return pool, parts.path.rstrip("/")


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
