"""Brokers that take a connection and never answer."""

import socket
from collections.abc import Iterator
from pathlib import Path
from select import select

import pytest
from celery import Celery

from config import brokers
from config.work import registry, sending


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
