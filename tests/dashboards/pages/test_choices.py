"""Subsets, ranks and corrections of a document, against scipy and metaeval."""

from dataclasses import replace

import numpy as np
import pytest
from django.http import QueryDict
from scipy import stats

from annotation.filters import FilterError
from dashboards.comparisons import selection
from dashboards.comparisons.document import Comparison
from metaeval import ScoreMatrix
from metaeval.significance import compare_metrics
from tests.dashboards import typed
from tests.refusals import refused

P = np.array([[np.nan, 0.001, 0.03], [0.999, np.nan, 0.02], [0.97, 0.98, np.nan]])


def document(pvalues: np.ndarray = P, n_permutations: int = 9_999) -> Comparison:
    metrics = [typed.metric(f"m{k}", 0.5 - k / 10) for k in range(len(pvalues))]
    matrices = {name: selection.listed(pvalues) for name in selection.MATRICES}
    return typed.comparison(metrics=metrics, n_permutations=n_permutations, **matrices)


def test_a_subset_keeps_its_numbers() -> None:
    found = selection.subset(document(), QueryDict("metric=m0&metric=m2"))
    assert [m.key for m in found.metrics] == ["m0", "m2"]
    assert found.pvalues == [[None, 0.03], [0.97, None]]
    assert len(found.all_metrics) == 3
    with refused("choice.no-scores", kind=FilterError):
        selection.subset(document(), QueryDict("metric=bleu"))


def test_sorting_moves_rows_and_columns() -> None:
    metrics = [typed.metric(f"m{k}", value) for k, value in enumerate((0.1, None, 0.3))]
    found = selection.by_value(replace(document(), metrics=metrics))
    assert [m.key for m in found.metrics] == ["m2", "m0", "m1"]
    assert list(found.pvalues[0])[1:] == [0.97, 0.98]


def test_ranks_are_those_of_wmt() -> None:
    # m1 is beaten by m0, and m2 by m1, which then leads the current cluster.
    assert selection.standing(document()).ranks == {"m0": 1, "m1": 2, "m2": 3}
    together = np.where(np.isnan(P), np.nan, 0.4)
    assert set(selection.standing(document(together)).ranks.values()) == {1}


def test_corrections_by_hand_and_by_scipy() -> None:
    upper = P[np.triu_indices(3, 1)]
    bonferroni, _ = selection.adjusted(document(), "bonferroni", "table")
    assert selection.array(bonferroni)[np.triu_indices(3, 1)] == pytest.approx(2 * 3 * upper)
    assert bonferroni[1][0] is None
    holm, _ = selection.adjusted(document(), "holm", "table")
    assert selection.array(holm)[np.triu_indices(3, 1)] == pytest.approx([0.006, 0.08, 0.08])
    bh, _ = selection.adjusted(document(), "bh", "table")
    expected = stats.false_discovery_control(2 * upper)
    assert selection.array(bh)[np.triu_indices(3, 1)] == pytest.approx(expected)
    none, _ = selection.adjusted(document(), "none", "table")
    assert selection.array(none)[np.triu_indices(3, 1)] == pytest.approx(upper)


def test_a_family_a_row_is_smaller() -> None:
    rows, _ = selection.adjusted(document(), "bonferroni", "row")
    assert rows[0][1:] == pytest.approx([0.002, 0.06])
    assert rows[1][0] == 1.0


def test_equal_to_the_correction_of_metaeval() -> None:
    rng = np.random.default_rng(0)
    human = ScoreMatrix(rng.normal(size=(4, 30)), "ABCD", map(str, range(30)))
    noisy = {
        f"m{k}": human.with_values(human.values + k * rng.normal(size=(4, 30))) for k in range(1, 5)
    }
    tested = compare_metrics(human, noisy, n_resamples=200, rng=1)
    ours, notes = selection.adjusted(document(tested.pvalues, 200), "holm", "table")
    theirs = tested.adjusted("holm", scope="table")
    assert selection.array(ours) == pytest.approx(theirs.pvalues, nan_ok=True)
    assert notes == [warning.message for warning in theirs.warnings]


def test_too_few_permutations_are_told() -> None:
    _, notes = selection.adjusted(document(n_permutations=20), "bonferroni", "table")
    assert "119" in str(notes[0])
