"""Compute how far the outputs of the MT systems are from their target length."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.filters.systems import unique_names
from annotation.models import Campaign, Output, System
from dashboards.panel.human import Floats
from dashboards.panel.lengths import lengths, unit_of
from dashboards.panel.panel import Panel
from metaeval.messages import Message, message
from metaeval.systems import length_deviation
from metrics.base import MetricError
from metrics.grid import read_grid

REFERENCE, SOURCE = "reference", "source"
# Rounding of the target length: none, or half to even and at least 1, as in prompts to systems.
UNROUNDED, HALF_EVEN = "none", "half-even"
NO_TEXTS = message("lengths.no-texts", "There are no lengths, because this test set has no texts.")
# The accepted deviation, as a share of the target length.
TOLERANCE = 0.1


@dataclass(frozen=True)
class LengthRow:
    """One system's deviation (length − target) / target over `n` outputs.

    `statistic` is its mean absolute value, `bias` its signed mean, `pooled` the deviation of the
    sums, and `within` the share of outputs within the tolerance. `is_judged` as in `Cell`.
    """

    system: str
    n: int
    statistic: float | None
    bias: float | None
    pooled: float | None
    median: float | None
    within: float | None
    is_judged: bool = True


@dataclass(frozen=True)
class Lengths:
    """Deviations in a unit; the target is a share `of` the reference or source, with `rounding`."""

    unit: str
    of: str
    rows: Sequence[LengthRow] = ()
    tolerance: float = TOLERANCE
    rounding: str = UNROUNDED

    @property
    def is_rounded(self) -> bool:
        """Whether target lengths are rounded to whole numbers."""
        return self.rounding != UNROUNDED


def deviations(
    campaign: Campaign,
    panel: Panel,
    unit: str,
    wanted: str,
    rounding: str = UNROUNDED,
    *,
    systems: Sequence[System] | None = None,
) -> tuple[Lengths, list[Message]]:
    """Return the length deviation of every system, and warnings.

    The default unit depends on the target language; the default systems are those of the panel.
    """
    unit = unit or unit_of(campaign.test_set.target_language)
    chosen = panel.human.systems if systems is None else systems
    judged = {row.pk for row in panel.human.judged_systems}
    try:
        own, goal, of = output_lengths(campaign, panel, unit, wanted, systems=chosen)
    except MetricError as error:
        about = message("lengths.unavailable", "There are no lengths. {error}", error=error.message)
        return Lengths(unit, wanted, rounding=rounding), [about]
    if not np.nan_to_num(goal).any():
        return Lengths(unit, of, rounding=rounding), [NO_TEXTS]
    rows, notes = [], []
    named = zip(unique_names(chosen), chosen, own, goal, strict=True)
    for name, system, length, goals in named:
        found = length_deviation(length, goals, tolerance=TOLERANCE, rounding=rounding)
        notes += [
            message(
                "lengths.of-system", "{system}: {warning}", system=name, warning=warning.message
            )
            for warning in found.warnings
        ]
        numbers = (found.statistic, found.bias, found.pooled, found.median, found.within)
        is_judged = system.pk in judged
        rows.append(LengthRow(name, found.n, *numbers, is_judged=is_judged))
    return Lengths(unit, of, rows, rounding=rounding), notes


def output_lengths(
    campaign: Campaign,
    panel: Panel,
    unit: str,
    of: str,
    *,
    systems: Sequence[System] | None = None,
) -> tuple[Floats, Floats, str]:
    """Return lengths and target lengths, (systems, segments), and the text that sets the target.

    The default systems are those of the panel. The target length is the system's length ratio times
    the mean length of the references, or of the source where `of` is the source or a segment has no
    reference. Raises MetricError.
    """
    rows = campaign.test_set.segments.order_by("position")
    texts: dict[int, list[str]] = {segment: [] for segment in panel.human.segments}
    for segment, text in rows.values_list("pk", "references__text"):
        texts[segment] += [] if text is None else [text]
    if of == SOURCE or not all(texts.values()):
        of, texts = SOURCE, {pk: [source] for pk, source in rows.values_list("pk", "source")}
    full = np.array([np.mean(lengths(each, unit)) for each in texts.values()], dtype=float)
    chosen = tuple(panel.human.systems if systems is None else systems)
    ratios = np.array([float(system.length_ratio) for system in chosen])
    return _lengths(chosen, panel.human.segments, unit), ratios[:, None] * full[None, :], of


def _lengths(systems: tuple[System, ...], segments: tuple[int, ...], unit: str) -> Floats:
    rows = Output.objects.filter(system__in=systems).order_by()
    pairs = list(rows.values_list("pk", "text"))
    sizes = lengths([text for _, text in pairs], unit)
    size = {pk: length for (pk, _), length in zip(pairs, sizes, strict=True)}
    outputs = read_grid(systems, segments).outputs.tolist()
    return np.array([[size.get(pk, np.nan) for pk in row] for row in outputs])
