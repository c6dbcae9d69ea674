"""Agreement of judgments: one number and one interval, wherever it is shown.

Where annotators see several systems on a screen, also how likely the differences are that each of
them gives: a check that WMT26 makes.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from django.core.cache import cache

from annotation.models import Campaign, Item, Output
from annotation.quality.columns import Floats, Integers, JudgmentColumns, Mask
from annotation.quality.current import NOTHING
from metaeval import Interval, StatisticsWarning
from metaeval.judgments.agreement import ScreenAgreement, judgment_agreement, screen_agreement
from metaeval.messages import Message
from metaeval.results import ApproximationWarning

N_RESAMPLES = 1000
KEPT_SECONDS = 24 * 3600
# Belongs to the key of what is kept: raise it where the statistics change.
VERSION = 2
NO_INTERVAL = "no interval"


@dataclass(frozen=True)
class Figure:
    """A statistic with its interval and how that was computed; nan, None and "" without."""

    statistic: float
    interval: Interval | None
    method: str
    warnings: tuple[StatisticsWarning, ...]

    @property
    def basis(self) -> str:
        """How the interval was computed, or why there is none, without a full stop."""
        told = self.method or next((each.message for each in self.warnings), NO_INTERVAL)
        return str(told).rstrip(".")


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
        """Every warning once."""
        found = (each for figure in self.figures.values() for each in figure.warnings)
        return tuple({each.message: each for each in found}.values())

    @property
    def doubts(self) -> list[Message]:
        """What must be known of the intervals that are shown."""
        of_shown = ApproximationWarning
        return [each.message for each in self.warnings if isinstance(each, of_shown)]


def agreement_of(columns: JudgmentColumns, chosen: Mask, *, seed: int) -> Agreement | None:
    """Agreement of the chosen judgments with 95 % intervals; None where none is chosen.

    A unit is an output, in however many items it is shown; a trap has no output of its own.
    Intervals draw whole documents, where a document has several segments. The same judgments and
    seed have the same digits on every page, and are computed once.
    """
    output, item = columns.output[chosen], columns.item[chosen]
    units = np.where(output >= 0, output, -1 - item)  # two ranges that cannot meet
    own = columns.select(chosen)
    return agreement(own.score, own.annotator, units, own.unit, seed=seed)


def agreement(
    scores: Floats, annotators: Integers, units: Integers, documents: Integers, *, seed: int
) -> Agreement | None:
    """The same of columns, whatever their order; NOTHING stands for a document of its own."""
    if not len(scores):
        return None
    order = np.lexsort((scores, units, annotators))
    columns = scores[order], annotators[order], units[order], documents[order]
    key = _key(columns, seed)
    found: Agreement | None = cache.get(key)
    if found is None:
        found = _compute(*columns, seed)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _key(columns: tuple[Floats | Integers, ...], seed: int) -> str:
    digest = hashlib.sha256(f"{VERSION} {N_RESAMPLES} {seed}".encode())
    for column in columns:
        digest.update(np.ascontiguousarray(column).tobytes())
    return f"agreement:{digest.hexdigest()}"


def _compute(
    scores: Floats, annotators: Integers, units: Integers, documents: Integers, seed: int
) -> Agreement:
    labels = [None if each == NOTHING else each for each in documents.tolist()]
    found = judgment_agreement(
        scores, annotators, units, documents=labels, n_resamples=N_RESAMPLES, rng=seed
    )
    parts = (found.one_vs_rest, found.alpha_z, found.alpha_raw)
    figures = [Figure(each.statistic, each.interval, each.method, each.warnings) for each in parts]
    return Agreement(found.n, found.n_items, *figures)


@dataclass(frozen=True)
class Likely:
    """How likely the differences of one annotator are (`ScreenAgreement`), over `screens`.

    With `is_unlikely` WMT26 would drop the annotator; here a person looks.
    """

    agreement: float
    screens: int
    is_unlikely: bool


def likely_of(campaign: Campaign, columns: JudgmentColumns) -> Mapping[int, Likely]:
    """Return it by annotator, for campaigns that show several systems beside each other.

    Of outputs alone, without practice and controls; none for other campaigns.
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
