"""A head that was fitted on judgments. Neither Django nor torch: web and workers read it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.base import MetricInfo, one_measure
from metrics.options import PRECISION, Family, Option, Options, check_layer


@dataclass(frozen=True)
class Head:
    """A linear head: weights over standardised features, and the encoder that they belong to.

    ``encoder`` is the fingerprint of its weights, ``fitted_on`` says on which judgments.
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
    """Read a head; ValueError with a sentence where the file holds none."""
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
        raise ValueError(f"{path} holds no head: {type(error).__name__}.") from error
    lengths = {len(each) for each in (head.features, head.mean, head.scale, head.weights)}
    if len(lengths) != 1 or not head.layers:
        raise ValueError(f"{path} holds no head: its lists differ in length.")
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
        description=f"Human score predicted from {len(head.features)} features under {checkpoint}. "
        f"Fitted on judgments of {head.fitted_on}: its correlation there is too high.",
        citation="",
        checkpoint=checkpoint,
        family="refreeeval-head",
        options=tuple(options.items()),
    )


FAMILY = Family(
    key="refreeeval-head",
    label="ReFreeEval with a head",
    description="A human score predicted by a small head on a frozen encoder.",
    scorer="extensions.neural.refreeeval.head_scorer:HeadScorer",
    options=(
        Option("checkpoint", "Encoder", "checkpoint", help="That which the head was fitted on."),
        Option("head", "Head", "file", help="The head.json that a job of training wrote."),
        PRECISION,
    ),
    describe=describe,
)
