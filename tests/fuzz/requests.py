"""A hostile request, how it is sent, and the record of what was answered."""

import traceback
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any

from django.test import Client

SHOWN = 3


@dataclass(frozen=True)
class Case:
    """One request; `what` says what is wrong with it."""

    method: str
    address: str
    what: str
    body: bytes = b""
    content_type: str = "application/octet-stream"
    headers: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.method} {self.address[:120]} ({self.what}) {self.body[:80]!r}"


def send(client: Client, case: Case) -> Any:
    """Send a request as it is; a view that fails answers 500 as it does to a browser.

    Whatever cookies the answer sets or deletes, the client stays who it was.
    """
    client.raise_request_exception = False
    kept = {name: morsel.value for name, morsel in client.cookies.items()}
    content_type = case.content_type if case.body or case.method in ("POST", "PUT", "PATCH") else ""
    answer = client.generic(
        case.method, case.address, case.body, content_type, headers=dict(case.headers)
    )
    client.cookies = SimpleCookie(kept)
    return answer


@dataclass
class Record:
    """Answers by address and status, and what was wrong with any of them."""

    statuses: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    faults: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, address: str, case: Case, answer: Any, fault: str, role: str) -> None:
        """Count an answer; a failure of the server is a fault always."""
        self.statuses[address][answer.status_code] += 1
        if answer.status_code >= 500 and answer.status_code != 501:
            info = getattr(answer, "exc_info", None)
            fault = "".join(traceback.format_exception(*info)[-3:]) if info else answer.text[-300:]
        if fault:
            self.faults[f"{answer.status_code}: {fault}"].append(f"{role}: {case}")

    @property
    def summary(self) -> str:
        """Each fault in words, with how many requests show it, and the first of them."""
        lines = [
            f"{len(requests)} times {fault}\n  " + "\n  ".join(requests[:SHOWN])
            for fault, requests in self.faults.items()
        ]
        return "\n".join([f"{len(lines)} faults", *lines])

    @property
    def table(self) -> str:
        """A line for each address: how many requests, and how often each status."""
        lines = []
        for address, counted in sorted(self.statuses.items()):
            statuses = " ".join(f"{status}:{n}" for status, n in sorted(counted.items()))
            lines.append(f"{address}\t{counted.total()}\t{statuses}")
        total = sum(counted.total() for counted in self.statuses.values())
        return "\n".join([*lines, f"all\t{total}"])
