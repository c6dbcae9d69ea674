"""A sentinel that a training wrote. Neither Django nor torch: web and workers read it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.base import MetricInfo, one_measure
from metrics.options import PRECISION, Family, Option, Options

Array = NDArray[np.float64]
SOURCE, OUTPUT, LENGTHS = "source", "output", "lengths"
READS = (SOURCE, OUTPUT, LENGTHS)
PARTS = ("mean", "scale", "weights")
TOLD = {
    SOURCE: "from the source alone: all outputs of a segment get nearly the same",
    OUTPUT: "from the output alone, never seeing what it translates",
    LENGTHS: "from the lengths of source and output alone",
}


@dataclass(frozen=True)
class Line:
    """A linear function of standardised features: mean, scale and weights are (width,)."""

    mean: Array
    scale: Array
    weights: Array
    intercept: float

    def predict(self, features: Array) -> Array:
        """Return (n,) of (n, width)."""
        return np.asarray(((features - self.mean) / self.scale) @ self.weights + self.intercept)


@dataclass(frozen=True)
class Sentinel:
    """A line for each fold of sources, fitted on the other folds.

    ``fold_of`` says by the digest of a source which line never saw it; ``encoder`` is the
    fingerprint of the weights that made the features, empty where there are none.
    """

    reads: str
    encoder: str
    fitted_on: str
    lines: tuple[Line, ...]
    fold_of: Mapping[str, int]


def load(path: str) -> Sentinel:
    """Read a sentinel; ValueError with a sentence where the file holds none."""
    try:
        stored: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        found = Sentinel(
            reads=str(stored["reads"]),
            encoder=str(stored["encoder"]),
            fitted_on=str(stored["fitted_on"]),
            lines=tuple(_line(each) for each in stored["lines"]),
            fold_of={str(key): int(fold) for key, fold in stored["fold_of"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} holds no sentinel: {type(error).__name__}.") from error
    widths = {len(part) for each in found.lines for part in (each.mean, each.scale, each.weights)}
    is_placed = all(0 <= fold < len(found.lines) for fold in found.fold_of.values())
    if found.reads not in READS or len(widths) != 1 or not is_placed:
        raise ValueError(f"{path} holds no sentinel: its parts do not fit together.")
    return found


def _line(stored: Mapping[str, Any]) -> Line:
    mean, scale, weights = (np.array(stored[name], np.float64) for name in PARTS)
    return Line(mean, scale, weights, float(stored["intercept"]))


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a predicted human score of someone who reads too little."""
    checkpoint, found = str(options["checkpoint"]), load(str(options["sentinel"]))
    if bool(checkpoint) != bool(found.encoder):
        raise ValueError("Encoder: give that of the training, and none for lengths.")
    return one_measure(
        name,
        label,
        needs_source=True,
        needs_reference=False,
        queue="gpu" if checkpoint else "cpu",
        description=f"Human score predicted {TOLD[found.reads]}. A metric that is no better has "
        "found nothing.",
        citation="Perrella et al. 2024, Guardians of the machine translation meta-evaluation",
        checkpoint=checkpoint,
        family="trained-sentinel",
        remarks=f"Fitted on judgments of {found.fitted_on} in {len(found.lines)} folds of sources: "
        "an output there is scored by the fit that never saw its source, any other by the mean of "
        "all. Of the source nothing else is read unless the sentinel is of sources.",
        options=tuple(options.items()),
    )


FAMILY = Family(
    key="trained-sentinel",
    label="Sentinel trained here",
    description="A floor that was fitted on human scores and reads too little to judge.",
    scorer="extensions.neural.sentinels.scorer:TrainedSentinel",
    options=(
        Option("sentinel", "Sentinel", "file", help="The sentinel.json that a training wrote."),
        Option(
            "checkpoint",
            "Encoder",
            "checkpoint",
            "",
            help="That of the training; none for lengths.",
        ),
        PRECISION,
    ),
    describe=describe,
)
