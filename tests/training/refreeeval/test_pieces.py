"""Many texts are cut at once, into the pieces that the metric will see."""

import json
from pathlib import Path

import pytest

from extensions.neural.encoding import encoders
from extensions.neural.encoding.token_vectors import tokenize
from tests.extensions.neural.checkpoints import small
from training.contract import Corpus
from training.parallel.reading import clean, read_pairs
from training.refreeeval.student import Pieces

ODD = [
    "",
    "  ",
    "e\u0301 été",
    "naïve ﬁne",
    "zero\u200bwidth",
    "港口 很安静。",
    "a\u00a0b",
    "🙂 so",
]


@pytest.fixture(scope="module")
def texts(data_dir: Path) -> list[str]:
    """1,200 texts in three languages, and odd ones among the first."""
    found = []
    for name in ("de-en.wmt17-unscored.tsv", "zh-en.wmt17-unscored.tsv"):
        pairs, _ = clean(read_pairs(name, (data_dir / "parallel" / name).read_bytes()))
        found += [text for pair in pairs[:300] for text in pair]
    return [*ODD, *found]


@pytest.fixture
def corpus_texts(corpus: Corpus) -> list[str]:
    """What the encoders know: the others hold unknown characters."""
    return [text for pair in corpus.pairs for text in pair]


@pytest.mark.parametrize("build", [small.bert, small.xlm_roberta, small.roberta])
def test_batches_are_what_each_text_is_alone(build, texts, corpus_texts, tmp_path):
    folder = str(build(tmp_path / "encoder", corpus_texts))
    slow = encoders.load_tokenizer(folder)
    pieces = Pieces(slow, folder, 24)
    assert pieces.of_texts(texts) == [tokenize(slow, text, 24) for text in texts]
    words = [word for text in texts for word in text.split()][:3000]
    alone = [list(slow.encode(word, add_special_tokens=False)) for word in words]
    assert pieces.of_words(words) == alone
    assert pieces.of_words(words[::-1]) == alone[::-1]


@pytest.mark.parametrize("build", [small.bert, small.xlm_roberta])
def test_the_fast_tokenizer_is_taken_where_it_cuts_alike(build, texts, corpus_texts, tmp_path):
    folder = str(build(tmp_path / "encoder", corpus_texts))
    pieces = Pieces(encoders.load_tokenizer(folder), folder, 24)
    pieces.of_texts(texts[len(ODD) :])
    assert pieces.fast is not None
    assert pieces.fast.is_fast


def test_one_that_cuts_otherwise_is_not_taken(texts, corpus_texts, tmp_path):
    """Its own file says lower case, that of the slow one does not."""
    from transformers import AutoTokenizer

    folder = str(small.bert(tmp_path / "encoder", corpus_texts))
    AutoTokenizer.from_pretrained(folder, use_fast=True).save_pretrained(folder)
    file = Path(folder) / "tokenizer.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    document["normalizer"]["lowercase"] = True
    document["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    file.write_text(json.dumps(document), encoding="utf-8")
    slow = encoders.load_tokenizer(folder)
    pieces = Pieces(slow, folder, 24)
    assert pieces.of_texts(texts) == [tokenize(slow, text, 24) for text in texts]
    assert pieces.fast is None
