"""The MT systems: humans with clusters, metrics with marks, lengths.

The columns are those of tables 9 and 10 of Cheng et al. (2023).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import metaeval
from annotation.filters import Filters
from annotation.models import Campaign, Output
from dashboards.basis import agreement_groups, basis, span
from dashboards.frame import Frame, read_frame
from dashboards.lengths import CHARACTERS, WORDS, lengths, unit_of
from dashboards.measures import told as about
from dashboards.page_choice import Choice
from dashboards.selectors import Floats
from metrics.base import MetricError

VERSION = 3
N_RESAMPLES = 1000
REFERENCE, SOURCE = "reference", "source"
NO_TEXTS = "No lengths: this test set has no texts."


@dataclass(frozen=True)
class SystemsChoice(Choice):
    """What marks compare with, the test behind the clusters, and how lengths are counted.

    `unit` is words, characters or a checkpoint; empty is what suits the target language.
    """

    versus: str = "next"
    test: str = "rank-sum"
    unit: str = ""
    wanted: str = REFERENCE

    def __post_init__(self) -> None:
        super().__post_init__()
        self.one_of("versus", "next", "best")
        self.one_of("test", "rank-sum", "permutation")
        self.one_of("wanted", REFERENCE, SOURCE)


FILTERS = SystemsChoice


def compute(campaign: Campaign, filters: Filters) -> dict[str, Any]:
    """Return the table, its rows one for each system and measure."""
    if not isinstance(filters, SystemsChoice):
        filters = SystemsChoice(**vars(filters))
    frame = read_frame(campaign, filters)
    table = table_of(campaign, frame, filters)
    has_published = frame.human.published_systems is not None
    human, columns = _human(frame, table), [_column(frame, each) for each in table.columns]
    deviations, notes = _deviations(campaign, frame, filters)
    # What scores rest on is told once, in the basis.
    told = [w.message for w in table.warnings if w.code != metaeval.MissingDataWarning.code]
    warnings = dict.fromkeys([*frame.human.warnings, *about(frame.measures), *told, *notes])
    return {
        "campaign": campaign.slug,
        "direction": campaign.test_set.direction,
        "length_ratio": str(campaign.length_ratio),
        "human_scores": frame.human.source,
        "has_published_systems": has_published,
        "versus": filters.versus,
        "test": filters.test,
        "n_resamples": N_RESAMPLES,
        "seed": campaign.seed,
        "basis": basis(table, len(frame.human.segments), has_published),
        "systems": [row["system"] for row in human] or frame.human.names,
        "human": human,
        "columns": columns,
        "agreement": agreement_groups(human, columns),
        "lengths": deviations,
        "units": [WORDS, CHARACTERS],
        "warnings": list(warnings),
        "rows": human + [row for column in columns for row in column["rows"]],
    }


def table_of(campaign: Campaign, frame: Frame, filters: SystemsChoice) -> metaeval.SystemTable:
    """Return the statistics alone."""
    published = frame.human.published_systems
    known = None
    if published is not None:
        known = dict(zip(frame.human.names, published.tolist(), strict=True))
    return metaeval.system_table(
        frame.human.matrix(),
        measures_of(frame),
        lower=[key for key, measure in frame.measures.items() if not measure.higher_is_better],
        human_systems=known,
        given=given_of(frame),
        versus=filters.versus,
        test=filters.test,
        n_resamples=N_RESAMPLES,
        rng=campaign.seed,
    )


def measures_of(frame: Frame) -> dict[str, metaeval.ScoreMatrix | metaeval.CorpusStatistics]:
    """Return every measure by key: counts where a system's score is made of them."""
    names, segments = frame.human.names, [str(each) for each in frame.human.segments]
    return {
        key: frame.human.matrix(measure.values)
        if measure.statistics is None or measure.corpus is None
        else metaeval.CorpusStatistics(measure.statistics, names, segments, measure.corpus)
        for key, measure in frame.measures.items()
    }


def given_of(frame: Frame) -> dict[str, dict[str, float]]:
    """Return the scores of systems that measures came with: measure -> system -> score."""
    return {
        key: {
            name: score
            for name, score in zip(frame.human.names, measure.systems.tolist(), strict=True)
            if score == score
        }
        for key, measure in frame.measures.items()
        if measure.systems is not None
    }


def _human(frame: Frame, table: metaeval.SystemTable) -> list[dict[str, Any]]:
    """A row for every system in the human order; without segment scores in the published one."""
    ranking = table.ranking
    if ranking is None:
        return _published(frame)
    counts = dict(zip(frame.human.names, frame.human.matrix().mask.sum(axis=1), strict=True))
    places = zip(
        ranking.systems, ranking.scores, ranking.clusters, ranking.first, ranking.last,
        ranking.wins, strict=True,
    )  # fmt: skip
    return [
        _row("human", name, float(score), rank + 1, int(counts[name]))
        | {"cluster": int(cluster), "first": int(first), "last": int(last), "wins": int(wins)}
        for rank, (name, score, cluster, first, last, wins) in enumerate(places)
    ]


def _published(frame: Frame) -> list[dict[str, Any]]:
    published = frame.human.published_systems
    if published is None:
        return []
    known = [(float(v), n) for n, v in zip(frame.human.names, published, strict=True) if v == v]
    return [_row("human", n, v, i + 1, 1) for i, (v, n) in enumerate(sorted(known, reverse=True))]


def _column(frame: Frame, column: metaeval.MetricColumn) -> dict[str, Any]:
    measure = frame.measures[column.metric]
    return {
        "key": measure.key,
        "label": measure.label,
        "signature": measure.signature,
        "origin": measure.origin,
        "is_given": column.is_given,
        "is_turned": not measure.higher_is_better,
        "is_corpus": measure.corpus is not None,
        "tau": plain(column.tau),
        "accuracy": plain(column.accuracy),
        "n_systems": column.n_shared,
        "n": column.n,
        "is_even": not column.reasons.get("output without a score"),
        "span": "as imported" if column.is_given else span(column.counts.tolist() or [0]),
        "compared_span": span([n for n in column.judged.tolist() if n] or [0]),
        "rows": [
            _row(
                measure.key, name, float(column.scores[place]), place + 1, int(column.counts[place])
            )
            | _test(column, place)
            for place, name in enumerate(column.systems)
        ],
        "compared": [
            {
                "system": name,
                "human": plain(float(column.human[place])),
                "score": plain(float(column.compared[place])),
                "n": int(column.judged[place]),
            }
            for place, name in enumerate(column.systems)
        ],
    }


def _test(column: metaeval.MetricColumn, place: int) -> dict[str, Any]:
    """The comparison of a system with the next or the best: over what both have."""
    return {
        "p": plain(float(column.pvalues[place])),
        "mark": column.marks[place],
        "shared": int(column.shared[place]),
        "difference": plain(float(column.differences[place])),
    }


def _row(measure: str, system: str, score: float, rank: int, n: int) -> dict[str, Any]:
    empty = dict.fromkeys(("cluster", "first", "last", "wins", "p", "shared", "difference"))
    return {"measure": measure, "system": system, "score": plain(score), "rank": rank, "n": n} | (
        empty | {"mark": ""}
    )


def _deviations(
    campaign: Campaign, frame: Frame, filters: SystemsChoice
) -> tuple[dict[str, Any], list[str]]:
    """Length deviation of every system, or in words why there is none."""
    unit = filters.unit or unit_of(campaign.test_set.target_language)
    try:
        own, goal, of = output_lengths(campaign, frame, unit, filters.wanted)
    except MetricError as error:
        return {"unit": unit, "of": filters.wanted, "rows": []}, [f"No lengths: {error}"]
    if not np.nan_to_num(goal).any():
        return {"unit": unit, "of": of, "rows": []}, [NO_TEXTS]
    rows, notes = [], []
    for name, length, wanted in zip(frame.human.names, own, goal, strict=True):
        result = metaeval.length_deviation(length, wanted)
        notes += [f"{name}: {warning.message}" for warning in result.warnings]
        names = ("statistic", "bias", "pooled", "median", "within")
        values = {key: plain(getattr(result, key)) for key in names}
        rows.append({"system": name, "n": result.n, **values})
    return {"unit": unit, "of": of, "tolerance": 0.1, "rows": rows}, notes


def output_lengths(
    campaign: Campaign, frame: Frame, unit: str, of: str
) -> tuple[Floats, Floats, str]:
    """Return lengths and wanted lengths, systems × segments, and what they are shares of.

    The wanted length is the system's length ratio times the mean length of the references, or of
    the source where the reader says so or a segment has no reference. Raises MetricError.
    """
    segments = list(campaign.test_set.segments.order_by("position").prefetch_related("references"))
    texts = [[each.text for each in segment.references.all()] for segment in segments]
    if of == SOURCE or not all(texts):
        of, texts = SOURCE, [[segment.source] for segment in segments]
    full = np.array([np.mean(lengths(each, unit)) for each in texts], dtype=float)
    ratios = np.array([float(system.length_ratio) for system in frame.human.systems])
    return _lengths(frame, unit), ratios[:, None] * full[None, :], of


def _lengths(frame: Frame, unit: str) -> Floats:
    rows = Output.objects.filter(system__in=frame.human.systems).order_by()
    pairs = list(rows.values_list("pk", "text"))
    sizes = lengths([text for _, text in pairs], unit)
    size = {pk: length for (pk, _), length in zip(pairs, sizes, strict=True)}
    return np.array([[size.get(pk, np.nan) for pk in row] for row in frame.outputs.tolist()])


def plain(value: float) -> float | None:
    """Return None for nan, which JSON has not."""
    return None if value != value else float(value)


def by_name(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return rows by their system."""
    return {row["system"]: row for row in rows}
