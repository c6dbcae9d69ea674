import json

import numpy as np
import pytest

from metaeval import Result, ScoreMatrix, StatisticsWarning
from metaeval.correlation import pearson
from metaeval.judgments import z_scores
from metaeval.results import ConstantInputWarning, Notes
from metaeval.significance import compare_metrics, perm_test


def test_results_are_frozen():
    result = pearson([1, 2, 3], [1, 2, 4])
    with pytest.raises(AttributeError):
        result.statistic = 1.0


def test_to_dict_is_json_with_null_for_nan_and_named_warnings():
    with pytest.warns(ConstantInputWarning):
        result = pearson([1, 1, 1], [1, 2, 3])
    decoded = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert decoded["statistic"] is None
    assert decoded["warnings"][0]["code"] == "constant_input"
    assert decoded["n_excluded"] == 0
    assert decoded["group_values"] == [None]


def test_every_warning_class_has_its_own_code():
    codes = [cls.code for cls in [StatisticsWarning, *StatisticsWarning.__subclasses__()]]
    assert len(codes) > 8
    assert len(set(codes)) == len(codes)


def test_exclusions_add_up_and_zero_leaves_no_trace():
    notes = Notes()
    notes.exclude("a", 2)
    notes.exclude("a", 1)
    notes.exclude("b", 0)
    assert dict(notes.reasons) == {"a": 3}
    assert Result(n=1, reasons=notes.reasons).n_excluded == 3


def test_a_repr_is_short_and_has_the_number():
    scores = ScoreMatrix(np.random.default_rng(1).normal(size=(5, 40)), "ABCDE", range(40))
    assert repr(scores) == "ScoreMatrix(values=float64[5 x 40], systems=<5>, segments=<40>)"
    found = compare_metrics(scores, {"a": scores, "b": scores.with_values(-scores.values)}, rng=1)
    assert "correlations=[1, -1]" in repr(found)
    assert repr(pearson([1, 2, 3, 4], [1, 3, 2, 5])).startswith(
        "Correlation(n=4, statistic=0.8315,"
    )
    tested = perm_test(scores, scores, scores.with_values(-scores.values), rng=1)
    assert "null=float64[1000]" in repr(tested)
    assert max(len(repr(each)) for each in (scores, found, tested)) < 350


def test_numbers_from_numpy_become_plain():
    result = z_scores([1.0, 2.0], ["A", "A"])
    assert result.to_dict()["counts"] == [2]
    assert isinstance(np.asarray(result.to_dict()["z"]), np.ndarray)
