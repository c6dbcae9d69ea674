"""Windows over documents and COMET's context, against comet itself and a plain computation."""

from collections.abc import Mapping, Sequence
from io import StringIO
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from comet import load_from_checkpoint
from django.core.management import call_command

from annotation.models import Output, Reference, Segment, TestSet
from benchmarks.gpu import small
from dashboards.outputs import _scores
from extensions.neural.encoding import encoders
from metrics import catalogue
from metrics.base import MetricError, SegmentInput
from metrics.contents import warnings_of
from metrics.families import passages
from metrics.grid import MeasureScores
from metrics.models import MetricRun, SegmentScore
from metrics.options import OptionError
from metrics.runs.starting import refusals_for
from metrics.scores import latest_signatures, system_scores
from tests.refusals import refused
from tests.world import World, add_system, make_test_set

# Seven segments of one document, two of another, one alone, and one without a document.
DOCUMENTS = ("a",) * 7 + ("b",) * 2 + ("c", "")
Text = tuple[str, str, str]


@pytest.fixture(autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


@pytest.fixture
def test_set(db: None) -> TestSet:
    test_set = make_test_set("story", segments=len(DOCUMENTS))
    for segment, name in zip(test_set.segments.order_by("position"), DOCUMENTS, strict=True):
        Segment.objects.filter(pk=segment.pk).update(document=name)
    return test_set


def texts_of(test_set: TestSet, system: str) -> list[Text]:
    """Source, output and reference of each segment."""
    rows = Output.objects.filter(system__name=system, segment__test_set=test_set)
    fields = ("segment__source", "text", "segment__references__text")
    return list(rows.order_by("segment__position").values_list(*fields))


def checkpoint(folder: Path, test_set: TestSet, positions: int = 512, **changes: object) -> Path:
    texts = [text for system in ("strong", "weak") for row in texts_of(test_set, system)
             for text in row]  # fmt: skip
    encoder = small.xlm_roberta(folder / "xlmr", texts, positions=positions)
    kind = str(changes.pop("kind", "regression_metric"))
    return small.comet(folder / "comet", encoder, kind, **changes)


def official(folder: Path, rows: Sequence[Text], *, in_context: bool = False) -> list[float]:
    model = load_from_checkpoint(str(folder / "checkpoints" / "model.ckpt"))
    if in_context:
        model.enable_context()
        assert model.use_context
    samples = [{"src": src, "mt": mt, "ref": ref} for src, mt, ref in rows]
    found = model.predict(samples, batch_size=4, gpus=0, num_workers=0, progress_bar=False)
    scores: list[float] = found["scores"]
    return scores


def scored(test_set: TestSet, folder: Path, **options: object) -> MeasureScores:
    name = f"mine{catalogue.ConfiguredMetric.objects.count()}"
    given = {"checkpoint": str(folder), **options}
    catalogue.configure(family="comet", name=name, label=name.title(), options=given)
    call_command("score", test_set.slug, "--metric", name, "--here", stdout=StringIO())
    return system_scores(test_set).measures[name]


def row_of(test_set: TestSet, measure: MeasureScores, system: str) -> np.ndarray:
    names = [each.name for each in test_set.systems.all()]
    return measure.values[names.index(system)]


def positions_of_documents() -> list[list[int]]:
    """The segments of each document; one without a document is alone."""
    return [
        [position for position, _ in group]
        for _, group in groupby(enumerate(DOCUMENTS), key=lambda pair: pair[1])
    ]


@pytest.mark.parametrize("context_of", ["output", "reference"])
def test_context_is_that_of_comet(test_set: TestSet, tmp_path: Path, context_of: str) -> None:
    folder = checkpoint(tmp_path, test_set)
    alone = scored(test_set, folder)
    measure = scored(test_set, folder, documents="context", context=2, context_of=context_of)
    for system in ("strong", "weak"):
        rows = texts_of(test_set, system)
        # As add_context.py of Vernikos et al. joins them.
        joined = []
        for own in positions_of_documents():
            for at, position in enumerate(own):
                before = own[max(0, at - 2) : at]
                sides = []
                for side in range(3):
                    chosen = 2 if side == 1 and context_of == "reference" else side
                    sides.append([*(rows[p][chosen] for p in before), rows[position][side]])
                joined.append(tuple(map(" </s> ".join, sides)))
        expected = official(folder, joined, in_context=True)
        np.testing.assert_allclose(row_of(test_set, measure, system), expected, atol=1e-5)
        without = row_of(test_set, alone, system)
        np.testing.assert_allclose(without, official(folder, rows), atol=1e-5)
        assert np.abs(without - expected)[1:7].min() > 1e-6
    assert measure.statistics is None


@pytest.mark.parametrize(("window", "stride"), [(6, 6), (3, 3), (4, 1), (3, 2)])
def test_windows_are_those_of_a_plain_loop(
    test_set: TestSet, tmp_path: Path, window: int, stride: int
) -> None:
    folder = checkpoint(tmp_path, test_set)
    measure = scored(test_set, folder, documents="windows", window=window, stride=stride)
    of_systems = []
    for system in ("strong", "weak"):
        rows = texts_of(test_set, system)
        spans = []
        for own in positions_of_documents():
            start = 0
            while True:
                spans.append(own[start : start + window])
                if start + window >= len(own):
                    break
                start += stride
        passages = [
            (" ".join(rows[p][0] for p in span), " ".join(rows[p][1] for p in span),
             " ".join(rows[p][2] for p in span)) for span in spans
        ]  # fmt: skip
        scores = official(folder, passages)
        expected = [
            np.mean([s for s, span in zip(scores, spans, strict=True) if p in span])
            for p in range(len(rows))
        ]
        np.testing.assert_allclose(row_of(test_set, measure, system), expected, atol=1e-5)
        of_systems.append(np.mean(scores))
    assert measure.statistics is not None
    assert measure.corpus is not None
    names = [each.name for each in test_set.systems.all()]
    systems = dict(zip(names, measure.corpus(measure.statistics.sum(axis=1)), strict=True))
    np.testing.assert_allclose(
        [systems[name] for name in ("strong", "weak")], of_systems, atol=1e-5
    )
    # A document is scored as a system is: from the windows of its segments.
    first = measure.corpus(measure.statistics[:, :7].sum(axis=1))
    n_windows = sum(1 for span in spans if set(span) <= set(range(7)))
    assert dict(zip(names, first, strict=True))["weak"] == pytest.approx(
        np.mean(scores[:n_windows]), abs=1e-5
    )


def test_a_whole_document_is_truncated_and_says_so(test_set: TestSet, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path, test_set, positions=64)
    measure = scored(test_set, folder, documents="whole")
    rows = texts_of(test_set, "strong")
    joined = [
        tuple(" ".join(rows[p][side] for p in own) for side in range(3))
        for own in positions_of_documents()
    ]
    expected = official(folder, joined)  # comet truncates as well
    found = row_of(test_set, measure, "strong")
    for own, score in zip(positions_of_documents(), expected, strict=True):
        np.testing.assert_allclose(found[own], score, atol=1e-5)
    (truncated,) = [each for each in measure.warnings if each.code == "truncated"]
    # Only the document of seven segments is longer than 62 tokens, for both systems.
    assert (truncated.message.parameters["n"], truncated.message.parameters["total"]) == (14, 22)


def test_signatures_name_how_documents_are_read(test_set: TestSet, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path, test_set)
    choices: Mapping[str, dict[str, object]] = {
        "documents:windows|window:3|stride:2|joined:blank": {
            "documents": "windows", "window": 3, "stride": 2,
        },
        "documents:whole|joined:blank": {"documents": "whole"},
        "documents:context|context:1|context_of:output": {"documents": "context", "context": 1},
    }  # fmt: skip
    for expected, options in choices.items():
        assert scored(test_set, folder, **options).signature.endswith("|" + expected)
    assert "documents:" not in scored(test_set, folder).signature


def test_scores_are_reused_for_equal_documents_only(test_set: TestSet, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path, test_set)
    measure = scored(test_set, folder, documents="context", context=1)
    copied = add_system(test_set, "copied")
    strong = {each.segment_id: each for each in Output.objects.filter(system__name="strong")}
    for output in copied.outputs.exclude(segment__position=3):
        like = strong[output.segment_id]
        output.text, output.content_key = like.text, like.content_key
        output.save()
    call_command("score", test_set.slug, "--metric", measure.metric, "--here", stdout=StringIO())
    run = MetricRun.objects.latest("pk")
    # The other three documents are those of `strong`; the first differs in one output.
    assert (run.status, run.total, run.total - run.reused) == ("done", 29, 7)
    again = system_scores(test_set).measures[measure.metric]
    ours, theirs = (row_of(test_set, again, name) for name in ("copied", "strong"))
    assert np.flatnonzero(np.abs(ours - theirs) > 1e-5).tolist() == [3, 4]


def test_the_page_of_an_output_has_its_score(test_set: TestSet, tmp_path: Path) -> None:
    measure = scored(test_set, checkpoint(tmp_path, test_set), documents="context", context=1)
    signatures = {each.pk: each for each in latest_signatures(test_set).values()}
    output = Output.objects.get(system__name="weak", segment__position=5)
    (line,) = _scores(output, signatures)
    assert line.value == row_of(test_set, measure, "weak")[5]


def test_an_incomplete_document_is_skipped_with_a_warning(
    test_set: TestSet, tmp_path: Path
) -> None:
    folder = checkpoint(tmp_path, test_set)
    Output.objects.get(system__name="weak", segment__position=2).delete()
    Reference.objects.get(segment__position=8).delete()
    measure = scored(test_set, folder, documents="windows")
    missing = np.isnan(row_of(test_set, measure, "weak"))
    assert np.flatnonzero(missing).tolist() == list(range(9))
    missing = np.isnan(row_of(test_set, measure, "strong"))
    assert np.flatnonzero(missing).tolist() == [7, 8]
    run = MetricRun.objects.latest("pk")
    warnings = {each.code: each.message.parameters["n"] for each in warnings_of(run)}
    assert warnings == {"documents_incomplete": 10, "documents_of_one": 2}
    assert SegmentScore.objects.filter(signature=run.signature).count() == run.done == 11


def test_what_cannot_be_done_is_refused(world: World, test_set: TestSet, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path, test_set)
    scored(test_set, folder, documents="whole")
    # The sentences of the other test set belong to no document.
    assert refusals_for(world.test_set)["mine0"].code == "run.no-documents"
    assert "mine0" not in refusals_for(test_set)

    def configure(name: str, **options: object) -> None:
        given = {"checkpoint": str(folder), **options}
        catalogue.describe(family="comet", name=name, label=name, options=given)

    with refused("option.problem", kind=OptionError, problem="documents.gaps"):
        configure("gaps", documents="windows", window=3, stride=4)
    free = checkpoint(tmp_path / "free", test_set, kind="referenceless_regression_metric")
    with refused("option.problem", kind=OptionError, problem="documents.context-of-reference"):
        configure("free", checkpoint=str(free), reference=False, documents="context",
                  context_of="reference")  # fmt: skip


@pytest.mark.parametrize(
    "changes", [{"pool": "cls"}, {"kind": "ranking_metric"}], ids=["cls", "ranker"]
)
def test_context_needs_average_pooling(
    test_set: TestSet, tmp_path: Path, changes: dict[str, object]
) -> None:
    """Comet says nothing and scores without context."""
    folder = checkpoint(tmp_path, test_set, **changes)
    options = {"checkpoint": str(folder), "documents": "context"}
    catalogue.configure(family="comet", name="mine", label="Mine", options=options)
    with refused("comet.no-context", kind=MetricError):
        catalogue.load("mine", source_language="zh", target_language="en")


def test_a_fault_names_the_segment(test_set: TestSet, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path, test_set)
    options = {"checkpoint": str(folder), "documents": "windows", "window": 2, "stride": 2}
    catalogue.configure(family="comet", name="mine", label="Mine", options=options)
    metric = catalogue.load("mine", source_language="zh", target_language="en")
    texts = ["one", "two", "thr\ud800ee", "four"]
    document = tuple(SegmentInput("s", text, ("r",)) for text in texts)
    inputs = [SegmentInput("s", text, ("r",), document, n) for n, text in enumerate(texts)]
    with pytest.raises(MetricError) as caught:
        metric.score(inputs)
    assert caught.value.index == 2


def test_windows_reach_the_end() -> None:
    for n in range(1, 12):
        for window in range(2, 6):
            for stride in range(1, window + 1):
                found = list(passages.windows(n, window, stride))
                assert {p for each in found for p in each} == set(range(n))
                assert len({each.stop for each in found if each.stop == n}) == 1
