"""What every worker process says of itself, in its row of the fleet (`metrics.workers`).

Two threads, because signs of life must not wait for the hashing of gigabytes.
"""

import os
import socket
import sys
import time
from typing import Any
from uuid import uuid4

from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from django.db import transaction

from metrics import checkpoints, inventory
from metrics.base import MetricError
from metrics.clock import Now
from metrics.devices import devices, process_memory
from metrics.inventory import Found
from metrics.periodic import Periodic
from metrics.versions import versions
from metrics.workers import Worker, drop_old

BEAT_SECONDS = 5.0
# Files come and go seldom, and asking nvidia-smi takes a moment.
LOOK_SECONDS = 60.0
DEVICE_SECONDS = 15.0
# A report in hand would write the row again after it is taken away.
LAST_SECONDS = 2.0


class Reporter:
    """The reports of one process: `beat` is its sign of life, `inspect` looks at its disk."""

    def __init__(self, name: str, queues: list[str]) -> None:
        self.uid, self.is_stopping = uuid4().hex, False
        self._fixed = {
            "name": name,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "queues": queues,
            "versions": versions(),
        }
        self._devices: list[Any] = []
        self._devices_at = self._looked_at = -DEVICE_SECONDS - LOOK_SECONDS

    def beat(self) -> None:
        """Write the row, making it where it is not there (yet, or any more)."""
        if time.monotonic() - self._devices_at >= DEVICE_SECONDS:
            self._devices, self._devices_at = list(devices()), time.monotonic()
        changing = {
            "devices": self._devices,
            "memory": process_memory(),
            "resident": resident(),
            "is_stopping": self.is_stopping,
            "seen_at": Now(),
        }
        if not self._row.update(**changing):
            Worker.objects.create(uid=self.uid, started_at=Now(), **self._fixed, **changing)

    def inspect(self) -> None:
        """Report the checkpoints of this host now and then, and compare hashes where asked."""
        row = self._row.first()
        if row is None:
            return
        if time.monotonic() - self._looked_at >= LOOK_SECONDS:
            drop_old(row)
            self._row.update(checkpoints=self._look(row.checkpoints))
            self._looked_at = time.monotonic()
        for name in row.checks:
            self._check(name)

    def leave(self) -> None:
        """Take the row away: this worker ends as it should."""
        self._row.delete()

    @property
    def _row(self) -> Any:
        return Worker.objects.filter(uid=self.uid)

    def _look(self, before: dict[str, Found]) -> dict[str, Found]:
        found = inventory.everything_here()
        for name in inventory.needed():
            if name in found:
                found[name]["fingerprint"] = _fingerprint(found[name]["path"])
        for name, about in found.items():
            old = before.get(name, {})
            # What a comparison found holds as long as the files are the same.
            if "checked_at" in old and old.get("size") == about["size"]:
                about["problems"], about["checked_at"] = old["problems"], old["checked_at"]
        return found

    def _check(self, name: str) -> None:
        problems = _verify(name)
        with transaction.atomic():
            row = self._row.select_for_update().get()
            row.checks = [other for other in row.checks if other != name]
            if name in row.checkpoints:
                row.checkpoints[name] |= {"problems": problems, "checked_at": time.time()}
            row.save(update_fields=["checks", "checkpoints"])


def _fingerprint(path: str) -> str:
    """What tells the files apart; empty where one cannot be read, which loading it will tell."""
    try:
        return checkpoints.fingerprint(path)
    except MetricError:
        return ""


def _verify(name: str) -> list[str]:
    path = inventory.find(name)
    if path is None:
        return [checkpoints.missing_message(name)]
    try:
        return checkpoints.verify(path)
    except (OSError, ValueError, MetricError) as error:
        return [f"The files cannot be read: {error}"]


def resident() -> list[str]:
    """Return the checkpoints that this process holds in memory; none before it has loaded torch."""
    encoders = sys.modules.get("metrics.encoders")
    return encoders.resident() if encoders else []


class _Current:
    reporter: Reporter | None = None
    threads: tuple[Periodic, ...] = ()


def begin_reports(sender: Any, **_: object) -> None:
    """A worker is ready: give the first sign of life and go on."""
    queues = sorted(sender.app.amqp.queues.consume_from)
    reporter = _Current.reporter = Reporter(sender.hostname, queues)
    _Current.threads = (
        Periodic("sign of life", BEAT_SECONDS, reporter.beat),
        Periodic("inspector", BEAT_SECONDS, reporter.inspect),
    )
    for thread in _Current.threads:
        thread.start()
    reporter.beat()


def begin_to_stop(**_: object) -> None:
    """The worker finishes its chunk; the next sign of life says so."""
    if _Current.reporter:
        _Current.reporter.is_stopping = True


def end_reports(**_: object) -> None:
    """The worker has stopped."""
    for thread in _Current.threads:
        thread.stop()
        thread.join(LAST_SECONDS)
    if _Current.reporter:
        _Current.reporter.leave()


worker_ready.connect(begin_reports)
worker_shutting_down.connect(begin_to_stop)
worker_shutdown.connect(end_reports)
