"""Decoding to a wanted length with checkpoints of several kinds, trained for it or not."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
)

from benchmarks.gpu import small
from tests import refusals
from tests.training.doing import refused
from tests.training.translation.copying import pairs, shorten, untrained
from tests.training.translation.foreign import KINDS, TEXTS
from training.contract import JobError, Outcome
from training.translation import lengths
from training.translation.decoding import checkpoints, methods
from training.translation.decoding.checkpoints import Checkpoint
from training.translation.decoding.generating import Beam, Row, limit_of, log_probabilities, search
from training.translation.decoding.methods import decode
from training.translation.requests import CONTROL, EXACT, N_BEST, PLAIN, SOFT, Request

Learned = Callable[[str], Outcome]
SOURCES = [source for source, _ in pairs(24, seed=9)][:16]
WANTED = [1 + n % len(text.split()) for n, text in enumerate(SOURCES)]
# At least this number of the 16. Processors make it 13 to 15; without the control it is 3.
LEARNED = 12


def ask(method: str, share: str = "0.8", **fields: Any) -> Request:
    return Request(method, Decimal("1" if method == PLAIN else share), **fields)


def model_of(outcome: Outcome) -> Checkpoint:
    return checkpoints.load(outcome.result["model"], "en", "de", "cpu")


@pytest.fixture(scope="module")
def controlled(learned: Learned) -> Checkpoint:
    return model_of(learned("target-embedding"))


@pytest.fixture(scope="module")
def token(learned: Learned) -> Checkpoint:
    return model_of(learned("length-token"))


@pytest.fixture(scope="module")
def plain(learned: Learned) -> Checkpoint:
    return model_of(learned("plain"))


@pytest.mark.parametrize("method", [CONTROL, EXACT])
@pytest.mark.parametrize("name", ["controlled", "token"])
def test_trained_controls_forced_and_free(
    name: str, method: str, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(name)
    outputs = decode(model, SOURCES, WANTED, ask(method))
    right = [shorten(text, n) == own.text
             for text, n, own in zip(SOURCES, WANTED, outputs, strict=True)]  # fmt: skip
    assert sum(right) >= LEARNED
    if method == EXACT:
        assert [own.pieces for own in outputs] == WANTED


@pytest.mark.parametrize("method", [PLAIN, EXACT, SOFT, N_BEST])
def test_the_batch_changes_nothing(plain: Checkpoint, method: str) -> None:
    wanted = [None if method == PLAIN else n for n in WANTED]
    request = ask(method, beam=2)
    together = decode(plain, SOURCES, wanted, request)
    assert decode(plain, SOURCES[:1], wanted[:1], request) == together[:1]
    assert decode(plain, SOURCES[::-1], wanted[::-1], request) == together[::-1]


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("name", ["plain", "token"])
def test_ctranslate_finds_what_transformers_find(
    name: str, beam: int, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(name)
    sources = [source for source, _ in pairs(200, seed=8)]
    rows = [Row(tuple(model.read(text)), 1 + n % 9 if model.has_control else None)
            for n, text in enumerate(sources)]  # fmt: skip
    assert methods.serves(model, rows, Beam(beam))
    known = [own[0].pieces for own in search(model, rows, Beam(beam))]
    assert [own.pieces for own in methods.best(model, rows, Beam(beam))] == known


def test_an_output_without_an_end_keeps_its_own_limit(tmp_path: Path) -> None:
    """Together in CTranslate2 they have one limit."""
    model = checkpoints.load(untrained(tmp_path / "model"), "en", "de", "cpu")
    rows = [Row(tuple(model.read(text))) for text in ("ka", "ka to mi re su no la pe")]
    known = [own[0].pieces for own in search(model, rows, Beam(2))]
    assert max(map(len, known)) == limit_of(model, rows[1])
    assert [own.pieces for own in methods.best(model, rows, Beam(2))] == known


@pytest.mark.parametrize("unit", lengths.UNITS)
def test_exact_in_every_unit(plain: Checkpoint, unit: str) -> None:
    wanted = [2 * n + 2 for n in WANTED]
    outputs = decode(plain, SOURCES, wanted, ask(EXACT, unit=unit))
    assert [own.length for own in outputs] == wanted
    if unit != lengths.PIECES:
        assert [lengths.counter(unit)(own.text) for own in outputs] == wanted


def test_a_reward_comes_nearer_than_none(plain: Checkpoint) -> None:
    def distance(method: str) -> float:
        asked = [None if method == PLAIN else n for n in WANTED]
        outputs = decode(plain, SOURCES, asked, ask(method))
        pairs_of = zip(outputs, WANTED, strict=True)
        return sum(abs(own.pieces - n) / n for own, n in pairs_of) / len(WANTED)

    assert distance(N_BEST) <= 0.1
    assert distance(SOFT) < 0.7 * distance(PLAIN)


def test_a_metric_ranks_what_is_near_the_wanted_length(plain: Checkpoint) -> None:
    seen: list[tuple[str, str]] = []

    def rank(candidates: Any) -> list[float]:
        seen.extend(candidates)
        return [float(text.split()[-1] == "KA") for _, text in candidates]

    outputs = decode(plain, SOURCES, WANTED, ask(N_BEST), rank)
    by_source = {text: [own for source, own in seen if source == text] for text in SOURCES}
    assert all(len(set(own)) == len(own) for own in by_source.values())
    for text, n, own in zip(SOURCES, WANTED, outputs, strict=True):
        assert abs(own.pieces - n) <= max(0.1 * n, 0.1)
        assert own.text.endswith("KA") or not any(c.endswith("KA") for c in by_source[text])


@pytest.mark.parametrize("name", ["controlled", "token", "plain"])
def test_scores_are_those_of_the_model(name: str, request: pytest.FixtureRequest) -> None:
    """The loss of transformers' own forward pass, one text at a time."""
    model = request.getfixturevalue(name)
    rows = [Row(tuple(model.read(text)), n if model.has_control else None)
            for text, n in zip(SOURCES, WANTED, strict=True)]  # fmt: skip
    outputs = [model.pieces(shorten(text, n)) for text, n in zip(SOURCES, WANTED, strict=True)]
    found = log_probabilities(model, rows, outputs)
    for row, output, score in zip(rows, outputs, found, strict=True):
        first = [model.length_token(row.target_length or 0)] if name == "token" else []
        labels = torch.tensor([[*first, *output, model.ends[0]]])
        extra = (
            {"wanted_lengths": torch.tensor([row.target_length])} if name == "controlled" else {}
        )
        given = torch.tensor([list(row.source)])
        with torch.no_grad():
            logits = model.model(input_ids=given, labels=labels, **extra).logits.log_softmax(-1)
        own = logits[0].gather(1, labels[0][:, None])[len(first) :].sum()
        assert score == pytest.approx(float(own), abs=1e-4)


@pytest.mark.parametrize(
    ("name", "request_", "wanted", "code"),
    [
        ("plain", ask(CONTROL), 3, "no-control"),
        ("controlled", ask(PLAIN), None, "needs-length"),
        ("controlled", ask(EXACT, unit=lengths.WORDS), 3, "control-unit"),
        ("token", ask(CONTROL), 21, "length-too-long"),
        ("plain", ask(EXACT), 0, "length-zero"),
        ("plain", ask(EXACT), 600, "length-too-long"),
    ],
)
def test_what_a_checkpoint_cannot_do_is_a_sentence(
    name: str, request_: Request, wanted: int | None, code: str, request: Any
) -> None:
    with refused(f"translation.{code}"):
        decode(request.getfixturevalue(name), ["ka to"], [wanted], request_)


def test_too_long_a_source_is_a_sentence(plain: Checkpoint) -> None:
    with refused("translation.source-too-long", limit=512):
        decode(plain, ["ka " * 600], [None], ask(PLAIN))


# Checkpoints of others, with random weights in their genuine formats.
@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    made: dict[str, Path] = {}

    def get(kind: str) -> Path:
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp("foreign") / kind
            torch.manual_seed(3)
            KINDS[kind](made[kind])
        return made[kind]

    return get


@pytest.mark.parametrize("kind", KINDS)
def test_any_checkpoint_keeps_a_length_exactly(
    foreign: Callable[[str], Path], kind: str, one_thread: None
) -> None:
    model = checkpoints.load(str(foreign(kind)), "en", "de", "cpu")
    sources, wanted = TEXTS[:3], [3, 9, 5]
    together = decode(model, sources, wanted, ask(EXACT, beam=2))
    assert [own.pieces for own in together] == wanted
    assert decode(model, sources[1:2], wanted[1:2], ask(EXACT, beam=2)) == together[1:2]
    # No special token is ever written, and a line is an output's end.
    assert all("<" not in own.text and "\n" not in own.text for own in together)


def test_languages_are_told_as_each_checkpoint_wants(foreign: Callable[[str], Path]) -> None:
    load = checkpoints.load
    mbart50, no_language = (
        load(str(foreign(kind)), "en", "zh", "cpu") for kind in ("mbart", "nllb")
    )
    code = mbart50.tokenizer.convert_tokens_to_ids
    assert mbart50.prefix == (2, code("zh_CN"))
    assert mbart50.read("a boat")[0] == code("en_XX")
    assert no_language.prefix == (2, no_language.tokenizer.convert_tokens_to_ids("zho_Hans"))
    assert (
        load(str(foreign("t5")), "en", "de", "cpu").template
        == "translate English to German: {text}"
    )
    prompt = load(str(foreign("gpt2")), "en", "de", "cpu").template.format(text="A boat.")
    assert prompt == "Translate from English to German.\nEnglish: A boat.\nGerman:"


@pytest.mark.parametrize(
    ("kind", "pair", "code"),
    [
        ("mbart", ("en", "tlh"), "unknown-language"),
        ("nllb", ("tlh", "en"), "unknown-language"),
        ("t5", ("en", "fr"), "unknown-task"),
    ],
)
def test_a_pair_that_a_checkpoint_does_not_know(
    foreign: Callable[[str], Path], kind: str, pair: tuple[str, str], code: str
) -> None:
    with refused(f"translation.{code}"):
        checkpoints.load(str(foreign(kind)), *pair, "cpu")


def test_our_models_know_their_pair_alone(plain: Checkpoint) -> None:
    with refused("translation.unknown-pair", pair="en-fr", own="en-de"):
        checkpoints.load(plain.name, "en", "fr", "cpu")
    checkpoints.load(plain.name, "en-GB", "de", "cpu")


def test_checkpoints_that_cannot_translate(tmp_path: Path, plain: Checkpoint) -> None:
    with refusals.refused("checkpoint.not-in-folder", kind=JobError):
        checkpoints.load(str(tmp_path / "none"), "en", "de", "cpu")
    small.bert(tmp_path / "bert", TEXTS)
    config = BertConfig.from_pretrained(tmp_path / "bert")
    BertModel(config).save_pretrained(tmp_path / "bert")
    with refused("translation.no-decoder"):
        checkpoints.load(str(tmp_path / "bert"), "en", "de", "cpu")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text(json.dumps({"model_type": "marian"}))
    with refused("translation.not-loaded"):
        checkpoints.load(str(broken), "en", "de", "cpu")


def test_marian_with_several_targets_gets_a_token(tmp_path: Path, plain: Checkpoint) -> None:
    for file in Path(plain.name).iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    known = json.loads((tmp_path / "vocab.json").read_text())
    (tmp_path / "vocab.json").write_text(json.dumps(known | {">>deu<<": 5, ">>fra<<": 6}))
    assert checkpoints.load(str(tmp_path), "en", "fr", "cpu").template == ">>fra<< {text}"
    with refused("translation.unknown-language", language="zh"):
        checkpoints.load(str(tmp_path), "en", "zh", "cpu")


def test_soft_stops_where_no_reward_gives_the_length(
    plain: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(methods, "HALVINGS", 2)
    (own,) = decode(plain, SOURCES[:1], [40], ask(SOFT))
    assert own.pieces != 40
