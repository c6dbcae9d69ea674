import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.judgments import z_scores
from metaeval.messages import DataError
from metaeval.results import (
    ConstantInputWarning,
    SingleJudgmentWarning,
    StatisticsWarning,
    TooFewWarning,
)
from tests.metaeval.published import DATA, numbers, table
from tests.refusals import refused


def test_published_wmt21_worker_means_sds_and_z():
    judgments = table("raw-crowd-da/wmt21-ru-en/judgments.tsv")
    workers = table("raw-crowd-da/wmt21-ru-en/workers.tsv")
    result = z_scores(numbers(judgments["raw"]), judgments["worker"])
    order = [result.annotators.index(name) for name in workers["worker"]]
    assert len(order) == 96
    np.testing.assert_allclose(result.means[order], numbers(workers["mean_raw"]), rtol=1e-6)
    np.testing.assert_allclose(result.sds[order], numbers(workers["sd_raw"]), rtol=1e-6)
    np.testing.assert_allclose(result.z, numbers(judgments["z"]), atol=1e-5)


def test_a_published_check_of_mean_and_deviation_of_two_parts():
    path = DATA.parent / "specs" / "estimation-checks.json"
    check = next(
        each for each in json.loads(path.read_text("utf-8"))["checks"] if each["id"] == "7-merge"
    )
    result = z_scores([*check["inputs"]["a"], *check["inputs"]["b"]], "AAAAA")
    assert result.means.tolist() == pytest.approx([check["expected"]["mean"]])
    assert result.sds.tolist() == pytest.approx([check["expected"]["sd"]], abs=1e-5)


def test_published_mlqe_z_scores_use_the_population_sd():
    judgments = table("da-annotators/en-zh/judgments.tsv")
    annotators = table("da-annotators/en-zh/annotators.tsv")
    here = {
        name
        for name, scope in zip(annotators["annotator"], annotators["param_scope"], strict=True)
        if scope == "this file"
    }
    known = np.array([name in here for name in judgments["annotator"]])
    result = z_scores(numbers(judgments["raw"]), judgments["annotator"], ddof=0)
    assert known.sum() == 3000
    np.testing.assert_allclose(result.z[known], numbers(judgments["z"])[known], atol=1e-6)


@pytest.mark.parametrize("ddof", [0, 1])
def test_equals_scipy_per_annotator(ddof):
    rng = np.random.default_rng(3)
    scores, annotators = rng.integers(0, 101, 90).astype(float), np.repeat(["B", "A", "C"], 30)
    result = z_scores(scores, annotators, ddof=ddof)
    for name in "ABC":
        own = annotators == name
        np.testing.assert_allclose(result.z[own], stats.zscore(scores[own], ddof=ddof))


def test_pool_decides_what_enters_the_mean_but_all_get_a_z():
    result = z_scores([10, 20, 30, 0], ["A"] * 4, pool=[True, True, True, False])
    assert result.means.tolist() == [20.0]
    assert result.z.tolist() == [-1.0, 0.0, 1.0, -2.0]
    assert result.counts.tolist() == [3]


def test_constant_annotator_is_nan_or_zero_and_always_named():
    scores, annotators = [0.1] * 3 + [1, 2], ["K"] * 3 + ["A"] * 2
    with pytest.warns(ConstantInputWarning):
        result = z_scores(scores, annotators)
    assert np.isnan(result.z[:3]).all()
    assert dict(result.reasons) == {"constant-annotator": 3}
    with pytest.warns(ConstantInputWarning):
        assert z_scores(scores, annotators, constant="zero").z[:3].tolist() == [0.0] * 3


def test_single_and_absent_judgments_are_warned_of():
    with pytest.warns(SingleJudgmentWarning):
        result = z_scores([1, 2, 3], ["A", "A", "B"])
    assert np.isnan(result.z[2])
    with pytest.warns(TooFewWarning):
        z_scores([1, 2, 3], ["A", "A", "B"], pool=[True, True, False])


def test_missing_scores_stay_missing():
    result = z_scores([1, np.nan, 3], ["A"] * 3)
    assert np.isnan(result.z[1])
    assert (result.n, result.n_excluded) == (2, 1)


@pytest.mark.parametrize(
    ("keywords", "kind", "about"),
    [
        ({"ddof": 2}, "choice", {"allowed": ["0", "1"]}),
        ({"pool": [1, 0]}, "booleans", {}),
        ({"pool": [True]}, "shape", {"shape": "(2,)", "got": "(1,)"}),
        ({"constant": "drop"}, "choice", {"value": "drop"}),
    ],
)
def test_bad_arguments_are_refused(keywords, kind, about):
    (name,) = keywords
    with refused(f"argument.{kind}", kind=DataError, name=name, **about):
        z_scores([1, 2], ["A", "A"], **keywords)
    with refused(
        "argument.lengths", kind=DataError, names=["scores", "annotators"], lengths=[2, 1]
    ):
        z_scores([1, 2], ["A"])


@given(
    st.lists(st.integers(0, 100), min_size=3, max_size=30),
    st.floats(0.1, 10),
    st.floats(-50, 50),
)
def test_affine_maps_of_an_annotator_change_nothing(scores, scale, shift):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raw = z_scores(scores, ["A"] * len(scores)).z
        moved = z_scores(np.array(scores) * scale + shift, ["A"] * len(scores)).z
    if len(set(scores)) > 1:
        np.testing.assert_allclose(raw, moved, atol=1e-8)
        assert abs(raw.mean()) < 1e-9
    else:
        assert np.isnan(raw).all()


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("labels", ["far apart", "close", "negative", "words"])
def test_many_annotators_equal_one_by_one(labels: str, ddof: int) -> None:
    """Some constant, some but for the last digits, some with one judgment, some scores missing."""
    rng = np.random.default_rng(5)
    who = rng.integers(0, 40, 600)
    names = {
        "far apart": who.astype(np.int64) * 10**12,
        "close": who.astype(np.uint8),
        "negative": who - 20,
        "words": np.array([f"a{n:02}" for n in who]),
    }[labels]
    scores = rng.integers(0, 101, 600).astype(float)
    scores[who == 3] = 0.1
    scores[who == 4] = 1e9
    scores[np.flatnonzero(who == 4)[0]] += 1e-3
    scores[np.flatnonzero(who == 5)[1:]] = np.nan
    scores[rng.random(600) < 0.05] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        found = z_scores(scores, names, ddof=ddof)
    for name in np.unique(names):
        own = scores[names == name]
        known = own[~np.isnan(own)]
        expected = np.full(len(own), np.nan)
        if len(set(known.tolist())) > 1:
            expected = (own - known.mean()) / known.std(ddof=ddof)
        np.testing.assert_allclose(found.z[names == name], expected, rtol=1e-6)
    assert found.annotators == tuple(np.unique(names).tolist())
