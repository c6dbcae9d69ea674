"""BERTScore weighed by idf and rescaled: against bert-score, and by the formulas in plain loops."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import bert_score
import numpy as np
import pytest
import torch

from annotation.models import TestSet
from annotation.models.corpus import content_key
from benchmarks.gpu import small
from extensions.neural.bertscore import options
from extensions.neural.bertscore.scorer import BertScore
from extensions.neural.encoding import encoders
from metrics import catalogue, registry
from metrics.base import MetricError, Scores, SegmentInput
from metrics.contents import references_of
from metrics.models import ConfiguredMetric, MetricRun
from metrics.runs import starting
from metrics.scores import latest_signatures, system_scores
from tests.extensions.neural.checkpoints.test_bertscore import TEXTS
from tests.metrics.conftest import drain
from tests.refusals import refused
from tests.world import add_system, make_test_set

LAYERS = 4
REFERENCES = [*TEXTS[:4], TEXTS[0]]
OUTPUTS = [TEXTS[1], TEXTS[0], TEXTS[3], "quiet ships", TEXTS[2]]
INPUTS = [
    SegmentInput("", output, (reference,))
    for output, reference in zip(OUTPUTS, REFERENCES, strict=True)
]
BASELINES = [[0.2, 0.21, 0.205], [0.3, 0.31, 0.305], [-0.1, 0.05, 0.0], [0.4, 0.35, 0.375]]


@pytest.fixture(scope="module", params=[small.bert, small.roberta], ids=lambda f: f.__name__)
def checkpoint(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    build: Callable[[Path, Sequence[str]], Path] = request.param
    return str(build(tmp_path_factory.mktemp("models") / build.__name__, TEXTS * 4))


@pytest.fixture(autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


def write(folder: Path, text: str | None = None, name: str = "baseline.tsv") -> Path:
    rows = [",".join(map(str, (layer, *row))) for layer, row in enumerate(BASELINES)]
    (folder / name).write_text(text if text is not None else "\n".join(["LAYER,P,R,F", *rows]))
    return folder / name


def make(checkpoint: str, **options: object) -> BertScore:
    given = {"checkpoint": checkpoint, "layer": 2, **options}
    info = registry.configure("bertscore", "small", "Small", given)
    return BertScore(info, source_language="en", target_language="zh")


def fitted(checkpoint: str, **options: object) -> BertScore:
    metric = make(checkpoint, idf="yes", **options)
    metric.fit([(reference,) for reference in REFERENCES])
    return metric


def official(checkpoint: str, **options: object) -> Scores:
    """(n, 3 × layers) of bert-score itself, its batches of one."""
    values = bert_score.score(
        OUTPUTS,
        REFERENCES,
        model_type=checkpoint,
        num_layers=LAYERS - 1,
        all_layers=True,
        batch_size=1,
        nthreads=0,
        device="cpu",
        lang="en",
        **options,
    )
    return torch.stack(values, -1).transpose(0, 1).reshape(len(OUTPUTS), -1).numpy()


def test_idf_is_that_of_bert_score(checkpoint: str) -> None:
    ours = fitted(checkpoint).score(INPUTS)
    np.testing.assert_allclose(ours, official(checkpoint, idf=True), atol=1e-5)
    assert np.abs(ours - official(checkpoint, idf=False)).max() > 1e-3


def test_rescaling_is_that_of_bert_score(checkpoint: str, tmp_path: Path) -> None:
    path = str(write(tmp_path))
    expected = {"rescale_with_baseline": True, "baseline_path": path}
    ours = make(checkpoint, baseline=path).score(INPUTS)
    np.testing.assert_allclose(ours, official(checkpoint, **expected), atol=2e-5)
    both = fitted(checkpoint, baseline=path).score(INPUTS)
    np.testing.assert_allclose(both, official(checkpoint, idf=True, **expected), atol=2e-5)


def test_idf_by_the_formula_in_plain_loops(tmp_path: Path) -> None:
    """Zhang et al. 2020, eq. 1-3 with the weights of section 3, and the rescaling after it."""
    metric = fitted(str(small.bert(tmp_path / "bert", TEXTS)), baseline=str(write(tmp_path)))
    encoder = metric.encoder
    ids = {text: encoder.tokenizer.encode(text) for text in [*OUTPUTS, *REFERENCES]}
    n = len(REFERENCES)

    def weight(piece: int) -> float:
        holds = sum(piece in ids[reference] for reference in REFERENCES)
        return math.log((n + 1) / (holds + 1))

    def vectors(text: str) -> list[list[float]]:
        with torch.inference_mode():
            found = encoder.model(torch.tensor([ids[text]]), output_hidden_states=True)
        return found.hidden_states[2][0].double().tolist()  # type: ignore[no-any-return]

    def cosine(a: list[float], b: list[float]) -> float:
        dot = sum(x * y for x, y in zip(a, b, strict=True))
        return dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))

    def side(left: str, right: str) -> float:
        weights = [weight(piece) for piece in ids[left]]
        best = [max(cosine(a, b) for b in vectors(right)) for a in vectors(left)]
        return sum(w * v for w, v in zip(weights, best, strict=True)) / sum(weights)

    output, reference = OUTPUTS[1], REFERENCES[1]
    precision, recall = side(output, reference), side(reference, output)
    plain = [precision, recall, 2 * precision * recall / (precision + recall)]
    expected = [(x - b) / (1 - b) for x, b in zip(plain, BASELINES[2], strict=True)]
    np.testing.assert_allclose(metric.score(INPUTS)[1, 6:9], expected, atol=1e-5)


def test_the_signature_names_the_references_and_the_baselines(tmp_path: Path) -> None:
    checkpoint = str(small.bert(tmp_path / "bert", TEXTS))
    path = write(tmp_path)
    one, other = fitted(checkpoint), make(checkpoint, idf="yes")
    other.fit([(reference,) for reference in REFERENCES[1:]])
    again = make(checkpoint, idf="yes")
    again.fit([(reference,) for reference in reversed(REFERENCES)])
    assert one.signature() == again.signature() != other.signature()
    rescaled = make(checkpoint, baseline=str(path)).signature()
    write(tmp_path, path.read_text().replace("0.205", "0.204"))
    assert len({rescaled, make(checkpoint, baseline=str(path)).signature()}) == 2
    assert "|idf:no|rescaled:no|" in make(checkpoint).signature()


def test_idf_is_over_the_references_that_are_read(tmp_path: Path) -> None:
    checkpoint = str(small.bert(tmp_path / "bert", TEXTS))
    alone, all_of = (make(checkpoint, idf="yes", references=r) for r in ("first", "best"))
    for metric in (alone, all_of):
        metric.fit([(reference, TEXTS[4]) for reference in REFERENCES])
    np.testing.assert_array_equal(alone.score(INPUTS), fitted(checkpoint).score(INPUTS))
    assert np.abs(all_of.score(INPUTS) - alone.score(INPUTS)).max() > 1e-4


def test_without_references_there_is_no_idf(tmp_path: Path) -> None:
    metric = make(str(small.bert(tmp_path / "bert", TEXTS)), idf="yes")
    with refused("bertscore.not-fitted", kind=MetricError):
        metric.signature()
    with refused("bertscore.not-fitted", kind=MetricError):
        metric.score(INPUTS)
    with refused("bertscore.too-few-references", kind=MetricError, least=2):
        metric.fit([("One.",)])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("LAYER,P,R,F\n0,.1,.1,.1\n2,.1,.1,.1", "no-layer"),
        ("LAYER,P,R,F\n0,.1,.1,x", "value"),
        ("LAYER,P,R,F\n0,.1,1.0,.1", "value"),
        ("LAYER,P,R,F\n0,.1,nan,.1", "value"),
        ("LAYER,P,R,F\n.5,.1,.1,.1", "layer"),
        ("LAYER,P,R,F\n0,.1,.1", "fields"),
        ("P,R,F\n.1,.1,.1", "columns"),
        ("", "columns"),
    ],
)
def test_baselines_that_do_not_fit(tmp_path: Path, text: str, code: str) -> None:
    with refused(f"baseline-file.{code}", kind=MetricError) as caught:
        options.read_baseline(write(tmp_path, text), 3)
    assert caught.value.permanent


def test_baselines_may_be_parted_by_tabs(tmp_path: Path) -> None:
    commas = options.read_baseline(write(tmp_path), 4)
    tabs = options.read_baseline(write(tmp_path, write(tmp_path).read_text().replace(",", "\t")), 4)
    np.testing.assert_array_equal(commas.values, tabs.values)
    np.testing.assert_array_equal(commas.values, BASELINES)


def test_baselines_lie_with_the_checkpoint_or_are_refused_at_once(tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "bert", TEXTS)
    write(folder, name="zh.tsv")
    assert "|rescaled:no|" not in make(str(folder), baseline="zh.tsv").signature()
    write(folder, "LAYER,P,R,F\n0,.1,.1,.1", name="short.tsv")
    with refused(
        "option.problem",
        kind=ValueError,
        option="baseline",
        problem="baseline-file.no-layer",
        layer=1,
    ):
        make(str(folder), baseline="short.tsv")
    with refused("file.unreadable", kind=MetricError, path=str(folder / "none.tsv")):
        make(str(folder), baseline="none.tsv")


@pytest.fixture
def two_sets(db: None, tmp_path: Path) -> tuple[TestSet, TestSet]:
    """Two test sets with one content in common, and a metric that weighs by idf."""
    one, other = make_test_set("one", systems=()), make_test_set("other", systems=())
    for segment in other.segments.exclude(position=0):
        segment.references.update(text=f"Nobody saw the ships, {segment.position} of them.")
    texts = [text for each in (one, other) for (text,) in references_of(each)]
    checkpoint = str(small.bert(tmp_path / "bert", [*texts, *TEXTS]))
    catalogue.configure(
        family="bertscore",
        name="by-idf",
        label="By idf",
        options={"checkpoint": checkpoint, "layer": 2, "idf": "yes"},
    )
    for test_set in (one, other):
        for output in add_system(test_set, "same").outputs.select_related("segment"):
            references = output.segment.references.values_list("text", flat=True)
            output.content_key = content_key(output.segment.source, references, output.text)
            output.save()
    return one, other


def score(test_set: TestSet) -> MetricRun:
    (run,) = starting.start(test_set=test_set, metrics=["by-idf"], enqueue=False).runs
    return drain(run)


def test_scores_of_two_test_sets_are_never_mixed(two_sets: tuple[TestSet, TestSet]) -> None:
    one, other = two_sets
    assert score(one).status == "done"
    assert system_scores(other).measures == {}  # nothing is borrowed from the first
    run = score(other)
    assert (run.status, run.reused) == ("done", 0)
    signatures = [latest_signatures(each)["by-idf"] for each in two_sets]
    assert signatures[0] != signatures[1]
    first, second = (system_scores(each).measures["by-idf-2-f"].values[0, 0] for each in two_sets)
    assert abs(first - second) > 1e-4


def test_the_description_says_so(two_sets: tuple[TestSet, TestSet]) -> None:
    info = ConfiguredMetric.objects.get(name="by-idf").info
    assert info.depends_on_set
    assert info.description.code.startswith("bertscore.about-idf")  # type: ignore[union-attr]
