"""Responses as servers frame them, against the standard library's client; and broken ones."""

import asyncio
import http.client
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from threading import Event, Thread

import pytest

from extensions.judges import client
from extensions.judges.client import (
    LARGEST_BODY,
    LARGEST_HEAD,
    Client,
    Connection,
    Response,
    UnavailableError,
)
from extensions.judges.context import Endpoint
from metrics.base import MetricError
from tests.refusals import refused

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def scripted(*conversations: Sequence[bytes], pace: float = 0) -> Iterator[int]:
    """Serve connections one after the other: after each request the next of its answers, then end.

    With a pace answers come byte by byte, until the test is over.
    """
    is_over = Event()

    def serve(listening: socket.socket) -> None:
        for answers in conversations:
            connection, _ = listening.accept()
            with connection:
                for answer in answers:
                    received = b""
                    while not received.endswith(b"\r\n\r\n"):
                        received += connection.recv(2**16)
                    for part in [answer] if not pace else (bytes([byte]) for byte in answer):
                        connection.sendall(part)
                        if pace and is_over.wait(pace):
                            return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serve, args=(listening,))
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            is_over.set()
            thread.join()


def exchange(port: int, n: int = 1) -> list[Response]:
    """Send a request as often over one connection."""

    async def ask() -> list[Response]:
        with closing(Connection("127.0.0.1", port, None, "")) as connection:
            return [await connection.send(REQUEST) for _ in range(n)]

    return asyncio.run(ask())


FRAMES = {
    "length": b"Content-Length: 5\r\nX-Two: a\r\n\r\nhello",
    "nothing": b"content-length: 0\r\n\r\n",
    "chunks": b"Transfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
    "trailers": b"Transfer-Encoding: Chunked\r\n\r\n2\r\nhi\r\n0\r\nX: y\r\n\r\n",
    "until the end": b"Retry-After: 3\r\n\r\nall that comes",
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_a_response_is_read_as_the_standard_library_reads_it(frame: bytes) -> None:
    with scripted([OK + frame], [OK + frame]) as port:
        (ours,) = exchange(port)
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as peer:
            peer.request("GET", "/")
            theirs = peer.getresponse()
            body = theirs.read()
    assert (ours.status, ours.body) == (theirs.status, body)
    assert ours.headers == {name.lower(): value for name, value in theirs.getheaders()}


def test_a_connection_is_used_again_until_the_server_ends_it() -> None:
    """The first conversation has two answers, and then says that it is over."""
    first = b"HTTP/1.1 100 Continue\r\n\r\n" + OK + FRAMES["length"]
    last = b"HTTP/1.1 429 Slow\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx"
    with scripted([first, last], [OK + FRAMES["chunks"]]) as port:
        found = exchange(port, 3)
    assert [(each.status, each.body) for each in found] == [
        (200, b"hello"),
        (429, b"x"),
        (200, b"hello world"),
    ]


@pytest.mark.parametrize(
    "broken",
    [b"", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", OK + b"Content-Length: 9\r\n\r\nhalf",
     OK + b"Content-Length: -1\r\n\r\n", OK + b"Content-Length: %d\r\n\r\n" % (LARGEST_BODY + 1),
     OK + b"X: " + b"x" * LARGEST_HEAD + b"\r\n\r\n",
     OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
     OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nhel\r\n0\r\n\r\n",
     OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"],
)  # fmt: skip
def test_what_is_cut_too_long_or_no_http_is_no_response(broken: bytes) -> None:
    with scripted([broken]) as port, pytest.raises((OSError, EOFError, ValueError)):
        exchange(port)


def test_a_head_that_trickles_has_no_more_time_than_a_reply(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "TRIES", 1)
    monkeypatch.setattr(client, "FIRST_WAIT", 0.0)
    with scripted([OK + b"X: " + b"x" * 9999], pace=0.01) as port:
        url = f"http://127.0.0.1:{port}/v1"
        endpoint = Endpoint(name="slow", url=url, allow_private=True, timeout=0.1)
        with refused(
            "judge.unavailable", kind=UnavailableError, problem="judge.no-answer", count=1
        ):
            Client(endpoint, "").models()


def test_a_key_that_would_break_a_header_is_refused_and_not_shown() -> None:
    endpoint = Endpoint(name="local", url="http://127.0.0.1:1/v1", allow_private=True)
    with refused("judge.wrong-key", kind=MetricError) as raised:
        Client(endpoint, "sk-1\r\nX: y")
    assert "sk-1" not in str(raised.value)
