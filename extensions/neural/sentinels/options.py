"""Describe a sentinel that a training job wrote. Imports neither Django nor torch."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metaeval.messages import message
from metrics.base import MetricInfo, one_measure
from metrics.options import ENCODER_LABEL, PRECISION, Family, Option, OptionError, Options

Array = NDArray[np.float64]
SOURCE, OUTPUT, LENGTHS = "source", "output", "lengths"
READS = (SOURCE, OUTPUT, LENGTHS)
PARTS = ("mean", "scale", "weights")
DESCRIPTIONS = {
    SOURCE: message(
        "sentinel.trained-source",
        "Human score predicted from the source only, so all outputs of a segment get nearly the "
        "same score. A metric that is not better than this baseline does not measure quality.",
    ),
    OUTPUT: message(
        "sentinel.trained-output",
        "Human score predicted from the output only, without the source. A metric that is not "
        "better than this baseline does not measure quality.",
    ),
    LENGTHS: message(
        "sentinel.trained-lengths",
        "Human score predicted from the lengths of source and output only. A metric that is not "
        "better than this baseline does not measure quality.",
    ),
}


@dataclass(frozen=True)
class Line:
    """Hold a linear function of standardised features: mean, scale and weights are (width,)."""

    mean: Array
    scale: Array
    weights: Array
    intercept: float

    def predict(self, features: Array) -> Array:
        """Return predictions (n,) of features (n, width)."""
        return np.asarray(((features - self.mean) / self.scale) @ self.weights + self.intercept)


@dataclass(frozen=True)
class Sentinel:
    """Hold one line for each fold of sources, fitted on the other folds.

    ``fold_of`` maps the digest of a source to the line that was fitted without it. ``encoder`` is
    the fingerprint of the weights that computed the features, empty if there are none.
    """

    reads: str
    encoder: str
    fitted_on: str
    lines: tuple[Line, ...]
    fold_of: Mapping[str, int]


def load(path: str) -> Sentinel:
    """Read a sentinel; raise OptionError where the file is not a sentinel."""
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
        problem = message(
            "sentinel.not-a-sentinel",
            "{path} is not the file of a sentinel ({error}).",
            path=path,
            error=type(error).__name__,
        )
        raise OptionError(problem, "sentinel") from error
    widths = {len(part) for each in found.lines for part in (each.mean, each.scale, each.weights)}
    is_placed = all(0 <= fold < len(found.lines) for fold in found.fold_of.values())
    if found.reads not in READS or len(widths) != 1 or not is_placed:
        problem = message(
            "sentinel.parts-differ",
            "{path} is not the file of a sentinel: its parts do not fit together.",
            path=path,
        )
        raise OptionError(problem, "sentinel")
    return found


def _line(stored: Mapping[str, Any]) -> Line:
    mean, scale, weights = (np.array(stored[name], np.float64) for name in PARTS)
    return Line(mean, scale, weights, float(stored["intercept"]))


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a human score that is predicted from too little information."""
    checkpoint, found = str(options["checkpoint"]), load(str(options["sentinel"]))
    if bool(checkpoint) != bool(found.encoder):
        problem = message(
            "sentinel.encoder-needed",
            "Enter the encoder of the training; leave it blank for a sentinel of lengths.",
        )
        raise OptionError(problem, "checkpoint")
    return one_measure(
        name,
        label,
        needs_source=True,
        needs_reference=False,
        queue="gpu" if checkpoint else "cpu",
        description=DESCRIPTIONS[found.reads],
        citation="Perrella et al. 2024, Guardians of the machine translation meta-evaluation",
        checkpoint=checkpoint,
        family="trained-sentinel",
        notes=message(
            "sentinel.notes",
            "Fitted on judgments of {campaigns} in {count} folds of sources. An output of these "
            "sources is scored by the fit that excluded its source, any other output by the mean "
            "of all fits. Except in a sentinel of sources, the source is used for nothing else.",
            campaigns=found.fitted_on,
            count=len(found.lines),
        ),
        options=tuple(options.items()),
    )


FAMILY = Family(
    key="trained-sentinel",
    label=message("sentinel.trained-family", "Sentinel trained here"),
    description=message(
        "sentinel.trained-family-about",
        "A baseline that was fitted to human scores and sees too little of the segment to measure "
        "quality.",
    ),
    scorer="extensions.neural.sentinels.scorer:TrainedSentinel",
    options=(
        Option(
            "sentinel",
            message("sentinel.family", "Sentinel"),
            "file",
            help=message("sentinel.file-help", "The sentinel.json that a training job wrote."),
        ),
        Option(
            "checkpoint",
            ENCODER_LABEL,
            "checkpoint",
            "",
            help=message(
                "sentinel.encoder-help", "The encoder of the training; blank for lengths."
            ),
        ),
        PRECISION,
    ),
    describe=describe,
)
