"""Baselines of any campaign: random scores, a constant and text lengths.

They need no run, because they are computed from stored lengths and hashes of the contents.
"""

from dataclasses import replace

import numpy as np
from django.db.models import F
from django.db.models.functions import Length

from annotation.models import Output, System
from core.caching import memo
from dashboards.panel.human import Floats, HumanScores
from dashboards.panel.panel import Panel
from metaeval.messages import Message, message
from metrics.catalogue import infos
from metrics.grid import read_grid
from metrics.measures import MeasureScores

CONSTANT, RANDOM = "floor-constant", "floor-random"
LABELS = {
    RANDOM: message("baseline.random", "Baseline: random"),
    "floor-source": message("baseline.short-sources", "Baseline: short sources"),
    "floor-output": message("baseline.short-outputs", "Baseline: short outputs"),
    "floor-ratio": message("baseline.usual-length", "Baseline: usual length"),
}
CONSTANT_LABEL = message("baseline.constant", "Baseline: constant")
# Families of metrics that do not see a translation together with its source: also baselines.
SENTINELS = ("sentinel", "trained-sentinel")
# Hexadecimal digits of a content's hash that make a number: as many as a float64 can hold.
DIGITS = 13


def floor_panel(panel: Panel) -> Panel:
    """Return the same humans with the baselines as measures: those in `LABELS`, scored sentinels.

    A sentinel also stays a metric; it is not above itself.
    """
    values = _values(panel.human)
    n = panel.n_outputs or int((panel.outputs >= 0).sum())
    measures = {
        key: MeasureScores(
            key=key,
            label=label.text,
            metric="floor",
            signature=f"{key}|v:1",
            higher_is_better=True,
            values=values[key],
            statistics=None,
            corpus=None,
            n_outputs=n,
            n_missing=0,
        )
        for key, label in LABELS.items()
    }
    return replace(panel, measures=measures | _sentinels(panel))


def baseline_label(key: str, label: str) -> Message | str:
    """Return what a page shows for a measure: the label of a baseline, or a metric's name."""
    return CONSTANT_LABEL if key == CONSTANT else LABELS.get(key, label)


def _sentinels(panel: Panel) -> dict[str, MeasureScores]:
    known = infos(retired=True)
    return {
        f"floor:{key}": replace(measure, key=f"floor:{key}", label=f"Baseline: {measure.label}")
        for key, measure in panel.measures.items()
        if measure.metric in known and known[measure.metric].family in SENTINELS
    }


def _values(human: HumanScores) -> dict[str, Floats]:
    """Return every baseline, (systems, segments), nan where there is no output."""
    grid = read_grid(human.systems, human.segments)
    drawn = np.array([int(key[:DIGITS], 16) / 16**DIGITS for key in grid.keys], dtype=np.float64)
    sources, outputs = _lengths(human.systems, human.segments)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log((outputs + 1.0) / (sources + 1.0))
    return {
        RANDOM: grid.spread(drawn),
        "floor-source": -sources,
        "floor-output": -outputs,
        # Distance from the median has a direction that does not depend on the data.
        "floor-ratio": -np.abs(ratios - np.nanmedian(ratios)) if ratios.size else ratios,
    }


@memo
def _lengths(systems: tuple[System, ...], segments: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Return the characters of every output's source and of the output, (systems, segments)."""
    rows = (
        Output.objects.filter(system__in=systems)
        .order_by()
        .values_list("pk", Length(F("segment__source")), Length("text"))
    )
    table = np.array(list(rows), dtype=np.int64).reshape(-1, 3)
    grid = read_grid(systems, segments)
    sources, outputs = (grid.placed(table[:, 0], table[:, n].astype(float)) for n in (1, 2))
    return sources, outputs
