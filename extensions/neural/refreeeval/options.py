"""Describe ReFreeEval's checkpoint. Imports neither Django nor torch: web and workers read it."""

import json
from pathlib import Path

from extensions.neural.xbertscore.options import make_info
from metaeval.messages import message
from metrics.base import MetricInfo
from metrics.checkpoints import places
from metrics.options import PRECISION, Family, Option, OptionError, Options, check_layer

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


def describe(name: str, label: str, options: Options) -> MetricInfo:
    """Describe F1 at the layer that was trained."""
    checkpoint = str(options["checkpoint"])
    layer = trained_layer(checkpoint)
    check_layer(checkpoint, layer)
    return make_info(
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


FAMILY = Family(
    key="refreeeval",
    label="ReFreeEval",
    description=message(
        "refreeeval.family", "Token similarity of output and source under a trained encoder."
    ),
    scorer="extensions.neural.refreeeval.scorer:ReFreeEval",
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
        PRECISION,
    ),
    describe=describe,
)
