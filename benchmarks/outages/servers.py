"""Hosts as network namespaces, and the servers on one of them: PostgreSQL, Redis or RabbitMQ.

`SERVERS` has an address for each server; the machine itself and the host `SECOND` are connected to
it. An address falls silent by a rule that drops what it sends: no connection is closed.
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

SERVERS, SECOND = "outages-servers", "outages-second"
DATABASE, BROKER, OTHER = "10.99.1.1", "10.99.1.2", "10.99.2.2"
URLS = {"redis": f"redis://{BROKER}:6379/0", "rabbitmq": f"amqp://guest:guest@{BROKER}:5672//"}
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"
DEADLINE = 120


def on(host: str, *command: object) -> list[str]:
    """The command that runs another one on a host."""
    return ["ip", "netns", "exec", host, *map(str, command)]


@contextmanager
def network() -> Iterator[None]:
    """The hosts and their lines, which are gone afterwards."""

    def ip(line: str) -> None:
        subprocess.run(["ip", *line.split()], check=True)

    try:
        for host in (SERVERS, SECOND):
            ip(f"netns add {host}")
            ip(f"-n {host} link set lo up")
        ip(f"link add outages0 type veth peer name first netns {SERVERS}")
        ip(f"-n {SECOND} link add eth0 type veth peer name second netns {SERVERS}")
        ip("address add 10.99.1.254/24 dev outages0")
        ip("link set outages0 up")
        ip(f"-n {SECOND} address add {OTHER}/24 dev eth0")
        ip(f"-n {SECOND} link set eth0 up")
        for address, line in ((DATABASE, "first"), (BROKER, "first"), ("10.99.2.1", "second")):
            ip(f"-n {SERVERS} address add {address}/24 dev {line}")
            ip(f"-n {SERVERS} link set {line} up")
        ip(f"-n {SECOND} route add default via 10.99.2.1")
        yield
    finally:
        for host in (SERVERS, SECOND):  # takes the lines with it
            subprocess.run(["ip", "netns", "delete", host], check=False)


@contextmanager
def silent(*rules: str) -> Iterator[None]:
    """What the rules name (`from ADDRESS`, `to ADDRESS`) gets no packet from the servers."""
    for action in ("add", "del"):
        for rule in rules:
            words = ["rule", action, *rule.split(), "blackhole"]
            subprocess.run(["ip", "-n", SERVERS, *words], check=True)
        if action == "add":
            yield


def wait_for(answers: Callable[[], object], what: str) -> None:
    """Call until there is no error."""
    deadline = time.monotonic() + DEADLINE
    while True:
        try:
            answers()
            return
        except (psycopg.OperationalError, OSError):
            assert time.monotonic() < deadline, f"{what} does not start"
            time.sleep(0.1)


class Postgres:
    """PostgreSQL as it comes, with data of its own. `url` is by a socket, which is never silent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700)
        shutil.chown(folder, "postgres")
        self._run("initdb", "--encoding=UTF8", "--locale=C", "--auth=trust")
        with (folder / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.99.0.0/16 trust\n")
        self.start()
        with psycopg.connect(self._url("postgres"), autocommit=True) as server:
            server.execute("CREATE DATABASE touchstone")
        self.url = self._url("touchstone")

    def _url(self, database: str) -> str:
        return f"postgres://postgres@{str(self.folder).replace('/', '%2F')}/{database}"

    def start(self) -> None:
        options = f"--options=-k {self.folder} -c listen_addresses={DATABASE}"
        self._run("pg_ctl", "start", "--wait", options, f"--log={self.folder}/log")
        wait_for(lambda: psycopg.connect(self._url("postgres")).close(), "PostgreSQL")

    def stop(self) -> None:
        """Leave it no time for anything, as a power cut."""
        self._run("pg_ctl", "stop", "--mode=immediate")

    def _run(self, program: str, *options: str) -> None:
        [path, *_] = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), reverse=True)
        command = ["runuser", "-u", "postgres", "--", path, "-D", self.folder, *options]
        subprocess.run(
            on(SERVERS, *command), cwd=self.folder, check=True, stdout=subprocess.DEVNULL
        )


class Broker:
    """Redis, which keeps nothing, or RabbitMQ with data of its own."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        folder.mkdir()
        (folder / "rabbitmq.conf").write_text("loopback_users = none\n")
        self.start()

    def start(self) -> None:
        redis = ["redis-server", "--bind", BROKER, "--save", "", "--protected-mode", "no"]
        names = {
            "NODENAME": "outages@localhost",
            "CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "PID_FILE": str(self.folder / "pid"),
            **dict.fromkeys(("MNESIA_BASE", "LOG_BASE"), str(self.folder)),
        }
        variables = {f"RABBITMQ_{name}": value for name, value in names.items()}
        self.process = subprocess.Popen(
            on(SERVERS, *(redis if self.kind == "redis" else [RABBITMQ])), process_group=0,
            env=os.environ | variables | {"HOME": str(self.folder)}, stdout=subprocess.DEVNULL,
            cwd=self.folder,
        )  # fmt: skip
        address = BROKER, int(URLS[self.kind].split(":")[-1].split("/")[0])
        wait_for(lambda: socket.create_connection(address, 2).close(), self.kind)

    def stop(self) -> None:
        """Kill it, with all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
