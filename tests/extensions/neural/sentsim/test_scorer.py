"""SentSim from texts to values, each part against another way of computing it."""

import numpy as np
import pytest
import torch
from bert_score import BERTScorer
from transformers import AutoModel, AutoTokenizer

from extensions.neural.sentences.options import combine, fit
from metrics.base import SegmentInput
from tests.extensions.neural.reference_free import INPUTS, OUTPUTS, SOURCES, make
from tests.extensions.neural.wmd.test_scorer import solve
from tests.refusals import refused

RANGES = {
    "cosine_min": 0.1, "cosine_max": 0.9, "f_min": 0.2, "f_max": 0.8, "wmd_min": 1, "wmd_max": 6,
}  # fmt: skip


@pytest.mark.usefixtures("fresh")
def test_parts(xlmr: str, mbert: str) -> None:
    inputs = INPUTS[:6]
    rows = make("sentsim", checkpoint=mbert, encoder=xlmr, layer=2).score(inputs)
    tokenizer = AutoTokenizer.from_pretrained(xlmr, use_fast=False)
    model = AutoModel.from_pretrained(xlmr).eval()
    sentence = AutoModel.from_pretrained(mbert).eval()
    pieces = AutoTokenizer.from_pretrained(mbert, use_fast=False)
    peer = BERTScorer(model_type=xlmr, num_layers=2, device="cpu")

    @torch.no_grad()
    def words(text: str) -> np.ndarray:
        states = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        return states.hidden_states[2][0, 1:-1].double().numpy()

    @torch.no_grad()
    def mean(text: str) -> np.ndarray:
        return sentence(**pieces(text, return_tensors="pt"))[0][0].mean(0).double().numpy()

    for each, row in zip(inputs, rows, strict=True):
        left, right = words(each.hypothesis), words(each.source)
        a, b = mean(each.hypothesis), mean(each.source)
        f = peer.score([each.hypothesis], [each.source])[2].item()
        distance = solve(np.linalg.norm(left[:, None] - right[None], axis=2))
        between_means = np.linalg.norm(left.mean(0) - right.mean(0))
        cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        np.testing.assert_allclose(row, [cosine, f, -distance, -between_means], atol=1e-5)


@pytest.mark.usefixtures("fresh")
def test_combinations_need_ranges_and_do_not_depend_on_the_batch(xlmr: str, mbert: str) -> None:
    encoders = {"checkpoint": mbert, "encoder": xlmr, "layer": 2}
    parts = make("sentsim", **encoders)
    assert parts.info.shown == ("small-cosine", "small-f", "small-wmd")
    fitted = make("sentsim", **encoders, **RANGES)
    assert fitted.info.shown == ("small-cosine-f", "small-cosine-wmd", "small-all")
    values = fitted.score(INPUTS)
    raw = parts.score(INPUTS)
    np.testing.assert_allclose(values[:, :4], raw, rtol=0, atol=1e-5)
    ranges = fit(np.array([0.1, 0.9]), np.array([0.2, 0.8]), np.array([1.0, 6.0]))
    np.testing.assert_allclose(
        values[:, 4:], combine(values[:, 0], values[:, 1], -values[:, 2], ranges), atol=1e-9
    )
    np.testing.assert_allclose(fitted.score(INPUTS[3:4]), values[3:4], atol=1e-5)
    assert "ranges:0.1..0.9,0.2..0.8,1..6" in fitted.signature()


@pytest.mark.usefixtures("fresh")
def test_blank_texts_are_never_the_best(xlmr: str, mbert: str) -> None:
    metric = make("sentsim", checkpoint=mbert, encoder=xlmr, layer=2, **RANGES)
    pairs = [(SOURCES[0], ""), ("", OUTPUTS[0]), ("", ""), (SOURCES[0], OUTPUTS[0])]
    *blank, real = metric.score([SegmentInput(source, output, ()) for source, output in pairs])
    for row in blank:
        assert (row[:2] == 0).all()
        assert (row[2:4] < real[2:4]).all()
        assert (row[4:] < real[4:]).all()
    odd = [SegmentInput(text, OUTPUTS[0], ()) for text in ("?!", "a", "harbour " * 300)]
    assert np.isfinite(metric.score(odd)).all()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(("changed", "part"), [({"wmd_max": 0}, "wmd"), ({"f_min": 0.8}, "f")])
def test_ranges_that_are_none(xlmr: str, mbert: str, changed: dict, part: str) -> None:
    with refused(
        "option.problem",
        kind=ValueError,
        option=f"{part}-max",
        problem="sentsim.range-order",
        part=part,
    ):
        make("sentsim", checkpoint=mbert, encoder=xlmr, layer=2, **(RANGES | changed))
