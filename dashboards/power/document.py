"""How many judgments do I need? From a campaign as the pilot, or from stated variances."""

import json
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Campaign
from annotation.quality.power import pilot_components
from dashboards.documents.plain import plain
from dashboards.pages.choice import Choice
from metaeval import StatisticsWarning
from metaeval.judgments.planning import PowerTable, VarianceComponents, power_table

VERSION = 1
SEED = 1
# Draws that take about half a second; larger studies are simulated less often.
DRAWS, MOST, LEAST = 12_000_000, 2_000, 300
MAX_SEGMENTS, MAX_COLUMNS = 5_000, 12
FIGURES = ("power", "low", "high", "exact", "normal")


@dataclass(frozen=True)
class PowerChoice(Choice):
    """What a reader asks, as JSON: the arguments of `metaeval.power_table`, the number of systems,
    and `scores` (raw or z) of the pilot or the standard deviations `sds` that are stated."""

    question: str = ""


FILTERS = PowerChoice


def asked(question: dict[str, Any]) -> PowerChoice:
    """Return the same choice for the same question."""
    return PowerChoice(question=json.dumps(question, sort_keys=True))


def compute(campaign: Campaign | None, choice: PowerChoice) -> dict[str, Any]:
    """Return components, table and plans; `rows` has a dict for every cell of the table."""
    question = json.loads(choice.question)
    n_systems, scores = question.pop("n_systems"), question.pop("scores", "")
    variances = {name: sd**2 for name, sd in question.pop("sds", {}).items()}
    components = (
        VarianceComponents.stated(**variances)
        if campaign is None
        else pilot_components(campaign, scores)
    )
    table = _table(components, question)
    document: dict[str, Any] = plain(
        {
            "components": components.to_dict(),
            "n_systems": n_systems,
            "table": table.to_dict(),
            "plans": list_plans(table, n_systems),
            "rows": _rows(table, n_systems),
            "spreads": _spreads(components),
            "has_values": bool(np.isfinite(table.power).all()),
            "warnings": [one.message for one in table.warnings],
        }
    )
    return document


def _table(components: VarianceComponents, question: dict[str, Any]) -> PowerTable:
    sizes = question["n_segments"] or _around_the_answer(components, question)
    cells = max(sizes) * (1 + len(question["annotators_per_item"]))
    n_simulations = min(MOST, max(LEAST, DRAWS // cells))
    question |= {"n_segments": sizes, "n_simulations": n_simulations, "rng": SEED}
    return power_table(components, **question)


def _around_the_answer(components: VarianceComponents, question: dict[str, Any]) -> list[int]:
    """The answers for the first target, half of the least, and enough for the last target."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        quick = power_table(
            components, **(question | {"n_segments": [2]}), n_simulations=1, rng=SEED
        )
    first, last = (sorted({int(n) for n in row if n}) for row in quick.smallest[[0, -1]])
    wanted = [max(2, n) for n in (first[0] // 2, *first, *last[-1:])] if first else [1_000]
    return sorted({min(n, MAX_SEGMENTS) for n in wanted})[:MAX_COLUMNS]


def list_plans(table: PowerTable, n_systems: int) -> list[dict[str, Any]]:
    """For each number of annotators, the fewest segments and judgments that reach each target.

    None where even a million segments do not.
    """
    return [
        {
            "annotators_per_item": raters,
            "answers": [
                {
                    "power": target,
                    "segments": n or None,
                    "judgments": n * raters * n_systems or None,
                }
                for target, n in zip(table.targets, sizes, strict=True)
            ],
        }
        for raters, sizes in zip(table.annotators_per_item, table.smallest.T.tolist(), strict=True)
    ]


def _rows(table: PowerTable, n_systems: int) -> list[dict[str, Any]]:
    return [
        {
            "annotators_per_item": raters,
            "n_segments": size,
            "judgments": size * raters * n_systems,
            **{name: _finite(getattr(table, name)[i, j]) for name in FIGURES},
        }
        for i, raters in enumerate(table.annotators_per_item)
        for j, size in enumerate(table.n_segments)
    ]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _spreads(components: VarianceComponents) -> list[tuple[str, float, float]]:
    """Name, standard deviation and share of the variance of one judgment."""
    names = ("system", "segment", "output", "annotator", "residual")
    variances = {name: getattr(components, name) for name in names}
    total = sum(variances.values())
    return [
        (name, float(np.sqrt(value)), 100 * value / total if total else float("nan"))
        for name, value in variances.items()
    ]
