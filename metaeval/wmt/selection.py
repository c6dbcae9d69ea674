"""The scores that a task of WMT compares: systems, metrics, human scores of one language pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metaeval.files.evalset.folder import EvalSet, evalset_system_scores
from metaeval.files.evalset.reading import language_pairs
from metaeval.messages import message
from metaeval.scores.human_systems import looks_human, reference_letter, references_read
from metaeval.scores.matrix import ScoreMatrix
from metaeval.wmt.tasks import SYS, YEARS, Pair, TaskError, Year

NO_REFERENCE = "[noref]"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Human and metric scores of the compared systems of one language pair.

    ``incomplete`` are metrics that lack a score of a judged output and are not compared;
    ``origins`` says, by metric, where system scores are from.
    """

    human: ScoreMatrix
    metrics: Mapping[str, ScoreMatrix]
    incomplete: tuple[str, ...] = ()
    origins: Mapping[str, str] | None = None


def year_folder(folder: Path, year: int) -> Path:
    """Return the folder of a year's test set: the given one, or the one of that name in it."""
    inner = folder / YEARS[year].test_set if year in YEARS else folder
    return inner if inner.is_dir() else folder


def pairs_in(folder: Path, year: int) -> list[str]:
    """Return the language pairs of a year's tasks that a folder has scores of.

    Raises TaskError if there are none.
    """
    present = language_pairs(folder)
    if not present:
        raise TaskError(
            message(
                "wmt.no-score-folder",
                "{folder} is not a folder of scores. It must have human-scores/PAIR.NAME.seg.score "
                "(mt-metrics-eval) or PAIR/segment-scores.tsv.",
                folder=str(folder),
            )
        )
    found = [pair for pair in YEARS[year].pairs if pair in present]
    if not found:
        raise TaskError(
            message(
                "wmt.no-scores",
                "{folder} has no human scores of a language pair of {year}. It has: {pairs}.",
                folder=str(folder),
                year=str(year),
                pairs=sorted(present),
            )
        )
    return found


def is_of(year: Year, metric: str) -> bool:
    """Return True for a metric, by its name in files, that was submitted or is a baseline."""
    return metric_name(metric).removesuffix(NO_REFERENCE) in year.metrics | year.baselines


def metric_name(metric: str) -> str:
    """Return the name of a metric without its references; ``[noref]`` marks one without any.

    >>> metric_name("BLEU-refA"), metric_name("CometKiwi-src"), metric_name("MetricX-23")
    ('BLEU', 'CometKiwi[noref]', 'MetricX-23')
    """
    base, _, ending = metric.rpartition("-")
    if ending == "src" and base:
        return base + NO_REFERENCE
    return base if base and (ending == "all" or references_read(metric)) else metric


def compared(evalset: EvalSet, pair: Pair, level: str, *, every: Year | None = None) -> Comparison:
    """Return the scores that the tasks of a pair compare at a level.

    Systems have a human score at this level; the reference and outliers are excluded, and human
    translations unless the pair has them. Metrics use no reference but the pair's.

    Parameters
    ----------
    every
        The year whose metrics are compared; by default all metrics of the folder.

    Raises
    ------
    TaskError
        The folder lacks the human scores, or has fewer than two systems or no metric to compare.
    """
    names = {name for name, _ in evalset.human_scores}
    if (pair.gold, level) not in evalset.human_scores and (pair.gold, "seg") not in (
        evalset.human_scores
    ):
        raise TaskError(
            message(
                "wmt.no-gold",
                "{pair}: there are no human scores {name}. There are: {known}.",
                pair=evalset.language_pair,
                name=pair.gold,
                known=sorted(names),
            )
        )
    origins = None
    if level == SYS:
        systems = evalset_system_scores(evalset, pair.gold)
        human, metrics, origins = systems.human, systems.metrics, dict(systems.origins)
    else:
        human, metrics = evalset.human(pair.gold), evalset.metrics()
    judged = human.mask.any(axis=1)
    chosen = [
        name
        for name, known in zip(human.systems, judged, strict=True)
        if known and name != pair.reference and name not in pair.outliers
        and (pair.with_human or not (name in evalset.references or looks_human(name)))
    ]  # fmt: skip
    if len(chosen) < 2:
        raise TaskError(
            message(
                "wmt.few-systems",
                "{pair}: {name} has scores of fewer than two systems to compare.",
                pair=evalset.language_pair,
                name=pair.gold,
            )
        )
    gold = human.subset(systems=chosen)
    found: dict[str, ScoreMatrix] = {}
    incomplete = []
    for name, scores in metrics.items():
        if not _uses_only(name, pair.reference, evalset) or (every and not is_of(every, name)):
            continue
        values = scores.at(gold.systems, gold.segments)
        if np.isnan(values[gold.mask]).any():
            incomplete.append(metric_name(name))
        else:
            found[metric_name(name)] = gold.with_values(values)
    if not found:
        raise TaskError(
            message(
                "wmt.no-metrics",
                "{pair}: no metric has scores of all judged outputs.",
                pair=evalset.language_pair,
            )
        )
    return Comparison(gold, found, tuple(incomplete), origins)


def _uses_only(metric: str, reference: str, evalset: EvalSet) -> bool:
    letters = references_read(metric)
    if letters is None:
        letters = frozenset(map(reference_letter, evalset.references))
    return letters <= {reference_letter(reference)}
