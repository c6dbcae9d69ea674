"""Wins, ties and losses: against Wilson's interval elsewhere, by hand, and in simulation."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from metaeval.arrays import FloatArray
from metaeval.messages import DataError
from metaeval.results import TooFewWarning
from metaeval.significance import contest, contest_of_metrics
from tests.refusals import refused


def test_shares_of_independent_outcomes_have_wilsons_interval() -> None:
    found = contest([0.3] * 7 + [0.0] * 2 + [-1.0] * 11)
    for share, count in ((found.wins, 7), (found.ties, 2), (found.losses, 11)):
        theirs = stats.binomtest(count, 20).proportion_ci(method="wilson")
        assert (share.count, share.share) == (count, count / 20)
        assert share.interval is not None
        assert share.interval[:2] == pytest.approx(tuple(theirs), abs=1e-12)


def outcomes_of(won: int, lost: int, n: int) -> list[float]:
    return [1.0] * won + [-1.0] * lost + [0.0] * (n - won - lost)


@cache
def leads(n: int) -> FloatArray:
    """Rows of wins, losses and both ends of the lead's interval, for all outcomes of n contests."""
    rows = []
    for won, lost in product(range(n + 1), repeat=2):
        if won + lost <= n:
            interval = contest(outcomes_of(won, lost, n)).lead_interval
            assert interval is not None
            rows.append((won, lost, *interval[:2]))
    return np.array(rows)


# Chances of wins and of losses: even, one-sided, with ties, without, next to certain.
TRUTHS = [(0.5, 0.5), (0.8, 0.2), (0.9, 0.1), (0.99, 0.01), (0.3, 0.3), (0.6, 0.1), (0.9, 0.0),
          (0.05, 0.05), (0.2, 0.0), (0.02, 0.0), (0.45, 0.4), (0.7, 0.25)]  # fmt: skip


@pytest.mark.parametrize("n", [5, 6, 10, 20, 100])
def test_the_lead_of_few_and_of_one_sided_contests_is_covered(n: int) -> None:
    """Exact: all outcomes by their chances. A t interval misses up to 95% here."""
    won, lost, low, high = leads(n).T
    for winning, losing in TRUTHS:
        chances = (winning, losing, max(0.0, 1.0 - winning - losing))
        chance = stats.multinomial.pmf(np.stack([won, lost, n - won - lost], axis=1), n, chances)
        held = (low <= winning - losing) & (winning - losing <= high)
        assert chance[held].sum() >= 0.94


def test_the_leads_interval_has_a_width_and_holds_the_lead() -> None:
    for n in (5, 20):
        won, lost, low, high = leads(n).T
        assert (low < high).all()
        assert (low >= -1.0).all()
        assert (high <= 1.0).all()
        assert ((low <= (won - lost) / n) & ((won - lost) / n <= high)).all()
    many = contest([1.0] * 1000).lead_interval
    assert many is not None
    assert many.low < many.high == 1.0


@pytest.mark.parametrize(("won", "lost"), [(60, 40), (45, 15), (300, 500)])
def test_the_lead_of_many_contests_has_about_the_t_interval_of_a_mean(won: int, lost: int) -> None:
    signs = outcomes_of(won, lost, max(100, won + lost))
    theirs = stats.ttest_1samp(signs, 0.0).confidence_interval()
    found = contest(signs).lead_interval
    assert found is not None
    assert found[:2] == pytest.approx(tuple(theirs), abs=0.025)


def test_units_that_all_win_count_as_one_outcome_each() -> None:
    once, often = contest([1.0] * 6), contest([1.0] * 60, np.repeat(np.arange(6), 10))
    assert often.lead_interval == once.lead_interval


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
    assert thrice.lead_interval[:2] == pytest.approx(once.lead_interval[:2], abs=0.01)


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
    # Monte Carlo error of 400: ± 3% at .95 is well beyond three standard errors.
    assert hits / n == pytest.approx(0.95, abs=0.033)
    assert leads / n == pytest.approx(0.95, abs=0.033)


def test_missing_outcomes_are_left_out_and_counted() -> None:
    found = contest([1.0, np.nan, -1.0])
    assert (found.n, dict(found.reasons)) == (2, {"missing-score": 1})
    assert found.lead_interval is None
    with pytest.warns(TooFewWarning):
        empty = contest([np.nan])
    assert np.isnan(empty.wins.share)
    assert empty.wins.interval is None
    with refused("argument.lengths", kind=DataError, names=["outcomes", "units"], lengths=[2, 1]):
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
