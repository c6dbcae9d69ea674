"""Hosts as network namespaces, and the servers on one of them: database, broker, bucket.

`SERVERS` has an address for each server. The site's hosts are connected to it, as is this machine,
where the annotators are. An address falls silent by a rule that drops packets: no connection is
closed.
"""

import fcntl
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import boto3
import psycopg

SERVERS = "outages-servers"
# The hosts of the site; each is on a line of its own to the servers.
HOSTS = ("web1", "web2", "first", "second", "third")
WEB, WORKERS = HOSTS[:2], HOSTS[2:]
DATABASE, BROKER, BUCKET = "10.99.1.1", "10.99.1.2", "10.99.1.3"
URLS = {"redis": f"redis://{BROKER}:6379/0", "rabbitmq": f"amqp://guest:guest@{BROKER}:5672//"}
BUCKET_PORT, BUCKET_NAME = 5000, "files"
# A slow line: seconds and bytes per second, each way.
DELAY, RATE = 0.3, 125_000
TUNSETIFF, TUN_WITHOUT_HEADER = 0x400454CA, 0x1001
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"
DEADLINE = 120


def name_of(host: str) -> str:
    """Return the name of a host's namespace."""
    return host if host == SERVERS else f"outages-{host}"


def address(host: str) -> str:
    """Return the address of a host."""
    return f"10.99.{10 + HOSTS.index(host)}.2"


def on(host: str, *command: object) -> list[str]:
    """The command that runs another one on a host."""
    return ["ip", "netns", "exec", name_of(host), *map(str, command)]


def ip(line: str) -> None:
    """Run the command `ip` with these words."""
    subprocess.run(["ip", *line.split()], check=True)


@contextmanager
def network() -> Iterator[None]:
    """The hosts and their lines, which are gone afterwards."""
    try:
        for host in (SERVERS, *HOSTS):
            ip(f"netns add {name_of(host)}")
            ip(f"-n {name_of(host)} link set lo up")
        for server in (DATABASE, BROKER, BUCKET):
            ip(f"-n {SERVERS} address add {server}/32 dev lo")
        subprocess.run(
            on(SERVERS, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"), check=True
        )
        ip(f"link add outages0 type veth peer name machine netns {SERVERS}")
        ip("address add 10.99.0.2/24 dev outages0")
        ip("link set outages0 up")
        ip(f"-n {SERVERS} address add 10.99.0.1/24 dev machine")
        ip(f"-n {SERVERS} link set machine up")
        ip("route add 10.99.0.0/16 via 10.99.0.1")
        for host in HOSTS:
            name, gateway = name_of(host), address(host)[:-1] + "1"
            ip(f"-n {name} link add eth0 type veth peer name {host} netns {SERVERS}")
            ip(f"-n {name} address add {address(host)}/24 dev eth0")
            ip(f"-n {name} link set eth0 up")
            ip(f"-n {SERVERS} address add {gateway}/24 dev {host}")
            ip(f"-n {SERVERS} link set {host} up")
            ip(f"-n {name} route add default via {gateway}")
        yield
    finally:
        for host in (SERVERS, *HOSTS):  # takes the lines with it
            subprocess.run(["ip", "netns", "delete", name_of(host)], check=False)


@contextmanager
def slowed(host: str) -> Iterator[None]:
    """A host's packets take `DELAY` seconds longer each way, at `RATE` bytes per second.

    They go through a pair of tunnels that this process joins: not every kernel has netem.
    """
    name, gateway, line = name_of(host), address(host)[:-1] + "1", f"slow-{host}"
    ends = [_tunnel(line, SERVERS), _tunnel("slow", host)]
    is_over = threading.Event()
    thread = threading.Thread(target=_carry, args=(ends, is_over))
    thread.start()
    try:
        ip(f"-n {SERVERS} route add {address(host)}/32 dev {line}")
        ip(f"-n {name} route replace default dev slow src {address(host)}")
        yield
        ip(f"-n {name} route replace default via {gateway}")
    finally:
        is_over.set()
        thread.join()
        for end in ends:  # takes the tunnel and its route with it
            os.close(end)


def _tunnel(name: str, host: str) -> int:
    """Make a tunnel's end on a host; return its file."""
    end = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", name.encode(), TUN_WITHOUT_HEADER))
    ip(f"link set {name} netns {name_of(host)}")
    ip(f"-n {name_of(host)} link set {name} up")
    return end


def _carry(ends: list[int], is_over: threading.Event) -> None:
    """Carry packets from each end to the other, late."""
    waiting: dict[int, deque[tuple[float, bytes]]] = {end: deque() for end in ends}
    free = dict.fromkeys(ends, 0.0)
    while not is_over.is_set():
        due = min((line[0][0] for line in waiting.values() if line), default=float("inf"))
        pause = min(max(due - time.monotonic(), 0.0), 0.05)
        for end in select.select(ends, [], [], pause)[0]:
            packet = os.read(end, 65_536)
            free[end] = max(free[end], time.monotonic()) + len(packet) / RATE
            waiting[end].append((free[end] + DELAY, packet))
        for end, other in (ends, ends[::-1]):
            while waiting[end] and waiting[end][0][0] <= time.monotonic():
                os.write(other, waiting[end].popleft()[1])


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


class Bucket:
    """A server of S3's protocol, which keeps all in memory."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "moto.server", "-H", BUCKET, "-p", BUCKET_PORT]
        self.process = subprocess.Popen(
            on(SERVERS, *command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.url = f"http://{BUCKET}:{BUCKET_PORT}"
        os.environ |= {
            "AWS_ACCESS_KEY_ID": "benchmark",
            "AWS_SECRET_ACCESS_KEY": "benchmark",
            "AWS_DEFAULT_REGION": "us-east-1",
            "NO_PROXY": BUCKET,
            "FILES_S3_BUCKET": BUCKET_NAME,
            "FILES_S3_ENDPOINT": self.url,
        }
        wait_for(lambda: socket.create_connection((BUCKET, BUCKET_PORT), 2).close(), "the bucket")
        boto3.client("s3", endpoint_url=self.url).create_bucket(Bucket=BUCKET_NAME)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
