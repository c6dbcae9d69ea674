"""Read the human scores of every output and system of a campaign as one grid."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from annotation.campaigns.sampling import covers
from annotation.filters import OUT, RAW, SEGMENTS, USUAL, Filters, Z
from annotation.filters.chosen import read_judgments, segments_of
from annotation.filters.systems import compared_systems, human_systems, systems_of, unique_names
from annotation.models import Campaign, PublishedPart, PublishedScore, System
from annotation.quality import JudgmentColumns, standardise, z_score_warnings
from annotation.quality.columns import HTER, scales_of
from core.caching import memo
from dashboards.panel.choice import general
from metaeval import ScoreMatrix, StatisticsWarning
from metaeval.arrays import group_means, mean_along
from metaeval.documents import clusters_from
from metaeval.judgments.planning.reweighted import BIAS, ReweightedMeans, reweighted_means
from metaeval.messages import Message, message, plural, truncated
from metaeval.replication.bounds import Ratings
from metaeval.systems.outliers import find_outliers
from metrics.grid import NOTHING, Grid, Integers, read_grid

__all__ = [
    "RAW",
    "USUAL",
    "HumanScores",
    "Z",
    "grid_of",
    "human_scores",
    "places_of",
]
Floats = NDArray[np.float64]
ALL = Filters()
PUBLISHED_ONLY = message(
    "human.published-only",
    "These human scores were published without their judgments, so filters on annotators, control "
    "items, days and seconds have no effect.",
)
PUBLISHED = message("human.published", "human scores as published with the data set")
PUBLISHED_NEGATED = message(
    "human.published-negated", "human scores as published with the data set, with the sign reversed"
)
NEGATED = message(
    "human.negated",
    "The sign of the published human scores is reversed here, so that higher is better.",
)
PENALTIES_STANDARDISED = message(
    "human.penalties-standardised",
    "Human scores are penalties, and the filters standardise them per annotator. Most penalties "
    "are 0, so an annotator’s mean and spread depend on the outputs that they were given, and "
    "z-scores reorder the systems. Published scores of this kind are not standardised.",
)
WHOLE_SYSTEMS = message(
    "human.whole-systems",
    "The published system scores cover all documents. For the chosen documents, the mean of the "
    "outputs’ scores replaces them.",
)
OF_PART = message(
    "human.of-part",
    "The scores of systems are the published human scores of the chosen document or domain.",
)
PARTS_ONLY = message(
    "human.parts-only",
    "The human scores are of whole documents or domains. Choose one of them in the filters, or see "
    "Documents under Metrics, where metrics are compared over documents.",
)
MINUS_EDITS = message(
    "human.minus-edits", "minus the mean edits in percent (not standardised per annotator)"
)
RAW_PENALTIES = message(
    "human.raw-penalties", "mean raw scores (minus the penalty, not standardised per annotator)"
)
RAW_SCORES = message("human.raw-scores", "mean raw scores")
Z_SCORES = {
    Campaign.ZPool.TARGETS: message(
        "human.z-scores-of-outputs", "mean z-scores (per annotator, over ratings of outputs only)"
    ),
    Campaign.ZPool.ALL: message(
        "human.z-scores-of-all",
        "mean z-scores (per annotator, over all ratings, control items included)",
    ),
}


@dataclass(frozen=True)
class HumanScores:
    """Human scores of a campaign over systems × segments; nan where nobody judged.

    Attributes
    ----------
    published_systems
        System scores published as such (nan where a system has none); None where a system's score
        is the mean of its outputs'.
    source
        The form of the scores.
    notes, gaps
        What readers must know of the scores, and why scores are missing.
    is_of_documents
        The reader chose some of the documents.
    labels
        Names of the systems where their own names do not say their length.
    humans, outliers
        Human translations that are excluded, and systems far from the others, which are excluded
        where `are_outliers_out`.
    documents
        The document of each segment; None where each segment is a document of its own, or the
        reader chose segments as the unit.
    part
        The document or domain that the reader chose, by level and name; None for several or none.
    parts
        Published scores of systems by the level and name of a document or domain, nan without one.
    """

    systems: tuple[System, ...]
    segments: tuple[int, ...]
    values: Floats
    published_systems: Floats | None
    source: Message
    notes: tuple[Message, ...] = ()
    gaps: tuple[Message, ...] = ()
    is_of_documents: bool = False
    labels: tuple[str, ...] = ()
    humans: tuple[str, ...] = ()
    outliers: tuple[str, ...] = ()
    are_outliers_out: bool = False
    documents: tuple[str, ...] | None = None
    part: tuple[str, str] | None = None
    parts: Mapping[tuple[str, str], Floats] = field(default_factory=dict)

    @property
    def warnings(self) -> tuple[Message, ...]:
        """All warnings about these scores."""
        return self.notes + self.gaps

    @property
    def is_there(self) -> bool:
        """Whether an output or a system has a human score."""
        return self.n > 0 or self.published_systems is not None

    @property
    def n(self) -> int:
        """The number of outputs with a human score."""
        return int((~np.isnan(self.values)).sum())

    @property
    def judged_systems(self) -> list[System]:
        """The systems with a human score of an output or of the whole system."""
        is_judged = ~np.isnan(self.values).all(axis=1)
        if self.published_systems is not None:
            is_judged |= ~np.isnan(self.published_systems)
        return [one for one, known in zip(self.systems, is_judged, strict=True) if known]

    def matrix(self, values: Floats | None = None) -> ScoreMatrix:
        """These scores, or others of the same shape, under the systems' and segments' names."""
        segments = [str(segment) for segment in self.segments]
        scores = self.values if values is None else values
        return ScoreMatrix(scores, self.names, segments, self.documents)

    @property
    def clusters(self) -> Integers:
        """The number of the document of each judged segment."""
        judged = ~np.isnan(self.values).all(axis=0)
        found: Integers = clusters_from(self.documents, len(self.segments))[judged]
        return found

    @property
    def names(self) -> list[str]:
        """The systems' names; they are unique, because a campaign has one length ratio."""
        return list(self.labels) or unique_names(self.systems)

    @property
    def of_systems(self) -> Floats:
        """The systems' scores: as published, else the means of their outputs; nan without any."""
        if self.published_systems is not None:
            return self.published_systems
        return mean_along(self.values, axis=1)

    def where(self, chosen: NDArray[np.bool_]) -> "HumanScores":
        """The same of some systems, by a mask."""
        published = self.published_systems
        return replace(
            self,
            systems=tuple(s for s, is_in in zip(self.systems, chosen, strict=True) if is_in),
            labels=tuple(n for n, is_in in zip(self.names, chosen, strict=True) if is_in),
            values=self.values[chosen],
            published_systems=None if published is None else published[chosen],
            parts={key: values[chosen] for key, values in self.parts.items()},
        )


def human_scores(campaign: Campaign, filters: Filters | str = ALL) -> HumanScores:
    """Read the human scores of a campaign; a str as filter means only `z` or `raw`.

    These are published scores if the campaign has them. Otherwise they are means, over an output's
    judgments and its repeats, of z-scores (per annotator over the campaign's pool, ddof 1) or raw
    scores; penalties are raw unless the filters ask for z. Segments and judgments that the filters
    exclude are nan: the shape always has all segments, and the systems on which metrics are
    compared.
    """
    if isinstance(filters, str):
        filters = Filters(scores=filters)
    return _human_scores(campaign, general(filters).of(campaign))


@memo
def _human_scores(campaign: Campaign, filters: Filters) -> HumanScores:
    systems = compared_systems(campaign, filters)
    rows = campaign.test_set.segments.order_by("position").values_list("pk", "document")
    segments, names = zip(*rows, strict=True) if rows else ((), ())
    read = _published if campaign.has_published_scores else _judged
    found = _with_labels(campaign, filters, read(campaign, systems, segments, filters))
    if campaign.sample is not None:
        covered = covers(campaign.sampled_segments.count(), len(segments))
        found = replace(found, notes=(covered, *found.notes))
    found = _with_outliers(filters, found)
    found.values.flags.writeable = False
    return replace(found, documents=documents_of(names, filters), part=_part(filters))


def _part(filters: Filters) -> tuple[str, str] | None:
    chosen = [("document", name) for name in filters.documents]
    chosen += [("domain", name) for name in filters.domains]
    return chosen[0] if len(chosen) == 1 else None


def documents_of(names: Sequence[str], filters: Filters) -> tuple[str, ...] | None:
    """Return the documents of segments over which intervals are; None if segments are the unit.

    A segment without a document is a document of its own.
    """
    named = [name for name in names if name]
    is_shared = len(set(named)) < len(named)
    return tuple(names) if is_shared and filters.unit != SEGMENTS else None


def _with_labels(campaign: Campaign, filters: Filters, found: HumanScores) -> HumanScores:
    """Add labels that distinguish all systems of the campaign, and a note on humans."""
    every = systems_of(campaign)
    names = dict(zip((s.pk for s in every), unique_names(every), strict=True))
    humans = tuple(names[system.pk] for system in human_systems(campaign, filters))
    notes = found.notes
    if humans:
        notes += (
            plural(
                "human.translations-excluded",
                "Metrics are not compared on {n} human translation: {systems}.",
                "Metrics are not compared on {n} human translations: {systems}.",
                n=len(humans),
                systems=truncated(humans),
            ),
        )
    labels = tuple(names[system.pk] for system in found.systems)
    return replace(found, labels=labels, humans=humans, notes=notes)


def _with_outliers(filters: Filters, found: HumanScores) -> HumanScores:
    """Add the outliers among the MT systems (Mathur et al. 2020), or exclude them."""
    is_mt = np.array([not system.is_human for system in found.systems], dtype=np.bool_)
    scores = np.where(is_mt, found.of_systems, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        is_far = find_outliers(scores).is_outlier
    outliers = tuple(name for name, is_one in zip(found.names, is_far, strict=True) if is_one)
    if not outliers:
        return found
    if filters.outliers != OUT:
        note = message(
            "human.outliers-included",
            "Correlations over systems may depend on outlier systems: {systems}.",
            systems=truncated(outliers),
        )
        return replace(found, outliers=outliers, notes=(*found.notes, note))
    note = message(
        "human.outliers-excluded",
        "Outlier systems are excluded: {systems}.",
        systems=truncated(outliers),
    )
    notes = (*found.notes, note)
    rest = replace(found.where(~is_far), notes=notes)
    return replace(rest, outliers=outliers, are_outliers_out=True)


def _published(
    campaign: Campaign, systems: tuple[System, ...], segments: tuple[int, ...], filters: Filters
) -> HumanScores:
    rows, sign = list(PublishedScore.objects.filter(campaign=campaign)), campaign.published_sign
    of_outputs = [(row.output_id, sign * row.value) for row in rows if row.output_id is not None]
    by_system = {row.system_id: sign * row.value for row in rows if row.system_id is not None}
    outputs, values = zip(*of_outputs, strict=True) if of_outputs else ((), ())
    grid = read_grid(systems, segments).placed(
        np.array(outputs, dtype=np.int64), np.array(values, dtype=np.float64)
    )
    notes = [_direction(campaign)] if campaign.direction else []
    notes += [NEGATED] if campaign.lower_is_better else []
    notes += [PUBLISHED_ONLY] if filters.chooses_judgments else []
    if filters.chooses_segments:
        grid[:, ~np.isin(segments, segments_of(campaign, filters))] = np.nan
        # A published system score is of the whole test set, not of some documents.
        notes += [WHOLE_SYSTEMS] if by_system else []
        by_system = {}
    parts = _published_parts(campaign, systems)
    of_part = parts.get(_part(filters) or ("", ""))
    if of_part is not None:
        notes = [note for note in notes if note is not WHOLE_SYSTEMS] + [OF_PART]
    else:
        of_part = np.array([by_system.get(system.pk, np.nan) for system in systems])
    is_system_known = bool(np.isfinite(of_part).any())
    return HumanScores(
        systems,
        segments,
        grid,
        of_part if is_system_known else None,
        PUBLISHED_NEGATED if campaign.lower_is_better else PUBLISHED,
        tuple(notes),
        (PARTS_ONLY,) if parts and not (of_outputs or is_system_known) else (),
        is_of_documents=filters.chooses_segments,
        parts=parts,
    )


def _published_parts(
    campaign: Campaign, systems: Sequence[System]
) -> dict[tuple[str, str], Floats]:
    """Return the published scores of documents and domains, by level and name."""
    rows = {system.pk: row for row, system in enumerate(systems)}
    found: dict[tuple[str, str], Floats] = {}
    for each in PublishedPart.objects.filter(campaign=campaign, system__in=systems):
        values = found.setdefault((each.level, each.name), np.full(len(systems), np.nan))
        values[rows[each.system_id]] = campaign.published_sign * each.value
    return found


def _direction(campaign: Campaign) -> Message:
    """Return how the direction of published scores was found; older rows store it as text."""
    stored: Message | str = campaign.direction
    if isinstance(stored, Message):
        return stored
    return message("human.direction", "{text}", text=stored)


def _judged(
    campaign: Campaign, systems: tuple[System, ...], segments: tuple[int, ...], filters: Filters
) -> HumanScores:
    columns, values, gaps = _valued(campaign, filters)
    own = read_grid(systems, segments)
    grid = grid_of(own, places_of(own, columns), values)
    source = _source(campaign, filters)
    is_part = filters.chooses_segments
    notes = tuple(_notes(campaign, filters)) if len(columns) else ()
    return HumanScores(systems, segments, grid, None, source, notes, gaps, is_part)


def _notes(campaign: Campaign, filters: Filters) -> Iterator[Message]:
    """Return the warnings on scores from judgments, however many there are."""
    if filters.scores == Z and not campaign.judging.is_standardised:
        yield PENALTIES_STANDARDISED
    if campaign.assignment_mode == Campaign.Mode.DYNAMIC:
        yield BIAS


def _valued(
    campaign: Campaign, filters: Filters
) -> tuple[JudgmentColumns, Floats, tuple[Message, ...]]:
    """Return the chosen judgments with their values, and why there are not more."""
    columns, gaps = read_judgments(campaign, filters)
    if filters.scores != Z or not len(columns):
        return columns, columns.score, gaps
    standard = standardise(columns, campaign.z_pool)
    return columns, standard.z, (*gaps, *z_score_warnings(columns, campaign.z_pool, standard))


def read_ratings(campaign: Campaign, filters: Filters, human: HumanScores) -> Ratings | None:
    """Return the judgments that count as `human` has them; None for published scores."""
    if campaign.has_published_scores:
        return None
    columns, values, _ = _valued(campaign, general(filters).of(campaign))
    counted = columns.is_target & (columns.output >= 0) & ~np.isnan(values)
    grid = read_grid(human.systems, human.segments)
    places = grid.places(columns.output[counted])
    known = places != NOTHING
    return Ratings(columns.annotator[counted][known], places[known], values[counted][known])


def reweighted(campaign: Campaign, filters: Filters, human: HumanScores) -> ReweightedMeans | None:
    """Return the means of systems drawn by their scores, by their positions in `human.systems`.

    None if no judgment was drawn in this way, and if scores were published.
    """
    if campaign.has_published_scores:
        return None
    columns, values, _ = _valued(campaign, general(filters).of(campaign))
    places = read_grid(human.systems, human.segments).places(columns.output)
    wanted = columns.is_target & (places != NOTHING) & ~np.isnan(values + columns.inclusion)
    if not wanted.any():
        return None
    return reweighted_means(
        values[wanted],
        places[wanted] // len(human.segments),
        _drawn_together(columns)[wanted],
        columns.inclusion[wanted],
    )


def _drawn_together(columns: JudgmentColumns) -> Integers:
    """Return the document of each judgment, or its screen if the document has one segment."""
    return np.where(columns.document == NOTHING, columns.screen, -2 - columns.document)


def _source(campaign: Campaign, filters: Filters) -> Message:
    scores = _form(campaign, filters)
    if scale := filters.scale or next(iter(scales_of(campaign)), ""):
        return message("human.of-scale", "{scale}: {scores}", scale=scale, scores=scores)
    return scores


def _form(campaign: Campaign, filters: Filters) -> Message:
    if filters.scale == HTER and filters.scores == RAW:
        return MINUS_EDITS
    if filters.scores == Z:
        return Z_SCORES[Campaign.ZPool(campaign.z_pool)]
    return RAW_SCORES if campaign.judging.is_standardised else RAW_PENALTIES


def places_of(grid: Grid, columns: JudgmentColumns) -> Integers:
    """Return the position of each judgment in the flattened grid, or NOTHING."""
    counts = columns.is_target & (columns.output >= 0)
    return np.where(counts, grid.places(columns.output), NOTHING)


def grid_of(grid: Grid, places: Integers, values: Floats) -> Floats:
    """Return the mean of each output's judgments; those without a value are skipped."""
    wanted = (places != NOTHING) & ~np.isnan(values)
    means = group_means(values[wanted], places[wanted], grid.outputs.size)
    return means.reshape(grid.outputs.shape)
