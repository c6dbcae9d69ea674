"""Scores are stored with the facts of the machine that their last digits depend on."""

import platform
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from metrics.models import MetricSignature, RunWorker
from metrics.runs import scoring, starting
from metrics.workers import reporter, telemetry
from tests.world import World


def test_the_processor_is_the_kernels() -> None:
    told = telemetry.processor()
    path = Path("/proc/cpuinfo")
    text = path.read_text() if path.exists() else ""
    assert told["processor"]
    if "model name" in text:
        assert f": {told['processor']}\n" in text
    if "avx2" in text.split():
        assert "avx2" in told["instructions"].split()


def test_libraries_that_are_in_use_and_what_holds_them_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    monkeypatch.setenv("MKL_ENABLE_INSTRUCTIONS", "AVX2")
    told = telemetry.builds()
    assert (told["numpy"], told["python"]) == (np.__version__, platform.python_version())
    # With the build, such as +cpu, where a signature has the release alone.
    assert told["torch"] == version("torch")
    assert told["torch kernels"] == torch.backends.cpu.get_cpu_capability()
    assert told["threads"] == str(torch.get_num_threads())
    assert told["MKL_ENABLE_INSTRUCTIONS"] == "AVX2"
    monkeypatch.delitem(sys.modules, "torch")
    assert "torch" not in telemetry.builds()
    assert telemetry.numpy_builds().keys().isdisjoint({"torch", "threads", "sacrebleu"})


def score(world: World) -> MetricSignature:
    [run] = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs
    scoring.drain(run.pk, worker="test")
    return MetricSignature.objects.get(runs=run)


@pytest.mark.django_db
def test_a_run_keeps_them_and_the_signature_does_not(world: World, as_researcher: Client) -> None:
    signature = score(world)
    [worker] = RunWorker.objects.all()
    assert worker.builds["processor"] == telemetry.processor()["processor"]
    assert worker.builds["sacrebleu"] == version("sacrebleu")
    assert worker.builds["processor"] not in signature.signature
    page = as_researcher.get(worker.run.get_absolute_url()).text
    assert f"<li>numpy {np.__version__}</li>" in page
    page = as_researcher.get("/metrics/chrf/").text
    assert f"Computed on cpu, {worker.builds['processor']}" in page
    document = as_researcher.get(f"/api/runs/{worker.run.pk}/").json()
    assert document["workers"][0]["builds"] == worker.builds


@pytest.mark.django_db
def test_scores_of_two_processors_stand_under_one_signature(world: World) -> None:
    signature = score(world)
    run = signature.runs.get()
    common = {"run": run, "host": "far", "device": "cpu", "segments": 3}
    RunWorker.objects.create(name="b", process="b", builds={"processor": "other"}, **common)
    RunWorker.objects.create(name="c", process="c", builds={"processor": "other"}, **common)
    RunWorker.objects.create(name="d", process="d", builds={}, **common)
    idle = common | {"segments": 0}
    RunWorker.objects.create(name="e", process="e", builds={"processor": "idle"}, **idle)
    found = reporter.of_signatures([signature.signature, "unknown|x"])
    assert [way["processor"] for way in found[signature.signature]] == [
        telemetry.processor()["processor"],
        "other",
        "not recorded",
    ]
    assert found["unknown|x"] == []
