"""Describe a head that was fitted to judgments. Imports neither Django nor torch."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metaeval.messages import message
from metrics.base import MetricInfo, one_measure
from metrics.options import (
    ENCODER_LABEL,
    PRECISION,
    Family,
    Option,
    OptionError,
    Options,
    check_layer,
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


def load(path: str) -> Head:
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


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe the predicted human score."""
    checkpoint, head = str(options["checkpoint"]), load(str(options["head"]))
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


FAMILY = Family(
    key="refreeeval-head",
    label=message("refreeeval.head-family", "ReFreeEval with a head"),
    description=message(
        "refreeeval.head-family-about",
        "A human score predicted by a small head on a frozen encoder.",
    ),
    scorer="extensions.neural.refreeeval.head_scorer:HeadScorer",
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
        PRECISION,
    ),
    describe=describe,
)
