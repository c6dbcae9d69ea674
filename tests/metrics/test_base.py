"""Descriptions, errors and helpers that every metric shares."""

import dataclasses

import numpy as np
import pytest

from metaeval.messages import message
from metrics.base import (
    MeanOfSegments,
    MetricError,
    MetricInfo,
    SegmentInput,
    check_inputs,
    format_signature,
    group_by_references,
)
from tests.refusals import refused

INFO = MetricInfo(
    name="qe",
    label="QE",
    measures=("qe-low", "qe-high"),
    measure_labels=("QE low", "QE high"),
    statistics=("count",),
    higher_is_better=True,
    needs_source=True,
    needs_reference=False,
)


def test_width_counts_measures_and_statistics():
    assert INFO.width == 3


def test_info_defaults_to_the_cpu_queue():
    assert INFO.queue == "cpu"


def test_every_measure_needs_a_label():
    with pytest.raises(ValueError, match="measure_labels of 'qe'"):
        dataclasses.replace(INFO, measure_labels=("QE low",))


def test_reference_free_metric_accepts_none():
    check_inputs(INFO, [SegmentInput("s", "h", ())])


def test_missing_reference_is_permanent_and_placed():
    info = dataclasses.replace(INFO, needs_reference=True)
    inputs = [SegmentInput("s", "h", ("",)), SegmentInput("s", "h", ()), SegmentInput("s", "h", ())]
    with refused(
        "metric.segment-without-reference", kind=MetricError, metric="QE", number=1
    ) as caught:
        check_inputs(info, inputs)
    error = caught.value
    assert (error.permanent, error.index) == (True, 1)
    assert error.message.code == "metric.segment-without-reference"


def test_error_may_be_temporary():
    error = MetricError(message("test.problem", "out of memory"), permanent=False)
    assert (error.permanent, error.index) == (False, None)


def test_mean_of_segments_refuses_a_corpus_score():
    metric = MeanOfSegments()
    metric.info = INFO
    with pytest.raises(MetricError) as caught:
        metric.corpus(np.zeros((1, 1)))
    assert caught.value.message.code == "metric.no-corpus-statistics"


def test_signature_keeps_the_given_order():
    assert (
        format_signature("qe", {"tok": "zh", "nc": 6, "version": "2"}) == "qe|tok:zh|nc:6|version:2"
    )


def test_groups_keep_order_and_cover_all():
    inputs = [SegmentInput("", "h", references) for references in [("b",), ("a",), ("b",), ()]]
    assert group_by_references(inputs) == {("b",): [0, 2], ("a",): [1], (): [3]}
