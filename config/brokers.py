"""How Celery reaches a broker, and how long it waits for one that has fallen silent.

A web request sends messages, so no wait may be long: what was not sent is sent again
(:mod:`config.work.reconciling`).
"""

import socket
from pathlib import Path
from typing import Any

from kombu.transport import pyamqp

# Seconds for a connection, and for each answer after that. A message that finds its connection
# silent takes three of them: the answer, another connection, and the answer there.
CONNECT_SECONDS = ANSWER_SECONDS = 3.0
# RabbitMQ: seconds between two heartbeats of a worker's connection; two may be missed.
HEARTBEAT_SECONDS = 10
# A host that vanished without closing its connections is noticed within half a minute.
KEEPALIVE = {socket.TCP_KEEPIDLE: 10, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}
REDIS = {
    # Redis hands an unacknowledged task out again after this many seconds; shorter than our own
    # takeover would start a run twice for nothing.
    "visibility_timeout": 6 * 3600,
    "socket_connect_timeout": CONNECT_SECONDS,
    "socket_timeout": ANSWER_SECONDS,
    "socket_keepalive": True,
    "socket_keepalive_options": KEEPALIVE,
    # A worker drops a connection on which no message and no "nothing yet" came for so long.
    "health_check_interval": ANSWER_SECONDS,
}
RABBITMQ = {
    # Otherwise a message that is written to a dead connection seems to be sent.
    "confirm_publish": True,
    "write_timeout": ANSWER_SECONDS,
    "socket_settings": KEEPALIVE,
}
# One more try: a connection that was kept may have been closed meanwhile.
RETRIES = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}


class Connection(pyamqp.Connection):
    """A connection to RabbitMQ that waits `ANSWER_SECONDS` for an answer, in place of forever."""

    def drain_events(self, timeout: float | None = None) -> Any:
        """Raise TimeoutError if nothing comes for `timeout` seconds."""
        return super().drain_events(ANSWER_SECONDS if timeout is None else timeout)


class Transport(pyamqp.Transport):
    """RabbitMQ as Celery knows it, with bounded waits."""

    Connection = Connection


class SecureTransport(pyamqp.SSLTransport):
    """The same with TLS."""

    Connection = Connection


TRANSPORTS = {
    "filesystem": "config.work.embedded:Transport",
    "amqp": "config.brokers:Transport",
    "amqps": "config.brokers:SecureTransport",
    "redis": "config.work.redis_transport:Transport",
    "rediss": "config.work.redis_transport:Transport",
}


def transport_options(broker_url: str, folder: Path) -> dict[str, object]:
    """Return the options of the broker; the folders of the embedded one are created."""
    if broker_url.startswith("redis"):
        return REDIS | RETRIES
    if not broker_url.startswith("filesystem://"):
        return RABBITMQ | RETRIES
    queue, control = folder / "queue", folder / "control"
    for path in (queue, control):
        path.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(queue),
        "data_folder_out": str(queue),
        "control_folder": str(control),
        "polling_interval": 0.1,
    }
