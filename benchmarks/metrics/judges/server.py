"""A server that answers every chat completion after a while, and counts how busy it was kept.

It runs in a process of its own: `python -m benchmarks.metrics.judges.server MILLISECONDS`. It
prints its port; `GET /busy` tells the seconds between the first question and the last answer,
those that all answers took together (the number of open questions, integrated over time), their
number, and the processor time of the server.
"""

import asyncio
import json
import sys
import time

DELAY = float(sys.argv[1]) / 1000 if len(sys.argv) > 1 else 0.05
REPLY = json.dumps(
    {
        "model": "bench",
        "choices": [{"message": {"content": '{"score": 80}'}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 6},
    }
).encode()
MODELS = json.dumps({"data": [{"id": "bench"}]}).encode()


def framed(body: bytes) -> bytes:
    """Return a whole response."""
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


ANSWER = framed(REPLY)


class Times:
    """When questions came and answers went."""

    first, last, busy, n = 0.0, 0.0, 0.0, 0


class Conversation(asyncio.Protocol):
    """One connection: as little as can be, for what is measured is who asks."""

    transport: asyncio.Transport
    received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what is written to."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer a request once it is whole."""
        self.received += data
        head, end, body = self.received.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if not end or len(body) < int(length or 0):
            return
        self.received = b""
        if head.startswith(b"GET"):
            told = [Times.last - Times.first, Times.busy, Times.n, time.process_time()]
            busy = head.startswith(b"GET /busy")
            self.transport.write(framed(json.dumps(told).encode() if busy else MODELS))
        else:
            asyncio.get_running_loop().call_later(DELAY, self.answer, time.monotonic())

    def answer(self, began: float) -> None:
        """Write the answer, as a model would after a while."""
        Times.n += 1
        if Times.n > 1:  # the first is what a judge asks before it begins: are schemas obeyed?
            Times.first = Times.first or began
            Times.last = time.monotonic()
            Times.busy += Times.last - began
        self.transport.write(ANSWER)


async def main() -> None:
    """Serve until the process ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Conversation, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
