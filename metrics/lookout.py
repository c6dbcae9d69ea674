"""An idle worker looks for work by itself: no run or job waits because a message was lost."""

import time
from collections.abc import Callable

from celery.worker import state

LOOK_SECONDS = 2.0
# A message that nobody takes (the broker is away, too) is repeated ever more rarely.
LONGEST_WAIT = 300.0


class Lookout:
    """Looks for work while the worker has some of its `slots` free.

    `hand_out_next` sends a message for what waits in our queues; it returns whether anything does.
    """

    def __init__(self, slots: int, hand_out_next: Callable[[], bool]) -> None:
        self.slots, self.hand_out_next = slots, hand_out_next
        self._taken, self._wait, self._not_before = -1, LOOK_SECONDS, 0.0

    def look(self) -> None:
        """Send a message where something waits in our queues and we have nothing to do."""
        if len(state.reserved_requests) >= self.slots:
            return
        taken = sum(state.total_count.values())
        if taken != self._taken:
            self._wait, self._not_before = LOOK_SECONDS, 0.0
        if time.monotonic() < self._not_before:
            return
        if self.hand_out_next():
            self._taken = taken
            self._not_before = time.monotonic() + self._wait
            self._wait = min(2 * self._wait, LONGEST_WAIT)
