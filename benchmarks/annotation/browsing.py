"""What the load scripts share: a server, and annotators who use it as the page's script does."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlencode

TAG = re.compile(r"<input\b[^>]*>")
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
CONTINUE = re.compile(r'data-continue="([^"]*)"')
# As in the page's script: screens that go by after a reply without any.
REST = 5
LATER = 2
KEPT = ("revision", "started")


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """gunicorn with 2 processes × 4 threads on a free port, behind the command `prefix`."""

    def __init__(
        self, log_level: str = "warning", address: str = "127.0.0.1", prefix: Sequence[str] = (),
        **environment: str,
    ) -> None:  # fmt: skip
        self.port, self.address, self.prefix = free_port(), address, prefix
        self.log_level, self.environment = log_level, environment
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [*self.prefix, sys.executable, "-m", "gunicorn", "config.wsgi",
             "--bind", f"{self.address}:{self.port}",
             "--workers", "2", "--threads", "4", "--log-level", self.log_level],
            process_group=0, env=os.environ | self.environment,
        )  # fmt: skip
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                socket.create_connection((self.address, self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("the server did not start")

    def kill(self) -> None:
        """kill -9, workers included: nothing is finished or written any more."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


@dataclass
class Sent:
    """One answer with its key, and whether the server said that it is saved."""

    item: str
    score: int
    is_acknowledged: bool = False
    tries: int = 0


@dataclass
class Browser:
    """An annotator: keeps cookies, submits the form of the card it was given.

    `times` are those until an answer is stored and the next screen is here, `fetches` those of
    more screens, for which no person waits.
    What cannot be sent is sent again with the same key, as the page's outbox does.
    """

    port: int
    token: str
    sent: dict[str, Sent] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)
    fetches: list[float] = field(default_factory=list)
    cookies: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    is_done: bool = False
    size: int = 0
    rest: int = 0
    screens: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.token)
        self.left = (1 + self.rng.random()) / 3
        self.connection = HTTPConnection("127.0.0.1", self.port, timeout=60)

    def enter(self) -> None:
        """Follow the personal link to the first item."""
        address = f"/a/{self.token}/"
        while True:
            status, location, body = self.ask("GET", address)
            if status != 302:
                break
            address = location
        assert status == 200, (status, body[:300])
        self.address, self.card = address, body
        self.is_done = "/item/" not in address
        if not self.is_done:
            (self.campaign,) = CONTINUE.findall(body)
            self.fetch_ahead()

    def ask(
        self, method: str, address: str, fields: dict[str, str] | None = None
    ) -> tuple[int, str, str]:
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        if fields or "/ahead/" in address:
            headers |= {
                "Accept": "application/json",
                "Content-Type": "application/x-www-form-urlencoded",
                "X-CSRFToken": self.cookies["csrftoken"],
            }
        try:
            self.connection.request(method, address, urlencode(fields or {}), headers)
            response = self.connection.getresponse()
            body = response.read().decode()
        except BaseException:
            self.connection.close()
            raise
        for cookie in response.msg.get_all("Set-Cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value
        return response.status, response.headers.get("Location", ""), body

    def hidden(self) -> dict[str, str]:
        """The hidden fields of the form that go back as they came."""
        tags = (dict(ATTRIBUTE.findall(tag)) for tag in TAG.findall(self.card))
        found = {tag["name"]: tag.get("value", "") for tag in tags if tag.get("name") in KEPT}
        return {name: found[name] for name in KEPT}

    def rate(self, *, until: float = float("inf")) -> None:
        """Submit one answer, until it is acknowledged or time is over; go to the next item."""
        score, key = self.rng.randint(0, 100), str(uuid.uuid4())
        fields = self.hidden() | {"score": str(score), "submit_key": key}
        fields |= {"visible_ms": "900", "active_ms": "800"}
        if self.screens:
            fields["ahead"] = "1"
        one = self.sent[key] = Sent(self.address, score)
        began = time.perf_counter()
        while not one.is_acknowledged:
            one.tries += 1
            try:
                status, _, body = self.ask("POST", self.address, fields)
            except (OSError, HTTPException):
                status, body = 0, ""
            if status == 200:
                one.is_acknowledged = True
            elif time.monotonic() > until + 60:
                return
            else:
                if status:
                    self.problems.append(f"{status} {body[:200]}")
                time.sleep(0.2 + self.rng.random() / 2)
        self.times.append(time.perf_counter() - began)
        answer = json.loads(body)
        self.go_on(answer.get("path", answer["next"]), answer.get("html", ""))

    def go_on(self, address: str, card: str) -> None:
        """To a screen that is here, or to the one that came; more are fetched as by the page."""
        if not card and self.screens:
            one = self.screens.pop(0)
            address, card = one["path"], one["html"]
        self.address, self.card, self.is_done = address, card, not card
        if card and len(self.screens) <= self.left * self.size:
            self.rest -= 1
            if self.rest < 0:
                self.fetch_ahead()

    def fetch_ahead(self) -> None:
        began = time.perf_counter()
        last = (self.screens[-1]["path"] if self.screens else self.address).split("/")[-2]
        _, _, body = self.ask("GET", f"{self.campaign}ahead/?after={last}")
        self.fetches.append(time.perf_counter() - began)
        told = json.loads(body)
        if told.get("later"):
            self.rest = LATER
            return
        known = {self.address, *(one["path"] for one in self.screens)}
        self.screens += [one for one in told["screens"] if one["path"] not in known]
        self.size = len(self.screens)
        self.rest = 0 if self.size else REST

    def work(self, *, until: float, think: float) -> None:
        """Rate item after item with pauses of `think` seconds on average."""
        time.sleep(self.rng.random() * think)
        while time.monotonic() < until and not self.is_done:
            self.rate(until=until)
            if think:
                # gunicorn closes a connection that is idle for longer than 2 seconds.
                self.connection.close()
                time.sleep(self.rng.uniform(0.5, 1.5) * think)
