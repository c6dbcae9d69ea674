"""A server that answers every chat completion after a while, and counts how busy it was kept.

It runs in a process of its own: `python -m benchmarks.metrics.judges.server MILLISECONDS`. It
prints its port; `GET /busy` tells the seconds between the first question and the last answer, and
those that all answers took together: the number of open questions, integrated over time.
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


class Times:
    """When questions came and answers went."""

    first, last, busy, n = 0.0, 0.0, 0.0, 0


async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer one connection until it closes."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            began = time.monotonic()
            length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            if length:
                await reader.readexactly(int(length))
            body = await answer(head, began)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def answer(head: bytes, began: float) -> bytes:
    """Wait as a model would, for questions alone."""
    if head.startswith(b"GET /busy"):
        return json.dumps([Times.last - Times.first, Times.busy, Times.n]).encode()
    if head.startswith(b"GET"):
        return MODELS
    await asyncio.sleep(DELAY)
    Times.n += 1
    if Times.n > 1:  # the first is what a judge asks before it begins: whether schemas are obeyed
        Times.first = Times.first or began
        Times.last = time.monotonic()
        Times.busy += Times.last - began
    return REPLY


async def main() -> None:
    """Serve until the process ends."""
    server = await asyncio.start_server(converse, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
