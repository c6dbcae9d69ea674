"""The scores that a command of ``python -m metaeval`` names: a table or a directory of files."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from metaeval.commands.systems import (
    OUT,
    ChosenSystems,
    against_itself,
    choose_systems,
    known_systems,
    outliers_of,
    references_of,
)
from metaeval.correlation.measure import CORRELATIONS, SYSTEM_LEVEL, Measure
from metaeval.documents import DOCUMENTS, counted, unit_of
from metaeval.files.evalset.folder import SEGMENTS as OF_SEGMENTS
from metaeval.files.evalset.folder import evalset_system_scores
from metaeval.files.evalset.reading import read_evalset
from metaeval.files.tables import read_score_table
from metaeval.scores.directions import Direction, infer_direction, stated_direction
from metaeval.scores.human_systems import named_references
from metaeval.scores.matrix import ScoreMatrix

FILES, SEGMENTS = "files", "segments"
UNITS = (DOCUMENTS, SEGMENTS)
UNIT_HELP = (
    "what intervals and tests take to be independent: documents, where the file has a column "
    "document (the default), or segments"
)


@dataclass(frozen=True, eq=False)
class Named:
    """Human and metric scores; ``origins`` of system scores, by metric and "" for the humans.

    ``lost`` are metrics that have no scores on the level of the segments. ``directions`` are those
    of the columns as they came, the humans' included: where lower was better, the scores here have
    the other sign, so that a larger score means better. ``references`` has the reference that a
    system is, and ``systems`` what was chosen of them.
    """

    human: ScoreMatrix
    metrics: Mapping[str, ScoreMatrix]
    origins: Mapping[str, str] = field(default_factory=dict)
    lost: Sequence[str] = ()
    directions: Mapping[str, Direction] = field(default_factory=dict)
    human_name: str = ""
    references: Mapping[str, str] = field(default_factory=dict)
    systems: ChosenSystems = field(default_factory=lambda: ChosenSystems(()))

    def without_outliers(self) -> ScoreMatrix | None:
        """Return the human scores without outlier systems; None where nothing else is compared."""
        left_out = set(self.systems.outliers)
        rest = [name for name in self.human.systems if name not in left_out]
        return self.human.subset(systems=rest) if len(rest) < len(self.human.systems) else None

    @property
    def lower(self) -> list[str]:
        """The columns that came as better when lower."""
        return [name for name, direction in self.directions.items() if direction.is_lower]

    def notes(self, correlations: Iterable[float] = ()) -> list[str]:
        """Say what is missing, how scores are read, and where system scores are from.

        ``correlations`` are those of the metrics with the human scores, nan where undefined.
        """
        usual = infer_direction("", ())
        told = [f"{name}: {each}" for name, each in self.directions.items() if each != usual]
        if missing := list(self._missing()):
            told.append(f"missing scores: {', '.join(missing)}")
        if self.lost:
            told.append(f"left out, because they have system scores only: {', '.join(self.lost)}")
        if self.origins:
            of_metrics = [self.origins[name] for name in self.metrics]
            parts = [f"{of_metrics.count(each)} {each}" for each in dict.fromkeys(of_metrics)]
            told.append(f"system scores: humans {self.origins['']}; metrics {', '.join(parts)}")
        values = [value for value in correlations if not math.isnan(value)]
        if values and max(values) < 0:
            other = "higher" if self.human_name in self.lower else "lower"
            told.append(
                "every metric correlates negatively with the human scores: the direction of "
                f"{self.human_name} is probably wrong. Then say --{other} {self.human_name}"
            )
        return told

    def _missing(self) -> Iterator[str]:
        for name, scores in {self.human_name: self.human, **self.metrics}.items():
            if number := int(np.isnan(scores.values).sum()):
                yield f"{number} of {scores.values.size} cells of {name}"

    def unit_note(self) -> str:
        """Say that documents are the unit of intervals and tests; empty where segments are."""
        if unit_of(self.human.clusters) != DOCUMENTS:
            return ""
        units = counted(self.human.clusters)
        return f"the unit of intervals and tests is the document: {units}; else --unit segments"


def named_scores(options: argparse.Namespace, measure: Measure) -> Named:
    """Read the scores that the options name, with the sign that makes larger better.

    Raises ValueError or KeyError where a column is missing, or a direction has to be stated.
    """
    found = _read(options, measure)
    chosen = known(options, "metric", found.metrics) or list(found.metrics)
    if not chosen:
        raise ValueError(f"{options.path}: no metric beside the human scores {options.human}")
    directions = _directions(options, found, chosen)
    wanted = {name: _turned(found.metrics[name], directions[name]) for name in chosen}
    chosen_systems = _systems(options, measure, found)
    own = against_itself(wanted, {name: found.references[name] for name in chosen_systems.names
                                  if name in found.references})  # fmt: skip
    gold = _turned(found.human, directions[options.human]).subset(systems=chosen_systems.names)
    wanted = {name: _without(scores, own.get(name, ())) for name, scores in wanted.items()}
    if options.unit == UNITS[1]:
        gold, wanted = gold.by_segment(), {name: m.by_segment() for name, m in wanted.items()}
    return Named(
        gold,
        wanted,
        found.origins,
        [] if options.metric else found.lost,
        directions,
        options.human,
        found.references,
        replace(chosen_systems, itself=own),
    )


def _systems(options: argparse.Namespace, measure: Measure, found: Named) -> ChosenSystems:
    """The systems that are compared; outliers concern what is computed over systems."""
    names = found.human.systems
    human = known_systems(options, "human_systems", names) or found.references
    chosen = choose_systems(options, names, human=human)
    if measure.grouping != SYSTEM_LEVEL and options.outliers != OUT:
        return chosen
    means = dict(zip(names, found.human.system_means().tolist(), strict=True))
    return outliers_of(chosen, means, options)


def _without(scores: ScoreMatrix, systems: Sequence[str]) -> ScoreMatrix:
    """The same without scores of some systems."""
    gone = np.isin(scores.systems, list(systems))
    return scores.with_values(np.where(gone[:, None], np.nan, scores.values)) if systems else scores


def _directions(
    options: argparse.Namespace, found: Named, metrics: Iterable[str]
) -> dict[str, Direction]:
    """Return the direction of the human scores and of every metric: stated, or else inferred."""
    columns = {options.human: found.human} | {name: found.metrics[name] for name in metrics}
    lower, higher = known(options, "lower", columns), known(options, "higher", columns)
    if both := [name for name in lower if name in higher]:
        raise ValueError(f"{options.path}: {both[0]}: either --lower or --higher")
    directions = {
        name: stated_direction(is_lower=name in lower)
        if name in (*lower, *higher)
        else infer_direction(name, scores.values, is_human=name == options.human)
        for name, scores in columns.items()
    }
    for name, direction in directions.items():
        if direction.is_lower is None:
            advice = f"say --lower {name} or --higher {name}"
            raise ValueError(f"{options.path}: {name}: {direction}; {advice}")
    return directions


def _turned(scores: ScoreMatrix, direction: Direction) -> ScoreMatrix:
    return scores.with_values(-scores.values) if direction.is_lower else scores


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
    wanted = [options.human, *options.metric]
    metrics = read_score_table(options.path, columns=wanted if options.metric else None)
    if options.human not in metrics:
        metrics |= read_score_table(options.path, columns=[options.human])
    gold = metrics.pop(options.human)
    return Named(gold, metrics, references=named_references(gold.systems))


def _read_directory(options: argparse.Namespace, measure: Measure) -> Named:
    """Soft pairwise accuracy is of systems too, but made of segments."""
    evalset = read_evalset(options.path, options.language_pair)
    is_of_systems = measure.grouping == SYSTEM_LEVEL and measure.correlation != CORRELATIONS[-1]
    if is_of_systems and options.system_scores == FILES:
        found = evalset_system_scores(evalset, options.human)
        return Named(
            found.human,
            found.metrics,
            {"": found.human_origin, **found.origins},
            references=references_of(evalset, found.human.systems),
        )
    metrics = evalset.metrics()
    origins = dict.fromkeys(["", *metrics], OF_SEGMENTS) if is_of_systems else {}
    lost = dict.fromkeys(name for name, _ in evalset.metric_scores if name not in metrics)
    gold = evalset.human(options.human)
    references = references_of(evalset, gold.systems)
    return Named(gold, metrics, origins, list(lost), references=references)
