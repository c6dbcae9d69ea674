"""A line between a browser and the server that can be cut: service workers notice it too."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from pytest_django.live_server_helper import LiveServer


class Line:
    """Passes on what comes to a port of its own; `address` is where browsers go."""

    def __init__(self, server: str) -> None:
        parts = urlsplit(server)
        self.server = (parts.hostname, parts.port)
        self.connections: list[socket.socket] = []
        self.port = 0
        self.restore()
        self.address = f"http://localhost:{self.port}"

    def restore(self) -> None:
        """Take connections, on the same port as before."""
        self.listener = socket.create_server(("localhost", self.port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, args=(self.listener,), daemon=True).start()

    def cut(self) -> None:
        """End every connection and take no more."""
        for each in (self.listener, *self.connections):
            # Closed alone, a socket that another thread waits for would live on.
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self.connections.clear()

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                browser, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(self.server)
            self.connections += [browser, server]
            for one, other in ((browser, server), (server, browser)):
                threading.Thread(target=_pass_on, args=(one, other), daemon=True).start()


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    with suppress(OSError):
        other.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def line(live_server: LiveServer) -> Iterator[Line]:
    line = Line(live_server.url)
    yield line
    line.cut()
