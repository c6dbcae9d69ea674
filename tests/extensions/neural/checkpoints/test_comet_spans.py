"""xCOMET's spans against comet's own, which loses the last one and keeps blanks."""

import json
from pathlib import Path

import pytest
import torch
from comet import load_from_checkpoint
from comet.models.multitask.unified_metric import UnifiedMetric

from benchmarks.gpu import small
from extensions.neural.checkpoints import comet
from extensions.neural.encoding import encoders
from metrics.base import SegmentInput
from metrics.error_spans import FoundSpan
from tests.extensions.neural.checkpoints.test_bertscore import TEXTS
from tests.extensions.neural.checkpoints.test_comet import INPUTS, make
from tests.metaeval.published import DATA

LABELS = ["O", "I-minor", "I-major", "I-critical"]
CHECKS = json.loads((DATA.parent / "specs/spans-checks.json").read_text(encoding="utf-8"))["checks"]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An xCOMET whose labels change from subword to subword: its tags are far apart."""
    folder = tmp_path_factory.mktemp("xcomet")
    encoder = small.xlm_roberta(folder / "xlmr", TEXTS * 4)
    made = small.comet(folder / "model", encoder, "xcomet_metric", word_layer=3)
    file = made / "checkpoints" / "model.ckpt"
    document = torch.load(file, weights_only=True)
    document["state_dict"]["hidden2tag.weight"] *= 20
    torch.save(document, file)
    return made


@pytest.fixture(autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


def official(checkpoint: Path, inputs: list[SegmentInput]) -> list[list[dict[str, object]]]:
    model = load_from_checkpoint(str(checkpoint / "checkpoints" / "model.ckpt"))
    samples = [{"src": e.source, "mt": e.hypothesis, "ref": e.references[0]} for e in inputs]
    found = model.predict(samples, batch_size=4, gpus=0, num_workers=0, progress_bar=False)
    scorer: list[list[dict[str, object]]] = found["metadata"]["error_spans"]
    return scorer


def test_spans_that_comet_closes_are_the_same(checkpoint: Path) -> None:
    _, found = make(checkpoint).score_with_spans(INPUTS)
    assert found is not None
    n_same = n_closed_by_us = 0
    for segment, own, theirs in zip(INPUTS, found, official(checkpoint, INPUTS), strict=True):
        text = segment.hypothesis
        expected = [each for each in theirs if text[each["start"] : each["end"]].strip()]
        assert len(own) - len(expected) in (0, 1)
        n_closed_by_us += len(own) - len(expected)
        for span, other in zip(own, expected, strict=False):
            marked = text[other["start"] : other["end"]]
            assert text[span.start : span.end] == marked.strip()
            assert other["start"] <= span.start < span.end <= other["end"]
            assert span.severity == other["severity"]
            assert span.confidence == pytest.approx(other["confidence"], abs=1e-5)
            n_same += 1
    assert n_same > 2
    assert n_closed_by_us > 0


def test_the_score_is_comets_and_the_signature_names_the_decoding(checkpoint: Path) -> None:
    metric = make(checkpoint)
    scores, _ = metric.score_with_spans(INPUTS)
    assert (metric.score(INPUTS) == scores).all()
    fields = metric.signature().split("|")
    assert "spans:argmax,last closed,blanks trimmed,1" in fields
    assert "span-weights:0.1667/0.3333/0.5" in fields
    assert "score-weights:0.12/0.33/0.33/0.22" in fields


def test_spans_do_not_depend_on_the_batch(checkpoint: Path) -> None:
    metric = make(checkpoint)
    _, together = metric.score_with_spans(INPUTS)
    metric.loaded.budget = 1
    _, alone = metric.score_with_spans(INPUTS)
    assert together is not None
    assert alone is not None
    places = [[(s.start, s.end, s.severity) for s in own] for own in together]
    assert places == [[(s.start, s.end, s.severity) for s in own] for own in alone]


def test_models_without_labels_mark_nothing(tmp_path: Path) -> None:
    encoder = small.xlm_roberta(tmp_path / "xlmr", TEXTS * 4)
    metric = make(small.comet(tmp_path / "model", encoder))
    assert metric.score_with_spans(INPUTS)[1] is None
    assert "spans:" not in metric.signature()


def probabilities(*labels: int) -> torch.Tensor:
    rows = torch.full((len(labels), 4), 0.1)
    rows[range(len(labels)), labels] = 0.7
    return rows


def decoded(rows: torch.Tensor, threshold: float | None = None) -> list[FoundSpan]:
    values, chosen = comet.labelled(rows, threshold)
    return comet.spans_of(values.numpy(), chosen.int().tolist(), OFFSETS, LABELS)


@pytest.mark.parametrize("threshold", [None, 0.5])
def test_severities_are_those_of_comets_own_loop(checkpoint: Path, threshold: float | None) -> None:
    """Only they are read by the score; comet asks for the label of one subword after the other."""
    model = make(checkpoint).model
    model.decoding_threshold = threshold
    rows = torch.rand(6, 9, 4, generator=torch.Generator().manual_seed(1)) ** 4
    ids, offsets = torch.full((6, 9), 5), [[(n, n + 1) for n in range(k)] for k in range(4, 10)]
    rows = rows / rows.sum(-1, keepdim=True)
    expected = model.decode(rows, ids, offsets)
    with comet.recording(model):
        found = model.decode(rows, ids, offsets)
    severities = [[span["severity"] for span in each] for each in expected]
    assert [[span["severity"] for span in each] for each in found] == severities
    assert sum(map(len, severities)) > 3


# <s> ▁The ▁bad ▁end </s>
OFFSETS = [(0, 0), (0, 3), (3, 7), (7, 11), (0, 0)]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ((0, 0, 2, 1, 0), [(4, 11, "major")]),  # comet's, less the blank
        ((0, 0, 2, 0, 0), [(4, 7, "major")]),
        ((0, 0, 0, 1, 3), [(8, 11, "minor")]),  # open at the end: comet has none
        ((0, 1, 0, 0, 2), [(0, 3, "minor")]),  # the end token alone marks no character
        ((3, 1, 0, 0, 0), [(0, 3, "critical")]),  # the begin token opens it, as in comet
        ((3, 0, 0, 0, 0), []),
    ],
)
def test_runs_of_labels(labels: tuple[int, ...], expected: list[tuple[int, int, str]]) -> None:
    found = decoded(probabilities(*labels))
    kept = comet.trimmed(found, "The bad end")
    assert [(each.start, each.end, each.severity) for each in kept] == expected


def test_a_threshold_decides_where_there_is_one() -> None:
    rows = torch.tensor([[0.6, 0.1, 0.25, 0.05]] * 5)
    assert decoded(rows) == []
    (found,) = decoded(rows, 0.3)
    assert (found.severity, found.confidence) == ("major", pytest.approx(0.25))


@pytest.mark.parametrize("check", [c for c in CHECKS if c["measure"].startswith("xcomet")],
                         ids=lambda check: check["id"])  # fmt: skip
def test_the_score_is_put_together_as_published(check, checkpoint: Path) -> None:
    """comet's own sums, which our score takes over: 1, 5 and 10 a span, .12, .33, .33 and .22."""
    model = make(checkpoint).model
    own = UnifiedMetric.decode
    given = check.get("spans", [["minor", "major", "critical"]])
    inputs = check.get("inputs", {})

    class Answer:
        def __init__(self, score: float) -> None:
            self.score = torch.full((len(given),), score)
            self.logits = torch.zeros((len(given), 1, 4))

    scores = [inputs[name] for name in ("src", "ref", "unified") if name in inputs]
    answers = iter(Answer(score) for score in scores or [1.0] * 3)
    batch = [{"label_ids": torch.zeros((len(given), 1)), "input_ids": None, "mt_offsets": None}]
    model.forward = lambda **_: next(answers)
    model.decode = lambda *_: [[{"severity": name} for name in each] for each in given]
    try:
        found = model.predict_step(batch * len(scores or "123"))
    finally:
        del model.forward, model.decode
    assert UnifiedMetric.decode is own
    key = "mqm_scores" if check["measure"] == "xcomet-mqm" else "scores"
    values = (found["metadata"] if key == "mqm_scores" else found)[key].tolist()
    assert values == pytest.approx(
        check["expected"] if isinstance(check["expected"], list) else [check["expected"]], abs=1e-6
    )
