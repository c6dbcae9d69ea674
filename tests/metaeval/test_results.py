import json

import numpy as np
import pytest

import metaeval
from metaeval.results import Notes, StatisticsWarning


def test_results_are_frozen():
    result = metaeval.pearson([1, 2, 3], [1, 2, 4])
    with pytest.raises(AttributeError):
        result.statistic = 1.0


def test_to_dict_is_json_with_null_for_nan_and_named_warnings():
    with pytest.warns(metaeval.ConstantInputWarning):
        result = metaeval.pearson([1, 1, 1], [1, 2, 3])
    decoded = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert decoded["statistic"] is None
    assert decoded["warnings"][0]["code"] == "constant_input"
    assert decoded["n_excluded"] == 0
    assert decoded["group_values"] == [None]


def test_every_warning_class_has_its_own_code():
    classes = [
        value
        for value in vars(metaeval).values()
        if isinstance(value, type) and issubclass(value, StatisticsWarning)
    ]
    codes = [cls.code for cls in classes]
    assert len(classes) > 8
    assert len(set(codes)) == len(codes)


def test_exclusions_add_up_and_zero_leaves_no_trace():
    notes = Notes()
    notes.exclude("a", 2)
    notes.exclude("a", 1)
    notes.exclude("b", 0)
    assert dict(notes.reasons) == {"a": 3}
    assert metaeval.Result(n=1, reasons=notes.reasons).n_excluded == 3


def test_everything_public_is_exported_and_documented():
    for name in metaeval.__all__:
        assert getattr(metaeval, name).__doc__, name
    assert metaeval.__all__ == sorted(metaeval.__all__)


def test_numbers_from_numpy_become_plain():
    result = metaeval.z_scores([1.0, 2.0], ["A", "A"])
    assert result.to_dict()["counts"] == [2]
    assert isinstance(np.asarray(result.to_dict()["z"]), np.ndarray)
