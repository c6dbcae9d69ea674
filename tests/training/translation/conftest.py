"""Models that learned the task of :mod:`copying`, once for all tests of a run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.shared import once_a_run
from tests.training.translation.copying import pairs, work
from training.jobs.kinds import Outcome
from training.translation.learning import job

STEPS = {"target-embedding": 440, "length-token": 1000, "plain": 100}


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
        control = folder.name
        steps = STEPS[control]
        # The best of four: learning rates that are worth their seconds also shake.
        wanted = {"control": control, "steps": steps, "evaluate_every": steps // 4}
        return job.run(work(folder / "training", pairs(4000), **wanted))

    return lambda control: once_a_run(run_folder / control, train)
