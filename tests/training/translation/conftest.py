"""Models that learned the task of :mod:`copying`, once for all tests of a run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

from tests.shared import once_a_run
from tests.training.translation.copying import pairs, work
from training.contract import Outcome
from training.translation.learning import job

# What each needs to learn it. Tokens need many updates, and learn no less from smaller batches.
TRAINED: dict[str, dict[str, Any]] = {
    "target-embedding": {"steps": 330},
    "length-token": {"steps": 700, "batch": 32},
    "plain": {"steps": 100},
}


@pytest.fixture(scope="session", autouse=True)
def _same_positions_at_once() -> Iterator[None]:
    """transformers computes the same table number by number, 0.1 s for each model that loads."""

    def fill(embedding: MarianSinusoidalPositionalEmbedding) -> None:
        n, width = embedding.weight.shape
        angles = np.arange(n)[:, None] / np.power(10000, 2 * (np.arange(width) // 2) / width)
        table = np.concatenate([np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])], axis=1)
        embedding.weight = torch.nn.Parameter(torch.FloatTensor(table), requires_grad=False)

    theirs, ours = (MarianSinusoidalPositionalEmbedding(64, 32) for _ in range(2))
    theirs._init_weight()
    fill(ours)
    assert torch.equal(theirs.weight, ours.weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MarianSinusoidalPositionalEmbedding, "_init_weight", fill)
        yield


@pytest.fixture(scope="session")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def learned(one_thread: None, run_folder: Path) -> Any:
    """Return what came of a training by its control."""

    def train(folder: Path) -> Outcome:
        wanted = {"control": folder.name, **TRAINED[folder.name]}
        # The best of four: learning rates that are worth their seconds also shake.
        often = {"evaluate_every": wanted["steps"] // 4}
        return job.run(work(folder / "training", pairs(4000), **wanted, **often))

    return lambda control: once_a_run(run_folder / control, train)
