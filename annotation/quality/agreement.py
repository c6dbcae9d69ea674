"""Agreement of judgments, computed once and shown with the same digits everywhere.

Where an item shows several systems, also how plausible each annotator's differences between them
are, a check of WMT26.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from django.core.cache import cache

from annotation.models import Campaign, Item, Output
from annotation.quality.columns import Floats, Integers, JudgmentColumns, Mask
from metaeval import Interval, StatisticsWarning
from metaeval.judgments.agreement import ScreenAgreement, judgment_agreement, screen_agreement
from metaeval.messages import Message, message
from metaeval.results import ApproximationWarning

N_RESAMPLES = 1000
CACHE_SECONDS = 24 * 3600
# Part of the cache key: raise it when the statistics or the fields change.
VERSION = 3
NO_INTERVAL = message("agreement.no-interval", "No interval.")


@dataclass(frozen=True)
class Figure:
    """A statistic, its interval and the interval's method; nan, None and None without."""

    statistic: float
    interval: Interval | None
    method: Message | None
    warnings: tuple[StatisticsWarning, ...]

    @property
    def basis(self) -> Message:
        """How the interval was computed, or why there is none."""
        return self.method or next((each.message for each in self.warnings), NO_INTERVAL)


@dataclass(frozen=True)
class Agreement:
    """One-vs-rest r and α on z-scores of these judgments, α on their raw scores.

    ``n`` counts the judgments of units that two or more rated, ``n_units`` those units.
    """

    n: int
    n_units: int
    one_vs_rest: Figure
    alpha_z: Figure
    alpha_raw: Figure

    @property
    def figures(self) -> dict[str, Figure]:
        """The three under the names of the fields."""
        names = ("one_vs_rest", "alpha_z", "alpha_raw")
        return {name: getattr(self, name) for name in names}

    @property
    def warnings(self) -> tuple[StatisticsWarning, ...]:
        """All warnings of the three figures, without duplicates."""
        found = (each for figure in self.figures.values() for each in figure.warnings)
        return tuple({each.message: each for each in found}.values())

    @property
    def cautions(self) -> list[Message]:
        """The warnings about intervals that were computed by an approximation."""
        return [each.message for each in self.warnings if isinstance(each, ApproximationWarning)]


def agreement_of(columns: JudgmentColumns, chosen: Mask, *, seed: int) -> Agreement | None:
    """Compute agreement of the chosen judgments with 95% intervals; None without judgments.

    A unit is an output, however many items show it; each trap is a unit of its own. Intervals
    resample whole documents if a document has several segments. Results are cached by judgments
    and seed, so that every page shows the same digits.
    """
    output, item = columns.output[chosen], columns.item[chosen]
    units = np.where(output >= 0, output, -1 - item)  # two ranges that cannot meet
    own = columns.select(chosen)
    return agreement(own.score, own.annotator, units, own.unit, seed=seed)


def agreement(
    scores: Floats, annotators: Integers, units: Integers, documents: Integers, *, seed: int
) -> Agreement | None:
    """Compute agreement of columns in any order; a document NOTHING is one of its own."""
    if not len(scores):
        return None
    order = np.lexsort((scores, units, annotators))
    columns = scores[order], annotators[order], units[order], documents[order]
    key = _key(columns, seed)
    found: Agreement | None = cache.get(key)
    if found is None:
        found = _compute(*columns, seed)
        cache.set(key, found, CACHE_SECONDS)
    return found


def _key(columns: tuple[Floats | Integers, ...], seed: int) -> str:
    digest = hashlib.sha256(f"{VERSION} {N_RESAMPLES} {seed}".encode())
    for column in columns:
        digest.update(np.ascontiguousarray(column).tobytes())
    return f"agreement:{digest.hexdigest()}"


def _compute(
    scores: Floats, annotators: Integers, units: Integers, documents: Integers, seed: int
) -> Agreement:
    # A document NOTHING is no label: it is below 0.
    found = judgment_agreement(
        scores, annotators, units, documents=documents, n_resamples=N_RESAMPLES, rng=seed
    )
    parts = (found.one_vs_rest, found.alpha_z, found.alpha_raw)
    figures = [Figure(each.statistic, each.interval, each.method, each.warnings) for each in parts]
    return Agreement(found.n, found.n_items, *figures)


@dataclass(frozen=True)
class Likely:
    """How plausible one annotator's differences are (`ScreenAgreement`), over `screens`.

    WMT26 excludes annotators with `is_unlikely`; here a person decides.
    """

    agreement: float
    screens: int
    is_unlikely: bool


def likely_of(campaign: Campaign, columns: JudgmentColumns) -> Mapping[int, Likely]:
    """Return `Likely` by annotator, for campaigns whose items show several systems.

    Computed from outputs only, without practice and control items; empty for other campaigns.
    """
    if not campaign.judging.layout.has_systems:
        return {}
    own = columns.select(columns.is_kind(Item.Kind.TARGET))
    found = _computed(own) if len(own) else None
    if found is None or not found.n:
        return {}
    return {
        int(annotator): Likely(float(found.agreement[n]), int(found.screens[n]), found.flagged[n])
        for n, annotator in enumerate(found.annotators)
    }


def _computed(own: JudgmentColumns) -> ScreenAgreement:
    rows = Output.objects.filter(pk__in=set(own.output.tolist())).order_by()
    systems = dict(rows.values_list("pk", "system"))
    return screen_agreement(
        own.score,
        own.annotator.tolist(),
        own.screen.tolist(),
        own.segment.tolist(),
        [systems[output] for output in own.output.tolist()],
    )
