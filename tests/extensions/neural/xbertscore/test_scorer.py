"""XBERTScore: the literal checks, bert-score itself, and what may not change a value."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from bert_score import BERTScorer
from bert_score.utils import get_idf_dict, get_tokenizer

from extensions.neural.bertscore.xbertscore import match_pairs
from extensions.neural.encoding.token_vectors import UNIFORM, Embedded, Weights
from metrics.base import MetricError, Scores, SegmentInput
from tests.extensions.neural.reference_free import INPUTS, OUTPUTS, SOURCES, make, read_check
from tests.refusals import refused


def embedded(rows: list[list[float]]) -> Embedded:
    """A text whose pieces have these vectors; the first and the last are special."""
    n = len(rows)
    special = tuple(place in (0, n - 1) for place in range(n))
    return Embedded(tuple(range(n)), ("",) * n, special, {0: torch.tensor(rows, dtype=torch.float)})


def match(output: Embedded, source: Embedded, weights: Weights = UNIFORM) -> Scores:
    return match_pairs({"y": output, "x": source}, [("y", "x")], 0, weights, budget=100)[0]


def test_special_tokens_can_be_matched_but_weigh_nothing(data_dir: Path) -> None:
    check = read_check(data_dir, "A1")
    source = embedded(check["inputs"]["source_embeddings"])
    output = embedded(check["inputs"]["hypothesis_embeddings"])
    expected = [check["expected"][key] for key in ("P", "R", "F1")]
    np.testing.assert_allclose(match(output, source), expected, atol=check["tolerance"])


class PerText(Weights):
    """Weights given text by text, as the literal check states them."""

    def __init__(self, by_text: dict[int, list[float]]) -> None:
        super().__init__()
        object.__setattr__(self, "by_text", by_text)

    def of(self, text: Embedded) -> torch.Tensor:
        return torch.tensor(self.by_text[len(text.ids)])  # type: ignore[attr-defined]


def test_idf_weights(data_dir: Path) -> None:
    vectors, check = read_check(data_dir, "A1")["inputs"], read_check(data_dir, "A2")
    weights = [check["inputs"][f"{side}_weights"] for side in ("source", "hypothesis")]
    values = match(
        embedded(vectors["hypothesis_embeddings"]),
        embedded(vectors["source_embeddings"]),
        PerText({len(each): each for each in weights}),
    )
    expected = [check["expected"][key] for key in ("P", "R", "F1")]
    np.testing.assert_allclose(values, expected, atol=check["tolerance"])


def test_weights_that_sum_to_less_than_one_still_average() -> None:
    output = embedded([[0, 0, 1], [1, 0, 0], [1, 1, 0], [0, 0, 1]])
    source = embedded([[0, 0, 1], [1, 0, 0], [1, 0, 0], [0, 0, 1]])
    values = match(output, source, Weights({1: 0.2, 2: 0.3}))
    precision = (0.2 * 1 + 0.3 * np.sqrt(0.5)) / 0.5
    np.testing.assert_allclose(values, [precision, 1, 2 * precision / (precision + 1)], atol=1e-6)


def test_padding_is_no_floor(data_dir: Path) -> None:
    check = read_check(data_dir, "A3")
    texts = {
        key: embedded(check["inputs"][name])
        for key, name in (("x", "source"), ("y", "hypothesis"), ("z", "other_source_in_batch"))
    }
    together = match_pairs(texts, [("y", "x"), ("y", "z")], 0, UNIFORM, budget=100)
    expected = [check["expected"]["alone"][key] for key in ("P", "R", "F")]
    np.testing.assert_allclose(together[0], expected, atol=check["tolerance"])


def test_a_side_of_special_tokens_alone_scores_zero(data_dir: Path) -> None:
    inputs = read_check(data_dir, "A4")["inputs"]
    empty, full = (embedded(inputs[f"{key}_embeddings"]) for key in ("hypothesis", "source"))
    assert (match(empty, full) == 0).all()
    assert (match(full, empty) == 0).all()


def official(checkpoint: str, outputs: list[str], others: list[str], idf: Any = False) -> Scores:
    """(n, 3) of bert-score's second layer, one pair at a time: its padding counts otherwise."""
    peer = BERTScorer(model_type=checkpoint, num_layers=2, idf=bool(idf), device="cpu")
    peer._idf_dict = idf
    pairs = zip(outputs, others, strict=True)
    return np.array([torch.cat(peer.score([one], [other])).numpy() for one, other in pairs])


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("name", ["xlmr", "mbert"])
def test_equal_to_bert_score(name: str, request: pytest.FixtureRequest) -> None:
    checkpoint: str = request.getfixturevalue(name)
    ours = make("xbertscore", checkpoint=checkpoint, layer=2).score(INPUTS)
    theirs = official(
        checkpoint, [each.hypothesis for each in INPUTS], [each.source for each in INPUTS]
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.usefixtures("fresh")
def test_idf_of_a_file_equals_that_of_bert_score(xlmr: str, tmp_path: Path) -> None:
    path = tmp_path / "sources.txt"
    path.write_text("\n".join(SOURCES), encoding="utf-8")
    metric = make("xbertscore", checkpoint=xlmr, layer=2, idf=str(path))
    table = get_idf_dict(SOURCES, get_tokenizer(xlmr), nthreads=1)
    for special in metric.encoder.tokenizer.all_special_ids:  # type: ignore[attr-defined]
        table[special] = 0
    inputs = [SegmentInput(left, right, ()) for left in SOURCES for right in OUTPUTS]
    theirs = official(
        xlmr, [each.hypothesis for each in inputs], [each.source for each in inputs], table
    )
    np.testing.assert_allclose(metric.score(inputs), theirs, atol=1e-5)
    assert metric.signature() != make("xbertscore", checkpoint=xlmr, layer=2).signature()


@pytest.mark.usefixtures("fresh")
def test_values_do_not_depend_on_the_batch(xlmr: str) -> None:
    from extensions.neural.encoding import token_vectors

    metric = make("xbertscore", checkpoint=xlmr, layer=2)
    together = metric.score(INPUTS)
    token_vectors.forget()
    alone = np.vstack([metric.score([each]) for each in INPUTS])
    np.testing.assert_allclose(alone, together, atol=1e-5)


@pytest.mark.usefixtures("fresh")
def test_without_idf_f1_is_symmetric_and_precision_and_recall_swap(xlmr: str) -> None:
    metric = make("xbertscore", checkpoint=xlmr, layer=2)
    turned = [SegmentInput(each.hypothesis, each.source, ()) for each in INPUTS]
    np.testing.assert_allclose(metric.score(turned), metric.score(INPUTS)[:, [1, 0, 2]], atol=1e-6)


@pytest.mark.usefixtures("fresh")
def test_against_references_the_best_counts(xlmr: str) -> None:
    metric = make("xbertscore", checkpoint=xlmr, layer=2, compare="reference")
    both = metric.score([SegmentInput("", OUTPUTS[0], (OUTPUTS[1], OUTPUTS[2]))])
    alone = metric.score([SegmentInput("", OUTPUTS[0], (OUTPUTS[n],)) for n in (1, 2)])
    np.testing.assert_allclose(both[0], alone.max(axis=0), atol=1e-6)
    assert metric.info.needs_reference
    assert not metric.info.needs_source


ODD = ["", "  ", "?!", "。", "a", "harbour " * 1000, "\u200d", "👩‍👩‍👧"]


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("text", ODD)
def test_odd_texts_have_a_value_and_blank_ones_the_worst(xlmr: str, text: str) -> None:
    metric = make("xbertscore", checkpoint=xlmr, layer=2)
    rows = metric.score(
        [
            SegmentInput(SOURCES[0], text, ()),
            SegmentInput(text, OUTPUTS[0], ()),
            SegmentInput(text, text, ()),
        ]
    )
    assert np.isfinite(rows).all()
    if not text.strip():
        assert (rows == 0).all()


@pytest.mark.usefixtures("fresh")
def test_a_layer_that_is_not_there(xlmr: str) -> None:
    with refused(
        "option.problem", kind=ValueError, option="layer", problem="checkpoint.layers", last=3
    ):
        make("xbertscore", checkpoint=xlmr, layer=9)


@pytest.mark.usefixtures("fresh")
def test_a_file_that_is_not_utf8_is_named_with_its_line(xlmr: str, tmp_path: Path) -> None:
    path = tmp_path / "sources.txt"
    path.write_bytes("gut\nschön\n".encode("latin-1"))
    with refused("words.not-utf-8", kind=MetricError, path=str(path), line=2):
        make("xbertscore", checkpoint=xlmr, layer=2, idf=str(path))
    path.write_text("\n \n")
    with refused("file.no-sentence", kind=MetricError):
        make("xbertscore", checkpoint=xlmr, layer=2, idf=str(path))
    with refused("file.unreadable", kind=MetricError, path=str(tmp_path / "absent.txt")):
        make("xbertscore", checkpoint=xlmr, layer=2, idf=str(tmp_path / "absent.txt"))
