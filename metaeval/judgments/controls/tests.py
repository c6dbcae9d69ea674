"""Tests on planted control items: traps, degraded references, annotation times."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtr

from metaeval.arrays import FloatArray, IntArray, as_floats, as_pair, at_least, mean, one_of
from metaeval.documents import (
    DOCUMENTS,
    SEGMENTS,
    clusters_from,
    effective_units,
    has_enough_documents,
    sizes_of,
    sum_by,
    unit_of,
)
from metaeval.messages import data_error, message, plural
from metaeval.resampling import ALTERNATIVES, tail
from metaeval.results import (
    ConstantInputWarning,
    DependentDataWarning,
    Notes,
    Result,
    StatisticResult,
    TooFewWarning,
)
from metaeval.rounding import SHARE, largest, tied
from metaeval.significance.signed_rank import signed_rank_test


@dataclass(frozen=True, kw_only=True, eq=False)
class ControlTest(StatisticResult):
    """Outcome of a control test; ``statistic`` is t, the signed-rank sum W+ or U.

    ``mean_difference`` is mean(control - partner) in the input's units. ``effect_size`` is named
    by ``effect``: Cohen's d_z (mean / sd of the differences), the matched-pairs rank-biserial
    correlation, or the rank-biserial 2U/(n1 n2) - 1; negative when controls score lower. ``n``
    counts pairs (for Mann-Whitney: scores on both sides), ``n_units`` the documents or segments,
    as ``unit`` says, that are taken for independent.
    """

    mean_difference: float
    effect: str
    effect_size: float
    unit: str
    n_units: int


def control_test(
    control: ArrayLike,
    partner: ArrayLike,
    *,
    documents: Iterable[Hashable] | None = None,
    alternative: str = "less",
    method: str = "t",
) -> ControlTest:
    """Test whether an annotator scores control items below their intact partners.

    Parameters
    ----------
    control, partner
        Scores of the degraded items and of their partners. Paired and of one length for ``t``
        and ``wilcoxon``; of any lengths for ``mannwhitney``.
    documents
        The document of each pair; without it each is one. Of documents t has the standard error of
        the mean over them and as many degrees of freedom, less one; the signed ranks of a document
        change sign together, by the normal approximation (Rosner, Glynn and Lee 2006, "The Wilcoxon
        signed rank test for paired comparisons of clustered data", Biometrics 62).
    alternative
        ``less`` (default): controls score lower; ``greater`` or ``two-sided``.
    method
        ``t``: paired t-test (Graham et al. 2017; WMT). ``wilcoxon``: `signed_rank_test`, exact
        up to 50 pairs. ``mannwhitney``: unpaired U test with normal approximation,
        what Appraise runs on the paired data; weaker, for comparison only.

    Warns
    -----
    TooFewWarning, ConstantInputWarning, MissingDataWarning
        Fewer than two pairs, or all differences equal: p is nan; or incomplete pairs. Fewer than 20
        documents: p is approximate; of one document nan.
    DependentDataWarning
        The unpaired test was asked for where pairs belong to documents: it does not know of them.

    Examples
    --------
    >>> result = control_test([10, 20, 5, 30], [80, 70, 60, 75])
    >>> round(result.statistic, 3), round(result.pvalue, 4), result.n
    (-10.184, 0.001, 4)
    """
    one_of("alternative", alternative, ALTERNATIVES)
    one_of("method", method, ("t", "wilcoxon", "mannwhitney"))
    notes = Notes()
    if method == "mannwhitney":
        return _unpaired(control, partner, documents, alternative, notes)
    first, second = as_pair("control", control, "partner", partner)
    of = clusters_from(documents, len(first))
    complete = ~(np.isnan(first) | np.isnan(second))
    notes.exclude_missing(
        plural(
            "controls.incomplete-pairs",
            "Excluded {n} pair of a control item and its partner with a missing score.",
            "Excluded {n} pairs of a control item and its partner with a missing score.",
            n=int((~complete).sum()),
        )
    )
    first, second, of = first[complete], second[complete], of[complete]
    has_enough_documents(of, notes)
    # Scores that are computed, as z-scores are, differ by rounding where raw ones do not.
    differences = tied(first - second, largest(first, second))
    run = _paired_t if method == "t" else _signed_rank
    statistic, pvalue, effect, size = run(differences, of, alternative, notes)
    return ControlTest(
        n=len(differences),
        **notes.fields,
        statistic=statistic,
        pvalue=pvalue,
        method="paired t-test" if method == "t" else "Wilcoxon signed-rank test",
        alternative=alternative,
        mean_difference=mean(differences),
        effect=effect,
        effect_size=size,
        unit=unit_of(of),
        n_units=len(sizes_of(of)),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class TrapLevels(Result):
    """Traps by score: zero, low (0 < score <= threshold), high (above it)."""

    zero: int
    low: int
    high: int
    threshold: float


def trap_levels(scores: ArrayLike, *, low: float = 20.0) -> TrapLevels:
    """Count traps rated zero, low (above 0, at most ``low``) and high (above ``low``).

    The classes of table 3 in Cheng et al. (2023), on raw 0-100 scores.

    Raises
    ------
    DataError
        If a score lies outside 0-100: z-scores have no zero.

    Examples
    --------
    >>> levels = trap_levels([0, 0, 15, 20, 21, 90])
    >>> levels.zero, levels.low, levels.high
    (2, 2, 2)
    """
    values = as_floats("scores", scores, ndim=1)
    notes = Notes()
    present = values[~np.isnan(values)]
    notes.exclude("missing-score", len(values) - len(present))
    if ((present < 0.0) | (present > 100.0)).any():
        raise data_error("data.raw-scores", "Traps are counted on raw scores from 0 to 100.")
    zero, under = int((present == 0.0).sum()), int((present <= low).sum())
    return TrapLevels(
        n=len(present),
        **notes.fields,
        zero=zero,
        low=under - zero,
        high=len(present) - under,
        threshold=low,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AnnotationTimes(Result):
    """Annotation times in seconds.

    ``mean`` is over all items. ``mean_cut`` is one of the next two, as ``cut`` says:
    ``mean_dropped`` excludes items above the cap, ``mean_clipped`` counts them as the cap.
    """

    mean: float
    median: float
    mean_cut: float
    mean_dropped: float
    mean_clipped: float
    n_above: int
    cap: float
    cut: str


def annotation_times(
    seconds: ArrayLike, *, cap: float = 600.0, cut: str = "drop"
) -> AnnotationTimes:
    """Mean annotation time over all items and cut at ``cap`` seconds.

    Cheng et al. (2023), table 2, print "All.Ave." and "Cut.Ave." (cut at 600 s) without saying
    whether longer items are dropped or clipped; the two means do not show it. Dropping is the
    default: the time of an item that was left open for ten minutes measures the pause, and clipping
    would still count ten minutes of work for it. The result always has both means.

    Parameters
    ----------
    seconds
        One duration per item; nan is missing.
    cap
        Seconds; an item of exactly ``cap`` counts in full.
    cut
        ``drop`` or ``clip``: which one ``mean_cut`` repeats.

    Examples
    --------
    >>> times = annotation_times([30, 60, 1200])
    >>> times.mean, times.mean_cut, times.mean_clipped, times.n_above
    (430.0, 45.0, 230.0, 1)
    """
    values = as_floats("seconds", seconds, ndim=1)
    one_of("cut", cut, ("drop", "clip"))
    notes = Notes()
    present = values[~np.isnan(values)]
    notes.exclude("missing-time", len(values) - len(present))
    if present.size:
        at_least("seconds", float(present.min()), 0)
    short = present[present <= cap]
    if not len(short):
        notes.warn(
            TooFewWarning(
                message(
                    "times.none-below-cap",
                    "No item took {cap} s or less, so the mean of such items is undefined.",
                    cap=cap,
                )
            )
        )
    dropped, clipped = mean(short), mean(np.minimum(present, cap))
    return AnnotationTimes(
        n=len(present),
        **notes.fields,
        mean=mean(present),
        median=float(np.median(present)) if len(present) else np.nan,
        mean_cut=dropped if cut == "drop" else clipped,
        mean_dropped=dropped,
        mean_clipped=clipped,
        n_above=len(present) - len(short),
        cap=cap,
        cut=cut,
    )


def _paired_t(
    differences: FloatArray, of: IntArray, alternative: str, notes: Notes
) -> tuple[float, float, str, float]:
    if not _testable(differences, notes):
        return np.nan, np.nan, "Cohen's d_z", np.nan
    n = float(len(differences))
    size = float(differences.mean() / differences.std(ddof=1))
    t = size * np.sqrt(n)
    if unit_of(of) == DOCUMENTS:
        centre, worth = float(differences.mean()), effective_units(of)
        errors = sum_by(differences - centre, of) / n
        spread = float((errors**2).sum())
        if len(errors) < 2 or not spread > (SHARE * largest(differences)) ** 2:
            notes.warn(
                ConstantInputWarning(
                    message(
                        "controls.equal-documents",
                        "The mean difference between control items and their partners is the same "
                        "in all documents, so the t-test is undefined.",
                    )
                )
            )
            return np.nan, np.nan, "Cohen's d_z", size
        t, n = centre / np.sqrt(spread * worth / (worth - 1.0)), worth
    lower = float(stdtr(n - 1, t))
    upper = float(stdtr(n - 1, -t))
    return float(t), tail(lower, upper, alternative), "Cohen's d_z", size


def _signed_rank(
    differences: FloatArray, of: IntArray, alternative: str, notes: Notes
) -> tuple[float, float, str, float]:
    found = signed_rank_test(differences, alternative=alternative)
    for reason, count in found.reasons.items():
        notes.exclude(reason, count)
    notes.absorb(found)
    pvalue = np.nan if found.pvalue is None else found.pvalue
    size = 2.0 * found.statistic / found.total - 1.0 if found.n else np.nan
    if unit_of(of) == DOCUMENTS:
        pvalue = _clustered_signs(differences, of, alternative)
    return found.statistic, pvalue, "matched-pairs rank-biserial", size


def _clustered_signs(differences: FloatArray, of: IntArray, alternative: str) -> float:
    """Return p of the signed ranks of documents that change sign together; nan of fewer than 2."""
    from scipy.stats import rankdata

    moved = differences != 0.0
    ranks = np.sign(differences[moved]) * rankdata(np.abs(differences[moved]))
    sums = sum_by(ranks, of[moved])
    if len(sums) < 2:
        return np.nan
    z = float(sums.sum() / np.sqrt((sums**2).sum()))
    return tail(float(ndtr(z)), float(ndtr(-z)), alternative)


def _unpaired(
    control: ArrayLike,
    partner: ArrayLike,
    documents: Iterable[Hashable] | None,
    alternative: str,
    notes: Notes,
) -> ControlTest:
    from scipy.stats import mannwhitneyu

    first, second = as_floats("control", control, ndim=1), as_floats("partner", partner, ndim=1)
    notes.exclude_missing(
        plural(
            "controls.missing-scores",
            "Excluded {n} missing score.",
            "Excluded {n} missing scores.",
            n=int(np.isnan(np.concatenate([first, second])).sum()),
        )
    )
    if documents is not None and unit_of(clusters_from(documents, len(first))) == DOCUMENTS:
        notes.warn(
            DependentDataWarning(
                message(
                    "controls.unpaired-documents",
                    "The unpaired test treats items of one document as independent, so its p-value "
                    "is too small.",
                )
            )
        )
    first, second = first[~np.isnan(first)], second[~np.isnan(second)]
    statistic = pvalue = size = difference = np.nan
    if not len(first) or not len(second):
        notes.warn(
            TooFewWarning(
                message("controls.no-scores", "One side has no scores, so the test is undefined.")
            )
        )
    else:
        difference = float(first.mean() - second.mean())
        test = mannwhitneyu(first, second, alternative=alternative, method="asymptotic")
        statistic, pvalue = float(test.statistic), float(test.pvalue)
        size = 2.0 * statistic / (len(first) * len(second)) - 1.0
    return ControlTest(
        n=len(first) + len(second),
        **notes.fields,
        statistic=statistic,
        pvalue=pvalue,
        method="Mann-Whitney U test (unpaired)",
        alternative=alternative,
        mean_difference=difference,
        effect="rank-biserial",
        effect_size=size,
        unit=SEGMENTS,
        n_units=len(first) + len(second),
    )


def _testable(differences: FloatArray, notes: Notes) -> bool:
    if len(differences) < 2:
        notes.warn(
            TooFewWarning(
                plural(
                    "controls.few-pairs",
                    "There is only {n} complete pair. The t-test needs at least two.",
                    "There are {n} complete pairs. The t-test needs at least two.",
                    n=len(differences),
                )
            )
        )
        return False
    if np.ptp(differences) == 0.0:
        notes.warn(
            ConstantInputWarning(
                message(
                    "controls.equal-differences",
                    "All {n} differences equal {difference}, so the t-test is undefined. The "
                    "signed-rank test is defined unless they are zero.",
                    n=len(differences),
                    difference=float(differences[0]),
                )
            )
        )
        return False
    return True
