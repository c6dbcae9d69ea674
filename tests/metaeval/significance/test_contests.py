"""Wins, ties and losses: against Wilson's interval elsewhere, by hand, and in simulation."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from metaeval.results import TooFewWarning
from metaeval.significance import contest, contest_of_metrics


def test_shares_of_independent_outcomes_have_wilsons_interval() -> None:
    found = contest([0.3] * 7 + [0.0] * 2 + [-1.0] * 11)
    for share, count in ((found.wins, 7), (found.ties, 2), (found.losses, 11)):
        theirs = stats.binomtest(count, 20).proportion_ci(method="wilson")
        assert (share.count, share.share) == (count, count / 20)
        assert share.interval is not None
        assert share.interval[:2] == pytest.approx(tuple(theirs), abs=1e-12)


def test_the_lead_of_independent_outcomes_has_the_t_interval_of_a_mean() -> None:
    signs = [1.0] * 7 + [0.0] * 2 + [-1.0] * 4
    found = contest(signs)
    theirs = stats.ttest_1samp(signs, 0.0).confidence_interval()
    assert found.lead == pytest.approx(3 / 13)
    assert found.lead_interval is not None
    assert found.lead_interval[:2] == pytest.approx(tuple(theirs), abs=1e-12)


def test_copies_of_a_unit_are_no_new_evidence() -> None:
    """Each outcome three times, in one unit: the design effect is 3 up to (n - 1) / n."""
    signs = np.array([1.0] * 8 + [0.0] * 5 + [-1.0] * 7)
    once, thrice = contest(signs), contest(np.tile(signs, 3), np.tile(np.arange(20), 3))
    assert (thrice.n, thrice.n_units) == (60, 20)
    assert thrice.wins.share == once.wins.share
    assert thrice.wins.interval is not None
    theirs = stats.binomtest(8, 20).proportion_ci(method="wilson")
    assert thrice.wins.interval[:2] == pytest.approx(tuple(theirs), abs=0.01)
    assert thrice.lead_interval is not None
    assert once.lead_interval is not None
    assert thrice.lead_interval[:2] == pytest.approx(once.lead_interval[:2], abs=1e-12)


def test_intervals_cover_as_often_as_they_say_where_outcomes_hang_together() -> None:
    rng = np.random.default_rng(7)
    units, hits, leads = np.repeat(np.arange(60), 6), 0, 0
    n, truth = 400, stats.norm.sf(0.2)
    for _ in range(n):
        values = rng.normal(size=60)[units] + rng.normal(size=360)
        found = contest(values - 0.2 * np.sqrt(2), units)
        assert found.wins.interval is not None
        assert found.lead_interval is not None
        hits += found.wins.interval.low <= truth <= found.wins.interval.high
        leads += found.lead_interval.low <= 2 * truth - 1 <= found.lead_interval.high
    # Monte Carlo error of 400: ± 3 % at .95 is well beyond three standard errors.
    assert hits / n == pytest.approx(0.95, abs=0.033)
    assert leads / n == pytest.approx(0.95, abs=0.033)


def test_missing_outcomes_are_left_out_and_counted() -> None:
    found = contest([1.0, np.nan, -1.0])
    assert (found.n, dict(found.reasons)) == (2, {"missing score": 1})
    assert found.lead_interval is None
    with pytest.warns(TooFewWarning, match="nothing to compare"):
        empty = contest([np.nan])
    assert np.isnan(empty.wins.share)
    assert empty.wins.interval is None
    with pytest.raises(ValueError, match="units: expected 2 labels, got 1"):
        contest([1.0, 2.0], ["a"])


def test_metrics_are_counted_over_pairs_that_the_humans_tell_apart() -> None:
    rng = np.random.default_rng(3)
    human, first, second = rng.integers(0, 4, size=(3, 4, 25)).astype(float)
    human[0, 3], second[2, 5] = np.nan, np.nan
    expected = {1: 0, 0: 0, -1: 0}
    for segment in range(25):
        for i, j in combinations(range(4), 2):
            ours, one, other = (s[i, segment] - s[j, segment] for s in (human, first, second))
            if np.isnan(ours + one + other) or ours == 0:
                continue
            right = [ours * each > 0 for each in (one, other)]
            expected[int(right[0]) - int(right[1])] += 1
    found = contest_of_metrics(human, first, second)
    assert {1: found.wins.count, 0: found.ties.count, -1: found.losses.count} == expected
    assert found.n == sum(expected.values())
    assert found.n_units <= 25


def test_one_system_gives_no_pairs() -> None:
    with pytest.warns(TooFewWarning):
        assert contest_of_metrics([[1.0, 2.0]], [[1.0, 2.0]], [[2.0, 1.0]]).n == 0
