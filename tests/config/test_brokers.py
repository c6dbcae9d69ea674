"""Brokers that take a connection and never answer."""

import socket
from collections.abc import Iterator
from pathlib import Path
from select import select

import pytest
from celery import Celery
from kombu import Connection
from redis import Redis

from config import brokers
from config.work import registry, sending
from tests.metrics.proxy import SilentProxy
from tests.metrics.sites import BROKERS, RedisBroker


@pytest.fixture(params=["redis", "amqp"])
def silent(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[socket.socket]:
    """A server to which messages go, and which says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"{request.param}://127.0.0.1:{server.getsockname()[1]}//"
        app = Celery("silent", set_as_current=False)
        app.config_from_object("django.conf:settings", namespace="CELERY")
        options = brokers.transport_options(url, tmp_path)
        app.conf.update(broker_url=url, broker_transport_options=options, task_always_eager=False)

        @app.task(name="work.short", shared=False)  # type: ignore[untyped-decorator]
        def work(name: str, pk: int) -> None:
            """Do nothing: nobody gets the message."""

        monkeypatch.setattr(sending, "app", app)
        monkeypatch.setattr(sending._Broker, "not_before", 0.0)
        yield server


def test_a_message_is_given_up_and_the_broker_left_alone(silent: socket.socket) -> None:
    kind = registry.get("slice")
    assert not sending.send(kind, 1, "cpu")
    while select([silent], [], [], 0)[0]:
        silent.accept()[0].close()
    assert not sending.send(kind, 2, "cpu")
    assert select([silent], [], [], 0)[0] == []


@pytest.mark.database
@pytest.mark.skipif("redis" not in BROKERS, reason="there is no Redis server")
@pytest.mark.parametrize("action", ["ack", "reject", "requeue"])
def test_a_message_that_cannot_be_acknowledged_does_not_block_the_next(
    action: str, tmp_path: Path
) -> None:
    broker = RedisBroker(tmp_path)
    options = brokers.transport_options(broker.url, tmp_path)
    with (
        SilentProxy(broker.port) as proxy,
        Connection(f"redis://127.0.0.1:{proxy.port}/0", transport_options=options) as connection,
    ):
        queue = connection.SimpleQueue("one")
        queue.consumer.qos(prefetch_count=1)
        queue.put("message")
        message = queue.get(timeout=10)
        channel = queue.consumer.channel
        assert not channel.qos.can_consume()
        proxy.silence()
        with pytest.raises(connection.connection_errors):
            getattr(message, action)()
        assert channel.qos.can_consume()
        with Redis(port=broker.port) as client:  # it can still be handed out again
            assert client.hlen("unacked") == 1
    broker.stop()
