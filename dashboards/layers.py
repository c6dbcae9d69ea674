"""Which layer of an encoder agrees best with the humans, and how well without having looked.

The best of many layers flatters: it is chosen on the very scores it is then judged by. So segments
are split into folds; on each the layer is used that was best on the others, and the mean over folds
is what a chosen layer is worth. Nothing but the choice is fitted, so the inner loop of this nested
cross-validation is the correlation over the training segments.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import metaeval
from dashboards.selectors import Floats
from metrics.base import MetricInfo

N_FOLDS = 5
PARTS = {"p": "P", "r": "R", "f": "F1"}


@dataclass(frozen=True, eq=False)
class Profile:
    """Correlations of m measures; nan where undefined.

    `values` (m,) over all segments, `train` and `held_out` (folds, m) over the segments outside
    and inside each fold.
    """

    values: Floats
    train: Floats
    held_out: Floats


@dataclass(frozen=True)
class Choice:
    """A measure chosen without the segments that it is then judged by; indices of measures.

    `recommended` is the measure that most folds chose, in `n_agreeing` of `n_folds`; `held_out` is
    the mean over folds of what each fold's own choice reached there. `best` is the best over all
    segments, and `best_by_fold` its mean over the same folds: chosen on what it is judged by.
    """

    recommended: int
    n_agreeing: int
    n_folds: int
    held_out: float
    best: int
    best_by_fold: float


def layers_of(info: MetricInfo) -> dict[str, tuple[int, str]]:
    """Return (layer, part) by measure of a metric that keeps several layers; else nothing.

    Such measures are named `metric-layer` or `metric-layer-part`; part is `p`, `r`, `f` or other.
    """
    pattern = re.compile(rf"{re.escape(info.name)}-(\d+)(?:-([a-z0-9]+))?")
    found = {key: pattern.fullmatch(key) for key in info.measures}
    layers = {key: (int(m[1]), m[2] or "") for key, m in found.items() if m}
    several = len({layer for layer, _ in layers.values()}) > 1
    return layers if several and len(layers) == len(info.measures) else {}


def folds(n_segments: int) -> Floats:
    """Return folds x segments, 1 inside a fold: the same for all campaigns of one length.

    Several campaigns rate outputs for the same sources; a source is then in one fold everywhere.
    """
    place = np.random.default_rng(0).permutation(n_segments) % N_FOLDS
    return np.asarray(np.arange(N_FOLDS)[:, None] == place, dtype=np.float64)


def profile(
    human: metaeval.ScoreMatrix, measures: Mapping[str, metaeval.ScoreMatrix], correlation: str
) -> Profile:
    """Correlate all measures with the humans over all segments and by fold.

    `correlation`: `limit` of hybrid systems, `kendall` (τ-b) or `pearson` over all cells.
    """
    inside = folds(human.shape[1])
    weights = np.vstack([np.ones(human.shape[1]), 1.0 - inside, inside])
    if correlation == "limit":
        found = metaeval.hybrid_limits(human, measures, weights)
    else:
        found = np.array([_cells(human, measures, chosen, correlation) for chosen in weights > 0])
    return Profile(found[0], found[1 : N_FOLDS + 1], found[N_FOLDS + 1 :])


def _cells(
    human: metaeval.ScoreMatrix,
    measures: Mapping[str, metaeval.ScoreMatrix],
    chosen: Floats,
    correlation: str,
) -> Floats:
    segments = [name for name, is_in in zip(human.segments, chosen, strict=True) if is_in]
    ours = human.subset(segments=segments)
    statistic = metaeval.kendall if correlation == "kendall" else metaeval.pearson
    return np.array(
        [statistic(ours, m.subset(segments=segments)).statistic for m in measures.values()]
    )


def choose(found: Sequence[Profile]) -> Choice | None:
    """Choose by the mean over campaigns; None where no measure is defined everywhere."""
    values = np.mean([profile.values for profile in found], axis=0)
    train = np.mean([profile.train for profile in found], axis=0)
    held = np.mean([profile.held_out for profile in found], axis=0)
    if np.isnan(values).all() or np.isnan(train).all(axis=1).any():
        return None
    chosen = np.nanargmax(train, axis=1)
    votes = Counter(chosen.tolist())
    best = int(np.nanargmax(values))
    # Where folds disagree evenly, all segments decide.
    recommended = max(votes, key=lambda index: (votes[index], values[index]))
    return Choice(
        recommended=int(recommended),
        n_agreeing=votes[recommended],
        n_folds=len(chosen),
        held_out=float(held[np.arange(len(chosen)), chosen].mean()),
        best=best,
        best_by_fold=float(held[:, best].mean()),
    )
