"""A real HTTP server that speaks chat completions, well or badly, as a test tells it to."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from threading import Event, Lock, Thread
from typing import Any

KEY = "sk-test-0123456789abcdef"


@dataclass
class Answer:
    """What the server does with one request."""

    content: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: str | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    is_cut: bool = False
    # Seconds before the first byte, and before each further one, unless the server ends.
    wait: float = 0
    pace: float = 0

    def body(self, asked: dict[str, Any]) -> str:
        if self.raw is not None:
            return self.raw
        message = {"role": "assistant", "content": self.content, "refusal": self.refusal}
        prompt = sum(len(each["content"]) for each in asked.get("messages", ())) // 4
        usage = {"prompt_tokens": prompt, "completion_tokens": 5}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return json.dumps({"model": "tiny-2026", "choices": [choice], "usage": usage})


Respond = Callable[[dict[str, Any], int], Answer]


def prompt_of(asked: dict[str, Any]) -> str:
    return str(asked["messages"][-1]["content"])


class Server(ThreadingHTTPServer):
    """`respond` gets the request's JSON and how often the same prompt was asked before."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, respond: Respond) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.respond, self.seen = respond, list[dict[str, Any]]()
        self.models: list[dict[str, Any]] | None = [{"id": "tiny", "root": "org/tiny"}]
        self.keys: set[str] = set()
        self.lock, self.open, self.most_open = Lock(), set[socket](), 0
        # Sockets count until their threads see that the client has gone; questions do not.
        self.n_asked_now = self.most_asked_now = 0
        self.is_over = Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def endpoint(self, **fields: Any) -> dict[str, Any]:
        """How the settings declare it."""
        return {"name": "local", "url": self.url, "allow_private": True, "timeout": 5} | fields

    def hang_up(self) -> None:
        """End the connections that clients keep open, and with them their threads."""
        with self.lock:
            for connection in self.open:
                with suppress(OSError):  # the client has gone
                    connection.shutdown(SHUT_RDWR)

    @contextmanager
    def asked_now(self) -> Iterator[None]:
        """Count a question that has no answer yet."""
        with self.lock:
            self.n_asked_now += 1
            self.most_asked_now = max(self.most_asked_now, self.n_asked_now)
        yield
        with self.lock:
            self.n_asked_now -= 1

    def answer(self, asked: dict[str, Any]) -> Answer:
        with self.lock:
            times = sum(prompt_of(each) == prompt_of(asked) for each in self.seen)
            self.seen.append(asked)
        return self.respond(asked, times)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.open.add(self.connection)
            self.server.most_open = max(self.server.most_open, len(self.server.open))

    def finish(self) -> None:
        super().finish()
        with self.server.lock:
            self.server.open.discard(self.connection)

    def handle(self) -> None:
        with suppress(ConnectionError):  # a client that has gone
            super().handle()

    def do_GET(self) -> None:
        models = self.server.models
        status = 404 if models is None else 200
        self._send(Answer(status=status, raw=json.dumps({"data": models})), {})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.add(self.headers.get("Authorization", ""))
        with self.server.asked_now():
            answer = self.server.answer(asked)
            if answer.wait:
                self.server.is_over.wait(answer.wait)
        self._send(answer, asked)

    def _send(self, answer: Answer, asked: dict[str, Any]) -> None:
        body = answer.body(asked).encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if answer.pace:
            self._trickle(body, answer.pace)
        else:
            self.wfile.write(body[: len(body) // 2] if answer.is_cut else body)
        self.close_connection = self.close_connection or answer.is_cut

    def _trickle(self, body: bytes, pace: float) -> None:
        """Send byte by byte, until the client has enough."""
        with suppress(ConnectionError):
            for byte in body:
                self.wfile.write(bytes([byte]))
                if self.server.is_over.wait(pace):
                    break
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@contextmanager
def serving(respond: Respond) -> Iterator[Server]:
    """Serve until the block ends."""
    with Server(respond) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.is_over.set()
            server.shutdown()
            thread.join()
            server.hang_up()
