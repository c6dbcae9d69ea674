"""Servers of a benchmark's own, which it may stop: PostgreSQL and RabbitMQ in a folder."""

import os
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psycopg

DEADLINE = 60
RABBITMQ = "/usr/lib/rabbitmq/bin/rabbitmq-server"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


class Postgres:
    """A PostgreSQL server with its own data, for whom nothing is switched off."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        folder.mkdir(mode=0o700)
        shutil.chown(folder, "postgres")
        self._run("initdb", "--encoding=UTF8", "--locale=C", "--auth=trust", "--username=postgres")
        self.start()
        with psycopg.connect(self.url("postgres"), autocommit=True) as server:
            server.execute("CREATE DATABASE touchstone")

    def url(self, database: str = "touchstone", port: int = 0) -> str:
        return f"postgres://postgres@127.0.0.1:{port or self.port}/{database}"

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        self._run("pg_ctl", "start", "--wait", f"--options={options}", f"--log={self.folder}/log")
        deadline = time.monotonic() + DEADLINE
        while not self._answers():  # it may still read its log again
            assert time.monotonic() < deadline, "PostgreSQL does not start"
            time.sleep(0.05)

    def _answers(self) -> bool:
        with suppress(psycopg.OperationalError), psycopg.connect(self.url("postgres")):
            return True
        return False

    def stop(self, mode: str = "immediate") -> None:
        """Stop it; `immediate` leaves no time for anything, as a power cut."""
        self._run("pg_ctl", "stop", f"--mode={mode}")

    def _run(self, program: str, *arguments: str) -> None:
        [path, *_] = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"), reverse=True)
        command = [str(path), "-D", str(self.folder), *arguments]
        subprocess.run(
            command, user="postgres", cwd=self.folder, check=True, stdout=subprocess.DEVNULL
        )


class RabbitServer:
    """A RabbitMQ node with its own data; `port`, `stop` and `restart` as a Redis of tests."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        folder.mkdir()
        self._distribution = free_port()
        self.restart()

    def restart(self) -> None:
        variables = {
            "HOME": str(self.folder),
            "RABBITMQ_NODENAME": f"outages{self.port}@localhost",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._distribution),
            "RABBITMQ_MNESIA_BASE": str(self.folder),
            "RABBITMQ_LOG_BASE": str(self.folder),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
        }
        self.process = subprocess.Popen(
            [RABBITMQ], env=os.environ | variables, stdout=subprocess.DEVNULL, process_group=0
        )
        deadline = time.monotonic() + DEADLINE
        while not self._answers():
            assert time.monotonic() < deadline, "RabbitMQ does not start"
            time.sleep(0.2)

    def stop(self) -> None:
        """Kill it, with all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 2) as server:
            server.sendall(b"AMQP\x00\x00\x09\x01")
            return bool(server.recv(1))
        return False
