"""Every family says which outputs it scored without reading all of their texts.

The measure is the score itself: a text was truncated where its last word, one token long, does not
change the score.
"""

import json
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

from benchmarks.gpu import small
from extensions.neural.checkpoints import metricx as metricx_scorer
from extensions.neural.checkpoints.options import TOGETHER
from metrics import registry, truncation
from metrics.base import Metric, SegmentInput
from metrics.checkpoints import places
from metrics.families.long_texts import OPTION, SENTENCES, InParts
from tests.extensions.neural.checkpoints.test_comet import CHECKPOINTS
from tests.extensions.neural.reference_free import TEXTS, make
from training.translation.options import BOTH, FAITHFULNESS, PRECISION_OF, RECALL

# Tokens that the small models take.
POSITIONS = 24
WORDS = ("harbour", "quiet", "morning", "was", "all", "The", "early", "saw", "a", "e", "s")
SIDES = ("source", "hypothesis", "reference")
# Equal tokens in another batch differ by a last digit.
SAME = 1e-6
Built = tuple[str, dict[str, Any]]


def encoder(folder: Path) -> str:
    return str(small.bert(folder / "bert", TEXTS, positions=POSITIONS))


def on_encoder(family: str, **options: Any) -> Callable[[Path], Built]:
    return lambda folder: (family, {"checkpoint": encoder(folder), **options})


def sentsim(folder: Path) -> Built:
    checkpoint = encoder(folder)
    return "sentsim", {"checkpoint": checkpoint, "encoder": checkpoint, "layer": 2}


def refreeeval(folder: Path) -> Built:
    path = small.xlm_roberta(folder / "xlmr", TEXTS * 4, positions=POSITIONS)
    (path / "meta.json").write_text(json.dumps({"layer": 2}))
    return "refreeeval", {"checkpoint": str(path)}


def lower_case(folder: Path) -> Built:
    """A sentence encoder that reads fewer tokens than its transformer, in lower case."""
    path = small.bert(folder / "bert", [text.lower() for text in TEXTS])
    settings = {"max_seq_length": POSITIONS, "do_lower_case": True}
    (path / "sentence_bert_config.json").write_text(json.dumps(settings))
    return "cosine", {"checkpoint": str(path)}


def line(folder: Path, width: int, **fields: Any) -> tuple[str, dict[str, Any]]:
    """A checkpoint and a linear function of what it makes of texts."""
    checkpoint = encoder(folder)
    weights = np.random.default_rng(3).standard_normal(width).tolist()
    stored = {"mean": [0.0] * width, "scale": [1.0] * width, "weights": weights, "intercept": 0.0}
    fields |= {"encoder": places.fingerprint(checkpoint), "fitted_on": "nothing"}
    return checkpoint, stored | fields


def head(folder: Path) -> Built:
    names = ["P-2", "R-2", "F1-2", "cosine", "log-length", "log-length-ratio"]
    checkpoint, stored = line(folder, 6, layers=[2], features=names)
    (folder / "head.json").write_text(json.dumps(stored))
    return "refreeeval-head", {"checkpoint": checkpoint, "head": str(folder / "head.json")}


def trained_sentinel(folder: Path) -> Built:
    checkpoint, one = line(folder, small.SIZES["hidden_size"])
    stored = {name: one.pop(name) for name in ("encoder", "fitted_on")}
    stored |= {"reads": "output", "lines": [one], "fold_of": {}}
    (folder / "sentinel.json").write_text(json.dumps(stored))
    path = str(folder / "sentinel.json")
    return "trained-sentinel", {"checkpoint": checkpoint, "sentinel": path}


def comet(name: str, **options: str) -> Callable[[Path], Built]:
    kind, changes = CHECKPOINTS[name]

    def built(folder: Path) -> Built:
        xlmr = small.xlm_roberta(folder / "xlmr", TEXTS * 4, positions=POSITIONS + 2)
        checkpoint = small.comet(folder / "comet", xlmr, kind, **changes)
        has_reference = name not in ("kiwi", "reference-free")
        return "comet", {"checkpoint": str(checkpoint), "reference": has_reference, **options}

    return built


def sentinel(folder: Path) -> Built:
    xlmr = small.xlm_roberta(folder / "xlmr", TEXTS * 4, positions=POSITIONS + 2)
    return "sentinel", {"checkpoint": str(small.sentinel(folder / "model", xlmr))}


def bleurt(folder: Path) -> Built:
    # Larger weights than usual: with those the scores of all texts are nearly the same.
    sizes = {"max_position_embeddings": POSITIONS, "initializer_range": 0.2}
    checkpoint = small.bleurt(folder / "b", TEXTS * 4, **sizes)
    return "bleurt", {"checkpoint": str(checkpoint)}


def metricx(*, reference: bool) -> Callable[[Path], Built]:
    def built(folder: Path) -> Built:
        words = ["source: candidate: reference:", *TEXTS]
        options = {
            "checkpoint": str(small.metricx(folder / "m")),
            "tokenizer": str(small.mt5_tokenizer(folder / "mt5", words * 4)),
        }
        return "metricx", {**options, "reference": reference}

    return built


def likelihood(direction: str) -> Callable[[Path], Built]:
    def built(folder: Path) -> Built:
        checkpoint = small.bart_with_head(folder / "bart", TEXTS * 4, positions=POSITIONS)
        return "likelihood", {"checkpoint": str(checkpoint), "direction": direction}

    return built


BUILT: dict[str, Callable[[Path], Built]] = {
    "bertscore": on_encoder("bertscore", layer=2),
    "xbertscore": on_encoder("xbertscore", layer=2),
    "xbertscore-reference": on_encoder("xbertscore", layer=2, compare="reference"),
    "moverscore": on_encoder("moverscore"),
    "xmoverscore": on_encoder("xmoverscore", layer=2, definition="paper"),
    "yisi": on_encoder("yisi", layer=2),
    "cosine": on_encoder("cosine"),
    "cosine-lower-case": lower_case,
    "sentsim": sentsim,
    "refreeeval": refreeeval,
    "refreeeval-head": head,
    "trained-sentinel": trained_sentinel,
    **{name: comet(name) for name in ("comet", "reference-free", "kiwi")},
    # Of a model that averages over three inputs, the one with all texts.
    **{name: comet(name, input=TOGETHER) for name in ("unified", "xcomet")},
    "sentinel": sentinel,
    "bleurt": bleurt,
    "metricx": metricx(reference=True),
    "metricx-qe": metricx(reference=False),
    "likelihood": likelihood(FAITHFULNESS),
}
# Scores that average over several readings, and these readings: the mean changes as long as one
# of them does.
AVERAGES: dict[str, list[Callable[[Path], Built]]] = {
    "unified": [comet("unified"), comet("unified", input=TOGETHER)],
    "xcomet": [comet("xcomet"), comet("xcomet", input=TOGETHER)],
    "likelihood": [likelihood(each) for each in (BOTH, PRECISION_OF, RECALL)],
}
# A judge cannot know what its endpoint does with a long prompt.
UNKNOWN = {"judge"}


def tokenizer_of(options: dict[str, Any]) -> Any:
    folder = Path(options.get("tokenizer") or options["checkpoint"])
    if (folder / "spm.model").exists():
        from bleurt_pytorch import BleurtTokenizer

        return BleurtTokenizer.from_pretrained(folder)
    encoders = [folder, folder.parent / "xlmr"]
    place = next(each for each in encoders if (each / "tokenizer_config.json").exists())
    return AutoTokenizer.from_pretrained(place, use_fast=False)


def one_token_words(tokenizer: Any) -> list[str]:
    """Return four words that are one token each after a blank."""

    def size(text: str) -> int:
        return len(tokenizer(text, verbose=False)["input_ids"])

    found = [w for w in WORDS if size(f"{w} {w} {w}") - size(f"{w} {w}") == 1]
    first, *others = found
    assert all(size(f"{first} {each}") - size(first) == 1 for each in others[:3])
    return [first, *others[:3]]


def growing(words: list[str], side: str) -> list[dict[str, str]]:
    """Texts of 1, 2, … words on one side, of two on the others."""
    filler, last, *_ = words
    texts = [" ".join([*[filler] * n, last]) for n in range(POSITIONS + 6)]
    return [dict.fromkeys(SIDES, f"{filler} {last}") | {side: text} for text in texts]


def inputs_of(texts: list[dict[str, str]]) -> list[SegmentInput]:
    return [SegmentInput(t["source"], t["hypothesis"], (t["reference"],)) for t in texts]


def unread(metric: Metric, words: list[str], texts: list[dict[str, str]]) -> set[int]:
    """The positions of inputs of which no other last word of a text changes the score.

    Texts that a metric never reads do not count.
    """
    _, last, *others = words
    altered = [
        [each | {side: each[side].removesuffix(last) + other} for each in texts]
        for side in SIDES
        for other in others
    ]
    rows = np.split(metric.score(inputs_of(sum(altered, texts))), 1 + len(altered))
    sizes = np.maximum(1, np.abs(rows[0]))
    changes = np.array([(np.abs(each - rows[0]) / sizes).max(axis=1) for each in rows[1:]])
    alike = changes.reshape(len(SIDES), len(others), -1).max(axis=1) < SAME
    return set(np.flatnonzero(np.any([each for each in alike if not each.all()], axis=0)).tolist())


Case = tuple[Metric, list[str]]


@pytest.fixture(scope="module", params=BUILT)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    from extensions.neural.encoding import encoders, token_vectors

    token_vectors.forget()
    encoders.forget()
    family, options = BUILT[request.param](tmp_path_factory.mktemp("truncation"))
    return make(family, **options), one_token_words(tokenizer_of(options))


@pytest.fixture(autouse=True)
def _short_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """MetricX reads fewer tokens: its own limits are tested beside its release."""
    monkeypatch.setattr(metricx_scorer, "LONGEST", dict.fromkeys(("23", "24"), POSITIONS + 8))


@pytest.mark.parametrize("side", SIDES)
def test_exactly_those_of_which_a_last_word_counts_for_nothing(case: Case, side: str) -> None:
    metric, words = case
    texts = growing(words, side)
    expected = unread(metric, words, texts)
    assert expected or side != "hypothesis"
    assert len(expected) < len(texts)
    inputs = inputs_of(texts)
    metric.score(inputs)
    assert truncation.marks(metric, len(texts)) == [n in expected for n in range(len(texts))]
    # The same in another order and alone, where vectors are known already.
    metric.score(inputs[::-1])
    assert truncation.marks(metric, len(texts))[::-1] == [n in expected for n in range(len(texts))]
    for position in (len(inputs) - 1, 0):
        metric.score(inputs[position : position + 1])
        assert truncation.marks(metric, 1) == [position in expected]


@pytest.mark.parametrize("name", AVERAGES)
def test_a_mean_truncates_what_one_of_its_parts_does(name: str, tmp_path: Path) -> None:
    whole, *parts = [build(tmp_path / str(n)) for n, build in enumerate(AVERAGES[name])]
    words = one_token_words(tokenizer_of(whole[1]))
    texts = [each for side in SIDES for each in growing(words, side)]
    expected: set[int] = set()
    for family, options in parts:
        expected |= unread(make(family, **options), words, texts)
    metric = make(whole[0], **whole[1])
    metric.score(inputs_of(texts))
    assert {n for n, mark in enumerate(truncation.marks(metric, len(texts))) if mark} == expected


def test_texts_beyond_the_limit_are_scored_by_sentence(case: Case) -> None:
    """The value is the mean of those of the sentences, each scored alone."""
    metric, (filler, last, *_) = case
    # End marks after which a lower-case word is a new sentence.
    parts = [f"{filler}。", f"{last}！", f"{filler}？"] * 8
    long = SegmentInput(*[" ".join(parts)] * 2, (" ".join(parts),))
    short = SegmentInput(filler, last, (filler,))
    found = InParts(in_sentences(metric))
    rows = found.score([short, long])
    assert truncation.marks(found, 2) == [False, True]
    alone = metric.score([short, *(SegmentInput(each, each, (each,)) for each in parts)])
    assert truncation.marks(metric, 1 + len(parts)) == [False] * (1 + len(parts))
    np.testing.assert_allclose(rows[0], alone[0], atol=1e-5)
    np.testing.assert_allclose(rows[1], alone[1:].mean(axis=0), atol=1e-5)


def in_sentences(metric: Metric) -> Metric:
    info = replace(metric.info, options=(*metric.info.options, (OPTION.name, SENTENCES)))
    changed = copy(metric)
    changed.info = info
    return changed


def test_no_texts(case: Case) -> None:
    metric, _ = case
    metric.score([])
    assert truncation.marks(metric, 0) == []


def test_a_language_model_has_a_limit_of_its_own(tmp_path: Path) -> None:
    """The encoder takes all of these texts; the term of the language model stops changing."""
    gpt = small.gpt2(tmp_path / "gpt", TEXTS * 4)
    config = GPT2Config.from_pretrained(gpt, n_positions=POSITIONS)
    GPT2LMHeadModel(config).save_pretrained(gpt)
    checkpoint = str(small.bert(tmp_path / "bert", TEXTS))
    words = one_token_words(AutoTokenizer.from_pretrained(gpt, use_fast=False))
    for family, options in (("cosine", {}), ("xmoverscore", {"layer": 2, "definition": "paper"})):
        metric = make(family, checkpoint=checkpoint, language_model=str(gpt), **options)
        texts = growing(words, "hypothesis")
        term = metric.score(inputs_of(texts))[:, -1]
        marks = truncation.marks(metric, len(texts))
        _, last, other, _ = words
        altered = [t | {"hypothesis": t["hypothesis"].removesuffix(last) + other} for t in texts]
        same = np.abs(metric.score(inputs_of(altered))[:, -1] - term) < SAME
        assert marks == same.tolist()
        assert same.any()
        metric.score(inputs_of(growing(words, "source")))
        assert truncation.marks(metric, len(texts)) == [False] * len(texts)


def test_a_reference_that_is_not_read_does_not_count(tmp_path: Path) -> None:
    family, options = BUILT["comet"](tmp_path)
    long = "harbour " * 100
    inputs = [
        SegmentInput("all", "quiet", ("quiet", long)), SegmentInput("all", "quiet", (long, "quiet"))
    ]  # fmt: skip
    for choice, expected in (("first", [1]), ("mean", [0, 1])):
        metric = make(family, references=choice, **options)
        metric.score(inputs)
        assert sorted(metric.truncated) == expected  # type: ignore[attr-defined]


def test_every_family_that_truncates_offers_parts() -> None:
    for key in set(registry.FAMILIES) - truncation.UNLIMITED - UNKNOWN:
        assert OPTION in registry.get_family(key).options, key


def test_every_family_knows_but_judges() -> None:
    modelled = {
        name.removesuffix("-reference").removesuffix("-lower-case").removesuffix("-qe")
        for name in BUILT
    }
    keys = set(registry.FAMILIES)
    assert keys - truncation.UNLIMITED - UNKNOWN <= modelled


def test_metrics_without_a_model_truncate_nothing() -> None:
    long = SegmentInput("a", "harbour " * 2_000, ("harbour " * 2_001,))
    for name, (info, _) in registry.METRICS.items():
        assert truncation.is_unlimited(info) == (not info.checkpoint)
        if not info.checkpoint and not name.startswith("ter"):
            metric = registry.load(name, source_language="de", target_language="en")
            metric.score([long])
            assert truncation.marks(metric, 1) == [False]
