"""The frame around sacrebleu: grouping by references changes nothing, bad input is named."""

import numpy as np
import pytest

from metrics.base import MetricError, SegmentInput
from metrics.registry import load
from tests.metrics.families.lexical import examples
from tests.refusals import refused

NAMES = ["bleu", "bleu-star", "sentbleu", "chrf", "chrf++", "ter", "rouge", "rouge-characters"]


@pytest.fixture(params=NAMES)
def metric(request):
    return load(request.param, source_language="en", target_language="zh")


def test_a_batch_equals_its_segments_one_by_one(metric):
    segments = examples.inputs("zh")
    # every hypothesis with every second one's references, so that references repeat out of order
    shared = [
        SegmentInput("", one.hypothesis, other.references)
        for other in segments[::7]
        for one in segments
    ]
    order = np.random.default_rng(3).permutation(len(shared))
    batch = metric.score([shared[index] for index in order])
    single = np.vstack([metric.score([shared[index]]) for index in order])
    np.testing.assert_array_equal(batch, single)


def test_shape_follows_the_info(metric):
    assert metric.score([]).shape == (0, metric.info.width)
    scores = metric.score(examples.inputs("zh"))
    assert scores.shape == (len(examples.inputs("zh")), metric.info.width)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", ["bleu", "bleu-star", "chrf", "chrf++", "ter"])
def test_corpus_keeps_the_number_of_hybrids(name):
    metric = load(name, source_language="en", target_language="zh")
    sums = metric.score(examples.inputs("zh"))[:, 1:]
    nothing = np.zeros((1, sums.shape[1]))
    assert metric.corpus(np.vstack([sums, nothing])).shape == (len(sums) + 1, 1)
    assert metric.corpus(nothing).tolist() == [[0.0]]


def test_missing_reference_is_named(metric):
    inputs = [SegmentInput("s", "h", ("r",)), SegmentInput("s", "h", ())]
    with pytest.raises(MetricError) as caught:
        metric.score(inputs)
    assert caught.value.message.code == "metric.segment-without-reference"
    assert (caught.value.permanent, caught.value.index) == (True, 1)


@pytest.mark.parametrize(
    ("segment", "field"),
    [
        (SegmentInput("s", "h \ud800", ("r",)), "output"),
        (SegmentInput("s", "h", ("r", "\udfff")), "reference"),
        (SegmentInput("\ud800", "h", ("r",)), "source"),
    ],
)
def test_lone_surrogate_is_named(metric, segment, field):
    with refused("metric.lone-surrogate", kind=MetricError, field=f"metric.field-{field}"):
        metric.score([segment])
