"""The study's preprocessing: Moses' tokens, and a training that keeps them to its translations."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sacremoses import (  # type: ignore[import-untyped]
    MosesDetokenizer,
    MosesPunctNormalizer,
    MosesTokenizer,
)
from transformers import MarianTokenizer

from extensions.neural.encoding import encoders
from tests.training.doing import refused
from tests.training.translation.copying import untrained, work
from tests.training.translation.test_likelihood import make
from training.contract import StoppedError, Work
from training.jobs import starting
from training.translation.decoding import checkpoints
from training.translation.decoding.methods import decode, refusals
from training.translation.learning import job, vocabulary
from training.translation.lengths import CHARACTERS, WORDS
from training.translation.options import FAITHFULNESS, NONE, STUDY, settle
from training.translation.requests import EXACT, Request

TEXTS = {
    "en": "It’s  «fine», don't you “think”? (e.g. Mr. Smith's co-op: 3.5%, A & B)",
    "de": "Er sagte: „Das ist z.B. gut“ – Nr. 5, nicht wahr?",
    "fr": "L’été, c’est-à-dire « demain », à 10 h.",
}
CHOSEN = {"preprocessing": STUDY, "imbalance": 0.0, "longest": 3, "vocabulary": 60}


@pytest.mark.parametrize("language", TEXTS)
def test_tokens_are_those_of_sacremoses(language: str) -> None:
    text = MosesPunctNormalizer(language).normalize(TEXTS[language])
    tokens = MosesTokenizer(language).tokenize(text, escape=False)
    found = vocabulary.tokenized(TEXTS[language], language)
    assert found.split(" ") == tokens
    back = MosesDetokenizer(language).detokenize(tokens, unescape=False)
    assert vocabulary.detokenized(found, language) == back
    assert vocabulary.tokenized(TEXTS[language], f"{language}-XX") == found
    # A second round changes nothing.
    assert vocabulary.tokenized(back, language) == found


def test_chinese_is_not_tokenised() -> None:
    text = "我喜欢生物学，你呢？“好”"
    assert vocabulary.tokenized(text, "zh-Hans") == vocabulary.detokenized(text, "zh") == text


def study(folder: Path, **given: Any) -> Work:
    names = ("Ann", "Bob", "Cem", "Dora", "Eva", "Finn", "Gül", "Hugo")
    pairs = [(f"{a}, hello: {b}!", f"{b}, hallo ({a})?") for a in names for b in names]
    plain = work(folder, pairs, **{"width": 16, "inner": 16, "held_out": 8, "batch": 8, "warmup": 4,
                                   "steps": 12, "evaluate_every": 6} | CHOSEN | given)  # fmt: skip
    return replace(plain, options=settle(plain.options))


def test_one_choice_sets_all() -> None:
    chosen = starting.check("mt", CHOSEN)
    assert [chosen[name] for name in ("pieces", "vocabulary", "longest", "imbalance")] == [
        *("bpe", 64_000, 128, 1.5)
    ]
    assert starting.check("mt", CHOSEN | {"preprocessing": NONE})["vocabulary"] == 60


def test_a_training_and_its_translations_share_the_preprocessing(
    one_thread: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it is stopped and continued; not with another preprocessing."""
    monkeypatch.setattr("training.translation.learning.trainer.REPORT_SECONDS", 0)
    given = study(tmp_path)

    def stop(progress: dict[str, Any]) -> None:
        if progress.get("step") == 7:
            raise StoppedError

    with pytest.raises(StoppedError):
        job.run(replace(given, report=stop))
    with refused("job.other-training"):
        job.run(replace(given, options={**given.options, "preprocessing": NONE}))
    result = job.run(given).result
    assert result["versions"]["sacremoses"]
    folder = Path(result["model"])
    assert json.loads((folder / "manifest.txt").read_text())["options"] == given.options
    model = checkpoints.load(str(folder), "en", "de", "cpu")
    assert model.preprocessing == f"sacremoses-{result['versions']['sacremoses']}"
    text, tokens = "Ann, hello: Bob!", "Ann , hello : Bob !"
    plain = MarianTokenizer.from_pretrained(folder)
    assert model.read(text) == plain(tokens).input_ids != plain(text).input_ids
    assert model.write(model.pieces("Bob, hallo (Ann)?")) == "Bob, hallo (Ann)?"
    asked = Request(EXACT, Decimal(1), unit=WORDS)
    [found] = refusals(model, asked, [3])
    assert found.code == "translation.words-of-moses"
    assert not refusals(model, replace(asked, unit=CHARACTERS), [3])
    [output] = decode(model, [text], [9], replace(asked, unit=CHARACTERS))
    assert len("".join(output.text.split())) == output.length == 9
    encoders.forget()
    plain_folder = untrained(tmp_path / "plain")
    own, other = (make(each, ("en", "de"), direction=FAITHFULNESS).signature()
                  for each in (folder, plain_folder))  # fmt: skip
    assert f"preprocessing:{model.preprocessing}" in own
    assert "preprocessing" not in other
