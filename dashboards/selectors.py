"""Rows to score matrices: what the humans say of every output and system of a campaign."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import metaeval
from annotation.models import Campaign, Output, PublishedScore, System
from annotation.quality import read_columns, standardise

Floats = NDArray[np.float64]
Z, RAW = "z", "raw"


@dataclass(frozen=True)
class HumanScores:
    """Human scores of a campaign over systems × segments; nan where nobody judged.

    `published_systems` holds system scores published as such (nan where a system has none), or
    None where a system's score is the mean of its outputs'. `source` says in words where the
    numbers come from.
    """

    systems: tuple[System, ...]
    segments: tuple[int, ...]
    values: Floats
    published_systems: Floats | None
    source: str
    warnings: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """How many outputs have a human score."""
        return int((~np.isnan(self.values)).sum())

    def matrix(self, values: Floats | None = None) -> metaeval.ScoreMatrix:
        """These scores, or others of the same shape, under the systems' and segments' names."""
        names, segments = self.names, [str(segment) for segment in self.segments]
        return metaeval.ScoreMatrix(self.values if values is None else values, names, segments)

    @property
    def names(self) -> list[str]:
        """The systems' names; they are unique, because a campaign has one length ratio."""
        return unique_names(self.systems)


def unique_names(systems: Sequence[System]) -> list[str]:
    """Return names that stay apart where imported systems differ in their length only."""
    names = [system.name for system in systems]
    if len(set(names)) == len(names):
        return names
    return [f"{system.name}@{system.length_ratio}" for system in systems]


def human_scores(campaign: Campaign, scores: str = Z) -> HumanScores:
    """Read the human scores of a campaign.

    Published scores where the campaign has them; else the mean, over an output's judgments and
    its repeats, of z-scores (per annotator over the campaign's pool, ddof 1) or raw scores.
    """
    systems = tuple(campaign.systems.order_by("name", "length_ratio"))
    segments = tuple(campaign.test_set.segments.order_by("position").values_list("pk", flat=True))
    published = campaign.published_scores.exists()
    read = _published if published else _judged
    return read(campaign, systems, segments, scores)


def _published(
    campaign: Campaign, systems: tuple[System, ...], segments: tuple[int, ...], scores: str
) -> HumanScores:
    rows = list(PublishedScore.objects.filter(campaign=campaign))
    by_output = {row.output_id: row.value for row in rows if row.output_id is not None}
    by_system = {row.system_id: row.value for row in rows if row.system_id is not None}
    return HumanScores(
        systems,
        segments,
        _grid(campaign, systems, segments, by_output),
        np.array([by_system.get(system.pk, np.nan) for system in systems]) if by_system else None,
        "human scores as published with the data set",
    )


def _judged(
    campaign: Campaign, systems: tuple[System, ...], segments: tuple[int, ...], scores: str
) -> HumanScores:
    columns = read_columns(campaign)
    values = columns.score
    warnings: tuple[str, ...] = ()
    if scores == Z and len(columns):
        standard = standardise(columns, campaign.z_pool)
        values, warnings = standard.z, tuple(w.message for w in standard.warnings)
    wanted = columns.is_target & (columns.output >= 0) & ~np.isnan(values)
    outputs, place = np.unique(columns.output[wanted], return_inverse=True)
    means = np.bincount(place, weights=values[wanted], minlength=len(outputs)) / np.maximum(
        np.bincount(place, minlength=len(outputs)), 1
    )
    by_output: dict[int, float] = dict(zip(outputs.tolist(), means.tolist(), strict=True))
    source = (
        f"mean z-scores (per annotator; {campaign.get_z_pool_display().lower()})"
        if scores == Z
        else "mean raw scores"
    )
    grid = _grid(campaign, systems, segments, by_output)
    return HumanScores(systems, segments, grid, None, source, warnings)


def _grid(
    campaign: Campaign,
    systems: tuple[System, ...],
    segments: tuple[int, ...],
    by_output: Mapping[int, float],
) -> Floats:
    row = {system.pk: index for index, system in enumerate(systems)}
    column = {segment: index for index, segment in enumerate(segments)}
    grid = np.full((len(systems), len(segments)), np.nan)
    places = Output.objects.filter(system__in=systems).order_by()
    for pk, system, segment in places.values_list("pk", "system_id", "segment_id"):
        if pk in by_output:
            grid[row[system], column[segment]] = by_output[pk]
    return grid
