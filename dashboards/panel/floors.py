"""Measures that know nothing of quality, of any campaign: what every metric has to beat.

They are made of what is stored anyway, so they need no run: lengths and the contents' hashes.
"""

from dataclasses import replace

import numpy as np
from django.db.models import F
from django.db.models.functions import Length

from annotation.models import Output, System
from core.caching import memo
from dashboards.panel.human import Floats, HumanScores
from dashboards.panel.panel import Panel
from metrics.catalogue import infos
from metrics.grid import read_grid
from metrics.measures import MeasureScores

CONSTANT, RANDOM = "floor-constant", "floor-random"
LABELS = {
    RANDOM: "Floor: random",
    "floor-source": "Floor: short sources",
    "floor-output": "Floor: short outputs",
    "floor-ratio": "Floor: usual length",
}
CONSTANT_LABEL = "Floor: one value"
# Families of metrics that see no translation beside its source: floors, too, once they are scored.
SENTINELS = ("sentinel", "trained-sentinel")
# Hexadecimal digits of a content's hash that make a number: as many as a float64 tells apart.
DIGITS = 13


def floor_panel(panel: Panel) -> Panel:
    """Return the same humans with the floors as measures: those in `LABELS`, scored sentinels.

    A sentinel stays a metric beside; it is not above itself.
    """
    values = _values(panel.human)
    n = panel.n_outputs or int((panel.outputs >= 0).sum())
    measures = {
        key: MeasureScores(
            key=key,
            label=label,
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


def _sentinels(panel: Panel) -> dict[str, MeasureScores]:
    known = infos(retired=True)
    return {
        f"floor:{key}": replace(measure, key=f"floor:{key}", label=f"Floor: {measure.label}")
        for key, measure in panel.measures.items()
        if measure.metric in known and known[measure.metric].family in SENTINELS
    }


def _values(human: HumanScores) -> dict[str, Floats]:
    """Every floor over systems × segments, nan where there is no output."""
    grid = read_grid(human.systems, human.segments)
    drawn = np.array([int(key[:DIGITS], 16) / 16**DIGITS for key in grid.keys], dtype=np.float64)
    sources, outputs = _lengths(human.systems, human.segments)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log((outputs + 1.0) / (sources + 1.0))
    return {
        RANDOM: grid.spread(drawn),
        "floor-source": -sources,
        "floor-output": -outputs,
        # Half of the outputs are nearer to the median than the other half: no direction is chosen.
        "floor-ratio": -np.abs(ratios - np.nanmedian(ratios)) if ratios.size else ratios,
    }


@memo
def _lengths(systems: tuple[System, ...], segments: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Characters of every output's source and of itself, systems × segments."""
    rows = (
        Output.objects.filter(system__in=systems)
        .order_by()
        .values_list("pk", Length(F("segment__source")), Length("text"))
    )
    table = np.array(list(rows), dtype=np.int64).reshape(-1, 3)
    grid = read_grid(systems, segments)
    sources, outputs = (grid.placed(table[:, 0], table[:, n].astype(float)) for n in (1, 2))
    return sources, outputs
