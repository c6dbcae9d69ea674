"""Everything the quality page says about a campaign, as plain results of `metaeval`.

With traps means outputs and traps; without traps, outputs alone, with z-scores recomputed from
them. Control items of imported data (bad references, references, repeats) enter neither: they
have their own table. Sources: Cheng et al. 2023, tables 2–5; Graham et al. 2015 for bad
references.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.utils import timezone

import metaeval
from annotation.models import Campaign, Item
from annotation.quality.columns import Floats, JudgmentColumns, Mask, read_columns

CUT_SECONDS = 600
LOW_SCORE = 20


@dataclass(frozen=True)
class Agreement:
    """Agreement over items that at least two annotators rated: r and α on z, α on raw scores."""

    one_vs_rest: metaeval.OneVsRest
    alpha_z: metaeval.Alpha
    alpha_raw: metaeval.Alpha

    @property
    def warnings(self) -> tuple[metaeval.StatisticsWarning, ...]:
        """All warnings of the three."""
        return (*self.one_vs_rest.warnings, *self.alpha_z.warnings, *self.alpha_raw.warnings)


@dataclass(frozen=True)
class AnnotatorQuality:
    """One annotator: `r_with` and `r_without` are one-vs-rest Pearson with and without traps."""

    label: str
    is_simulated: bool
    n: int
    mean: float
    sd: float
    times: metaeval.AnnotationTimes | None
    traps: metaeval.TrapLevels | None
    r_with: float
    r_without: float
    bad_references: metaeval.ControlTest | None


@dataclass(frozen=True)
class KindMean:
    """Mean raw score of one kind of item."""

    kind: str
    n: int
    mean: float


@dataclass(frozen=True)
class QualityReport:
    """The quality of a campaign at the time `as_of`. Without judgments all parts are empty."""

    as_of: datetime
    n_judgments: int
    annotators: Sequence[AnnotatorQuality]
    times: metaeval.AnnotationTimes | None
    traps: metaeval.TrapLevels | None
    with_traps: Agreement | None
    without_traps: Agreement | None
    kinds: Sequence[KindMean]
    has_bad_references: bool
    warnings: Sequence[str]


def quality_report(campaign: Campaign) -> QualityReport:
    """Compute the report from all current judgments."""
    columns = read_columns(campaign)
    people = list(campaign.annotators.order_by("pk").values("pk", "label", "is_simulated"))
    traps = columns.is_kind(Item.Kind.TRAP)
    targets = columns.is_kind(Item.Kind.TARGET)
    without = _agreement(columns, targets, people)
    with_traps = _agreement(columns, targets | traps, people) if traps.any() else without
    annotators = [
        _annotator(columns, person, _r(with_traps, person), _r(without, person))
        for person in people
    ]
    return QualityReport(
        as_of=timezone.now(),
        n_judgments=len(columns),
        annotators=annotators,
        times=_times(columns.seconds),
        traps=metaeval.trap_levels(columns.score[traps], low=LOW_SCORE) if traps.any() else None,
        with_traps=with_traps if traps.any() else None,
        without_traps=without,
        kinds=_kind_means(columns),
        has_bad_references=bool(columns.is_kind(Item.Kind.BAD_REF).any()),
        warnings=_sentences(columns, annotators, without, with_traps),
    )


def _times(seconds: Floats) -> metaeval.AnnotationTimes | None:
    known = seconds[~np.isnan(seconds)]
    return metaeval.annotation_times(known, cap=CUT_SECONDS) if len(known) else None


def _agreement(
    columns: JudgmentColumns, chosen: Mask, people: Sequence[Mapping[str, object]]
) -> Agreement | None:
    """None where there is no judgment at all; everything else is the statistics' own warning."""
    if not chosen.any():
        return None
    z = metaeval.z_scores(columns.score[chosen], columns.annotator[chosen])
    labels = [str(person["label"]) for person in people]
    ratings_z = _matrix(columns, chosen, z.z, people)
    ratings = _matrix(columns, chosen, columns.score[chosen], people)
    return Agreement(
        one_vs_rest=metaeval.one_vs_rest_pearson(ratings_z, annotators=labels),
        alpha_z=metaeval.krippendorff_alpha(ratings_z),
        alpha_raw=metaeval.krippendorff_alpha(ratings),
    )


def _matrix(
    columns: JudgmentColumns,
    chosen: Mask,
    values: Floats,
    people: Sequence[Mapping[str, object]],
) -> Floats:
    """Annotators × units, nan where not rated. A unit is an output, in however many items it is
    shown; an annotator who rated it twice counts with the mean."""
    output, item = columns.output[chosen], columns.item[chosen]
    unit = np.where(output >= 0, output, -1 - item)  # two ranges that cannot meet
    units, column = np.unique(unit, return_inverse=True)
    keys = np.array([person["pk"] for person in people], dtype=np.int64)
    order = np.argsort(keys)
    row = order[np.searchsorted(keys[order], columns.annotator[chosen])]
    cell = row * len(units) + column
    size = len(keys) * len(units)
    defined = ~np.isnan(values)
    sums = np.bincount(cell[defined], weights=values[defined], minlength=size)
    counts = np.bincount(cell[defined], minlength=size)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, sums / counts, np.nan).reshape(len(keys), len(units))


def _r(agreement: Agreement | None, person: Mapping[str, object]) -> float:
    if agreement is None:
        return float("nan")
    result = agreement.one_vs_rest
    return float(result.r[list(result.annotators).index(str(person["label"]))])


def _annotator(
    columns: JudgmentColumns, person: Mapping[str, object], r_with: float, r_without: float
) -> AnnotatorQuality:
    own = columns.annotator == person["pk"]
    scores = columns.score[own]
    traps = columns.score[own & columns.is_kind(Item.Kind.TRAP)]
    return AnnotatorQuality(
        label=str(person["label"]),
        is_simulated=bool(person["is_simulated"]),
        n=len(scores),
        mean=float(scores.mean()) if len(scores) else float("nan"),
        sd=float(scores.std(ddof=1)) if len(scores) > 1 else float("nan"),
        times=_times(columns.seconds[own]),
        traps=metaeval.trap_levels(traps, low=LOW_SCORE) if len(traps) else None,
        r_with=r_with,
        r_without=r_without,
        bad_references=_bad_references(columns, own),
    )


def _bad_references(columns: JudgmentColumns, own: Mask) -> metaeval.ControlTest | None:
    """Paired one-sided t-test: bad references lower than the outputs they were made beside."""
    bad = np.flatnonzero(own & columns.is_kind(Item.Kind.BAD_REF))
    score_of = dict(zip(columns.item[own].tolist(), columns.score[own].tolist(), strict=True))
    pairs = [
        (columns.score[index], score_of[int(columns.partner[index])])
        for index in bad
        if int(columns.partner[index]) in score_of
    ]
    if not pairs:
        return None
    controls, partners = zip(*pairs, strict=True)
    return metaeval.control_test(controls, partners)


def _kind_means(columns: JudgmentColumns) -> list[KindMean]:
    return [
        KindMean(kind.label, int(mask.sum()), float(columns.score[mask].mean()))
        for kind in Item.Kind
        if (mask := columns.is_kind(kind)).any()
    ]


def _sentences(
    columns: JudgmentColumns,
    annotators: Sequence[AnnotatorQuality],
    *agreements: Agreement | None,
) -> list[str]:
    """Every warning once, in words."""
    notes: dict[str, None] = {}
    if not annotators:
        return ["There are no annotators: this campaign has published scores, or is a draft."]
    if not len(columns):
        return ["Nobody has rated anything yet."]
    if silent := [person.label for person in annotators if not person.n]:
        notes[f"No judgments yet from {', '.join(silent)}."] = None
    if np.isnan(columns.seconds).any():
        n = int(np.isnan(columns.seconds).sum())
        notes[f"{n:,} of {len(columns):,} judgments have no times."] = None
    for agreement in agreements:
        if agreement is not None:
            notes |= dict.fromkeys(warning.message for warning in agreement.warnings)
    return list(notes)
