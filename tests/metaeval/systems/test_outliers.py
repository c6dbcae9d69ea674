"""Outlier systems by median and MAD: WMT19 as published by Mathur et al. (2020), and by hand."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from metaeval.results import ConstantInputWarning, TooFewWarning
from metaeval.systems.outliers import find_outliers
from tests.metaeval.published import numbers, table

# WMT19 en-de: human z and sacreBLEU of 22 systems, as released with the paper. Its table 1 has
# BLEU at .97 over all systems and at .81 over the 20 that are no outliers.
WMT19 = {
    "UCAM": (0.213, 0.4458), "Microsoft-sentence": (0.094, 0.4470), "MSRA.MADL": (0.214, 0.4639),
    "PROMT": (0.001, 0.3881), "Microsoft-document": (0.296, 0.4517), "online-B": (0.094, 0.4195),
    "dfki-nmt": (0.119, 0.4377), "NEU": (0.208, 0.4497), "MLLP-UPV": (0.189, 0.4284),
    "Facebook_FAIR": (0.347, 0.4406), "en_de_task": (-1.769, 0.1718), "JHU": (0.081, 0.4390),
    "Helsinki-NLP": (0.077, 0.4303), "UdS-DFKI": (-0.129, 0.3988), "lmu-ctx": (0.01, 0.4191),
    "eTranslation": (0.13, 0.4347), "online-X": (-0.4, 0.3233), "online-A": (-0.072, 0.4224),
    "online-Y": (0.038, 0.4344), "online-G": (-0.119, 0.4027),
    "Microsoft-sentence-document": (0.311, 0.4514), "TartuNLP-c": (-0.132, 0.3721),
}  # fmt: skip


def test_the_outliers_of_wmt19_and_what_they_do_to_bleu():
    human, bleu = np.array(list(WMT19.values())).T
    found = find_outliers(human)
    names = np.array(list(WMT19))
    assert set(names[found.is_outlier]) == {"en_de_task", "online-X"}
    rest = ~found.is_outlier
    assert round(np.corrcoef(human, bleu)[0, 1], 2) == 0.97
    assert round(np.corrcoef(human[rest], bleu[rest])[0, 1], 2) == 0.81
    assert (found.n, found.n_excluded, found.warnings) == (22, 0, ())


def test_wmt15_by_scipy():
    """The MAD of scipy, whose factor for a normal sample has more digits than the paper's."""
    rows = table("wmt15/scores.tsv")
    pairs, human = np.array(rows["lp"]), numbers(rows["human"])
    for pair in sorted(set(pairs)):
        metric = np.array(rows["metric"])
        own = human[(pairs == pair) & (metric == metric[pairs == pair][0])]
        mad = stats.median_abs_deviation(own, scale="normal")
        expected = np.abs(own - np.median(own)) / mad
        found = find_outliers(own)
        assert found.deviations == pytest.approx(expected, rel=1e-3)
        assert (found.is_outlier == (expected > 2.5)).all()


def test_by_hand():
    """Median 3, distances 2, 1, 0, 1, 6: MAD 1, and 6 / 1.483 = 4.05."""
    found = find_outliers([1.0, np.nan, 2.0, 3.0, 4.0, 9.0])
    assert found.deviations[-1] == pytest.approx(6 / 1.483)
    assert found.is_outlier.tolist() == [False] * 5 + [True]
    assert (found.n, found.n_excluded, found.median, found.mad) == (5, 1, 3.0, 1.0)
    # What is just at the threshold is none.
    assert not find_outliers([1.0, 2, 3, 4, 9], threshold=6 / 1.483).is_outlier.any()


@pytest.mark.parametrize(
    ("scores", "warning"),
    [
        ([1.0, 1.0, 1.0, 9.0], ConstantInputWarning),
        ([5.0] * 4, ConstantInputWarning),
        ([1.0, 9.0], TooFewWarning),
        ([], TooFewWarning),
        ([np.nan, np.nan, 2.0, 3.0], TooFewWarning),
    ],
)
def test_without_spread_there_is_a_warning_and_no_outlier(scores, warning):
    with pytest.warns(warning):
        found = find_outliers(scores)
    assert not found.is_outlier.any()
    assert np.isnan(found.deviations).all()
    assert [type(each) for each in found.warnings] == [warning]


@given(
    st.lists(st.integers(-50, 50), min_size=3, max_size=12),
    st.integers(1, 9),
    st.integers(-99, 99),
)
def test_units_and_origin_do_not_matter(scores, factor, shift):
    own = np.array(scores, dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, second = find_outliers(own), find_outliers(shift - factor * own)
    assert (first.is_outlier == second.is_outlier).all()
    assert first.is_outlier.sum() * 2 <= len(own)
