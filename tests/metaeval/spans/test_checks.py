"""Spans against the values of the programs of WMT25 and SPAN-MT-METRICS-EVAL, and by hand."""

import json
import math

import pytest

from metaeval.messages import DataError
from metaeval.spans import SpanMeasure, SpanTable, compare_spans, detect
from metaeval.spans.error_free import error_free_counts, error_free_detection, is_error_free
from metaeval.spans.measures import weights
from tests.metaeval.published import DATA
from tests.refusals import refused

CHECKS = json.loads((DATA.parent / "specs/spans-checks.json").read_text(encoding="utf-8"))["checks"]


def of(measure):
    found = [check for check in CHECKS if check["measure"] == measure]
    return pytest.mark.parametrize("check", found, ids=[check["id"] for check in found])


def result(check, measure, averaging="micro"):
    gold, predicted = (
        SpanTable.of_lists([each] if each and isinstance(each[0], dict) else each)
        for each in (check["gold"], check["pred"])
    )
    return detect(compare_spans(gold, predicted, measure), averaging=averaging)


@of("wmt25-character")
def test_characters(check):
    found = result(check, SpanMeasure("characters", partial_credit=check["partial_credit"]))
    expected = check["expected"]
    assert [found.precision, found.recall, found.f1] == pytest.approx(
        [expected["precision"], expected["recall"], expected["f1"]], abs=1e-9
    )


@of("span")
def test_matched_spans(check):
    options = dict(check["options"])
    averaging = options.pop("averaging")
    name, algorithm = options.pop("measure"), options.pop("matching_algorithm", "optimal")
    if given := options.pop("severity_weights", None):
        options["severity_weights"] = weights(given["minor"], given["major"])
    found = result(check, SpanMeasure(name, algorithm=algorithm, **options), averaging)
    expected = check["expected"]
    assert [found.precision, found.recall, found.f1] == pytest.approx(
        [expected["precision"], expected["recall"], expected["f"]], abs=1e-9
    )


@of("error-free")
def test_error_free_outputs(check):
    scores, n_spans = zip(*check["items"], strict=True)
    assert is_error_free(scores, n_spans).astype(int).tolist() == check["expected"]


@of("error-free-mcc")
def test_error_free_detection(check):
    tp, fp, fn, tn = (check["inputs"][name] for name in ("tp", "fp", "fn", "tn"))
    found = error_free_counts(
        true_positive=tp, false_positive=fp, false_negative=fn, true_negative=tn
    )
    assert found.mcc == pytest.approx(check["expected"], abs=1e-9)


@pytest.mark.parametrize("wrong", [[1.0, math.nan], [1, 2], ["yes", "no"]])
def test_what_is_neither_true_nor_false_is_no_answer(wrong):
    for name, *sides in ("predicted", [True, False], wrong), ("gold", wrong, [True, False]):
        with refused("argument.flags", kind=DataError, name=name):
            error_free_detection(*sides)
    assert error_free_detection([1.0, 0.0], [True, False]).mcc == 1
