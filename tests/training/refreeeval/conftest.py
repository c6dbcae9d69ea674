"""A training small enough for a test. What needs torch is imported where it is used."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from training.contract import Corpus
from training.parallel.reading import clean, read_pairs
from training.refreeeval.recipe import Recipe


@pytest.fixture(scope="session")
def corpus(data_dir: Path) -> Corpus:
    """Sixty pairs of newstest2017."""
    path = data_dir / "parallel" / "de-en.wmt17-unscored.tsv"
    pairs, _ = clean(read_pairs(path.name, path.read_bytes())[:60])
    return Corpus("newstest", "de", "en", pairs, "0" * 64)


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory, corpus: Corpus) -> str:
    from benchmarks.gpu import small

    texts = [text for pair in corpus.pairs for text in pair]
    return str(small.bert(tmp_path_factory.mktemp("encoder") / "bert", texts))


@pytest.fixture
def recipe(encoder: str) -> Callable[..., Recipe]:
    """A recipe that takes a second; changes are options."""

    def make(**changes: Any) -> Recipe:
        options = {
            "encoder": encoder,
            "teacher": encoder,
            "variant": "sent-level",
            "layer": 2,
            "negatives": 3,
            "sample": 50,
            "max_pieces": 48,
            "held_out": 0.1,
            "batch": 5,
            "rate": 1e-3,
            "warmup": 2,
            "word_batch": 5,
            "word_rate": 1e-3,
            "word_warmup": 2,
            "steps": 6,
            "evaluate_every": 2,
        }
        return Recipe.from_options(options | changes)

    return make
