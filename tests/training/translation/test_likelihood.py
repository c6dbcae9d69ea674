"""Likelihood against the losses of transformers' own forward passes, as Prism and BARTScore."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    BartConfig,
    BartForConditionalGeneration,
)

from benchmarks.gpu import small
from extensions.neural.encoding import encoders
from metrics import options, registry
from metrics.base import MetricError, SegmentInput
from tests.refusals import refused
from tests.training.translation import foreign
from tests.training.translation.copying import untrained
from training.translation.decoding.checkpoints import load
from training.translation.decoding.generating import log_probabilities
from training.translation.likelihood import Likelihood
from training.translation.options import BOTH, FAITHFULNESS, PRECISION_OF, RECALL

INPUTS = [
    SegmentInput("ein Boot im Hafen", "the boat leaves", ("the boat leaves the harbour",)),
    SegmentInput("ein Hafen", "", ("a harbour",)),
    SegmentInput("ein Boot im Hafen im Hafen", "harbour", ("the boat", "the harbour")),
]
SINGLE = INPUTS[:2]


@pytest.fixture(autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small.bart_with_head(tmp_path_factory.mktemp("bart") / "bart", foreign.TEXTS)


def make(checkpoint: Path | str, languages: tuple[str, str] = ("de", "en"), **given: Any) -> Any:
    family = registry.get_family("likelihood")
    chosen = options.clean(family, {"checkpoint": str(checkpoint), **given})
    info = family.describe("small", "Small", chosen)
    path, _, name = family.scorer.partition(":")
    assert (path, name) == (Likelihood.__module__, "Likelihood")
    return Likelihood(info, source_language=languages[0], target_language=languages[1])


def bartscore(folder: Path, given: str, written: str) -> float:
    """BARTScore: the mean of ln p over all labels, special ones with them."""
    cut: Any = AutoTokenizer.from_pretrained(folder, use_fast=False)
    model: Any = BartForConditionalGeneration.from_pretrained(folder)
    labels = cut(written, return_tensors="pt").input_ids
    with torch.no_grad():
        logits = model.eval()(**cut(given, return_tensors="pt"), labels=labels).logits
    return float(logits[0].log_softmax(-1).gather(1, labels[0][:, None]).mean())


@pytest.mark.parametrize("direction", [FAITHFULNESS, PRECISION_OF, RECALL, BOTH])
def test_equal_to_bartscore(bart: Path, direction: str) -> None:
    expected = []
    for each in SINGLE:
        there = bartscore(bart, each.references[0], each.hypothesis)
        back = bartscore(bart, each.hypothesis, each.references[0])
        source = bartscore(bart, each.source, each.hypothesis)
        expected.append(
            {FAITHFULNESS: source, PRECISION_OF: there, RECALL: back, BOTH: (there + back) / 2}[
                direction
            ]
        )
    ours = make(bart, direction=direction).score(SINGLE)[:, 0]
    assert np.ptp(ours) > 0.01
    np.testing.assert_allclose(ours, expected, atol=1e-5)


def prism(folder: Path, codes: tuple[str, str], given: str, written: str) -> float:
    """Prism: the mean of ln p over all labels but the first, which names the language."""
    cut: Any = AutoTokenizer.from_pretrained(folder, src_lang=codes[0], tgt_lang=codes[1])
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(folder)
    told = cut(given, text_target=written, return_tensors="pt")
    with torch.no_grad():
        logits = model.eval()(**told).logits
    own = logits[0].log_softmax(-1).gather(1, told["labels"][0][:, None])
    return float(own[1:].mean())


@pytest.mark.parametrize(
    ("kind", "codes"), [("mbart", ("de_DE", "en_XX")), ("nllb", ("deu_Latn", "eng_Latn"))]
)
def test_equal_to_prism(tmp_path: Path, kind: str, codes: tuple[str, str]) -> None:
    torch.manual_seed(3)
    foreign.KINDS[kind](tmp_path / kind)
    folder = tmp_path / kind
    source = make(folder, direction=FAITHFULNESS).score(SINGLE)[:, 0]
    theirs = [prism(folder, codes, each.source, each.hypothesis) for each in SINGLE]
    np.testing.assert_allclose(source, theirs, atol=1e-5)
    within = (codes[1], codes[1])
    pairs = [(each.references[0], each.hypothesis) for each in SINGLE]
    both = [(prism(folder, within, a, b) + prism(folder, within, b, a)) / 2 for a, b in pairs]
    np.testing.assert_allclose(make(folder).score(SINGLE)[:, 0], both, atol=1e-5)


@pytest.mark.parametrize("control", ["plain", "length-token", "target-embedding"])
def test_a_model_that_was_trained_here(tmp_path: Path, control: str) -> None:
    """A model with a length control gets the length of the text."""
    folder = untrained(tmp_path / control, control)
    inputs = [SegmentInput("ka to mi", "KA TO", ()), SegmentInput("ka re", "KA TO MI NO", ())]
    metric = make(folder, ("en", "de"), direction=FAITHFULNESS)
    model = load(folder, "en", "de", "cpu")
    pieces = [model.pieces(each.hypothesis) for each in inputs]
    rows = [metric._read((each.source, each.hypothesis))[0] for each in inputs]
    assert [row.target_length for row in rows] == (
        [None, None] if control == "plain" else [len(each) for each in pieces]
    )
    totals = [
        log_probabilities(model, [row], [own])[0] for row, own in zip(rows, pieces, strict=True)
    ]
    means = [total / (len(own) + 1) for total, own in zip(totals, pieces, strict=True)]
    np.testing.assert_allclose(metric.score(inputs)[:, 0], means, atol=1e-5)


def test_the_sum_counts_every_token(bart: Path) -> None:
    mean, total = (make(bart, direction=RECALL, length=each) for each in ("mean", "sum"))
    n = len(total._read(("", INPUTS[0].references[0]))[1]) + 1
    np.testing.assert_allclose(total.score(SINGLE[:1]), mean.score(SINGLE[:1]) * n, rtol=1e-5)
    assert mean.signature() != total.signature()


@pytest.mark.parametrize("chosen", ["bfloat16", "int8"])
def test_less_precision_is_seen_in_the_value(bart: Path, chosen: str) -> None:
    exact, rounded = make(bart), make(bart, precision=chosen)
    before, after = exact.score(INPUTS), rounded.score(INPUTS)
    assert 1e-6 < np.abs(after - before).max() < before.std()
    kinds = {each.dtype for each in rounded.loaded.model.model.parameters()}
    assert (torch.int8 in kinds) == (chosen == "int8")


def test_values_do_not_depend_on_the_batch(bart: Path) -> None:
    metric = make(bart)
    together = metric.score(INPUTS)
    metric.budget = 1
    np.testing.assert_allclose(metric.score(INPUTS), together, atol=1e-5)


def test_several_references_count_in_the_mean(bart: Path) -> None:
    metric = make(bart)
    alone = [
        metric.score([SegmentInput("", INPUTS[2].hypothesis, (each,))])[0, 0]
        for each in INPUTS[2].references
    ]
    assert metric.score(INPUTS[2:])[0, 0] == pytest.approx(np.mean(alone))


def test_endless_texts_have_scores(bart: Path) -> None:
    long = "harbour " * 2_000
    found = make(bart).score([SegmentInput("", long, ("a boat",)), SegmentInput("", "a", (long,))])
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda folder: foreign.KINDS["gpt2"](folder), "likelihood.no-encoder"),
        (lambda folder: small.bert(folder, foreign.TEXTS), "translation.no-decoder"),
        (lambda folder: untrained(folder), "translation.unknown-pair"),
    ],
)
def test_what_has_no_such_likelihood_says_so(
    tmp_path: Path, build: Callable[[Path], object], code: str
) -> None:
    build(tmp_path / "model")
    with refused(code, kind=MetricError):
        make(tmp_path / "model", ("en", "de"))


def test_weights_that_are_not_there_are_not_made_up(bart: Path, tmp_path: Path) -> None:
    config = BartConfig.from_pretrained(bart)
    model: Any = BartForConditionalGeneration(config)
    del model.model.decoder.layers[1].fc1
    model.save_pretrained(tmp_path)
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((bart / name).read_bytes())
    with refused("checkpoint.weights-missing", kind=MetricError, count=2):
        make(tmp_path)
