"""Scores that the options of ``python -m metaeval`` name: a table or a directory of files."""

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
    CommandError,
    against_itself,
    choose_systems,
    known_systems,
    outliers_of,
    references_of,
    unknown_name,
)
from metaeval.correlation.measure import CORRELATIONS, SYSTEM_LEVEL, Measure
from metaeval.documents import DOCUMENTS, unit_of, units_message
from metaeval.files.evalset.folder import SEGMENTS as OF_SEGMENTS
from metaeval.files.evalset.folder import evalset_system_scores
from metaeval.files.evalset.reading import read_evalset
from metaeval.files.tables import RelativeRanks, read_darr, read_score_table
from metaeval.messages import Message, message, plural
from metaeval.scores.directions import Direction, infer_direction, stated_direction
from metaeval.scores.human_systems import named_references
from metaeval.scores.matrix import ScoreMatrix

FILES, SEGMENTS = "files", "segments"
UNITS = (DOCUMENTS, SEGMENTS)
UNIT_HELP = (
    "the unit that intervals and tests treat as independent: documents, if the file has a column "
    "document (default), or segments"
)


@dataclass(frozen=True, eq=False)
class Named:
    """Human and metric scores; ``origins`` of system scores, by metric and "" for the humans.

    ``lost`` are metrics without segment scores. ``directions`` are those of the original columns,
    including the humans': if lower was better, the scores here have the opposite sign, so that a
    larger score means better. ``references`` maps systems to the references that they are, and
    ``systems`` are the selected ones.
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
        """Return the human scores without outlier systems; None if there are no outliers."""
        outliers = set(self.systems.outliers)
        rest = [name for name in self.human.systems if name not in outliers]
        return self.human.subset(systems=rest) if len(rest) < len(self.human.systems) else None

    @property
    def lower(self) -> list[str]:
        """The columns for which lower was better."""
        return [name for name, direction in self.directions.items() if direction.is_lower]

    def notes(self, correlations: Iterable[float] = ()) -> list[Message]:
        """Return directions of scores, missing scores, and the origins of system scores.

        ``correlations`` are those of the metrics with the human scores, nan if undefined.
        """
        usual = infer_direction("", ())
        found = [
            message("command.direction", "{name}: {direction}.", name=name, direction=each.message)
            for name, each in self.directions.items()
            if each != usual
        ]
        found += self._missing()
        if self.lost:
            found.append(
                message(
                    "command.system-scores-only",
                    "Excluded metrics that have only system scores: {metrics}.",
                    metrics=list(self.lost),
                )
            )
        if self.origins:
            of_metrics = [self.origins[name] for name in self.metrics]
            found.append(
                message(
                    "command.origins",
                    "System scores: humans {human}; metrics {metrics}.",
                    human=self.origins[""],
                    metrics=[
                        message(
                            "command.origin", "{count} {origin}", count=of_metrics.count(each),
                            origin=each,
                        )
                        for each in dict.fromkeys(of_metrics)
                    ],
                )
            )  # fmt: skip
        values = [value for value in correlations if not math.isnan(value)]
        if values and max(values) < 0:
            found.append(
                message(
                    "command.all-negative",
                    "Every metric correlates negatively with the human scores, so the direction of "
                    "{human} is probably wrong. If so, use --{option} {human}.",
                    human=self.human_name,
                    option="higher" if self.human_name in self.lower else "lower",
                )
            )
        return found

    def _missing(self) -> Iterator[Message]:
        for name, scores in {self.human_name: self.human, **self.metrics}.items():
            if n := int(np.isnan(scores.values).sum()):
                yield plural(
                    "command.missing-scores",
                    "{name}: {n} of {all} scores is missing.",
                    "{name}: {n} of {all} scores are missing.",
                    name=name,
                    n=n,
                    all=int(scores.values.size),
                )

    def unit_note(self) -> Message | None:
        """Return that documents are the unit of intervals and tests; None if segments are."""
        if unit_of(self.human.clusters) != DOCUMENTS:
            return None
        return message(
            "command.unit",
            "The unit of intervals and tests is the document: {units}. Use --unit segments to "
            "treat segments as independent.",
            units=units_message(self.human.clusters),
        )


def named_scores(options: argparse.Namespace, measure: Measure) -> Named:
    """Read the scores that the options name, with the sign that makes larger better.

    Raises DataError if a column is missing, or a direction has to be stated.
    """
    found = _read(options, measure)
    chosen = known(options, "metric", found.metrics) or list(found.metrics)
    if not chosen:
        raise CommandError(
            message(
                "command.no-metrics",
                "{path} has no metric besides the human scores in {human}.",
                path=str(options.path),
                human=options.human,
            )
        )
    columns = {options.human: found.human} | {name: found.metrics[name] for name in chosen}
    directions = _directions(options, columns)
    wanted = {name: _oriented(found.metrics[name], directions[name]) for name in chosen}
    chosen_systems = _systems(options, measure, found)
    own = against_itself(wanted, {name: found.references[name] for name in chosen_systems.names
                                  if name in found.references})  # fmt: skip
    gold = _oriented(found.human, directions[options.human]).subset(systems=chosen_systems.names)
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


# Options that name columns of scores.
COLUMNS = ("metric", "higher", "lower")


def pooled_scores(options: argparse.Namespace, measure: Measure) -> dict[str, Named]:
    """Read the scores of the path and of each of ``options.also``, by these names.

    Those are other tables, or other language pairs of a directory. Options may name columns that
    only some of them have; CommandError for one that none has.
    """
    if not options.also:
        return {str(options.path): named_scores(options, measure)}
    place = "language_pair" if options.language_pair else "path"
    names = dict.fromkeys(map(str, [getattr(options, place), *options.also]))
    each_own = {name: argparse.Namespace(**vars(options) | {place: name}) for name in names}
    columns = {
        name: {*_read(argparse.Namespace(**vars(own) | {"metric": []}), measure).metrics,
               options.human}
        for name, own in each_own.items()
    }  # fmt: skip
    for option in COLUMNS:
        known(options, option, sorted(set().union(*columns.values())))
        for name, own in each_own.items():
            setattr(own, option, [each for each in getattr(own, option) if each in columns[name]])
    return {
        name: named_scores(own, measure)
        for name, own in each_own.items()
        if own.metric or not options.metric
    }


def _systems(options: argparse.Namespace, measure: Measure, found: Named) -> ChosenSystems:
    """Return the compared systems; outliers matter only for statistics over systems."""
    names = found.human.systems
    human = known_systems(options, "human_systems", names) or found.references
    chosen = choose_systems(options, names, human=human)
    if measure.grouping != SYSTEM_LEVEL and options.outliers != OUT:
        return chosen
    means = dict(zip(names, found.human.system_means().tolist(), strict=True))
    return outliers_of(chosen, means, options)


def _without(scores: ScoreMatrix, systems: Sequence[str]) -> ScoreMatrix:
    """Return the scores with those of some systems replaced by nan."""
    gone = np.isin(scores.systems, list(systems))
    return scores.with_values(np.where(gone[:, None], np.nan, scores.values)) if systems else scores


def ranked_scores(
    options: argparse.Namespace,
) -> tuple[RelativeRanks, dict[str, ScoreMatrix], dict[str, Direction]]:
    """Read a file of relative ranks and the metrics: with the sign that makes larger better.

    Raises CommandError if the file has no such language pair.
    """
    parts = read_darr(options.ranks)
    pair = options.language_pair or (next(iter(parts)) if len(parts) == 1 else "")
    if pair not in parts:
        raise CommandError(
            message(
                "command.ranks-pair",
                "Use --language-pair with a language pair of {path}. It has: {pairs}.",
                path=str(options.ranks),
                pairs=list(parts),
            )
        )
    if Path(options.path).is_dir():
        metrics = read_evalset(options.path, pair).metrics()
    else:
        metrics = read_score_table(options.path, columns=options.metric or None)
        metrics.pop(options.human, None)
    chosen = known(options, "metric", metrics) or list(metrics)
    directions = _directions(options, {name: metrics[name] for name in chosen})
    oriented = {name: _oriented(metrics[name], directions[name]) for name in chosen}
    return parts[pair], oriented, directions


def _directions(
    options: argparse.Namespace, columns: Mapping[str, ScoreMatrix]
) -> dict[str, Direction]:
    """Return the direction of every column of scores, as stated or inferred."""
    lower, higher = known(options, "lower", columns), known(options, "higher", columns)
    if both := [name for name in lower if name in higher]:
        raise CommandError(
            message(
                "command.both-directions",
                "{name} is named by both --lower and --higher. Use only one of them.",
                name=both[0],
            )
        )
    directions = {
        name: stated_direction(is_lower=name in lower)
        if name in (*lower, *higher)
        else infer_direction(name, scores.values, is_human=name == options.human)
        for name, scores in columns.items()
    }
    for name, direction in directions.items():
        if direction.is_lower is None:
            raise CommandError(
                message(
                    "command.unclear-direction",
                    "{path}: {name}: {direction}. Use --lower {name} or --higher {name}.",
                    path=str(options.path),
                    name=name,
                    direction=direction.message,
                )
            )
    return directions


def _oriented(scores: ScoreMatrix, direction: Direction) -> ScoreMatrix:
    return scores.with_values(-scores.values) if direction.is_lower else scores


def known(options: argparse.Namespace, option: str, names: Iterable[str]) -> list[str]:
    """Return the names that an option gives. Raises CommandError for an unknown one."""
    given: list[str] = getattr(options, option)
    for name in given:
        if name not in names:
            raise CommandError(unknown_name(options, option, name, names))
    return given


def _read(options: argparse.Namespace, measure: Measure) -> Named:
    if options.language_pair:
        return _read_directory(options, measure)
    if Path(options.path).is_dir():
        raise CommandError(
            message(
                "command.needs-language-pair",
                "{path} is a directory. Use --language-pair to select a language pair, such as "
                "en-de.",
                path=str(options.path),
            )
        )
    wanted = [options.human, *options.metric]
    metrics = read_score_table(
        options.path, columns=wanted if options.metric else None, domain=options.domain
    )
    if options.human not in metrics:
        metrics |= read_score_table(options.path, columns=[options.human], domain=options.domain)
    gold = metrics.pop(options.human)
    return Named(gold, metrics, references=named_references(gold.systems))


def _read_directory(options: argparse.Namespace, measure: Measure) -> Named:
    """Read a directory; soft pairwise accuracy is of systems, but computed from segments."""
    evalset = read_evalset(options.path, options.language_pair)
    if options.domain:
        evalset = evalset.of_domain(options.domain)
    is_of_systems = measure.grouping == SYSTEM_LEVEL and measure.correlation != CORRELATIONS[-1]
    if is_of_systems and options.system_scores == FILES:
        found = evalset_system_scores(evalset, options.human)
        return Named(
            found.human,
            found.metrics,
            {"": found.human_origin, **found.origins},
            references=references_of(evalset, found.human.systems),
        )
    metrics = evalset.metrics(options.level)
    origins = dict.fromkeys(["", *metrics], OF_SEGMENTS) if is_of_systems else {}
    lost = dict.fromkeys(name for name, _ in evalset.metric_scores if name not in metrics)
    gold = evalset.human(options.human, options.level)
    references = references_of(evalset, gold.systems)
    return Named(gold, metrics, origins, list(lost), references=references)
