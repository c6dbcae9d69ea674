"""Compute everything that the quality page shows about a campaign.

"With traps" means outputs and traps; "without traps" means outputs only, with z-scores recomputed
from them. Control items of imported data (bad references, references, repeats) are in neither and
have a table of their own. Sources: Cheng et al. 2023, tables 2–5; Graham et al. 2015 for bad
references.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.utils import timezone

from annotation.campaigns.facts import n_removed, removed
from annotation.models import Campaign, Item
from annotation.models.campaign import KINDS
from annotation.protocols.base import Scale
from annotation.quality.agreement import Agreement, agreement_of, likely_of
from annotation.quality.columns import (
    Floats,
    JudgmentColumns,
    Mask,
    about_scale,
    read_columns,
    scale_of,
)
from annotation.quality.people import (
    AnnotatorQuality,
    Clocks,
    annotator_quality,
    clocks_of,
    times_of,
    trap_levels,
)
from annotation.quality.reach import Tested, who_was_tested
from annotation.quality.verdict import low_score
from metaeval.arrays import mean
from metaeval.judgments import z_scores
from metaeval.judgments.agreement import OneVsRest, annotator_alphas, one_vs_rest_pearson
from metaeval.judgments.controls import AnnotationTimes, PassRate, TrapLevels, pass_rate
from metaeval.messages import Message, message, plural, truncated

# How many annotators a warning names.
SHOWN = 30
NO_ANNOTATORS = message(
    "quality.no-annotators",
    "There are no annotators: this campaign has published scores or is a draft.",
)
NO_JUDGMENTS = message("quality.no-judgments", "Nobody has rated anything yet.")


@dataclass(frozen=True)
class KindMean:
    """Mean raw score of one kind of item."""

    kind: Message
    n: int
    mean: float


@dataclass(frozen=True)
class TrapRate:
    """The share of annotators who passed one trap."""

    segment: str
    text: str
    rate: PassRate


@dataclass(frozen=True)
class QualityReport:
    """The quality of a campaign at the time `as_of`. Without judgments all parts are empty."""

    as_of: datetime
    n_judgments: int
    annotators: Sequence[AnnotatorQuality]
    times: AnnotationTimes | None
    clocks: Clocks | None
    traps: TrapLevels | None
    trap_rates: Sequence[TrapRate]
    with_traps: Agreement | None
    without_traps: Agreement | None
    kinds: Sequence[KindMean]
    has_bad_references: bool
    has_repeats: bool
    has_gold: bool
    has_screens: bool
    tested: Tested
    warnings: Sequence[Message]

    @property
    def has_controls(self) -> bool:
        """Whether there are control items that can identify careless annotators."""
        return any(
            (
                self.has_bad_references,
                self.has_repeats,
                self.has_gold,
                self.traps,
            )
        )


def quality_report(
    campaign: Campaign, judgments: JudgmentColumns | None = None, *, scale: str = ""
) -> QualityReport:
    """Compute the report from all current judgments, or from given ones and their annotators.

    `scale` names the campaign's own scale that the scores are on, if it is not the first one.
    Excluded annotators have a line of their own and are part of no other number.
    """
    everybody = read_columns(campaign, with_excluded=True) if judgments is None else judgments
    chosen = campaign.annotators.order_by("pk")
    if judgments is not None and len(judgments):
        chosen = chosen.filter(pk__in=np.unique(judgments.annotator).tolist())
    people = list(chosen.values("pk", "label", "is_simulated", "excluded_at"))
    counted = [person for person in people if person["excluded_at"] is None]
    columns = everybody.select(np.isin(everybody.annotator, [person["pk"] for person in counted]))
    on, keys = scale_of(campaign, scale), [person["pk"] for person in people]
    traps = columns.is_kind(Item.Kind.TRAP)
    targets = columns.is_kind(Item.Kind.TARGET)
    without = agreement_of(columns, targets, seed=campaign.seed)
    with_traps = agreement_of(columns, targets | traps, seed=campaign.seed)
    r_without = _one_vs_rest(columns, targets, counted)
    r_with = _one_vs_rest(columns, targets | traps, counted) if traps.any() else r_without
    likely = likely_of(campaign, columns)
    annotators = [
        annotator_quality(
            own,
            person,
            r_with=_r(r_with, person),
            r_without=_r(r_without, person),
            scale=on,
            likely=likely.get(person["pk"]),
        )
        for person, own in zip(people, everybody.by_annotator(keys), strict=True)
    ]
    return QualityReport(
        as_of=timezone.now(),
        n_judgments=len(columns),
        annotators=annotators,
        times=times_of(columns.seconds),
        clocks=clocks_of(columns),
        traps=trap_levels(columns.score[traps], on) if on else None,
        trap_rates=_trap_rates(columns, traps, on) if on else (),
        with_traps=with_traps if traps.any() else None,
        without_traps=without,
        kinds=_kind_means(columns),
        has_bad_references=bool(columns.is_kind(Item.Kind.BAD_REF).any()),
        has_repeats=bool(columns.is_kind(Item.Kind.REPEAT).any()),
        has_gold=any(each.checks.gold for each in annotators),
        has_screens=bool(likely),
        tested=who_was_tested(
            campaign,
            [(each.label, each.checks) for each in annotators if each.n and not each.excluded_at],
        ),
        warnings=[
            *about_scale(campaign, scale, has_agreement=bool(without and without.n)),
            *([removed(n)] if (n := n_removed(campaign)) else []),
            *_warnings(columns, annotators, without, with_traps, r_without, r_with),
        ],
    )


def _one_vs_rest(
    columns: JudgmentColumns, chosen: Mask, people: Sequence[Mapping[str, object]]
) -> OneVsRest | None:
    """Compute each annotator's r on z-scores; None without judgments."""
    if not chosen.any():
        return None
    z = z_scores(columns.score[chosen], columns.annotator[chosen]).z
    labels = [str(person["label"]) for person in people]
    return one_vs_rest_pearson(_matrix(columns, chosen, z, people), annotators=labels)


def alphas_of(columns: JudgmentColumns, people: Sequence[Mapping[str, object]]) -> dict[str, float]:
    """Return each annotator's α with the others on z-scores of outputs, by label."""
    chosen = columns.is_kind(Item.Kind.TARGET)
    if not chosen.any():
        return {}
    z = z_scores(columns.score[chosen], columns.annotator[chosen]).z
    found = annotator_alphas(_matrix(columns, chosen, z, people))
    return {str(one["label"]): float(a) for one, a in zip(people, found, strict=True)}


def _matrix(
    columns: JudgmentColumns,
    chosen: Mask,
    values: Floats,
    people: Sequence[Mapping[str, object]],
) -> Floats:
    """Return annotators × units that two or more rated, nan where not rated.

    A unit is an output, however many items show it; two ratings by one annotator are averaged.
    """
    output, item = columns.output[chosen], columns.item[chosen]
    unit = np.where(output >= 0, output, -1 - item)  # two ranges that cannot meet
    units, column = np.unique(unit, return_inverse=True)
    keys = np.array([person["pk"] for person in people], dtype=np.int64)
    order = np.argsort(keys)
    row = order[np.searchsorted(keys[order], columns.annotator[chosen])]
    defined = ~np.isnan(values)
    # Of 200 annotators and 25,000 units few cells are rated, and most units by one annotator.
    rated, place = np.unique((row * len(units) + column)[defined], return_inverse=True)
    means = np.bincount(place, weights=values[defined]) / np.bincount(place)
    rows, of = np.divmod(rated, len(units))
    is_shared = np.bincount(of, minlength=len(units)) > 1
    matrix = np.full((len(keys), int(is_shared.sum())), np.nan)
    shown = is_shared[of]
    matrix[rows[shown], (np.cumsum(is_shared) - 1)[of[shown]]] = means[shown]
    return matrix


def _r(result: OneVsRest | None, person: Mapping[str, object]) -> float:
    if result is None or person["excluded_at"] is not None:
        return float("nan")
    return float(result.r[list(result.annotators).index(str(person["label"]))])


def _trap_rates(columns: JudgmentColumns, traps: Mask, scale: Scale) -> list[TrapRate]:
    """Return every trap with the share of annotators who rated it low, lowest share first."""
    items, row = np.unique(columns.item[traps], return_inverse=True)
    low = columns.score[traps] <= low_score(scale)
    passed, n = np.bincount(row, weights=low), np.bincount(row)
    texts = {
        pk: (key, text)
        for pk, key, text in Item.objects.filter(pk__in=items.tolist()).values_list(
            "pk", "segment__key", "text"
        )
    }
    rates = [
        TrapRate(*texts[int(item)], pass_rate(int(passed[i]), int(n[i])))
        for i, item in enumerate(items)
    ]
    return sorted(rates, key=lambda each: (each.rate.statistic, each.segment))


def _kind_means(columns: JudgmentColumns) -> list[KindMean]:
    return [
        KindMean(KINDS[kind], int(mask.sum()), mean(columns.score[mask]))
        for kind in Item.Kind
        if (mask := columns.is_kind(kind)).any()
    ]


def _warnings(
    columns: JudgmentColumns,
    annotators: Sequence[AnnotatorQuality],
    *results: Agreement | OneVsRest | None,
) -> list[Message]:
    """Return all warnings without duplicates."""
    if not annotators:
        return [NO_ANNOTATORS]
    if not len(columns):
        return [NO_JUDGMENTS]
    found = []
    if out := [person.label for person in annotators if person.excluded_at]:
        found.append(
            message(
                "quality.excluded",
                "Excluded annotators: {names}. Their judgments count only in their own row.",
                names=truncated(out, SHOWN),
            )
        )
    if silent := [each.label for each in annotators if not each.n and not each.excluded_at]:
        found.append(
            message(
                "quality.no-judgments-from",
                "These annotators have not rated anything yet: {names}.",
                names=truncated(silent, SHOWN),
            )
        )
    if n := int(np.isnan(columns.seconds).sum()):
        found.append(
            plural(
                "quality.no-duration",
                "{n} of {total} judgments has no duration: its start or end is not known.",
                "{n} of {total} judgments have no duration: their start or end is not known.",
                n=n,
                total=len(columns),
            )
        )
    for result in results:
        found += [warning.message for warning in result.warnings] if result is not None else []
    return list(dict.fromkeys(found))
