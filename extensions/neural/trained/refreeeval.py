"""Score with ReFreeEval, and with linear heads over features of a frozen encoder.

ReFreeEval is the F1 of XBERTScore at the trained layer: the one in ``meta.json`` of the checkpoint
(``{"layer": 9}``), or 9. Released checkpoints contain nine layers with a configuration of twelve,
so only the layers up to the trained one are loaded. Loading would fill missing layers with random
numbers, so their presence is checked here.

Features of a head are precision, recall and F1 against the source at the chosen layers, the cosine
of the two mean vectors at the highest layer, log(pieces + 1) of the output, and its difference from
the source's.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from extensions.neural.bertscore.xbertscore import XBertScore, match_pairs
from extensions.neural.encoding import encoders, precision
from extensions.neural.encoding.ahead import score_in_slices
from extensions.neural.encoding.encoders import Encoder, moved
from extensions.neural.encoding.token_vectors import UNIFORM, Embedded, embed
from extensions.neural.on_encoder import OnEncoder, encoder_fields
from extensions.neural.trained.options import load_head
from metaeval.messages import message
from metrics import truncation
from metrics.base import (
    MetricError,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
)
from metrics.checkpoints import hashes, places
from metrics.options import OptionError, precision_of


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


# Increase it with every change that alters a value.
REVISION = 2


class HeadScorer(OnEncoder):
    """Score with a head; a permanent :class:`MetricError` if its encoder has other weights."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        path = str(info.option("head"))
        try:
            self.head = load_head(path)
            text = "|".join(map(repr, vars(self.head).values()))
        except OptionError as error:
            raise MetricError(error.problem, permanent=True) from error
        self.digest = hashes.of_text(text)[:12]
        self.encoder = encoders.get(info.checkpoint, precision=precision_of(info))
        if self.encoder.spec.weights != self.head.encoder:
            problem = message(
                "refreeeval.other-weights",
                "{metric}: {path} was fitted on other weights than those of {checkpoint}.",
                metric=info.label,
                path=path,
                checkpoint=info.checkpoint,
            )
            raise MetricError(problem, permanent=True)

    def signature(self) -> str:
        """Return everything that changes a value."""
        fields: dict[str, str | int] = {
            "head": self.digest,
            **precision.signature_fields(self.precision),
            "revision": REVISION,
        }
        return format_signature(self.info.name, encoder_fields(self.encoder) | fields)

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return predicted human scores, (n, 1)."""
        check_inputs(self.info, inputs)
        return score_in_slices(self._score, inputs, self.cut_ahead)

    def _score(self, inputs: Sequence[SegmentInput]) -> Scores:
        if not inputs:
            return np.zeros((0, 1))
        pairs = [(segment.hypothesis, segment.source) for segment in inputs]
        found = read_features(self.encoder, pairs, self.head.layers)
        standard = (found - np.array(self.head.mean)) / np.array(self.head.scale)
        predicted = standard @ np.array(self.head.weights) + self.head.intercept
        return np.asarray(predicted)[:, None]


Array = NDArray[np.float64]
Pair = tuple[str, str]


def feature_names(layers: Sequence[int]) -> list[str]:
    """Return the names of the features, in the order of the columns."""
    matched = [f"{side}-{layer}" for layer in layers for side in ("P", "R", "F1")]
    return [*matched, "cosine", "log-length", "log-length-ratio"]


def read_features(encoder: Encoder, pairs: Sequence[Pair], layers: Sequence[int]) -> Array:
    """Return the features of (output, source) texts, (pairs, features).

    These are precision, recall and F1 of greedy matching at each layer, the cosine of the two mean
    vectors at the highest layer, and the logarithms of the output's pieces + 1 and of its ratio to
    the source's.
    """
    found = embed(encoder, [text for pair in pairs for text in pair], layers)
    matched = [match_pairs(found, pairs, layer, UNIFORM, encoder.budget) for layer in layers]
    top = max(layers)
    cosines = _cosines(found, pairs, top)
    lengths = np.log1p(
        [
            [sum(not special for special in found[text].is_special) for text in pair]
            for pair in pairs
        ]
    ).reshape(-1, 2)
    ratios = lengths[:, 0] - lengths[:, 1]
    return np.column_stack([*matched, cosines, lengths[:, 0], ratios])


def _cosines(found: Mapping[str, Embedded], pairs: Sequence[Pair], layer: int) -> Array:
    """Return the cosines of mean vectors, (pairs,): all means at once, copied once."""
    place = {text: row for row, text in enumerate(found)}
    states = [each.states[layer] for each in found.values()]
    device = states[0].device
    counts = moved(torch.tensor([len(each) for each in states]), device)
    means = torch.segment_reduce(torch.cat(states).double(), "mean", lengths=counts, unsafe=True)
    left, right = moved(
        torch.tensor([[place[text] for text in pair] for pair in pairs]), device
    ).unbind(1)
    return np.asarray(torch.cosine_similarity(means[left], means[right], dim=1).cpu().numpy())
