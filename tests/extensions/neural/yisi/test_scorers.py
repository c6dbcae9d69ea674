"""YiSi-0, -1 and -2 from texts to values."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from extensions.neural.encoding import encoders
from extensions.neural.encoding.encoders import Encoder
from extensions.neural.encoding.token_vectors import embed
from extensions.neural.yisi.core import LexicalWeights, combine, precision_recall
from metrics import registry
from metrics.base import MetricError, SegmentInput
from tests.extensions.neural.reference_free import INPUTS, OUTPUTS, REFERENCES, SOURCES, make
from tests.refusals import refused

VECTORS = "4 3\nthe 1 0 0\nharbour 0 1 0\nport 0 0.8 0.6\nquiet 0 0 -1\n"
SOURCE_VECTORS = "3 3\n港 0 1 0\n静 0 0.6 -0.8\nharbour 1 0 0\n"


@pytest.fixture
def vectors(tmp_path: Path) -> tuple[str, str]:
    paths = tmp_path / "en.vec", tmp_path / "zh.vec"
    for path, text in zip(paths, (VECTORS, SOURCE_VECTORS), strict=True):
        path.write_text(text, encoding="utf-8")
    return str(paths[0]), str(paths[1])


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("compare", ["source", "reference"])
def test_contextual_values_follow_from_pieces_and_cosines(mbert: str, compare: str) -> None:
    metric = make("yisi", checkpoint=mbert, layer=2, compare=compare, order=2, alpha=0.7)
    encoder = encoders.get(mbert)
    for each, value in zip(INPUTS, metric.score(INPUTS)[:, 0], strict=True):
        other = each.source if compare == "source" else each.references[0]
        found = embed(encoder, [other, each.hypothesis], [2])
        left, right = (found[text].states[2][1:-1].numpy() for text in (other, each.hypothesis))
        left, right = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (left, right))
        similarity = np.maximum(left @ right.T, 0).astype(float)
        matched = precision_recall(similarity, np.ones(len(left)), np.ones(len(right)), 2)
        assert value == pytest.approx(combine(*matched, 0.7), abs=1e-5)


@pytest.mark.usefixtures("fresh")
def test_precision_and_recall_are_each_the_best_over_references(mbert: str) -> None:
    output, references = OUTPUTS[0], (REFERENCES[0], OUTPUTS[0] + " " + REFERENCES[1])
    values = {}
    for alpha in (0, 1, 0.5):
        metric = make("yisi", checkpoint=mbert, layer=2, compare="reference", alpha=alpha)
        values[alpha] = metric.score([SegmentInput("", output, references)])[0, 0]
        alone = metric.score([SegmentInput("", output, (text,)) for text in references])
        if alpha in (0, 1):  # precision and recall alone
            assert values[alpha] == pytest.approx(alone.max())
    harmonic = 2 * values[0] * values[1] / (values[0] + values[1])
    assert values[0.5] == pytest.approx(harmonic)


@pytest.mark.usefixtures("fresh")
def test_learned_weights_are_those_of_pieces(mbert: str, tmp_path: Path) -> None:
    path = tmp_path / "references.txt"
    path.write_text("\n".join(REFERENCES), encoding="utf-8")
    options = {"checkpoint": mbert, "layer": 2, "compare": "reference", "order": 1}
    metric = make("yisi", weights=str(path), **options)
    tokenize = encoders.get(mbert).tokenizer.tokenize
    table = LexicalWeights(tokenize(text) for text in REFERENCES)
    assert metric.tables.other.of(["the", "zzz"]) == pytest.approx(table.of(["the", "zzz"]))  # type: ignore[attr-defined]
    uniform = make("yisi", **options)
    assert metric.signature() != uniform.signature()
    assert np.abs(metric.score(INPUTS) - uniform.score(INPUTS)).max() > 1e-4


def test_against_the_source_both_sides_need_their_sentences(mbert: str, tmp_path: Path) -> None:
    path = tmp_path / "source.txt"
    path.write_text("港口", encoding="utf-8")
    with refused("option.problem", kind=ValueError, problem="yisi.needed-for-sources"):
        make("yisi", checkpoint=mbert, layer=2, compare="source", weights=str(path))
    with refused("option.problem", kind=ValueError, problem="yisi.weights-needed"):
        make("yisi", checkpoint=mbert, layer=2, output_weights=str(path))


def test_words_with_vectors_in_one_language(vectors: tuple[str, str]) -> None:
    metric = make(
        "yisi-static", vectors=vectors[0], compare="reference", order=1, alpha=0.5,
        tokenizer="whitespace",
    )  # fmt: skip
    # "Port" is found in lower case, "boat" is unknown, "zzz" equals "ZZZ" without a vector.
    value = metric.score([SegmentInput("", "the Port zzz", ("the harbour boat ZZZ",))])[0, 0]
    precision, recall = (1 + 0.8 + 1) / 3, (1 + 0.8 + 0 + 1) / 4
    assert value == pytest.approx(2 * precision * recall / (precision + recall))


def test_equal_words_across_languages_need_an_unknown_side(vectors: tuple[str, str]) -> None:
    metric = make(
        "yisi-static", vectors=vectors[0], source_vectors=vectors[1], order=1, alpha=0.5,
        tokenizer="whitespace",
    )  # fmt: skip
    # Both sides know "harbour", with orthogonal vectors; "1899" is known to neither.
    values = metric.score(
        [
            SegmentInput("harbour", "harbour", ()),
            SegmentInput("1899", "1899", ()),
            SegmentInput("静", "quiet", ()),
        ]
    )
    np.testing.assert_allclose(values[:, 0], [0, 1, 0.8])


def test_vectors_of_the_source_are_needed(vectors: tuple[str, str]) -> None:
    with refused(
        "option.problem",
        kind=ValueError,
        option="source-vectors",
        problem="yisi.needed-for-sources",
    ):
        make("yisi-static", vectors=vectors[0])


def test_files_that_are_not_aligned(vectors: tuple[str, str], tmp_path: Path) -> None:
    narrow = tmp_path / "narrow.vec"
    narrow.write_text("a 1 2\n")
    with refused("vectors.not-aligned", kind=MetricError):
        make("yisi-static", vectors=vectors[0], source_vectors=str(narrow))


def test_yisi_0_needs_no_encoder() -> None:
    metric = registry.load("yisi-0", source_language="zh", target_language="en")
    equal, other, empty = metric.score(
        [
            SegmentInput("", "the harbour was quiet", ("the harbour was quiet",)),
            SegmentInput("", "harbours", ("harbour",)),
            SegmentInput("", "", ("harbour",)),
        ]
    )[:, 0]
    assert equal == pytest.approx(1)
    assert other == pytest.approx(2 * 7 / 15)
    assert empty == 0


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("references", ["best", "mean"])
def test_vectors_that_are_no_numbers_give_no_score(
    mbert: str, monkeypatch: pytest.MonkeyPatch, references: str
) -> None:
    """The engine names the segment of a value that is not finite; 0 would look like one."""
    metric = make("yisi", checkpoint=mbert, layer=2, compare="reference", references=references)
    encode = Encoder.compute

    def overflowing(encoder: Encoder, padded: Sequence[torch.Tensor]) -> Any:
        states, mask = encode(encoder, padded)
        is_longest = mask.sum(dim=1) == mask.sum(dim=1).max()
        states[2] = states[2].masked_fill(is_longest[:, None, None], torch.nan)
        return states, mask

    monkeypatch.setattr(Encoder, "compute", overflowing)
    inputs = [
        SegmentInput("", f"{OUTPUTS[1]} {OUTPUTS[1]}", ("calm",)),
        SegmentInput("", "quiet", ("calm", REFERENCES[1])),
    ]
    rows = [metric.score([each])[0, 0] for each in inputs]
    assert np.isnan(rows).all()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("text", ["", "?!", "a", "harbour " * 1000])
def test_odd_texts_have_a_value(mbert: str, text: str) -> None:
    rows = make("yisi", checkpoint=mbert, layer=2).score(
        [SegmentInput(SOURCES[0], text, ()), SegmentInput(text, text, ())]
    )
    assert np.isfinite(rows).all()
    if not text:
        assert (rows == 0).all()
