"""Small encoders for reference-free metrics; nothing resident from another test.

What needs torch is imported where it is used: other tests of the folder do without.
"""

from collections.abc import Iterator

import pytest

from tests.extensions.neural.reference_free import TEXTS


@pytest.fixture(scope="session")
def xlmr(tmp_path_factory: pytest.TempPathFactory) -> str:
    """XLM-RoBERTa's format with three layers."""
    from benchmarks.gpu import small

    return str(small.xlm_roberta(tmp_path_factory.mktemp("encoders") / "xlmr", TEXTS * 4))


@pytest.fixture(scope="session")
def mbert(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Multilingual BERT's format with three layers."""
    from benchmarks.gpu import small

    return str(small.bert(tmp_path_factory.mktemp("encoders") / "mbert", TEXTS))


@pytest.fixture
def fresh() -> Iterator[None]:
    """No vectors and no encoders in memory."""
    from extensions.neural.encoding import encoders, token_vectors

    token_vectors.forget()
    encoders.forget()
    yield
    token_vectors.forget()
    encoders.forget()
