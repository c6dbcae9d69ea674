"""ReFreeEval's checkpoint. Neither Django nor torch: web and workers read it."""

import json
from pathlib import Path

from extensions.neural.xbertscore.options import make_info
from metrics.base import MetricInfo
from metrics.checkpoints import places
from metrics.options import PRECISION, Family, Option, Options, check_layer

RELEASED_LAYER = 9
_PAPER = "Wu et al. 2023, A holistic approach to reference-free evaluation of machine translation"


def trained_layer(checkpoint: str) -> int:
    """Return the layer that ``meta.json`` names; without that file, the released models' 9.

    Raises ValueError where the file cannot be read or names no layer.
    """
    path = Path(places.find(checkpoint)) / "meta.json"
    if not path.exists():
        return RELEASED_LAYER
    try:
        layer = json.loads(path.read_text(encoding="utf-8"))["layer"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"The meta.json of {checkpoint} names no layer.") from error
    if isinstance(layer, bool) or not isinstance(layer, int) or layer < 1:
        raise ValueError(f"The meta.json of {checkpoint} names the layer {layer!r}.")
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
        description=f"F1 of output and source under the trained encoder {checkpoint}, layer "
        f"{layer}.",
        citation=_PAPER,
    )


FAMILY = Family(
    key="refreeeval",
    label="ReFreeEval",
    description="A trained encoder's token similarity of output and source.",
    scorer="extensions.neural.refreeeval.scorer:ReFreeEval",
    options=(
        Option(
            "checkpoint",
            "Trained encoder",
            "checkpoint",
            help="A directory that training wrote, or a released model.",
        ),
        PRECISION,
    ),
    describe=describe,
)
