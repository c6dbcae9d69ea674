"""Score with ReFreeEval: the F1 of XBERTScore at the trained layer.

The layer is the one in ``meta.json`` of the checkpoint (``{"layer": 9}``), or 9. Released
checkpoints contain nine layers with a configuration of twelve, so only the layers up to the trained
one are loaded. Loading would fill missing layers with random numbers, so their presence is checked
here.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import torch

from extensions.neural.encoding import encoders
from extensions.neural.encoding.encoders import Encoder
from extensions.neural.xbertscore.scorer import XBertScore
from metaeval.messages import message
from metrics.base import MetricError
from metrics.checkpoints import places
from metrics.options import precision_of


class ReFreeEval(XBertScore):
    """Score with a trained encoder; raise a permanent :class:`MetricError` if it lacks a layer."""

    def _load_encoder(self) -> Encoder:
        checkpoint = self.info.checkpoint
        encoder = encoders.get(checkpoint, precision=precision_of(self.info), layers=self.layer)
        stored = stored_layers(Path(places.find(checkpoint)), encoder.model.base_model_prefix)
        missing = sorted(set(range(self.layer)) - stored)
        if missing:
            problem = message(
                "refreeeval.layer-missing",
                "{metric}: {checkpoint} does not have the weights of layer {layer}.",
                metric=self.info.label,
                checkpoint=checkpoint,
                layer=missing[0] + 1,
            )
            raise MetricError(problem, permanent=True)
        return encoder


def stored_layers(folder: Path, prefix: str) -> set[int]:
    """Return the numbers, from 0, of the transformer layers whose weights a checkpoint contains.

    ``prefix`` is what the model class may put before the names of its weights.
    """
    pattern = re.compile(rf"(?:{re.escape(prefix)}\.)?encoder\.layer\.(\d+)\.")
    matches = map(pattern.match, _names(folder))
    return {int(match.group(1)) for match in matches if match}


def _names(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            yield from json.loads(file.read(size))
    for path in sorted(folder.glob("pytorch_model*.bin")):
        yield from torch.load(path, map_location="meta", weights_only=True)
