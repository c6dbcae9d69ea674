"""Hashes compared by the hosts that are asked, and what pages say of it afterwards."""

import hashlib
import socket
from pathlib import Path
from typing import Any

import pytest

from core.work import working
from metrics.models import HashCheck
from metrics.models.fleet import Worker
from metrics.stock import hosts, inventory
from metrics.stock.hosts import ask_for_check, hash_checks
from tests.metrics.fleet import empty_models, encoder, found, make_worker

NAME, HERE = "roberta-large-mnli", socket.gethostname()
pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint on this host with its hashes, which a worker here reports."""
    folder = encoder(empty_models(tmp_path, monkeypatch) / NAME)
    sums = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("config.json", "model.safetensors")
    ]
    (folder / "SHA256SUMS").write_text("".join(sums))
    make_worker(f"gpu0@{HERE}", checkpoints={NAME: dict(inventory.look(NAME) or {})})
    return folder


def stored_check() -> dict[str, Any]:
    (stock,) = (each for each in hosts.survey(Worker.objects.all()) if each.name == NAME)
    return dict(stock.places[0].found)


def test_hashes_are_compared_where_asked(folder: Path) -> None:
    assert "problems" not in stored_check()
    ask_for_check(NAME, Worker.objects.all())
    assert working.drain(hash_checks) == 1
    assert stored_check()["problems"] == []
    (folder / "model.safetensors").write_bytes(bytes(999) + b"x")
    ask_for_check(NAME, Worker.objects.all())
    assert working.drain(hash_checks) == 1
    (problem,) = stored_check()["problems"]
    assert (problem.code, problem.parameters["name"]) == (
        "checkpoint.hash-differs",
        "model.safetensors",
    )
    assert HashCheck.objects.count() == 1


def test_a_comparison_holds_until_the_files_change(folder: Path) -> None:
    ask_for_check(NAME, Worker.objects.all())
    working.drain(hash_checks)
    assert "checked_at" in stored_check()
    (folder / "model.safetensors").write_bytes(bytes(10))
    Worker.objects.update(checkpoints={NAME: dict(inventory.look(NAME) or {})})
    assert "checked_at" not in stored_check()


def test_a_worker_of_every_host_is_asked_and_no_other_does_it() -> None:
    for name in ("gpu0@one", "gpu1@one", "gpu0@two"):
        make_worker(name, checkpoints={NAME: found()}, queues=["gpu"])
    make_worker("gpu0@three")
    for _ in range(2):
        assert ask_for_check(NAME, Worker.objects.all()) == ["one", "two"]
    assert hosts.checks_under_way() == {("one", NAME), ("two", NAME)}
    assert set(HashCheck.objects.values_list("queue", flat=True)) == {"gpu"}
    assert working.do_one(hash_checks) is None
    (stock,) = (each for each in hosts.survey(Worker.objects.all()) if each.name == NAME)
    assert [place.is_asked for place in stock.places] == [True, True]


def test_asking_for_what_is_gone_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty_models(tmp_path, monkeypatch)
    make_worker(f"gpu0@{HERE}", checkpoints={"acme/none": found()})
    ask_for_check("acme/none", Worker.objects.all())
    assert working.drain(hash_checks) == 1
    assert HashCheck.objects.get().problems[0]["parameters"]["checkpoint"] == "acme/none"
