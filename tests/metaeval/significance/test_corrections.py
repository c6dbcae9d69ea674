import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.messages import DataError
from metaeval.results import ResolutionWarning
from metaeval.significance import adjust_pvalues
from tests.refusals import refused

PVALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(PVALUES)
def test_bh_equals_scipy_and_holm_is_between(pvalues):
    bh = adjust_pvalues(pvalues, method="bh").pvalues
    np.testing.assert_allclose(bh, stats.false_discovery_control(pvalues, method="bh"))
    holm = adjust_pvalues(pvalues, method="holm").pvalues
    plain = adjust_pvalues(pvalues, method="bonferroni").pvalues
    assert (bh <= holm + 1e-12).all()
    assert (holm <= plain + 1e-12).all()


def test_136_tests_need_2719_resamples():
    pvalues = np.full(136, 0.5)
    with pytest.warns(ResolutionWarning):
        adjust_pvalues(pvalues, n_resamples=2718)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        adjust_pvalues(pvalues, n_resamples=2719)


def test_shape_and_undefined_tests_are_kept():
    result = adjust_pvalues([[np.nan, 0.01], [0.9, np.nan]], method="bonferroni")
    assert result.pvalues[0, 1] == 0.02
    assert result.is_significant.tolist() == [[False, True], [False, False]]
    assert (result.n, result.n_excluded) == (2, 2)
    with refused("argument.range", kind=DataError, name="pvalues", low=0, high=1, value=1.2):
        adjust_pvalues([1.2])
