"""RabbitMQ and Redis as Celery knows them, with bounded waits."""

from typing import Any

from kombu.transport import pyamqp, redis, virtual

from core.work.brokers import ANSWER_SECONDS


class Connection(pyamqp.Connection):
    """A connection to RabbitMQ that waits `ANSWER_SECONDS` for an answer, in place of forever."""

    def drain_events(self, timeout: float | None = None) -> Any:
        """Raise TimeoutError if nothing comes for `timeout` seconds."""
        return super().drain_events(ANSWER_SECONDS if timeout is None else timeout)


class AmqpTransport(pyamqp.Transport):
    """RabbitMQ as Celery knows it, with bounded waits."""

    Connection = Connection


class SecureAmqpTransport(pyamqp.SSLTransport):
    """The same with TLS."""

    Connection = Connection


class QoS(redis.QoS):
    """Releases the place of a message that Redis did not let us acknowledge or reject.

    kombu counts it as unacknowledged for as long as the worker lives, so that one with a single
    process takes nothing more. Redis hands the message out again after `visibility_timeout`, and
    whoever gets it finds its row done.
    """

    def ack(self, delivery_tag: str) -> None:
        """Raise what the connection raises, but count the message as done with."""
        self._release_if_lost(super().ack, delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Raise what the connection raises, but count the message as done with."""
        self._release_if_lost(super().reject, delivery_tag, requeue)

    def _release_if_lost(self, action: Any, delivery_tag: str, *options: bool) -> None:
        try:
            action(delivery_tag, *options)
        except self.channel.connection_errors:
            virtual.QoS.ack(self, delivery_tag)  # type: ignore[no-untyped-call]
            raise


class Channel(redis.Channel):
    """A channel that counts unacknowledged messages as above."""

    QoS = QoS


class RedisTransport(redis.Transport):
    """The transport of redis:// and rediss://."""

    Channel = Channel
