"""The scores that a command of ``python -m metaeval`` names: a table or a directory of files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from metaeval.correlation.measure import CORRELATIONS, SYSTEM_LEVEL, Measure
from metaeval.documents import DOCUMENTS, counted, unit_of
from metaeval.files.evalset.folder import SEGMENTS as OF_SEGMENTS
from metaeval.files.evalset.folder import evalset_system_scores
from metaeval.files.evalset.reading import read_evalset
from metaeval.files.tables import read_score_table
from metaeval.scores.matrix import ScoreMatrix
from metaeval.scores.turned import looks_like_error_rate

FILES, SEGMENTS = "files", "segments"
UNITS = (DOCUMENTS, SEGMENTS)
UNIT_HELP = (
    "what intervals and tests take to be independent: documents, where the file has a column "
    "document (the default), or segments"
)


@dataclass(frozen=True, eq=False)
class Named:
    """Human and metric scores; ``origins`` of system scores, by metric and "" for the humans.

    ``lost`` are metrics that have no scores on the level of the segments. Those in ``lower`` are
    turned: a larger score means better.
    """

    human: ScoreMatrix
    metrics: Mapping[str, ScoreMatrix]
    origins: Mapping[str, str] = field(default_factory=dict)
    lost: Sequence[str] = ()
    lower: Sequence[str] = ()

    def notes(self) -> list[str]:
        """Say where system scores are from, what has none, and what may have to be turned."""
        told = []
        if doubtful := [name for name in self.metrics if self._may_be_lower(name)]:
            told.append(
                f"larger is taken for better, also of {', '.join(doubtful)}; "
                "where lower is better, say so with --lower NAME"
            )
        if self.lost:
            told.append(f"left out, because they have system scores only: {', '.join(self.lost)}")
        if self.origins:
            of_metrics = [self.origins[name] for name in self.metrics]
            parts = [f"{of_metrics.count(each)} {each}" for each in dict.fromkeys(of_metrics)]
            told.append(f"system scores: humans {self.origins['']}; metrics {', '.join(parts)}")
        return told

    def unit_note(self) -> str:
        """Say that documents are the unit of intervals and tests; empty where segments are."""
        if unit_of(self.human.clusters) != DOCUMENTS:
            return ""
        units = counted(self.human.clusters)
        return f"the unit of intervals and tests is the document: {units}; else --unit segments"

    def _may_be_lower(self, name: str) -> bool:
        """Negated error rates are turned already."""
        is_one = name not in self.lower and looks_like_error_rate(name)
        return is_one and bool((self.metrics[name].values > 0).any())


def named_scores(options: argparse.Namespace, measure: Measure) -> Named:
    """Read the scores that the options name. Raises ValueError or KeyError where one is missing."""
    found = _read(options, measure)
    chosen = known(options, "metric", found.metrics) or found.metrics
    lower = known(options, "lower", chosen)
    wanted = {name: _turned(found.metrics[name], name in lower) for name in chosen}
    if not wanted:
        raise ValueError(f"{options.path}: no metric beside the human scores {options.human}")
    left_out = known(options, "without", found.human.systems)
    systems = [name for name in found.human.systems if name not in left_out]
    gold = found.human.subset(systems=systems)
    if options.unit == UNITS[1]:
        gold, wanted = gold.by_segment(), {name: m.by_segment() for name, m in wanted.items()}
    return Named(gold, wanted, found.origins, [] if options.metric else found.lost, lower)


def _turned(scores: ScoreMatrix, is_lower: bool) -> ScoreMatrix:
    return scores.with_values(-scores.values) if is_lower else scores


def known(options: argparse.Namespace, option: str, names: Iterable[str]) -> list[str]:
    """Return the names that an option gives. Raises ValueError for one that is not there."""
    given: list[str] = getattr(options, option)
    for name in given:
        if name not in names:
            found = ", ".join(names)
            raise ValueError(f"{options.path}: --{option} {name}: not there; found {found}")
    return given


def _read(options: argparse.Namespace, measure: Measure) -> Named:
    if options.language_pair:
        return _read_directory(options, measure)
    if Path(options.path).is_dir():
        raise ValueError(f"{options.path}: a directory needs --language-pair, such as en-de")
    metrics = read_score_table(options.path)
    if options.human not in metrics:
        metrics |= read_score_table(options.path, columns=[options.human])
    gold = metrics.pop(options.human)
    return Named(gold, metrics)


def _read_directory(options: argparse.Namespace, measure: Measure) -> Named:
    """Soft pairwise accuracy is of systems too, but made of segments."""
    evalset = read_evalset(options.path, options.language_pair)
    is_of_systems = measure.grouping == SYSTEM_LEVEL and measure.correlation != CORRELATIONS[-1]
    if is_of_systems and options.system_scores == FILES:
        found = evalset_system_scores(evalset, options.human)
        return Named(found.human, found.metrics, {"": found.human_origin, **found.origins})
    metrics = evalset.metrics()
    origins = dict.fromkeys(["", *metrics], OF_SEGMENTS) if is_of_systems else {}
    lost = dict.fromkeys(name for name, _ in evalset.metric_scores if name not in metrics)
    return Named(evalset.human(options.human), metrics, origins, list(lost))
