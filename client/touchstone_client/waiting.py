"""Waiting for workers: a warning if none can take a job, an error after the limit."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

# States of workers that take no more jobs.
ABSENT = frozenset({"silent", "stopping"})
# Workers are asked for again after this number of pauses.
PAUSES = 10
IMPORTS, DOCUMENTS = ("slow",), ("documents", "documents-slow")


class NoWorkerWarning(UserWarning):
    """No worker of the server takes jobs of this kind now."""


# Each wait warns, not only the first of a process; filters of the caller come first.
warnings.simplefilter("always", NoWorkerWarning, append=True)


class WaitError(TimeoutError):
    """The limit of a wait is over; the job stays on the server."""


class Wait:
    """One wait: `workers` returns those of the server, or None where the token may not ask.

    `limit` is in seconds; None waits until the end.
    """

    def __init__(
        self,
        limit: float | None,
        sleep: Callable[[float], None],
        workers: Callable[[], Iterable[Mapping[str, Any]] | None],
    ) -> None:
        self.limit, self.sleep, self.workers = limit, sleep, workers
        self.began = time.monotonic()
        self.n_pauses = 0
        self.reasons: list[str] = []

    def pause(
        self, seconds: float, queues: Collection[str], lacking: Callable[[], list[str]] = list
    ) -> None:
        """Wait for jobs of these queues; `lacking` says what hosts with such workers lack."""
        spent = time.monotonic() - self.began
        is_over = self.limit is not None and spent >= self.limit
        if is_over or self.n_pauses % PAUSES == 0:
            known = self.reasons
            self.reasons = [*self._absent(queues), *lacking()]
            if not is_over:
                for reason in self.reasons:
                    if reason not in known:
                        warnings.warn(reason, NoWorkerWarning, stacklevel=2)
        if is_over:
            text = f"The server has not finished within {self.limit:g} seconds."
            raise WaitError("\n".join([text, *self.reasons]))
        self.n_pauses += 1
        self.sleep(seconds if self.limit is None else min(seconds, self.limit - spent))

    def _absent(self, queues: Collection[str]) -> list[str]:
        workers = self.workers() if queues else None
        if workers is None:
            return []
        served = {name for row in workers if row["state"] not in ABSENT for name in row["queues"]}
        return [
            f"No worker of the server takes jobs of the queue {name}. Start one there: "
            f"touchstone worker --queues {name}"
            for name in sorted({*queues} - served)
        ]
