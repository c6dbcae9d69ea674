"""System-level scores of an mt-metrics-eval directory: its own files before means of segments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, row_means
from metaeval.evalset import EvalSet
from metaeval.evalset_scores import Scores
from metaeval.scores import ScoreMatrix

FILES, SEGMENTS = "sys.score", "mean of segments"


@dataclass(frozen=True, eq=False)
class SystemScores:
    """One score a system, as systems x 1; ``origins`` says of "human" and of each metric which.

    ``sys.score``: the directory's file of system scores; ``mean of segments``: there is none.
    """

    human: ScoreMatrix
    metrics: Mapping[str, ScoreMatrix]
    human_origin: str
    origins: Mapping[str, str]


def evalset_system_scores(evalset: EvalSet, human: str) -> SystemScores:
    """Return system scores as published, and means of segments for what has no file of them.

    BLEU of a system is not the mean over its segments, and some metrics score whole systems
    only; so a ``*.sys.score`` file counts before the mean of a ``*.seg.score``. Where the humans'
    scores are means themselves, those of metrics are over the same outputs; else over all.

    Raises
    ------
    KeyError
        There are no scores of this name on either level.
    """
    ours, origin, judged = _humans(evalset, human)
    metrics, origins = {}, {}
    for name in dict.fromkeys(name for name, _ in evalset.metric_scores):
        found = _vector(evalset.metric_scores, name)
        origins[name] = FILES if found else SEGMENTS
        if not found and (name, "seg") in evalset.metric_scores:
            found = _means(evalset.metric_scores[name, "seg"].values, judged)
        if found:
            metrics[name] = found
    known = {name: origins[name] for name in metrics}
    return SystemScores(human=ours, metrics=metrics, human_origin=origin, origins=known)


def _humans(evalset: EvalSet, name: str) -> tuple[ScoreMatrix, str, Mapping[str, BoolArray]]:
    """Return the scores, where they are from, and the cells that their means are over."""
    found = _vector(evalset.human_scores, name)
    if found:
        return found, FILES, {}
    if (name, "seg") not in evalset.human_scores:
        known = sorted({entry for entry, level in evalset.human_scores if level in ("sys", "seg")})
        raise KeyError(f"no human scores {name!r}; there are {', '.join(known)}")
    segments = evalset.human_scores[name, "seg"].values
    judged = {system: ~np.isnan(values) for system, values in segments.items()}
    return _means(segments, {}), SEGMENTS, judged


def _vector(scores: Mapping[tuple[str, str], Scores], name: str) -> ScoreMatrix | None:
    if (name, "sys") not in scores:
        return None
    rows = scores[name, "sys"].values
    return _matrix(np.array(list(rows.values())).reshape(-1), rows)


def _means(rows: Mapping[str, FloatArray], judged: Mapping[str, BoolArray]) -> ScoreMatrix:
    """Return the mean of each system's segments, of the judged ones where that is known."""
    kept = [
        np.where(judged[system], values, np.nan) if system in judged else values
        for system, values in rows.items()
    ]
    return _matrix(row_means(np.array(kept)), rows)


def _matrix(values: FloatArray, systems: Iterable[str]) -> ScoreMatrix:
    return ScoreMatrix(values[:, None], systems, ["all"])
