"""Variance components against textbook sums of squares; power against scipy and printed tables."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import stats

from metaeval.judgments.planning import VarianceComponents, power_table, variance_components
from metaeval.messages import DataError
from metaeval.results import (
    ApproximationWarning,
    ConstantInputWarning,
    SingleJudgmentWarning,
    TooFewWarning,
)
from tests.refusals import refused

STATED = VarianceComponents.stated(segment=200, output=150, annotator=120, residual=300)


def judgments(systems, segments, annotators, *, seed, sds, keep=1.0):
    """Every annotator judges everything, thinned at random; effects are normal."""
    rng = np.random.default_rng(seed)
    who = np.array(
        list(itertools.product(range(systems), range(segments), range(annotators))), dtype=int
    )
    system, segment, annotator = who.T
    effects = [
        rng.normal(0, sds[0], systems)[system],
        rng.normal(0, sds[1], segments)[segment],
        rng.normal(0, sds[2], systems * segments)[system * segments + segment],
        rng.normal(0, sds[3], annotators)[annotator],
        rng.normal(0, sds[4], len(who)),
    ]
    chosen = rng.random(len(who)) < keep
    return (50 + sum(effects))[chosen], system[chosen], segment[chosen], annotator[chosen]


def test_balanced_data_give_the_analysis_of_variance():
    """Mean squares of the fully crossed design, computed from the table of scores."""
    a, b, c = 4, 12, 3
    scores, *labels = judgments(a, b, c, seed=1, sds=(5, 9, 6, 7, 8))
    found = variance_components(scores, *labels)
    y = scores.reshape(a, b, c)
    grand = y.mean()
    by_a, by_b, by_c, by_ab = y.mean((1, 2)), y.mean((0, 2)), y.mean((0, 1)), y.mean(2)
    ms_a = b * c * ((by_a - grand) ** 2).sum() / (a - 1)
    ms_b = a * c * ((by_b - grand) ** 2).sum() / (b - 1)
    ms_c = a * b * ((by_c - grand) ** 2).sum() / (c - 1)
    interaction = by_ab - by_a[:, None] - by_b[None, :] + grand
    ms_ab = c * (interaction**2).sum() / ((a - 1) * (b - 1))
    rest = y - by_ab[:, :, None] - by_c[None, None, :] + grand
    ms_e = (rest**2).sum() / ((a * b - 1) * (c - 1))
    assert found.residual == pytest.approx(ms_e)
    assert found.output == pytest.approx((ms_ab - ms_e) / c)
    assert found.system == pytest.approx((ms_a - ms_ab) / (b * c))
    assert found.segment == pytest.approx((ms_b - ms_ab) / (a * c))
    assert found.annotator == pytest.approx((ms_c - ms_e) / (a * b))
    assert (found.n_systems, found.n_segments, found.n_outputs) == (a, b, a * b)


def test_unbalanced_data_give_the_solution_by_explicit_matrices():
    """E[y'Qy] = trace(QV) for each projection Q, written out as matrices."""
    scores, *labels = judgments(3, 8, 4, seed=5, sds=(4, 9, 5, 6, 7), keep=0.6)
    system, segment, annotator = labels
    output = system * 100 + segment
    n = len(scores)

    def design(codes):
        return (codes[:, None] == np.unique(codes)[None, :]).astype(float)

    factors = [design(codes) for codes in (system, segment, output, annotator)]
    ones = np.ones((n, 1))
    spaces = [ones, *factors, np.eye(n)]
    projections = [z @ np.linalg.pinv(z) for z in spaces]
    covariances = [ones @ ones.T, *(z @ z.T for z in factors), np.eye(n)]
    left = [[np.trace(q @ v) for v in covariances] for q in projections]
    right = [scores @ q @ scores for q in projections]
    expected = np.linalg.solve(left, right)[1:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = variance_components(scores, *labels)
    values = [found.system, found.segment, found.output, found.annotator, found.residual]
    assert values == pytest.approx(np.maximum(expected, 0.0), rel=1e-6)


def test_large_data_recover_the_truth():
    scores, *labels = judgments(5, 1500, 12, seed=2, sds=(5, 9, 6, 7, 8), keep=0.25)
    found = variance_components(scores, *labels)
    assert found.segment == pytest.approx(81, rel=0.1)
    assert found.output == pytest.approx(36, rel=0.1)
    assert found.residual == pytest.approx(64, rel=0.05)


def test_what_a_design_cannot_tell_apart_is_said():
    scores, *labels = judgments(2, 20, 1, seed=3, sds=(5, 9, 6, 7, 8))
    with pytest.warns(SingleJudgmentWarning) as caught:
        found = variance_components(scores, *labels)
    assert "pilot.one-annotator" in [one.message.message.code for one in caught]
    assert found.output == found.annotator == 0.0
    assert found.residual > 0
    with pytest.warns(TooFewWarning):
        variance_components([1, 2, 3, 5], ["S"] * 4, [1, 1, 2, 2], list("ABAB"))
    with pytest.warns(TooFewWarning):
        variance_components([1, 2, 3, 5], list("SSTT"), [1, 1, 2, 2], list("ABAB"))
    with pytest.warns(TooFewWarning):
        variance_components([1, 2, 3, 5], list("STST"), [1, 1, 2, 2], list("AABB"))
    with pytest.warns(TooFewWarning):
        assert variance_components([], [], [], []).residual == 0.0


def test_variances_have_the_unit_of_the_scores():
    scores, *labels = judgments(3, 12, 3, seed=4, sds=(5, 9, 6, 7, 8))
    plain, small = (variance_components(scores * unit, *labels) for unit in (1, 1e-8))
    for name in ("system", "segment", "output", "annotator", "residual"):
        assert getattr(small, name) == pytest.approx(getattr(plain, name) * 1e-16, abs=1e-26)
    assert small.residual > 0.0
    assert variance_components([0.1] * len(scores), *labels).residual == 0.0


def test_a_negative_estimate_is_taken_as_0_and_said():
    # Both segments have the same mean, and outputs differ within them.
    scores = [10, 11, 30, 31, 30, 31, 10, 11]
    with pytest.warns(ApproximationWarning):
        found = variance_components(scores, list("SSTTSSTT"), [1] * 4 + [2] * 4, list("AB") * 4)
    assert found.segment == 0.0


def test_constant_scores_have_no_variance():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = variance_components([7.0] * 8, list("SSTTSSTT"), [1] * 4 + [2] * 4, list("AB") * 4)
    assert found.residual == found.segment == found.annotator == 0.0
    with pytest.warns(ConstantInputWarning):
        table = power_table(found, difference=1, n_segments=[10], annotators_per_item=[1], rng=1)
    assert np.isnan(table.power).all()
    assert table.smallest.tolist() == [[0], [0]]


def one_sample(sd):
    """A paired study whose segment differences have this standard deviation."""
    return VarianceComponents.stated(segment=0, output=sd**2 / 2, annotator=0, residual=0)


@pytest.mark.parametrize(
    ("effect", "n"),
    [(0.2, 199), (0.5, 34), (0.8, 15)],
)
def test_paired_sizes_as_printed_by_gpower(effect, n):
    """G*Power 3.1, t tests, two dependent means: two-sided, alpha .05, power .80."""
    table = power_table(
        one_sample(1), difference=effect, n_segments=[n - 1, n], annotators_per_item=[1], rng=1
    )
    assert table.smallest[0, 0] == n
    assert table.exact[0, 0] < 0.8 <= table.exact[0, 1]


@pytest.mark.parametrize(
    ("alpha", "sizes"), [(0.05, (393, 64, 26)), (0.01, (586, 95, 38)), (0.10, (310, 50, 20))]
)
def test_independent_sizes_as_printed_by_cohen(alpha, sizes):
    """Cohen (1992), "A power primer", table 2: n per group for power .80; rounded there."""
    unit = VarianceComponents.stated(segment=1, output=0, annotator=0, residual=0)
    for effect, printed in zip((0.2, 0.5, 0.8), sizes, strict=True):
        table = power_table(
            unit, difference=effect, n_segments=[20], annotators_per_item=[1],
            design="independent", alpha=alpha, n_simulations=1, rng=1,
        )  # fmt: skip
        assert abs(table.smallest[0, 0] - printed) <= 1


@pytest.mark.parametrize("design", ["same_annotators", "same_segments", "independent"])
def test_power_equals_scipy_on_studies_drawn_judgment_by_judgment(design):
    """Whole studies with every effect of the model, tested by scipy's own t-tests."""
    n, m, difference, rng = 40, 2, 6.0, np.random.default_rng(8)
    sds = {name: np.sqrt(getattr(STATED, name)) for name in ("segment", "output", "annotator")}
    noise, studies = np.sqrt(STATED.residual), 4000
    segment = rng.normal(0, sds["segment"], (2, studies, n))
    habits = rng.normal(0, sds["annotator"], (2, studies, n, m))
    if design != "independent":
        segment[1] = segment[0]
    if design == "same_annotators":
        habits[1] = habits[0]
    scores = segment + rng.normal(0, sds["output"], (2, studies, n))
    scores = scores + (habits + rng.normal(0, noise, (2, studies, n, m))).mean(axis=3)
    scores[0] += difference
    test = stats.ttest_ind if design == "independent" else stats.ttest_rel
    hits = (test(scores[0], scores[1], axis=1).pvalue < 0.05).sum()
    table = power_table(
        STATED, difference=difference, n_segments=[n], annotators_per_item=[m],
        design=design, n_simulations=4000, rng=3,
    )  # fmt: skip
    error = 4 * np.sqrt(0.25 / studies)
    assert table.exact[0, 0] == pytest.approx(hits / studies, abs=error)
    assert table.power[0, 0] == pytest.approx(hits / studies, abs=error * 1.5)


def test_simulation_exact_and_normal_agree():
    table = power_table(
        STATED, difference=5, n_segments=[20, 50, 200, 400], annotators_per_item=[1, 3],
        n_simulations=4000, rng=2,
    )  # fmt: skip
    inside = (table.low <= table.exact) & (table.exact <= table.high)
    assert inside.mean() >= 0.75
    assert np.abs(table.power - table.exact).max() < 0.03
    assert np.abs(table.normal - table.exact)[:, 1:].max() < 0.02
    assert (table.normal >= table.exact).all()


def test_exact_power_equals_the_noncentral_t_by_hand():
    n, m, difference = 60, 3, 7.0
    sd = np.sqrt(2 * 150 + 2 * (120 + 300) / m)
    critical = stats.t.ppf(1 - 0.05 / 6 / 2, n - 1)
    shift = difference / sd * np.sqrt(n)
    expected = 1 - stats.nct.cdf(critical, n - 1, shift) + stats.nct.cdf(-critical, n - 1, shift)
    table = power_table(
        STATED, difference=difference, n_segments=[n], annotators_per_item=[m], n_pairs=6, rng=1
    )
    assert table.exact[0, 0] == pytest.approx(expected)
    assert table.sds[0] == pytest.approx(sd)
    assert table.alpha_per_test == pytest.approx(0.05 / 6)


def test_power_grows_with_everything_that_helps():
    def exact(**changes):
        given = {"difference": 5, "n_segments": [100], "annotators_per_item": [2], "rng": 1}
        return power_table(STATED, **(given | changes)).exact[0, 0]

    plain = exact()
    assert exact(n_segments=[150]) > plain
    assert exact(annotators_per_item=[3]) > plain
    assert exact(difference=6) > plain
    assert exact(difference=-5) == pytest.approx(plain)
    assert exact(design="same_annotators") > plain > exact(design="independent")
    assert exact(n_pairs=3) < plain


def test_without_a_difference_to_speak_of_power_is_alpha():
    table = power_table(
        STATED, difference=1e-9, n_segments=[30], annotators_per_item=[1],
        n_simulations=8000, rng=4,
    )  # fmt: skip
    assert table.low[0, 0] <= 0.05 <= table.high[0, 0]
    assert table.smallest.tolist() == [[0], [0]]


def test_the_same_seed_gives_the_same_power():
    def power(seed):
        return power_table(
            STATED, difference=5, n_segments=[100], annotators_per_item=[2], rng=seed
        ).power[0, 0]

    assert power(1) == power(1)
    assert power(1) != power(2)


@pytest.mark.parametrize(
    ("changes", "kind", "about"),
    [
        ({"difference": 0}, "difference", {"value": 0}),
        ({"difference": np.nan}, "difference", {"value": None}),
        ({"n_segments": [1]}, "integer", {"name": "n_segments", "least": 2, "value": 1}),
        ({"n_segments": []}, "least", {"name": "n_segments", "least": 1}),
        ({"annotators_per_item": [0]}, "integer", {"name": "annotators_per_item", "value": 0}),
        ({"design": "best"}, "choice", {"name": "design", "value": "best"}),
        ({"alpha": 1.0}, "fraction", {"name": "alpha", "value": 1}),
        ({"n_pairs": 0}, "integer", {"name": "n_pairs", "value": 0}),
    ],
)
def test_refusals_name_the_argument(changes, kind, about):
    given = {"difference": 5, "n_segments": [100], "annotators_per_item": [2]}
    with refused(f"argument.{kind}", kind=DataError, **about):
        power_table(STATED, **(given | changes))


def test_more_refusals():
    with refused("argument.least", kind=DataError, name="output", least=0, value=-1):
        VarianceComponents.stated(segment=1, output=-1, annotator=0, residual=0)
    with refused("argument.lengths", kind=DataError, names=["segments", "scores"], lengths=[1, 2]):
        variance_components([1, 2], ["S", "S"], [1], ["A", "A"])
