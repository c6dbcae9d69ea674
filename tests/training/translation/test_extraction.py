"""Extracts against the specification, a plain loop, and all extracts there are."""

import math
import unicodedata
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks.gpu import small
from tests.refusals import refused
from training.contract import JobError
from training.translation import extraction
from training.translation.extraction import Extractor, Sentence, budget, cut, objective, search

TEXT = "the quick brown fox, it seems, jumps over the very lazy dog today"


def test_d5_objective(checks: dict[str, Any]) -> None:
    check = checks["D5-hc-objective"]
    given, expected = check["inputs"], check["expected"]
    nll = (given["nll_forward"] + given["nll_backward"]) / 2
    close = {"rel": check["tolerance"]}
    assert objective(nll, 1.0) == pytest.approx(expected["lm"], **close)
    assert objective(nll, given["cos"]) == pytest.approx(expected["score"], **close)
    assert (given["cos"] + 1) / 2 == expected["cos_term"]


def test_d6_budget(checks: dict[str, Any]) -> None:
    check = checks["D6-hc-budget"]
    for (n, length), expected in zip(check["inputs"]["cases"], check["expected"], strict=True):
        found = budget(n, length)
        assert (found.steps, found.restarts, found.combinations, found.is_exhaustive) == tuple(
            expected[name] for name in ("steps", "restarts", "combinations", "exhaustive")
        )


def weights(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(n)


def test_small_problems_are_searched_through_and_the_first_wins_ties() -> None:
    values = [weights(10, 1), np.ones(7)]
    masks = search(
        [Sentence(10, 8, 5), Sentence(7, 5, 5)],
        lambda asked: np.array([values[n][mask].sum() for n, mask in asked]),
    )
    best = max(combinations(range(10), 8), key=lambda chosen: values[0][list(chosen)].sum())
    assert np.flatnonzero(masks[0]).tolist() == list(best)
    assert np.flatnonzero(masks[1]).tolist() == [0, 1, 2, 3, 4]


def test_larger_problems_are_climbed_to_the_best_where_that_is_easy() -> None:
    """A sum of weights has one summit; what is searched beside a sentence changes nothing."""
    sentences = [Sentence(20, 8, 3), Sentence(16, 7, 4)]
    values = [weights(20, 1), weights(16, 2)]
    n_scored = []

    def score(asked: Any) -> np.ndarray:
        n_scored.append(len(asked))
        return np.array([values[n][mask].sum() for n, mask in asked])

    masks = search(sentences, score)
    for mask, value, each in zip(masks, values, sentences, strict=True):
        assert set(np.flatnonzero(mask)) == set(np.argsort(value)[-each.length :])
    alone = search(
        sentences[:1], lambda asked: np.array([values[0][mask].sum() for _, mask in asked])
    )
    assert np.array_equal(alone[0], masks[0])
    assert max(n_scored) > budget(20, 8).restarts, "both sentences are scored at once"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> extraction.LanguageModel:
    folder = tmp_path_factory.mktemp("lm") / "gpt2"
    small.gpt2(folder, [TEXT, "a dog and a fox"])
    torch.manual_seed(2)
    config = GPT2Config.from_pretrained(folder, n_layer=1)
    GPT2LMHeadModel(config).save_pretrained(folder)
    return extraction.load(str(folder), "cpu")


def test_fluency_is_the_mean_of_pieces_and_end(model: extraction.LanguageModel) -> None:
    texts = [model.tokenizer(text).input_ids for text in ("the fox", TEXT, "dog")]
    loss = []
    for ids in texts:
        given = torch.tensor([[model.start, *ids, model.end]])
        with torch.no_grad():
            loss.append(float(model.model(input_ids=given, labels=given).loss))
    assert model.nll(texts).tolist() == pytest.approx(loss, rel=1e-5)


def plain_best(extractor: Extractor, text: str, length: int) -> str:
    """The best of all extracts by a loop over one at a time, with its own cosine."""
    model, words = extractor.model, [w for w in cut(text, by_character=False) if w.isalpha()]
    idf = [math.log2(extractor.n_texts / extractor.n_with[word]) or 1e-6 for word in words]
    pieces = [model.tokenizer(f" {word}").input_ids for word in words]
    vectors = [model.table[ids].mean(0) * w for ids, w in zip(pieces, idf, strict=True)]
    whole = torch.stack(vectors).sum(0)
    best, found = -math.inf, ""
    for chosen in combinations(range(len(words)), length):
        own = torch.stack([vectors[n] for n in chosen]).sum(0)
        cosine = float(torch.cosine_similarity(own, whole, dim=0))
        ids = torch.tensor([[model.start, *(p for n in chosen for p in pieces[n]), model.end]])
        with torch.no_grad():
            nll = float(model.model(input_ids=ids, labels=ids).loss)
        score = 1e4 / math.exp(nll) * ((cosine + 1) / 2) ** 12
        if score > best:
            best, found = score, " ".join(words[n] for n in chosen)
    return found


def test_extracts_are_those_of_a_plain_loop(model: extraction.LanguageModel) -> None:
    texts = [TEXT, "the lazy fox jumps over a dog", "a very quick dog jumps over it"]
    extractor = Extractor(model, "en", texts)
    n_words = [len(cut(text, by_character=False)) for text in texts]
    assert n_words == [15, 7, 7]
    found = extractor.shorten(texts, [0.7, 5 / 7, 5 / 7])
    assert len(found[0].split()) == 10  # 10.5, half to even
    assert found[1:] == [plain_best(extractor, texts[1], 5), plain_best(extractor, texts[2], 5)]
    words = iter(cut(TEXT, by_character=False))
    assert all(word in words for word in found[0].split()), "words of the text in its order"


def test_what_is_short_enough_without_punctuation_stays(model: extraction.LanguageModel) -> None:
    text = "the fox , today !"
    assert Extractor(model, "en", [text]).shorten([text], [0.6]) == [text]


def test_chinese_is_extracted_by_character(model: extraction.LanguageModel) -> None:
    extractor = Extractor(model, "zh", ["我喜欢生物学。", "你好"])
    (found,) = extractor.shorten(["我喜欢生物学。"], [0.5])
    assert len(found) == 4
    assert set(found) < set("我喜欢生物学")


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        # Unicode Standard Annex 29, table 1a: what users see as one character.
        ("g\u0308g", ["g\u0308", "g"]),
        ("\u0e01\u0e33", ["\u0e01\u0e33"]),
        ("\u0937\u093f\u0937", ["\u0937\u093f", "\u0937"]),
        ("\u0915\u094d\u0937\u093f", ["\u0915\u094d\u0937\u093f"]),
        # Burmese: dependent vowels, asat and visarga belong to the consonant before.
        ("ဆိပ်ကမ်း", ["ဆိ", "ပ်", "က", "မ်း"]),
        ("葛\U000e0100城", ["葛\U000e0100", "城"]),
        # Unicode Technical Standard 51: a family, a flag, a tone of skin, a keycap.
        (
            "👩\u200d👩\u200d👧🇩🇪👍🏽1\ufe0f\u20e3",
            ["👩\u200d👩\u200d👧", "🇩🇪", "👍🏽", "1\ufe0f\u20e3"],
        ),
        ("ok\u200b 中\u200e文\ufeff", ["ok", "中", "文"]),
    ],
)
def test_characters_stay_whole(text: str, characters: list[str]) -> None:
    assert cut(text, by_character=True) == characters


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("می\u200cخواهم بروم", ["می\u200cخواهم", "بروم"]),
        ("അവന്\u200d!", ["അവന്\u200d", "!"]),
        ("Auto\u00adfahrer", ["Auto\u00adfahrer"]),
        ("\u200eeins\u200bzwei\u200f.", ["eins", "zwei", "."]),
        ("love ❤\ufe0f it", ["love", "❤\ufe0f", "it"]),
        ("\u0600123", ["\u0600123"]),
    ],
)
def test_what_is_invisible_is_no_word(text: str, words: list[str]) -> None:
    assert cut(text, by_character=False) == words


@pytest.mark.parametrize("language", ["th", "my"])
def test_extracts_tear_no_character(model: extraction.LanguageModel, language: str) -> None:
    text = {"th": "ท่าเรือเงียบ", "my": "ဆိပ်ကမ်းငြိမ်"}[language]
    (found,) = Extractor(model, language, [text]).shorten([text], [0.5])
    assert 0 < len(found) < len(text)
    # A mark (Unicode's category M) stays after its character, and none is lost.
    assert clusters(found)
    assert set(clusters(found)) <= set(clusters(text))


def clusters(text: str) -> list[str]:
    found: list[str] = []
    for sign in text:
        if found and unicodedata.category(sign)[0] == "M":
            found[-1] += sign
        else:
            found.append(sign)
    return found


def test_an_emoji_is_a_sign_and_no_word(model: extraction.LanguageModel) -> None:
    text = "the quick fox jumps 👩\u200d👩\u200d👧 \u200b over it"
    (found,) = Extractor(model, "en", [text]).shorten([text], [4 / 7])
    assert len(found.split()) == 4
    assert set(found.split()) < {"the", "quick", "fox", "jumps", "over", "it"}


def test_an_encoder_is_no_language_model(tmp_path: Path) -> None:
    with refused("checkpoint.not-in-folder", kind=JobError):
        extraction.load(str(tmp_path / "nothing"))
