"""A TCP proxy before a broker that can fall silent without closing a connection."""

import socket
from contextlib import suppress
from threading import Event, Thread
from typing import Self


class SilentProxy:
    """Forwards to a port of this machine until it is silenced.

    A connection that was open while it was silent stays silent for ever, as one whose other end
    has vanished.
    """

    def __init__(self, port: int) -> None:
        self._target, self._server = port, socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._silent, self._sockets = Event(), list[socket.socket]()

    def __enter__(self) -> Self:
        Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in [self._server, *self._sockets]:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def silence(self) -> None:
        """Forward nothing more, through existing and new connections."""
        self._silent.set()

    def resume(self) -> None:
        """Serve connections that are opened from now on."""
        self._silent = Event()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                silent = self._silent
                self._sockets.append(near)
                if silent.is_set():
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
                self._sockets.append(far)
                for ends in ((near, far), (far, near)):
                    Thread(target=_forward, args=(*ends, silent), daemon=True).start()


def _forward(source: socket.socket, target: socket.socket, silent: Event) -> None:
    with suppress(OSError):
        while (data := source.recv(65536)) and not silent.is_set():
            target.sendall(data)
        if not silent.is_set():
            target.shutdown(socket.SHUT_WR)
