"""The tables of a campaign from the files of its replication bundle, in the order of its pages.

Each function reads plain files and returns rows of plain values. It repeats the computation of
Touchstone's pages operation by operation, so that the numbers agree to the last bit.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path
from sys import intern
from typing import Any

import numpy as np

from metaeval.correlation.coefficients import correlate, system_correlation
from metaeval.files.tables import DOCUMENT, read_score_table, score_columns
from metaeval.files.text import FormatError, Table
from metaeval.messages import MessageError, message
from metaeval.replication.questions.scored import N_HYBRIDS, Scored
from metaeval.results import Result
from metaeval.scores.corpus import FORMULAS, CorpusStatistics, MetricScores
from metaeval.scores.matrix import ScoreMatrix
from metaeval.systems.lengths import length_deviation
from metaeval.systems.table import SystemTable, system_table

# The table of correlations of metrics with humans, which is the same for all questions.


@dataclass(frozen=True, kw_only=True, eq=False)
class CorrelationRow(Result):
    """One metric, oriented so that larger is better; nan if undefined.

    ``tau`` is Kendall's τ-b and ``r_segment`` Pearson's r over all ``n`` outputs pooled;
    ``n_missing`` judged outputs have no score. ``r_system`` is Pearson's r over the systems,
    ``r_hybrid`` over hybrid systems, and ``r_limit`` its limit as their number grows.
    """

    metric: str
    n_missing: int
    tau: float
    r_segment: float
    n_systems: int
    r_system: float
    r_hybrid: float
    r_limit: float


def correlation_table(scored: Scored) -> list[CorrelationRow]:
    """Return every metric's correlations, each over the outputs that it and the humans scored.

    Hybrids are drawn from what all metrics have. The warnings of hybrids are in `Scored.hybrids`.
    """
    hybrids = scored.oriented_hybrids()
    return [_row(scored, key, *hybrids.get(key, (np.nan, np.nan))) for key in scored.metrics]


def _row(scored: Scored, key: str, r_hybrid: float, r_limit: float) -> CorrelationRow:
    metric = scored.human.with_values(scored.oriented(key).values)
    tau, r = (
        correlate(scored.human, metric, name, has_interval=False) for name in ("kendall", "pearson")
    )
    systems = system_correlation(*scored.system_level(key))
    # A metric that has only system scores needs no warning about its outputs.
    is_of_outputs = scored.human.mask.any() and metric.mask.any()
    found = (*tau.warnings, *r.warnings) if is_of_outputs else ()
    return CorrelationRow(
        n=tau.n,
        warnings=(*found, *systems.warnings),
        metric=key,
        n_missing=int((scored.human.mask & ~metric.mask).sum()),
        tau=tau.statistic,
        r_segment=r.statistic,
        n_systems=systems.n,
        r_system=systems.statistic,
        r_hybrid=r_hybrid,
        r_limit=r_limit,
    )


Row = dict[str, Any]
# A number as Python writes it, or none.
NUMBER = r"(-?\d+(\.\d+)?(e[+-]\d+)?)?"
OTHER_CELLS = message(
    "bundle.other-cells", "The systems or segments of the file differ from those of the scores."
)


class ScoreError(MessageError, ValueError):
    """Files of scores do not fit together."""


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """Human and metric scores on one grid; ``counts`` of metrics scored from sums.

    ``given`` has system -> score of metrics that came with scores of systems, ``excluded`` the
    systems of the file that are ignored.
    """

    human: ScoreMatrix
    metrics: Mapping[str, ScoreMatrix]
    counts: Mapping[str, CorpusStatistics]
    lower: Sequence[str]
    human_systems: Mapping[str, float] | None
    given: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()

    def human_means(self) -> dict[str, float]:
        """Return the human score of each system: as published, else the mean of its segments."""
        means = dict(zip(self.human.systems, self.human.system_means().tolist(), strict=True))
        return means if self.human_systems is None else means | dict(self.human_systems)

    def on_systems(self, names: Sequence[str]) -> ScoreFile:
        """Return the scores of some systems, in the file's order; KeyError for an unknown one."""
        wanted = set(names)
        if wanted == set(self.human.systems):
            return self
        names = [name for name in self.human.systems if name in wanted]
        counts = {
            name: CorpusStatistics(
                each.subset(names, each.segments), names, each.segments, each.score, each.documents
            )
            for name, each in self.counts.items()
        }
        own = self.human_systems
        return ScoreFile(
            self.human.subset(systems=names),
            {name: each.subset(systems=names) for name, each in self.metrics.items()},
            counts,
            self.lower,
            None if own is None else {name: own[name] for name in names if name in own},
            {metric: {name: scores[name] for name in names if name in scores}
             for metric, scores in self.given.items()},
            self.excluded | (set(self.human.systems) - wanted),
        )  # fmt: skip

    def scored(self) -> dict[str, MetricScores]:
        """Return every metric, as counts if a system's score is computed from them."""
        return {name: self.counts.get(name, scores) for name, scores in self.metrics.items()}

    def by_segment(self) -> ScoreFile:
        """Return the same scores with every segment as a document of its own."""
        return replace(
            self,
            human=self.human.by_segment(),
            metrics={name: each.by_segment() for name, each in self.metrics.items()},
            counts={name: each.by_segment() for name, each in self.counts.items()},
        )

    def panel(
        self,
        seed: int,
        labels: Mapping[str, str] | None = None,
        n_hybrids: int = N_HYBRIDS,
    ) -> Scored:
        """Return the scores as questions use them."""
        known = self.human_systems
        return Scored(
            self.human,
            self.metrics,
            seed,
            lower=self.lower,
            counts=self.counts,
            human_systems=None
            if known is None
            else np.array([known.get(system, np.nan) for system in self.human.systems]),
            labels=labels or {},
            n_hybrids=n_hybrids,
            given={
                name: np.array([scores.get(system, np.nan) for system in self.human.systems])
                for name, scores in self.given.items()
            },
        )


def read_scores(
    path: str | Path,
    human: str,
    *,
    counts: Mapping[str, str] | None = None,
    lower: Sequence[str] = (),
    human_systems: str | None = None,
    metric_systems: str | None = None,
) -> ScoreFile:
    """Read a table of scores, with ``counts`` as metric -> ``FORMULA=FILE``.

    ``human_systems`` is a file with columns system and score, ``metric_systems`` one with metric,
    system and score. Human scores that are ``lower`` get the other sign here, with those of whole
    systems. Raises FormatError or ScoreError.
    """
    matrices = _grid(path)
    if human not in matrices:
        raise ScoreError(
            message(
                "command.no-human-column",
                "{path} has no column {column}, which --human names.",
                path=str(path),
                column=human,
            )
        )
    gold = matrices.pop(human)
    if human in lower:
        gold = gold.with_values(-gold.values)
    read = {name: _counts(name, text, gold) for name, text in (counts or {}).items()}
    systems = _system_scores(human_systems) if human_systems else None
    if systems and human in lower:
        systems = {name: -score for name, score in systems.items()}
    if systems and not gold.systems:
        # Without segments the table of scores has no line that names the systems.
        gold = ScoreMatrix(np.empty((len(systems), 0)), systems, [])
        matrices = dict.fromkeys(matrices, gold)
    given = _given(metric_systems) if metric_systems else {}
    if unknown := [name for name in given if name not in matrices]:
        raise ScoreError(
            message(
                "command.unknown-metric-systems",
                "{file} has scores of {metric}, but {path} has no such metric.",
                file=str(metric_systems),
                metric=unknown[0],
                path=str(path),
            )
        )
    of_metrics = [name for name in lower if name != human]
    return ScoreFile(gold, matrices, read, of_metrics, systems, given)


def _grid(path: str | Path) -> dict[str, ScoreMatrix]:
    """Return all columns of scores; cached, because all tables of a bundle read one file."""
    return dict(_columns(Path(path), file_content(Path(path))))


def file_content(path: Path) -> bytes:
    """Return a digest of a file; that of nothing if there is no such file."""
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file_digest(file, "blake2b").digest()


def forget_scores() -> None:
    """Free the columns that are cached."""
    _columns.cache_clear()


@lru_cache(maxsize=1)
def _columns(path: Path, digest: bytes) -> dict[str, ScoreMatrix]:
    if (written := written_columns(path)) is not None:
        return written
    table = Table(path, ["system", "segment"], optional=[DOCUMENT])
    keys = set(table.columns.values())
    return score_columns(table, [n for i, n in enumerate(table.header) if i not in keys])


def written_columns(path: Path) -> dict[str, ScoreMatrix] | None:
    """Return the columns of scores in a file as bundles have it; None for any other.

    It is read row by row: a table of all its cells would take ten times the memory.
    """
    keys: tuple[list[str], ...] = ([], [], [])
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            header = next(file, "").removesuffix("\n").split("\t")
            n_keys = 3 if header[2:3] == ["document"] else 2
            if header[:2] != ["system", "segment"] or len({*map(str.lower, header)}) < len(header):
                return None
            names, values = header[n_keys:], array("d")
            line_of = rf"([^\t\"\n]*\t){{{n_keys - 1}}}[^\t\"\n]*(\t{NUMBER}){{{len(names)}}}\n?"
            is_written = re.compile(line_of, re.ASCII).fullmatch
            for line in file:
                if not is_written(line):
                    return None
                cells = line.removesuffix("\n").split("\t")
                for key, cell in zip(keys, cells[:n_keys], strict=False):
                    key.append(intern(cell))
                values.extend([float(cell) if cell else np.nan for cell in cells[n_keys:]])
    except (OSError, ValueError):
        return None
    systems, segments = (list(dict.fromkeys(names)) for names in keys[:2])
    documents = keys[2][: len(segments)]
    is_grid = (
        keys[0] == [name for name in systems for _ in segments]
        and keys[1] == segments * len(systems)
        and keys[2] == documents * len(systems)
        and all(name and name == name.strip() for name in (*systems, *segments, *documents))
    )
    if not is_grid:
        return None
    planes = np.frombuffer(values).reshape(len(systems), len(segments), len(names))
    return {
        name: ScoreMatrix(planes[:, :, n], systems, segments, documents or None)
        for n, name in enumerate(names)
    }


def _counts(name: str, text: str, human: ScoreMatrix) -> CorpusStatistics:
    formula, _, path = text.partition("=")
    if formula not in FORMULAS or not path:
        raise ScoreError(
            message(
                "command.counts-formula",
                "--counts {metric}: expected FORMULA=FILE, where FORMULA is one of: {formulas}.",
                metric=name,
                formulas=list(FORMULAS),
            )
        )
    planes = _grid(path)
    stack = np.stack([plane.values for plane in planes.values()], axis=2)
    first = next(iter(planes.values()))
    if (first.systems, first.segments) != (human.systems, human.segments):
        raise FormatError(Path(path), None, OTHER_CELLS)
    return CorpusStatistics(
        stack, first.systems, first.segments, FORMULAS[formula], human.documents
    )


def _system_scores(path: str) -> dict[str, float]:
    table = Table(path, ["system", "score"])
    return {table.text(n, row, "system"): table.number(n, row, "score") for n, row in table.rows}


def _given(path: str) -> dict[str, dict[str, float]]:
    table = Table(path, ["metric", "system", "score"])
    found: dict[str, dict[str, float]] = {}
    for n, row in table.rows:
        scores = found.setdefault(table.text(n, row, "metric"), {})
        scores[table.text(n, row, "system")] = table.number(n, row, "score")
    return found


def correlation_rows(scores: ScoreFile, *, n_hybrids: int, seed: int) -> list[Row]:
    """Return the correlation table: τ-b and r over outputs, r over systems and over hybrids."""
    names = (
        "metric", "n", "tau", "r_segment", "n_systems", "r_system", "r_hybrid", "r_limit",
    )  # fmt: skip
    found = correlation_table(scores.panel(seed, n_hybrids=n_hybrids))
    return [{name: getattr(row, name) for name in names} for row in found]


def system_rows(table: SystemTable) -> list[Row]:
    """Return the table of MT systems, a row for each system and measure.

    Systems without human scores, if others have some, come last and have only a score.
    """
    rows = [_ranked(table.ranking, place) for place in range(len(table.ranking.systems))] if (
        table.ranking
    ) else []  # fmt: skip
    for column in table.columns:
        ends = column.accuracy_interval or (np.nan, np.nan)
        rows += [
            {"measure": column.metric, "system": name, "score": float(column.scores[place]),
             "n": int(column.counts[place]), "p": float(column.pvalues[place]),
             "shared": int(column.shared[place]), "mark": column.marks[place],
             "human": float(column.human[place]), "compared": float(column.compared[place]),
             "judged": int(column.judged[place]), "tau": column.tau, "accuracy": column.accuracy,
             "accuracy_low": ends[0], "accuracy_high": ends[1]}
            for place, name in enumerate(column.systems)
        ]  # fmt: skip
        rows += [
            {"measure": column.metric, "system": name, "score": score, "judged": 0}
            for name, score in column.unjudged.items()
        ]
    return rows


def _ranked(ranking: Any, place: int) -> Row:
    return {
        "measure": "human",
        "system": ranking.systems[place],
        "score": float(ranking.scores[place]),
        "n": int(ranking.shared[place, place]),
        **{key: int(getattr(ranking, key + "s" if key == "cluster" else key)[place])
           for key in ("cluster", "first", "last", "wins")},
    }  # fmt: skip


def systems_table(scores: ScoreFile, **options: Any) -> SystemTable:
    """Return `system_table` of a file of scores."""
    return system_table(
        scores.human,
        scores.scored(),
        lower=scores.lower,
        human_systems=scores.human_systems,
        given=scores.given,
        **options,
    )


def length_rows(path: str | Path) -> list[Row]:
    """Return the length deviation of every system; columns system, segment, length, wanted."""
    names = ["length", "wanted"]
    read = written_columns(Path(path))
    if read is None or not {*names} <= {*read}:
        read = read_score_table(path, columns=names)
    keys = ("n", "statistic", "bias", "pooled", "median", "within")
    rows = []
    for name, own, goal in zip(
        read["length"].systems, *(read[name].values for name in names), strict=True
    ):
        result = length_deviation(own, goal)
        rows.append({"system": name} | {key: getattr(result, key) for key in keys})
    return rows
