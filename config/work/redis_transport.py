"""Redis as Celery knows it; a worker that could not acknowledge a message takes the next one."""

from typing import Any

from kombu.transport import redis, virtual


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


class Transport(redis.Transport):
    """The transport of redis:// and rediss://."""

    Channel = Channel
