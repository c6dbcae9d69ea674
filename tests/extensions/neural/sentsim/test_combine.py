"""SentSim's combinations: the literal check, and scores that do not depend on other segments."""

from pathlib import Path

import numpy as np
import pytest

from extensions.neural.sentences.options import combine, fit
from tests.extensions.neural.reference_free import read_check
from tests.refusals import refused


def test_published_scores_are_those_of_ranges_fitted_on_the_set(data_dir: Path) -> None:
    check = read_check(data_dir, "A5")
    names = ("sentence_cosine", "bertscore_f1", "wmd")
    parts = [np.array(check["inputs"][name]) for name in names]
    names = ("cosine_plus_bertscore", "cosine_plus_wmd", "all_three")
    expected = np.array([check["expected"][name] for name in names]).T
    values = combine(*parts, fit(*parts))
    np.testing.assert_allclose(values, expected, atol=check["tolerance"])
    # With fixed ranges each segment alone has the same scores.
    alone = [combine(*(part[[row]] for part in parts), fit(*parts))[0] for row in range(3)]
    np.testing.assert_array_equal(alone, values)


def test_values_outside_the_ranges_keep_their_order() -> None:
    parts = [np.array(part) for part in ([0.2, 0.8], [0.7, 0.9], [3.0, 5.0])]
    ranges = fit(*parts)
    better = combine(np.array([0.9]), np.array([0.95]), np.array([2.0]), ranges)
    assert (better > combine(np.array([0.8]), np.array([0.9]), np.array([3.0]), ranges)).all()


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5]])
def test_one_value_gives_no_range(values: list[float]) -> None:
    two = np.array([0.0, 1.0])
    with refused("sentsim.no-range", kind=ValueError, part="wmd"):
        fit(two, two, np.array(values))
