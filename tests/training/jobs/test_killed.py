"""A training whose process is killed for real ends with the weights of one that was not."""

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import torch
from safetensors.torch import load_file

from benchmarks.gpu import small
from tests.metrics.sites import Broker, Site
from training.contract import Corpus
from training.jobs.saving import current
from training.refreeeval.recipe import Recipe
from training.refreeeval.train import make_metric

START = """
import json
from training.jobs import starting
from training.parallel import corpora
from training.parallel.reading import Row
rows = [Row(str(n), *pair) for n, pair in enumerate({pairs!r})]
corpus = corpora.add(name="news", source_language="de", target_language="en", rows=rows)
options = json.loads({options!r})
print(starting.start(kind="refreeeval", name="killed", given=options, corpora=[corpus]).folder)
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
    "steps": 100,
    "evaluate_every": 5,
}
NOUNS, PLACES = ["harbour", "boat", "rope", "crane"], ["water", "quay", "wind", "fog"]
PAIRS = [
    (f"Satz {n} {NOUNS[n % 4]}", f"the {NOUNS[n % 4]} and {PLACES[n % 3]} of number {n}")
    for n in range(60)
]


class TrainingSite(Site):
    """One whose workers know the kinds of jobs under the test's queue."""

    @property
    def environment(self) -> dict[str, str]:
        """One thread: sums in another order would be other numbers."""
        settings = {"DJANGO_SETTINGS_MODULE": "tests.training.worker_settings"}
        return super().environment | settings | {"OMP_NUM_THREADS": "1"}

    def job(self) -> tuple[Any, ...]:
        """Status and failed attempts of the only job, and who has it."""
        return self.query("SELECT status, attempts, owner FROM training_trainingjob")[0]


@pytest.fixture
def site(tmp_path: Path, migrated: Path) -> Iterator[TrainingSite]:
    shutil.copy(migrated, tmp_path)
    site = TrainingSite(tmp_path, f"touchstone-{uuid4().hex[:12]}", None, Broker(tmp_path))
    try:
        yield site
    finally:
        for worker in site.workers.values():
            worker.kill()
            worker.wait()


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_a_killed_training_ends_with_the_same_weights(
    site: TrainingSite, tmp_path: Path, one_thread: None
) -> None:
    """The worker notices at once that its child is dead: nobody waits for a claim to expire."""
    encoder = small.bert(tmp_path / "bert", [text for pair in PAIRS for text in pair])
    options = OPTIONS | {"encoder": str(encoder), "teacher": str(encoder)}
    code = START.format(pairs=PAIRS, options=json.dumps(options))
    folder = Path(site.manage("shell", "-v0", "-c", code).split()[-1])
    worker = site.start_worker("only")
    checkpoint = folder / "sentence" / "last.current"
    site.wait_for(
        "the third checkpoint",
        lambda: checkpoint.exists() and int(checkpoint.read_text().rpartition("-")[2] or 0) > 2,
    )
    status, attempts, owner = site.job()
    assert (status, attempts) == ("running", 0)
    child = int(owner.split(".")[1])
    assert child != worker.pid
    os.kill(child, signal.SIGKILL)
    assert current(folder, "metric") is None
    site.wait_for("the job ends", lambda: site.job()[0] in ("done", "failed"))
    assert site.job()[:2] == ("done", 1)
    assert worker.poll() is None
    made = current(folder, "metric")
    assert made is not None
    found = load_file(made / "model.safetensors")
    corpus = Corpus("news", "de", "en", PAIRS, "0")
    whole = make_metric(Recipe.from_options(options), [corpus], tmp_path / "whole", lambda _: None)
    expected = load_file(whole.folder / "model.safetensors")
    before = load_file(encoder / "model.safetensors")
    weight = "encoder.layer.0.output.dense.weight"
    assert not torch.equal(found[weight], before[weight])
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
