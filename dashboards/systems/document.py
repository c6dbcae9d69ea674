"""The MT systems: humans with clusters, metrics with marks, lengths.

The columns are those of tables 9 and 10 of Cheng et al. (2023).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.filters import Filters
from annotation.models import Campaign, Output
from dashboards.pages.choice import Choice
from dashboards.panel.human import Floats
from dashboards.panel.lengths import CHARACTERS, WORDS, lengths, unit_of
from dashboards.panel.measures import told as about
from dashboards.panel.panel import Panel, read_panel
from dashboards.systems.basis import agreement_groups, basis, span
from metaeval.results import MissingDataWarning
from metaeval.systems import MetricColumn, SystemTable, length_deviation, system_table
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
    panel = read_panel(campaign, filters)
    table = table_of(panel, filters)
    has_published = panel.human.published_systems is not None
    human, columns = _human(panel, table), [_column(panel, each) for each in table.columns]
    deviations, notes = _deviations(campaign, panel, filters)
    # What scores rest on is told once, in the basis.
    told = [w.message for w in table.warnings if w.code != MissingDataWarning.code]
    warnings = dict.fromkeys([*panel.human.warnings, *about(panel.measures), *told, *notes])
    return {
        "campaign": campaign.slug,
        "direction": campaign.test_set.direction,
        "length_ratio": str(campaign.length_ratio),
        "human_scores": panel.human.source,
        "has_published_systems": has_published,
        "versus": filters.versus,
        "test": filters.test,
        "n_resamples": N_RESAMPLES,
        "seed": campaign.seed,
        "basis": basis(table, len(panel.human.segments), has_published),
        "systems": [row["system"] for row in human] or panel.human.names,
        "human": human,
        "columns": columns,
        "agreement": agreement_groups(human, columns),
        "lengths": deviations,
        "units": [WORDS, CHARACTERS],
        "warnings": list(warnings),
        "rows": human + [row for column in columns for row in column["rows"]],
    }


def table_of(panel: Panel, filters: SystemsChoice) -> SystemTable:
    """Return the statistics alone."""
    scored, names = panel.scored, panel.human.names
    published = scored.human_systems
    return system_table(
        scored.human,
        {key: scored.counts.get(key, each) for key, each in scored.metrics.items()},
        lower=scored.lower,
        human_systems=None if published is None else _by_name(names, published),
        given={key: _by_name(names, each) for key, each in scored.given.items()},
        versus=filters.versus,
        test=filters.test,
        n_resamples=N_RESAMPLES,
        rng=panel.seed,
    )


def _by_name(names: Sequence[str], scores: Floats) -> dict[str, float]:
    pairs = zip(names, scores.tolist(), strict=True)
    return {name: score for name, score in pairs if score == score}


def _human(panel: Panel, table: SystemTable) -> list[dict[str, Any]]:
    """A row for every system in the human order; without segment scores in the published one."""
    ranking = table.ranking
    if ranking is None:
        return _published(panel)
    counts = dict(zip(panel.human.names, panel.human.matrix().mask.sum(axis=1), strict=True))
    places = zip(
        ranking.systems, ranking.scores, ranking.clusters, ranking.first, ranking.last,
        ranking.wins, strict=True,
    )  # fmt: skip
    return [
        _row("human", name, float(score), rank + 1, int(counts[name]))
        | {"cluster": int(cluster), "first": int(first), "last": int(last), "wins": int(wins)}
        for rank, (name, score, cluster, first, last, wins) in enumerate(places)
    ]


def _published(panel: Panel) -> list[dict[str, Any]]:
    published = panel.human.published_systems
    if published is None:
        return []
    known = [(float(v), n) for n, v in zip(panel.human.names, published, strict=True) if v == v]
    return [_row("human", n, v, i + 1, 1) for i, (v, n) in enumerate(sorted(known, reverse=True))]


def _column(panel: Panel, column: MetricColumn) -> dict[str, Any]:
    measure = panel.measures[column.metric]
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


def _test(column: MetricColumn, place: int) -> dict[str, Any]:
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
    campaign: Campaign, panel: Panel, filters: SystemsChoice
) -> tuple[dict[str, Any], list[str]]:
    """Length deviation of every system, or in words why there is none."""
    unit = filters.unit or unit_of(campaign.test_set.target_language)
    try:
        own, goal, of = output_lengths(campaign, panel, unit, filters.wanted)
    except MetricError as error:
        return {"unit": unit, "of": filters.wanted, "rows": []}, [f"No lengths: {error}"]
    if not np.nan_to_num(goal).any():
        return {"unit": unit, "of": of, "rows": []}, [NO_TEXTS]
    rows, notes = [], []
    for name, length, wanted in zip(panel.human.names, own, goal, strict=True):
        result = length_deviation(length, wanted)
        notes += [f"{name}: {warning.message}" for warning in result.warnings]
        names = ("statistic", "bias", "pooled", "median", "within")
        values = {key: plain(getattr(result, key)) for key in names}
        rows.append({"system": name, "n": result.n, **values})
    return {"unit": unit, "of": of, "tolerance": 0.1, "rows": rows}, notes


def output_lengths(
    campaign: Campaign, panel: Panel, unit: str, of: str
) -> tuple[Floats, Floats, str]:
    """Return lengths and wanted lengths, systems × segments, and what they are shares of.

    The wanted length is the system's length ratio times the mean length of the references, or of
    the source where the reader says so or a segment has no reference. Raises MetricError.
    """
    rows = campaign.test_set.segments.order_by("position")
    texts: dict[int, list[str]] = {segment: [] for segment in panel.human.segments}
    for segment, text in rows.values_list("pk", "references__text"):
        texts[segment] += [] if text is None else [text]
    if of == SOURCE or not all(texts.values()):
        of, texts = SOURCE, {pk: [source] for pk, source in rows.values_list("pk", "source")}
    full = np.array([np.mean(lengths(each, unit)) for each in texts.values()], dtype=float)
    ratios = np.array([float(system.length_ratio) for system in panel.human.systems])
    return _lengths(panel, unit), ratios[:, None] * full[None, :], of


def _lengths(panel: Panel, unit: str) -> Floats:
    rows = Output.objects.filter(system__in=panel.human.systems).order_by()
    pairs = list(rows.values_list("pk", "text"))
    sizes = lengths([text for _, text in pairs], unit)
    size = {pk: length for (pk, _), length in zip(pairs, sizes, strict=True)}
    return np.array([[size.get(pk, np.nan) for pk in row] for row in panel.outputs.tolist()])


def plain(value: float) -> float | None:
    """Return None for nan, which JSON has not."""
    return None if value != value else float(value)


def by_name(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return rows by their system."""
    return {row["system"]: row for row in rows}
