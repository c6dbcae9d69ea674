"""Small checkpoints of all families. What needs torch is imported where it is used."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoints that the cases of the benchmark name."""
    from benchmarks.gpu import cases, checkpoints

    built, small = tmp_path_factory.mktemp("models"), checkpoints.SIZES["small"]
    names = [name for case in cases.cases(small) for name in case.models.values()]
    texts = checkpoints.texts_of(checkpoints.make_inputs(32))
    checkpoints.build(built, small, texts, names)
    return built
