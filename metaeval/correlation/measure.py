"""One name for each way to measure agreement of a metric with humans, with its options."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaeval.arrays import FloatArray, one_of, positive_int
from metaeval.correlation.rows import row_kendall, row_pearson, row_spearman
from metaeval.messages import Message, message
from metaeval.rounding import round_to_ties

COEFFICIENTS = ("pearson", "spearman", "kendall")
OF_PAIRS = ("kendall_like", "acc_eq")
OF_SYSTEMS = ("pairwise_accuracy", "soft_pairwise_accuracy")
CORRELATIONS = (*COEFFICIENTS, *OF_PAIRS, *OF_SYSTEMS)
GROUPINGS = ("none", "item", "system")
SYSTEM_LEVEL = "system-level"
# Any two systems correlate at ±1.
FEWEST_SYSTEMS = 3
LABELS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", "kendall": "Kendall's tau"}


def with_grouping(statistic: Message | str, grouping: str) -> Message:
    """Return the name of a statistic with its grouping, one of GROUPINGS or SYSTEM_LEVEL."""
    match grouping:
        case "none":
            return message("question.ungrouped", "{statistic}, no grouping", statistic=statistic)
        case "item":
            return message("question.by-segment", "{statistic}, by segment", statistic=statistic)
        case "system":
            return message("question.by-system", "{statistic}, by system", statistic=statistic)
    return message("measure.system-level", "{statistic}, system level", statistic=statistic)


@dataclass(frozen=True)
class Measure:
    """A correlation with its options; raises DataError where they do not go together.

    Every function that measures metrics takes one; a plain name such as ``"kendall"`` stands for
    the measure with its default options.

    Parameters
    ----------
    correlation
        One of CORRELATIONS.
    grouping
        ``none``, ``item``, ``system`` (the mean over groups) or ``system-level`` (system means
        are correlated). Default: ``item`` for acc_eq and kendall_like, system-level for the two
        accuracies of systems, else ``none``.
    variant
        Kendall's ``b`` or ``c``.
    threshold
        Of `kendall_like`.
    epsilon
        Of `acc_eq`; None calibrates it.
    n_flips
        Of `soft_pairwise_accuracy`: sign flips behind its p-values; None takes their limit.

    Examples
    --------
    >>> Measure("kendall", "item").label, Measure("acc_eq").grouping
    ('kendall-b, by segment', 'item')
    """

    correlation: str = "pearson"
    grouping: str = ""
    variant: str = "b"
    threshold: float = 25.0
    epsilon: float | None = None
    n_flips: int | None = None

    def __post_init__(self) -> None:
        one_of("correlation", self.correlation, CORRELATIONS)
        one_of("variant", self.variant, ("b", "c"))
        if self.n_flips is not None:
            positive_int("n_flips", self.n_flips)
        allowed: tuple[str, ...] = GROUPINGS
        if self.correlation in COEFFICIENTS:
            allowed = (*GROUPINGS, SYSTEM_LEVEL)
        elif self.correlation in OF_SYSTEMS:
            allowed = (SYSTEM_LEVEL,)
        usual = "item" if self.correlation in OF_PAIRS else allowed[0]
        object.__setattr__(self, "grouping", self.grouping or usual)
        one_of("grouping", self.grouping, allowed)

    @classmethod
    def of(cls, measure: Measure | str) -> Measure:
        """Return a measure, or the one that a name stands for."""
        return cls(measure) if isinstance(measure, str) else measure

    @classmethod
    def plain(cls, measure: Measure | str) -> Measure:
        """Return the same where only r, rho and tau are meant; else DataError."""
        found = cls.of(measure)
        one_of("measure", found.correlation, COEFFICIENTS)
        return found

    @property
    def label(self) -> str:
        """A name for results, such as ``kendall-b, by segment``."""
        return self.described.text

    @property
    def described(self) -> Message:
        """The same as a message."""
        return with_grouping(self.kind("-"), self.grouping)

    @property
    def name(self) -> str:
        """What the field calls r, rho and tau, such as ``Kendall's tau-b``."""
        return LABELS[self.correlation] + self.kind("-").removeprefix(self.correlation)

    def kind(self, joint: str = "_") -> str:
        """The correlation with tau's variant, such as ``kendall_b``."""
        return self.correlation + (joint + self.variant if self.correlation == "kendall" else "")

    def round_to_ties(self, means: FloatArray, size: float | None = None) -> FloatArray:
        """Return means with `round_to_ties`; for Pearson's r only if all become equal."""
        found = round_to_ties(means, size)
        if self.correlation != "pearson":
            return found
        is_varied = np.nanmax(found, initial=-np.inf) > np.nanmin(found, initial=np.inf)
        return means if is_varied else found

    def rows(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return r, rho or tau of each row of two arrays."""
        if self.correlation == "kendall":
            return row_kendall(x, y, self.variant)
        return (row_pearson if self.correlation == "pearson" else row_spearman)(x, y)

    def over_systems(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """The same of one score per system; nan for fewer than three systems."""
        systems = (~np.isnan(x) & ~np.isnan(y)).sum(axis=-1)
        return np.where(systems < FEWEST_SYSTEMS, np.nan, self.rows(x, y))
