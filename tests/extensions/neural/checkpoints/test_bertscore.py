"""BERTScore of every layer against bert-score, on each of the formats of the four models."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from bert_score import BERTScorer

from benchmarks.gpu import small
from extensions.neural.bertscore.scorer import BertScore
from extensions.neural.encoding import encoders
from metrics.base import MetricError, MetricInfo, Scores, SegmentInput
from metrics.checkpoints.places import fingerprint
from tests.refusals import refused

TEXTS = [
    "The harbour was quiet all morning.",
    "All morning the harbour has been quiet, they said.",
    "Ships left early; nobody saw them.",
    "Nobody saw the ships that left early.",
    "港口整个上午都很安静。",
    "一早船就开走了，没有人看见。",
    "quiet",
    "?!",
    "👩‍👩‍👧 harbour e\u0301",
]
FORMATS = [small.bert, small.roberta, small.bart, small.deberta, small.xlm_roberta]


@pytest.fixture(scope="module", params=FORMATS, ids=lambda build: build.__name__)
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    build: Callable[[Path, Sequence[str]], Path] = request.param
    return str(build(tmp_path_factory.mktemp("models") / build.__name__, TEXTS * 4))


@pytest.fixture(autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


def make(checkpoint: str, layers: int = 4) -> BertScore:
    names = tuple(f"{layer}-{side}" for layer in range(layers) for side in "prf")
    info = MetricInfo(
        *("small", "Small", names, names),
        needs_source=False,
        needs_reference=True,
        queue="gpu",
        checkpoint=checkpoint,
    )
    return BertScore(info, source_language="en", target_language="zh")


@cache
def peer(checkpoint: str) -> BERTScorer:
    """bert-score itself, over all layers."""
    return BERTScorer(model_type=checkpoint, num_layers=3, all_layers=True, device="cpu")


def official(checkpoint: str, hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """(n, 3 × layers), one pair at a time: its padding counts otherwise."""
    pairs = zip(hypotheses, references, strict=True)
    rows = [torch.stack(peer(checkpoint).score([one], [other]), -1) for one, other in pairs]
    return np.array([row.reshape(-1).numpy() for row in rows])


def test_equal_to_bert_score(checkpoint: str) -> None:
    inputs = [SegmentInput("", left, (right,)) for left in TEXTS for right in TEXTS[:4]]
    ours = make(checkpoint).score(inputs)
    theirs = official(
        checkpoint, [each.hypothesis for each in inputs], [each.references[0] for each in inputs]
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_several_references_give_the_best(checkpoint: str) -> None:
    inputs = [SegmentInput("", left, (TEXTS[1], TEXTS[3])) for left in TEXTS[:3]]
    # bert-score takes the largest of each value too, but its all_layers mixes up the axes there.
    alone = [official(checkpoint, TEXTS[:3], [TEXTS[index]] * 3) for index in (1, 3)]
    np.testing.assert_allclose(make(checkpoint).score(inputs), np.maximum(*alone), atol=1e-5)


def test_values_do_not_depend_on_the_batch(checkpoint: str) -> None:
    inputs = [SegmentInput("", left, (right,)) for left in TEXTS for right in TEXTS[:4]]
    metric = make(checkpoint)
    together = metric.score(inputs)
    metric.encoder.budget = 1
    np.testing.assert_allclose(metric.score(inputs), together, atol=1e-5)


@pytest.mark.parametrize("text", ["", "   "])
def test_an_empty_text_scores_zero(checkpoint: str, text: str) -> None:
    rows = make(checkpoint).score(
        [SegmentInput("", text, (TEXTS[0],)), SegmentInput("", TEXTS[0], (text,))]
    )
    assert (rows == 0).all()


def test_a_text_against_itself_scores_one(checkpoint: str) -> None:
    rows = make(checkpoint).score([SegmentInput("", text, (text,)) for text in TEXTS])
    np.testing.assert_allclose(rows, 1, atol=1e-5)


def test_a_text_of_ten_thousand_words_is_cut(checkpoint: str) -> None:
    rows = make(checkpoint).score([SegmentInput("", "harbour " * 10_000, (TEXTS[0],))])
    assert np.isfinite(rows).all()


def test_an_encoder_without_special_tokens(tmp_path: Path) -> None:
    metric = make(str(small.gpt2(tmp_path / "gpt2", TEXTS * 4)))
    rows = metric.score(
        [SegmentInput("", text, (text,)) for text in TEXTS]
        + [SegmentInput("", *pair) for pair in (("", (TEXTS[0],)), (TEXTS[0], ("",)), ("", ("",)))]
    )
    np.testing.assert_allclose(rows[: len(TEXTS)], 1, atol=1e-5)
    assert (rows[len(TEXTS) :] == 0).all()


def test_many_outputs_of_one_reference_are_split(checkpoint: str) -> None:
    """What a hundred systems say of a segment need not be in memory together."""
    metric, sizes = make(checkpoint), []
    encode = metric.encoder.pad

    def counting(ids: Sequence[Sequence[int]]) -> object:
        sizes.append(len(ids) * max(map(len, ids)))
        return encode(ids)

    inputs = [SegmentInput("", f"{TEXTS[1]} {n}", (TEXTS[0],)) for n in range(100)]
    expected = metric.score(inputs)
    metric.encoder.pad = counting  # type: ignore[method-assign]
    metric.encoder.budget = 100
    np.testing.assert_allclose(metric.score(inputs), expected, atol=1e-5)
    assert max(sizes) <= encoders.OVERSIZE * 100


def test_the_signature_changes_with_the_files(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "bert", TEXTS)
    first = make(str(folder)).signature()
    assert f"|weights:{fingerprint(folder)}|" in first
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text(vocabulary.read_text().removesuffix("\n") + "ly\n")
    assert make(str(folder)).signature() != first


def test_each_distinct_text_is_encoded_once(checkpoint: str) -> None:
    metric, seen = make(checkpoint), []
    encode = metric.encoder.pad

    def counting(ids: Sequence[Sequence[int]]) -> object:
        seen.extend(map(tuple, ids))
        return encode(ids)

    metric.encoder.pad = counting  # type: ignore[method-assign]
    metric.score([SegmentInput("", text, (TEXTS[0],)) for text in TEXTS for _ in range(3)])
    assert len(seen) == len(set(seen)) == len(TEXTS)


def test_out_of_memory_halves_the_batch(checkpoint: str) -> None:
    metric = make(checkpoint)
    inputs = [SegmentInput("", left, (right,)) for left in TEXTS for right in TEXTS[:4]]
    expected, encode = metric.score(inputs), metric.encoder.compute

    def small_memory(padded: Sequence[torch.Tensor]) -> object:
        if len(padded[0]) > 3:
            raise torch.cuda.OutOfMemoryError
        return encode(padded)

    metric.encoder.compute = small_memory  # type: ignore[method-assign]
    np.testing.assert_allclose(metric.score(inputs), expected, atol=1e-5)


def test_an_encoder_that_overflows_is_not_taken_for_a_score(checkpoint: str) -> None:
    """The engine names the segment of a value that is not finite; 0 would look like one."""
    metric = make(checkpoint)
    encode = metric.encoder.compute

    def overflowing(padded: Sequence[torch.Tensor]) -> object:
        states, mask = encode(padded)
        states[2] = torch.full_like(states[2], torch.nan)
        return states, mask

    metric.encoder.compute = overflowing  # type: ignore[method-assign]
    row = metric.score([SegmentInput("", TEXTS[0], (TEXTS[1],))])[0].reshape(-1, 3)
    assert np.isnan(row[2]).all()
    assert np.isfinite(row[[0, 1, 3]]).all()


def test_a_missing_checkpoint_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with refused(
        "checkpoint.missing", kind=MetricError, checkpoint="facebook/bart-large-mnli"
    ) as caught:
        make("facebook/bart-large-mnli")
    assert caught.value.permanent


def test_a_damaged_checkpoint_is_an_error(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "broken", TEXTS)
    (folder / "model.safetensors").write_bytes(b"not a checkpoint")
    with refused("encoder.not-loaded", kind=MetricError):
        make(str(folder))


def test_a_pickle_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small.bert(tmp_path / "pickled", TEXTS)
    (folder / "model.safetensors").unlink()
    torch.save({"weights": Run(tmp_path / "was-run")}, folder / "pytorch_model.bin")
    with refused("encoder.not-loaded", kind=MetricError):
        make(str(folder))
    assert not (tmp_path / "was-run").exists()
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with refused("checkpoint.code-allowed", kind=MetricError):
        make(str(folder))


class Run:
    """Unpickling this creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> object:
        return (Path.touch, (self.path,))
