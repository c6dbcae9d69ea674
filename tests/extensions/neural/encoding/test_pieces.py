"""Many texts are cut at once, into the ids that each has alone by the slow tokenizer."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from transformers import AutoTokenizer

from benchmarks.gpu import small
from extensions.neural.encoding import encoders, pieces
from extensions.neural.encoding.encoders import NO_LIMIT
from extensions.neural.encoding.pieces import Pieces
from extensions.neural.encoding.token_vectors import tokenize, tokenize_all
from metrics.truncation import noting
from training.parallel.reading import clean, read_pairs

NAMES = ("de-en.wmt17-unscored.tsv", "zh-en.wmt17-unscored.tsv", "en-zh.mlqe-pe.tsv")
# White space, marks that combine in either order, ligatures, joiners, directions, lone surrogates'
# neighbours, special tokens, repetitions, characters of several widths, and of no known font.
ODD = [
    *(
        "",
        " ",
        "\n",
        "\u3000",
        "\ufeffa",
        "a\u00a0b",
        "a\u2009\u200ab",
        "tab\there",
        "a  b",
        "\r\nx",
    ),
    *("e\u0301 été", "q\u0323\u0307 q\u0307\u0323", "naïve ﬁne ﬃ", "Å Å Å", "İstanbul ıI", "ẞ ß ǅ"),
    *(
        "zero\u200bwidth",
        "zwj\u200djoin",
        "soft\u00adhyphen",
        "rtl\u202eabc\u202c",
        "nul\x00l",
        "bell\x07",
    ),
    *("👩‍👩‍👧‍👦 🇩🇪🇨🇳", "👍🏽x", "☺️ ☺", "㎏ ㈱ ①", "Ａｂｃ　１２", "ﾊﾝｶｸ", "ｶﾞ ガ", "각 각"),
    *("<s> a </s>", "[CLS] x [SEP]", "<mask>", "[MASK]a", "<pad>", "<unk> [UNK]", "<|endoftext|>a"),
    *("." * 50, "ha" * 30, "aaaaaaa", "0000000", "—————", "a" * 150, "=" * 101, "。。。。。。"),
    *("\ufffd", "\ue000", "\U0001f9ff\U000e0001", "\u0378", "𝒜𝓑 𝟙", "\U00020000𠀀", "…‥", "`´''``"),
    *(
        "don't can't I'll",
        "I 've 'S",
        "a_b-c/d\\e",
        "３．１４",
        "½ ⅓",
        "x²",
        "№5",
        "°C ℃",
        "ﷺ",
        "ـــ",
    ),
    *("คนไทยรักภาษาไทย", "ລາວ", "မြန်မာ", "ភាសាខ្មែរ", "தமிழ் மொழி", "తెలుగు", "বাংলা ভাষা", "ქართული"),
    *("אָלֶף בֵּית", "مُحَمَّدٌ", "فارسی نیم‌فاصله", "ελληνικά ΐ", "հայերեն", "አማርኛ", "ཀ༌ཁ", "ᠮᠣᠩᠭᠣᠯ"),
]


@pytest.fixture(scope="module")
def texts(data_dir: Path) -> list[str]:
    """Sentences in four languages, in ten scripts, and odd ones, alone and within a sentence."""
    found = []
    for name in NAMES:
        pairs, _ = clean(read_pairs(name, (data_dir / "parallel" / name).read_bytes()))
        found += [text for pair in pairs[:20] for text in pair]
    folder = data_dir / "raw-crowd-da" / "wmt21-ru-en"
    russian = next(iter(sorted(folder.glob("*"))))
    found += russian.read_text(encoding="utf-8").splitlines()[:20]
    within = [f"He said {odd} and left." for odd in ODD]
    return [*found, *pieces.PROBES, *ODD, *within]


def xlm_roberta(folder: Path, texts: Sequence[str]) -> Path:
    return small.xlm_roberta(folder, texts, pieces=3_000)


def rembert(folder: Path, texts: Sequence[str]) -> Path:
    return small.other_encoder(folder, "RemBERT", texts, 3_000)


def mt5(folder: Path, texts: Sequence[str]) -> Path:
    return small.mt5_tokenizer(folder, texts, 3_000)


def lower(folder: Path, texts: Sequence[str]) -> Path:
    """BERT's format in lower case and without accents."""
    small.bert(folder, [text.lower() for text in texts])
    file = folder / "tokenizer_config.json"
    settings = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(settings | {"do_lower_case": True}), encoding="utf-8")
    return folder


FORMATS = [
    *(small.bert, lower, xlm_roberta, small.roberta, small.bart),
    *(small.deberta, small.gpt2, rembert, mt5),
]
Build = Callable[[Path, Sequence[str]], Path]


@pytest.fixture(scope="module", params=FORMATS, ids=lambda build: build.__name__)
def folder(request: Any, texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """An encoder that knows all characters but those of some texts."""
    known = [text for text in texts if text.strip() and "\0" not in text][:-30]
    return str(request.param(tmp_path_factory.mktemp("pieces") / "encoder", known))


@pytest.mark.parametrize(("limit", "spaced"), [(24, True), (NO_LIMIT, False)])
def test_texts_have_the_ids_that_each_has_alone(
    folder: str, texts: list[str], limit: int, spaced: bool
) -> None:
    slow = encoders.load_tokenizer(folder)
    encoder: Any = SimpleNamespace(tokenizer=slow, pieces=Pieces(slow))
    with noting() as cut:
        found = tokenize_all(encoder, texts, limit, spaced=spaced)
    with noting() as cut_alone:
        alone = {text: tokenize(slow, text, limit, spaced=spaced) for text in texts}
    assert found == alone
    assert cut == cut_alone


def test_words_have_the_ids_that_each_has_alone(folder: str, texts: list[str]) -> None:
    slow = encoders.load_tokenizer(folder)
    words = [word for text in texts for word in text.split()][::3]
    found = Pieces(slow).of_words(words)
    assert found == {word: list(slow.encode(word, add_special_tokens=False)) for word in words}


def test_most_texts_are_cut_by_the_fast_tokenizer(
    folder: str, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the first test would compare the slow one with itself."""
    read = Pieces(encoders.load_tokenizer(folder))
    sentences = [text for text in texts[:120] if text.isascii()]
    slowly = []
    own = Pieces._slow
    monkeypatch.setattr(
        Pieces, "_slow", lambda self, text, *a, **k: slowly.append(text) or own(self, text, *a, **k)
    )
    read.of_texts(sentences, NO_LIMIT)
    assert read.fast is not None
    assert read.fast.is_fast
    # Some small ones lack a common character, which is cut slowly.
    assert len(set(slowly) & {text.strip() for text in sentences}) < len(sentences) / 2


def test_one_that_cuts_otherwise_is_not_taken(texts: list[str], tmp_path: Path) -> None:
    """Its own file says lower case, that of the slow one does not."""
    folder = str(small.bert(tmp_path / "encoder", texts[:120]))
    AutoTokenizer.from_pretrained(folder, use_fast=True).save_pretrained(folder)
    file = Path(folder) / "tokenizer.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    document["normalizer"]["lowercase"] = True
    document["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    file.write_text(json.dumps(document), encoding="utf-8")
    slow = encoders.load_tokenizer(folder)
    encoder: Any = SimpleNamespace(tokenizer=slow, pieces=Pieces(slow))
    found = tokenize_all(encoder, texts)
    assert found == {text: tokenize(slow, text) for text in texts}
    assert encoder.pieces.fast is None
