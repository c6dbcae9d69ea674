"""Workers as rows and checkpoints as files, for tests of the fleet: no process, no weights."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from metrics.models import MetricRun, RunWorker, Slice
from metrics.models.fleet import Worker, WorkerChild


def make_worker(name: str = "gpu0@one", *, silent: float = 0, **fields: Any) -> Worker:
    """A worker on the host after the @, that gave its last sign of life `silent` seconds ago.

    Where that is 0 it stays alive for an hour, however slow the test.
    """
    now = timezone.now()
    seen = now - timedelta(seconds=silent) if silent else now + timedelta(hours=1)
    stored: dict[str, Any] = {
        "uid": uid_of(name, fields.get("pid", 7)),
        "name": name,
        "host": name.partition("@")[2],
        "pid": 7,
        "queues": ["cpu", "gpu"],
        "started_at": now - timedelta(hours=1),
        "seen_at": seen,
    }
    return Worker.objects.create(**stored | fields)


def uid_of(name: str, pid: int = 7) -> str:
    """What the names of all processes of a worker begin with."""
    return f"{name}-{pid}"


def make_child(worker: Worker, pid: int = 8, **fields: Any) -> WorkerChild:
    """A process of a worker."""
    return WorkerChild.objects.create(worker=worker, pid=pid, **fields)


def put_to_work(run: MetricRun, worker: str, rate: float, pid: int = 8) -> RunWorker:
    """Give a process of a worker of :func:`make_worker` a slice of the run."""
    MetricRun.objects.filter(pk=run.pk).update(status="running", worker=worker, rate=rate)
    row = RunWorker.objects.create(
        run=run, name=worker, process=f"{uid_of(worker)}.{pid}", host="host", rate=rate
    )
    Slice.objects.filter(run=run).update(status="running", worker=row)
    return row


def found(path: str = "/models/x", **more: Any) -> dict[str, Any]:
    """What a worker reports of one checkpoint."""
    return {"path": path, "size": 2048, "layers": 13, "needs": [], "has_sums": True} | more


def encoder(folder: Path, layers: int = 12) -> Path:
    """The files of an encoder whose weights nobody loads."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"num_hidden_layers": layers}))
    (folder / "model.safetensors").write_bytes(bytes(1000))
    return folder


def comet(folder: Path) -> Path:
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "checkpoints" / "model.ckpt").write_bytes(bytes(500))
    (folder / "hparams.yaml").write_text("pretrained_model: xlm-roberta-large\n")
    return folder


def empty_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty TOUCHSTONE_MODELS; the hub's cache is empty, too."""
    folder = tmp_path / "models"
    folder.mkdir()
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(folder))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    return folder
