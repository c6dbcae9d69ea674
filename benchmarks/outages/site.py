"""A site whose parts can be struck, and those who notice: annotator, researcher, and a watch."""

import os
import re
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import pairwise
from typing import Any

import psycopg
from urllib3 import encode_multipart_formdata

from benchmarks.annotation.browsing import Browser, Server
from benchmarks.outages.servers import Broker, Postgres, address, on
from benchmarks.processes import family
from tests.metrics.sites import ROOT, Site

# Seconds until a proxy tries the other host, and its answers that say to try again.
PATIENCE = 10
REFUSALS = (502, 503, 504, 507)
PASSWORD = "a benchmark's reader"  # noqa: S105 - for one that is gone with its site
# Process numbers of its own: to other workers it is another machine.
HOST = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]


class World(Site):
    """Web servers and workers, each on a host of its own with a folder of its own."""

    deadline = 900
    server: Postgres
    services: Broker
    web: dict[str, Server]

    def start_web(self, host: str) -> Server:
        """Start the web server of a host."""
        prefix = on(host, *HOST)
        self.web[host] = Server("error", address(host), prefix, TOUCHSTONE_VAR=self.folder(host))
        return self.web[host]

    def folder(self, host: str) -> str:
        """Return the folder of a host, which no other host sees."""
        path = self.var / host
        path.mkdir(exist_ok=True)
        return str(path)

    def start_worker(self, name: str, *queues: str, **environment: str) -> Any:
        """Start the worker of a host."""
        celery = [sys.executable, "-W", "ignore", "-m", "celery", "-A", "config", "worker", "-c1"]
        options = ["-Q", "cpu", "-n", f"cpu@{name}", "--without-gossip", "--without-mingle"]
        command = [*HOST, *celery, *options]
        with (self.var / f"{name}.log").open("ab") as log:
            self.workers[name] = subprocess.Popen(
                on(name, *command), cwd=ROOT, stdout=log, stderr=log,
                env=os.environ | environment | {"TOUCHSTONE_VAR": self.folder(name)},
            )  # fmt: skip
        return self.workers[name]

    def pids(self, host: str) -> list[int]:
        """The processes of a worker; its child, which works, comes last."""
        return family(self.workers[host].pid)[1:]

    def hands(self) -> dict[str, tuple[str, int]]:
        """Return the process and the run of each host that is scoring a slice."""
        sql = (
            "SELECT w.name, w.process, s.run_id FROM metrics_slice s "
            "JOIN metrics_runworker w ON w.id = s.worker_id WHERE s.status = 'running'"
        )
        return {name.split("@")[1]: (process, run) for name, process, run in self.query(sql)}

    def struck(self, host: str) -> tuple[str, int]:
        """Wait until a host is scoring; return its process and run."""
        self.wait_for(f"{host} at work", lambda: host in self.hands())
        return self.hands().get(host) or self.struck(host)


@dataclass
class Watch:
    """Count the scores, and note which hosts are scoring, ten times a second."""

    site: World
    process: str = ""
    scored: list[float] = field(default_factory=list)
    held_until: float = 0.0
    _is_over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self._watch)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    def pause(self, since: float) -> float:
        """Return the longest time without a new score."""
        times = [since, *(moment for moment in self.scored if moment > since)]
        return max((b - a for a, b in pairwise(times)), default=0.0)

    def next_after(self, since: float) -> float:
        """Return the seconds until the next score."""
        return next((moment - since for moment in self.scored if moment > since), 0.0)

    def _watch(self) -> None:
        known = 0
        while not self._is_over.wait(0.1):
            with suppress(psycopg.Error):
                [(n,)] = self.site.query("SELECT count(*) FROM metrics_segmentscore")
                if n > known:
                    self.scored.append(time.monotonic())
                known = n
                if self.process and self.process in dict(self.site.hands().values()):
                    self.held_until = time.monotonic()


@dataclass
class Visitor(Browser):
    """Turns to the other web host when one does not answer, as a proxy in front of them does."""

    hosts: list[Server] = field(default_factory=list)

    def ask(
        self, method: str, address: str, fields: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        try:
            return super().ask(method, address, fields)
        except (OSError, HTTPException):
            self.turn()
            raise

    def turn(self, timeout: float = PATIENCE) -> None:
        """Go on with the next host."""
        self.hosts = [*self.hosts[1:], self.hosts[0]]
        self.connection.close()
        host = self.hosts[0]
        self.connection = HTTPConnection(host.address, host.port, timeout=timeout)


@dataclass
class Annotator(Visitor):
    """Rates as long as a trial goes on; notes when it asked and how long an answer took."""

    answers: list[tuple[float, float]] = field(default_factory=list)
    stored: list[tuple[float, float]] = field(default_factory=list)

    def ask(
        self, method: str, address: str, fields: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        began = time.monotonic()
        answer = super().ask(method, address, fields)
        self.answers.append((began, time.monotonic() - began))
        return answer

    def fetch_ahead(self) -> None:
        """Fetch screens where the site answers; without them the next comes with the answer."""
        with suppress(OSError, HTTPException, ValueError, KeyError):
            super().fetch_ahead()

    def work_until(self, is_over: threading.Event) -> None:
        while not (is_over.is_set() or self.is_done):
            began = time.monotonic()
            self.rate()
            self.stored.append((began, time.monotonic() - began))
            self.connection.close()
            time.sleep(0.3)


@dataclass
class Uploader(Visitor):
    """Uploads one test set after the other: files to one web host, confirmed on the other."""

    uploaded: list[str] = field(default_factory=list)

    def work_until(self, is_over: threading.Event) -> None:
        while not is_over.is_set():
            name = f"Upload {uuid.uuid4().hex}"
            while not (address := self._send(name)):
                time.sleep(0.2)
            self.uploaded.append(name)
            self.turn()
            while not self._confirm(address):
                time.sleep(0.2)
            self.turn()
            time.sleep(1)

    def _send(self, name: str) -> str:
        """Send the files; return the address of the preview, or "" without an answer."""
        words = {"name": name, "source_language": "de", "target_language": "en"}
        fields: dict[str, Any] = words | {"csrfmiddlewaretoken": self.cookies["csrftoken"]}
        fields["source"] = ("source.txt", f"{name}\nGuten Morgen.\n")
        fields["systems"] = ("alpha.txt", "One.\nGood morning.\n")
        body, kind = encode_multipart_formdata(fields)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        try:
            self.connection.request(
                "POST", "/testsets/upload/", body, {"Cookie": cookies, "Content-Type": kind}
            )
            answer = self.connection.getresponse()
            text = answer.read().decode()
        except (OSError, HTTPException):
            self.turn()
            return ""
        self._note(answer.status, text)
        return answer.headers.get("Location", "")

    def _confirm(self, address: str) -> bool:
        """Confirm what the preview shows; return whether it is stored."""
        with suppress(OSError, HTTPException):
            status, _, body = self.ask("GET", address)
            if status != 200:  # an answer was lost, and it is stored; or a host has trouble
                self._note(status, body)
                return status == 302
            fields = dict(re.findall(r'name="(seen)" value="([^"]*)"', body))
            fields["csrfmiddlewaretoken"] = self.cookies["csrftoken"]
            status, _, body = self.ask("POST", address, fields)
            self._note(status, body)
            return status == 302
        return False

    def _note(self, status: int, body: str) -> None:
        if status not in (302, *REFUSALS):
            self.problems.append(f"{status} {body[:2000]}")


def longest(waits: list[tuple[float, float]], since: float) -> float:
    return max((seconds for began, seconds in waits if began + seconds > since), default=0.0)


def cancel(reader: Browser, run: int) -> str:
    """Click on Cancel until there is an answer: how long that took, and a status that is bad."""
    began = time.monotonic()
    while True:
        with suppress(OSError, HTTPException):
            status, _, _ = reader.ask("POST", f"/runs/{run}/cancel/", {"cancel": "yes"})
            code = "" if status == 302 else f" ({status})"
            return f"{time.monotonic() - began:.1f} s{code}"
        time.sleep(0.1)


def sign_in(browser: Visitor) -> None:
    """Sign a researcher in."""
    browser.turn(60)
    browser.ask("GET", "/login/")
    status, _, body = browser.ask("POST", "/login/", {"username": "reader", "password": PASSWORD})
    assert status == 302, body[:300]
    browser.turn()
