"""A training whose worker is killed for real ends with the weights of one that was not."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import torch
from safetensors.torch import load_file

from tests.metrics.families.neural import small
from tests.metrics.sites import ROOT, Broker, Site
from training.saving import current

START = """
import json
from training import corpora, jobs
from training.parallel import Row
rows = [Row(str(n), *pair) for n, pair in enumerate({pairs!r})]
corpus = corpora.add(name={name!r}, source_language="de", target_language="en", rows=rows)
options = json.loads({options!r})
print(jobs.start(kind="refreeeval", name={name!r}, given=options, corpora=[corpus]).folder)
"""
OPTIONS = {
    "variant": "sent-level",
    "layer": 2,
    "negatives": 3,
    "max_pieces": 40,
    "held_out": 0.2,
    "batch": 4,
    "rate": 1e-3,
    "warmup": 5,
    "steps": 300,
    "evaluate_every": 10,
}


class TrainingSite(Site):
    """One whose workers know the kinds of jobs under the test's queue."""

    @property
    def environment(self) -> dict[str, str]:
        """One thread: sums in another order would be other numbers."""
        settings = {"DJANGO_SETTINGS_MODULE": "tests.training.worker_settings"}
        return super().environment | settings | {"OMP_NUM_THREADS": "1"}

    def status(self, name: str) -> str:
        rows = self.query("SELECT name, status FROM training_trainingjob")
        return str(dict(rows)[name])

    def start_job(self, name: str, encoder: Path, pairs: list[tuple[str, str]]) -> Path:
        """Return the folder of a new job."""
        options = OPTIONS | {"encoder": str(encoder), "teacher": str(encoder)}
        code = START.format(pairs=pairs, name=name, options=json.dumps(options))
        return Path(self.manage("shell", "-v0", "-c", code).split()[-1])

    def wait_for_job(self, name: str) -> None:
        ends = ("done", "failed", "cancelled")
        self.wait_for(f"{name} ends", lambda: self.status(name) in ends)
        assert self.status(name) == "done"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[TrainingSite]:
    site = TrainingSite(tmp_path, f"touchstone-{uuid4().hex[:12]}", None, Broker(tmp_path))
    try:
        site.manage("migrate", "-v0")
        yield site
    finally:
        for worker in site.workers.values():
            worker.kill()
            worker.wait()


def weights(folder: Path) -> dict[str, torch.Tensor]:
    made = current(folder, "metric")
    assert made is not None
    return load_file(made / "model.safetensors")


def test_a_killed_training_ends_with_the_same_weights(site: TrainingSite, tmp_path: Path) -> None:
    nouns, places = ["harbour", "boat", "rope", "crane"], ["water", "quay", "wind", "fog"]
    pairs = [
        (f"Satz {n} {nouns[n % 4]}", f"the {nouns[n % 4]} and {places[n % 3]} of number {n}")
        for n in range(60)
    ]
    encoder = small.bert(tmp_path / "bert", [text for pair in pairs for text in pair])
    first = site.start_worker("first")
    whole = site.start_job("whole", encoder, pairs)
    site.wait_for_job("whole")
    killed = site.start_job("killed", encoder, pairs)
    checkpoint = killed / "sentence" / "last.current"
    site.wait_for(
        "the third checkpoint",
        lambda: checkpoint.exists() and int(checkpoint.read_text().rpartition("-")[2] or 0) > 2,
    )
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert site.status("killed") == "running"
    assert current(killed, "metric") is None
    site.start_worker("second")
    site.wait_for_job("killed")
    expected, found = weights(whole), weights(killed)
    before = load_file(encoder / "model.safetensors")
    assert not torch.equal(
        found["encoder.layer.0.output.dense.weight"], before["encoder.layer.0.output.dense.weight"]
    )
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_a_command_that_was_killed_goes_on_when_started_again(
    site: TrainingSite, tmp_path: Path
) -> None:
    """Meanwhile workers take newer jobs, and nobody takes the one that is not theirs."""
    nouns = ["harbour", "boat", "rope", "crane"]
    pairs = [(f"Satz {n} {nouns[n % 4]}", f"the {nouns[n % 4]} of number {n}") for n in range(60)]
    encoder = small.bert(tmp_path / "bert", [text for pair in pairs for text in pair])
    site.start_worker("only")
    whole = site.start_job("whole", encoder, pairs)
    site.wait_for_job("whole")
    settings = OPTIONS | {"encoder": str(encoder), "teacher": str(encoder)}
    given = [part for name, value in settings.items() for part in ("--option", f"{name}={value}")]
    command = ["train", "refreeeval", "--name", "here", "--corpus", "whole", "--here", *given]
    with subprocess.Popen(
        [sys.executable, "manage.py", *command], cwd=ROOT, env=site.environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as first:  # fmt: skip
        folders = site.var / "trained"
        site.wait_for("a folder", lambda: any(folders.glob("*-here/sentence/last-3")))
        (killed,) = folders.glob("*-here")
        with pytest.raises(AssertionError, match=rf"here, is being trained by .* {first.pid} on"):
            site.manage(*command)
        first.send_signal(signal.SIGKILL)
        first.wait()
    assert site.status("here") == "running"
    assert current(killed, "metric") is None
    site.start_job("newer", encoder, pairs)
    site.wait_for_job("newer")
    site.wait_for("it is told", lambda: site.status("here") == "failed")
    step = json.loads((current(killed / "sentence", "last") or killed / "none").joinpath(
        "meta.json").read_text())["step"]  # fmt: skip
    assert 0 < step < OPTIONS["steps"]
    assert "goes on from what it saved" in site.manage(*command)
    assert site.status("here") == "done"
    expected, found = weights(whole), weights(killed)
    assert all(torch.equal(expected[name], found[name]) for name in expected)
