import struct

import numpy as np
import pytest
import sacrebleu
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from annotation.models import Output, Segment, TestSet
from metrics import scores
from metrics.contents import warn_of_blanks, warnings_of
from metrics.forms.runs import StartForm
from metrics.models import MetricRun, MetricSignature, SegmentScore
from metrics.registry import METRICS
from metrics.runs import scoring, starting
from tests.world import World, add_system, make_test_set

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def make_signature(name: str = "chrf", version: int = 1, measures: int = 1) -> MetricSignature:
    return MetricSignature.objects.create(
        metric=name,
        signature=f"{name}|version:{version}",
        measures=[f"{name}-{n}" for n in range(measures)],
    )


def make_run(test_set: TestSet, signature: MetricSignature, status: str) -> MetricRun:
    return MetricRun.objects.create(
        test_set=test_set,
        metric=signature.metric,
        signature=signature,
        status=status,
        finished_at=timezone.now(),
    )


def score(test_set: TestSet, *metrics: str) -> None:
    for run in starting.start(test_set=test_set, metrics=metrics, enqueue=False).runs:
        scoring.drain(run.pk, worker="test")


@given(arrays(np.float64, st.tuples(st.integers(0, 5), st.integers(1, 7)), elements=FINITE))
def test_packing_is_little_endian_float64_and_exact(rows: np.ndarray) -> None:
    packed = scores.pack(rows)
    assert packed == [struct.pack(f"<{rows.shape[1]}d", *row) for row in rows]
    assert np.array_equal(scores.unpack(packed, rows.shape[1]), rows)


def test_a_row_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        scores.unpack([struct.pack("<2d", 1, 2), struct.pack("<1d", 1)], 2)


@pytest.mark.django_db
def test_a_score_is_stored_once() -> None:
    signature = make_signature()
    scores.store_scores(signature, ["b" * 32, "a" * 32], np.array([[2.0], [1.0]]))
    scores.store_scores(signature, ["a" * 32, "c" * 32], np.array([[9.0], [3.0]]))
    stored = dict(SegmentScore.objects.values_list("content_key", "values"))
    unpacked = {key[0]: struct.unpack("<d", values)[0] for key, values in stored.items()}
    assert unpacked == {"a": 1.0, "b": 2.0, "c": 3.0}


def test_scores_are_loaded_in_the_order_of_the_keys(
    world: World, django_assert_num_queries: object
) -> None:
    signature = make_signature(measures=2)
    strong, weak = world.test_set.systems.all()
    keys = list(strong.outputs.order_by("segment").values_list("content_key", flat=True))
    scores.store_scores(signature, keys[1:], np.array([[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]]))
    with django_assert_num_queries(1):  # type: ignore[operator]
        loaded = scores.load_scores(signature, [strong, weak], [keys[3], keys[0], keys[1], keys[3]])
    expected = [[3.0, -3.0], [np.nan, np.nan], [1.0, -1.0], [3.0, -3.0]]
    np.testing.assert_array_equal(loaded, expected)


def test_only_scores_of_the_systems_are_loaded(world: World) -> None:
    signature = make_signature()
    strong, weak = world.test_set.systems.all()
    keys = list(weak.outputs.values_list("content_key", flat=True))
    scores.store_scores(signature, keys, np.ones((4, 1)))
    assert np.isnan(scores.load_scores(signature, [strong], keys)).all()


def test_the_newest_finished_run_on_the_test_set_decides(world: World) -> None:
    other = make_test_set("other")
    old, new, newest = (make_signature(version=version) for version in (1, 2, 3))
    make_run(world.test_set, old, "done")
    make_run(world.test_set, new, "done")
    make_run(other, newest, "done")
    make_run(world.test_set, newest, "running")
    assert scores.latest_signatures(world.test_set) == {"chrf": new}


def test_without_a_run_of_its_own_the_language_pair_decides(world: World) -> None:
    other = make_test_set("other")
    foreign = make_test_set("foreign", languages=("en", "ja"))
    begun, finished, elsewhere = (make_signature(version=version) for version in (1, 2, 3))
    make_run(world.test_set, begun, "running")
    assert scores.latest_signatures(world.test_set) == {"chrf": begun}
    make_run(other, finished, "done")
    make_run(foreign, elsewhere, "done")
    assert scores.latest_signatures(world.test_set) == {"chrf": finished}


def test_values_are_those_of_sacrebleu(world: World) -> None:
    score(world.test_set, "chrf")
    table = scores.system_scores(world.test_set)
    measure = table.measures["chrf"]
    for row, system in enumerate(table.systems):
        for column, segment in enumerate(table.segments):
            output = Output.objects.get(system=system, segment=segment)
            reference = output.segment.references.get().text
            expected = sacrebleu.sentence_chrf(output.text, [reference]).score
            assert measure.values[row, column] == pytest.approx(expected, abs=1e-9)
    assert measure.label == "chrF"
    assert measure.higher_is_better
    assert measure.is_complete


def test_metrics_that_take_phrases_for_words_warn(as_researcher: Client) -> None:
    """Of Thai, on pages of scores and before the start; chrF compares characters."""
    test_set = make_test_set("thai", languages=("en", "tha_Thai"))
    score(test_set, "bleu", "ter", "chrf")
    measures = scores.system_scores(test_set).measures
    codes = {key: [each.code for each in one.warnings] for key, one in measures.items()}
    assert codes == {"bleu": ["no_blanks"], "ter": ["no_blanks"], "chrf": []}
    run = MetricRun.objects.get(metric="bleu")
    assert [each.code for each in warnings_of(run)] == ["no_blanks"]
    form = StartForm(test_set)
    warned = {one.info.name for one in form.choices if one.warnings}
    assert {"bleu", "bleu-star", "sentbleu", "ter", "sentbleu-wmt"} <= warned
    assert not {"chrf", "rouge"} & warned
    about = warn_of_blanks(METRICS["bleu"][0], "tha_Thai")[0].message.text
    assert about in as_researcher.get(reverse("run-start", args=["thai"])).text


def test_corpus_scores_follow_from_the_statistics(world: World) -> None:
    score(world.test_set, "bleu")
    table = scores.system_scores(world.test_set)
    measure = table.measures["bleu"]
    assert measure.statistics is not None
    assert measure.corpus is not None
    segments = Segment.objects.filter(pk__in=table.segments).order_by("position")
    references = [segment.references.get().text for segment in segments]
    corpus = measure.corpus(measure.statistics.sum(axis=1))
    for row, system in enumerate(table.systems):
        outputs = system.outputs.order_by("segment__position").values_list("text", flat=True)
        expected = sacrebleu.corpus_bleu(list(outputs), [references]).score
        assert corpus[row] == pytest.approx(expected, abs=1e-9)


def test_what_is_missing_is_nan_and_counted(world: World) -> None:
    score(world.test_set, "rouge")
    late = add_system(world.test_set, "late")
    late.outputs.order_by("segment").first().delete()
    table = scores.system_scores(world.test_set)
    measure = table.measures["rouge1-f"]
    missing = np.isnan(measure.values).sum(axis=1)
    assert dict(zip((s.name for s in table.systems), missing, strict=True)) == {
        "strong": 0,
        "weak": 0,
        "late": 4,
    }
    assert (measure.n_outputs, measure.n_missing) == (11, 3)
    assert not measure.is_complete
    assert measure.corpus is None


def test_measures_without_any_score_are_left_out(world: World) -> None:
    score(world.test_set, "rouge", "ter")
    late = add_system(world.test_set, "late")
    assert scores.system_scores(world.test_set, [late]).measures == {}
    everything = scores.system_scores(world.test_set).measures
    assert next(iter(everything)) == "ter"
    assert len(everything) == 10
    assert not everything["ter"].higher_is_better


def test_reading_costs_two_queries_a_metric(
    world: World, django_assert_num_queries: object
) -> None:
    """Their number and the scores. And one asks whether outputs look tokenised, for all metrics
    that must not get such; two ask for scores that were computed elsewhere."""
    score(world.test_set, "rouge", "ter", "bleu", "sentbleu")
    with django_assert_num_queries(7 + 2 * 4 + 1 + 2):  # type: ignore[operator]
        scores.system_scores(world.test_set)
