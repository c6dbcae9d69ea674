"""Describe ReFreeEval, fitted heads and sentinels. Imports neither Django nor torch."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extensions.neural.bertscore.options import xbertscore_info
from metaeval.messages import message
from metrics.base import MetricInfo, one_measure
from metrics.checkpoints import places
from metrics.families import long_texts
from metrics.options import (
    BASELINE_LIMITS,
    ENCODER_LABEL,
    PRECISION,
    Family,
    Option,
    OptionError,
    Options,
    check_layer,
)

RELEASED_LAYER = 9
_PAPER = "Wu et al. 2023, A holistic approach to reference-free evaluation of machine translation"


def trained_layer(checkpoint: str) -> int:
    """Return the layer that ``meta.json`` names; without that file 9, as in the released models.

    Raises OptionError if the file cannot be read or names no layer.
    """
    path = Path(places.find(checkpoint)) / "meta.json"
    if not path.exists():
        return RELEASED_LAYER
    try:
        layer = json.loads(path.read_text(encoding="utf-8"))["layer"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = message(
            "refreeeval.no-layer",
            "The meta.json of {checkpoint} does not name a layer.",
            checkpoint=checkpoint,
        )
        raise OptionError(problem, "checkpoint") from error
    if isinstance(layer, bool) or not isinstance(layer, int) or layer < 1:
        problem = message(
            "refreeeval.wrong-layer",
            "The meta.json of {checkpoint} names the layer {layer}; expected a whole number of at "
            "least 1.",
            checkpoint=checkpoint,
            layer=repr(layer),
        )
        raise OptionError(problem, "checkpoint")
    return layer


def describe_refreeeval(name: str, label: str, options: Options) -> MetricInfo:
    """Describe F1 at the layer that was trained."""
    checkpoint = str(options["checkpoint"])
    layer = trained_layer(checkpoint)
    check_layer(checkpoint, layer)
    return xbertscore_info(
        name,
        label,
        {**options, "layer": layer, "compare": "source", "measure": "f", "idf": ""},
        family="refreeeval",
        description=message(
            "refreeeval.about",
            "F1 of output and source under the trained encoder {checkpoint}, layer {layer}.",
            checkpoint=checkpoint,
            layer=layer,
        ),
        citation=_PAPER,
    )


_LIMITS = message(
    "limits.trained-here",
    "Knows only the languages and the kind of text that it was trained on. Its own page shows its "
    "results on held-out texts.",
)
REFREEEVAL = Family(
    key="refreeeval",
    label="ReFreeEval",
    description=message(
        "refreeeval.family", "Token similarity of output and source under a trained encoder."
    ),
    limits=_LIMITS,
    scorer="extensions.neural.trained.refreeeval:ReFreeEval",
    options=(
        Option(
            "checkpoint",
            message("refreeeval.encoder", "Trained encoder"),
            "checkpoint",
            help=message(
                "refreeeval.trained-encoder-help",
                "The directory of a training, or a released model.",
            ),
        ),
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_refreeeval,
)


@dataclass(frozen=True)
class Head:
    """Hold a linear head: weights of standardised features, and the encoder they belong to.

    ``encoder`` is the fingerprint of its weights, ``fitted_on`` names the judgments.
    """

    layers: tuple[int, ...]
    features: tuple[str, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float
    encoder: str
    fitted_on: str


def load_head(path: str) -> Head:
    """Read a head; raise OptionError where the file is not a head."""
    try:
        stored: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        head = Head(
            layers=tuple(int(layer) for layer in stored["layers"]),
            features=tuple(str(name) for name in stored["features"]),
            mean=_floats(stored["mean"]),
            scale=_floats(stored["scale"]),
            weights=_floats(stored["weights"]),
            intercept=float(stored["intercept"]),
            encoder=str(stored["encoder"]),
            fitted_on=str(stored["fitted_on"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = message(
            "refreeeval.not-a-head",
            "{path} is not the file of a head ({error}).",
            path=path,
            error=type(error).__name__,
        )
        raise OptionError(problem, "head") from error
    lengths = {len(each) for each in (head.features, head.mean, head.scale, head.weights)}
    if len(lengths) != 1 or not head.layers:
        problem = message(
            "refreeeval.head-lengths",
            "{path} is not the file of a head: its lists differ in length.",
            path=path,
        )
        raise OptionError(problem, "head")
    return head


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def describe_head(name: str, label: str, options: Options) -> MetricInfo:
    """Describe the predicted human score."""
    checkpoint, head = str(options["checkpoint"]), load_head(str(options["head"]))
    check_layer(checkpoint, max(head.layers))
    return one_measure(
        name,
        label,
        needs_source=True,
        needs_reference=False,
        queue="gpu",
        description=message(
            "refreeeval.head-about",
            "Human score predicted from {count} features under {checkpoint}. The head was fitted "
            "on judgments of {campaigns}, so its correlation there is too high.",
            count=len(head.features),
            checkpoint=checkpoint,
            campaigns=head.fitted_on,
        ),
        citation="",
        checkpoint=checkpoint,
        family="refreeeval-head",
        options=tuple(options.items()),
    )


HEAD = Family(
    key="refreeeval-head",
    label=message("refreeeval.head-family", "ReFreeEval with a head"),
    description=message(
        "refreeeval.head-family-about",
        "A human score predicted by a small head on a frozen encoder.",
    ),
    limits=_LIMITS,
    scorer="extensions.neural.trained.refreeeval:HeadScorer",
    options=(
        Option(
            "checkpoint",
            ENCODER_LABEL,
            "checkpoint",
            help=message("refreeeval.encoder-help", "The encoder that the head was fitted on."),
        ),
        Option(
            "head",
            message("refreeeval.head", "Head"),
            "file",
            help=message("refreeeval.head-help", "The head.json that a training job wrote."),
        ),
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_head,
)


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


def load_sentinel(path: str) -> Sentinel:
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


def describe_sentinel(name: str, label: str, options: Options) -> MetricInfo:
    """Describe a human score that is predicted from too little information."""
    checkpoint, found = str(options["checkpoint"]), load_sentinel(str(options["sentinel"]))
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


SENTINEL = Family(
    key="trained-sentinel",
    label=message("sentinel.trained-family", "Sentinel trained here"),
    description=message(
        "sentinel.trained-family-about",
        "A baseline that was fitted to human scores and sees too little of the segment to measure "
        "quality.",
    ),
    limits=BASELINE_LIMITS,
    scorer="extensions.neural.trained.sentinels:TrainedSentinel",
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
        long_texts.OPTION,
        PRECISION,
    ),
    describe=describe_sentinel,
)
