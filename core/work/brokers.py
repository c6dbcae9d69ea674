"""The Celery app, how it reaches a broker, and how long it waits for one that has fallen silent.

A web request sends messages, so no wait may be long: what was not sent is sent again
(:mod:`core.work.reconciling`).
"""

import socket
from pathlib import Path

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

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


TRANSPORTS = {
    "filesystem": "core.work.embedded:Transport",
    "amqp": "core.work.transports:AmqpTransport",
    "amqps": "core.work.transports:SecureAmqpTransport",
    "redis": "core.work.transports:RedisTransport",
    "rediss": "core.work.transports:RedisTransport",
}

TRANSPORT_ALIASES.update(TRANSPORTS)
app = Celery("touchstone")
app.config_from_object("django.conf:settings", namespace="CELERY")


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
