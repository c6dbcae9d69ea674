"""Small encoders for reference-free metrics; nothing resident from another test."""

from collections.abc import Iterator

import pytest

from tests.metrics.families.neural import small
from tests.metrics.families.reference_free import TEXTS


@pytest.fixture(scope="session")
def xlmr(tmp_path_factory: pytest.TempPathFactory) -> str:
    """XLM-RoBERTa's format with three layers."""
    return str(small.xlm_roberta(tmp_path_factory.mktemp("encoders") / "xlmr", TEXTS * 4))


@pytest.fixture(scope="session")
def mbert(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Multilingual BERT's format with three layers."""
    return str(small.bert(tmp_path_factory.mktemp("encoders") / "mbert", TEXTS))


@pytest.fixture
def fresh() -> Iterator[None]:
    """No vectors and no encoders in memory."""
    from metrics import embeddings, encoders

    embeddings.forget()
    encoders.forget()
    yield
    embeddings.forget()
    encoders.forget()
