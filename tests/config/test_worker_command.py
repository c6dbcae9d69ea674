"""`touchstone worker`: which processes it starts, and that they serve every queue they can."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from config.management.commands import worker
from tests.refusals import refused

ROOT = Path(__file__).parents[2]
DEADLINE = 300
OPTIONS = {"processes": 3, "gpus": None, "loglevel": "warning"}


def queues_of(command: list[str]) -> list[str]:
    return command[command.index("-Q") + 1].split(",")


def test_every_queue_is_served_once() -> None:
    commands = worker.workers(list(settings.WORK_QUEUES), OPTIONS)
    served = [name for command in commands for name in queues_of(command)]
    assert sorted(served) == sorted(settings.WORK_QUEUES)


def test_only_the_worker_of_the_gpu_queue_sees_gpus() -> None:
    commands = worker.workers(list(settings.WORK_QUEUES), OPTIONS)
    seeing = [queues_of(c) for c in commands if "CUDA_VISIBLE_DEVICES=" not in c]
    assert seeing == [["gpu"]]


@pytest.mark.parametrize(("limit", "kb"), [("1073741824", 400_000), ("max", None), ("", None)])
def test_a_child_may_keep_a_part_of_the_memory_that_there_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: str, kb: int | None
) -> None:
    file = tmp_path / "memory.max"
    if limit:
        file.write_text(f"{limit}\n")
    monkeypatch.setattr(worker, "LIMIT", file)
    sizes = {"SC_PHYS_PAGES": 2**24, "SC_PAGE_SIZE": 2**12}  # 64 GiB
    monkeypatch.setattr(worker.os, "sysconf", sizes.__getitem__)
    assert worker.largest_kb() == (kb or 2 * 2**20)


def test_queues_are_those_that_can_be_served(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(worker, "find_spec", lambda name: None)
    settings.JUDGE_ENDPOINTS = []
    assert {"gpu", "judges"}.isdisjoint(worker.possible_queues())
    monkeypatch.setattr(worker, "find_spec", lambda name: name)
    settings.JUDGE_ENDPOINTS = [{"name": "here"}]
    assert worker.possible_queues() == list(settings.WORK_QUEUES)


def test_an_unknown_queue_is_refused_by_name() -> None:
    with refused("command.no-queue", kind=CommandError, name="gpus"):
        call_command("worker", queues="cpu,gpus")


def test_one_command_serves_every_queue(migrated: Path, tmp_path: Path) -> None:
    database = tmp_path / "touchstone.sqlite3"
    shutil.copy(migrated, database)
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    environment |= {"TOUCHSTONE_VAR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    with (tmp_path / "log").open("w") as log:
        command = [sys.executable, str(ROOT / "manage.py"), "worker", "--processes", "1"]
        started = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=log)
    end = time.monotonic() + DEADLINE
    try:
        while not served(database) >= set(worker.possible_queues()):
            assert time.monotonic() < end, (tmp_path / "log").read_text()
            assert started.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.2)
    finally:
        started.send_signal(signal.SIGTERM)
    assert started.wait() == 0


def served(database: Path) -> set[str]:
    with closing(sqlite3.connect(database)) as rows:
        found = rows.execute("SELECT value FROM metrics_worker, json_each(queues)").fetchall()
    return {name for (name,) in found}
