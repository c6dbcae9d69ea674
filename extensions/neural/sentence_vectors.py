"""Compute sentence vectors with a directory of sentence-transformers, or with any encoder.

The directory is read here, without that package, so that token metrics share the encoder. Supported
parts are Transformer, Pooling (first token, mean, mean by the root of the length, maximum), Dense
and Normalize. For an encoder without ``modules.json`` the vector is the mean of its last layer over
all pieces, special tokens included. A folder of LASER2 has its own (:mod:`.laser`).
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from extensions.neural import laser
from extensions.neural.encoding import encoders
from extensions.neural.encoding.encoders import NO_LIMIT, Encoder, moved
from extensions.neural.encoding.precision import computing
from extensions.neural.encoding.token_vectors import embed
from metaeval.messages import Message, message
from metrics.base import MetricError
from metrics.checkpoints import places
from metrics.truncation import note, noting

Array = NDArray[np.float64]
Vectors = dict[str, Array]
Step = Callable[[torch.Tensor], torch.Tensor]
# Poolings take the states of all texts, (pieces, width), and the number of pieces of each, and
# return (texts, width).
Pooling = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
_POOLING: dict[str, Pooling] = {
    "pooling_mode_cls_token": lambda states, counts: states[counts.cumsum(0) - counts],
    "pooling_mode_max_tokens": lambda states, counts: _reduced("max", states, counts),
    "pooling_mode_mean_tokens": lambda states, counts: _reduced("mean", states, counts),
    "pooling_mode_mean_sqrt_len_tokens": lambda states, counts: (
        _reduced("sum", states, counts) / counts[:, None] ** 0.5
    ),
}
_NAMES = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
}
_ACTIVATIONS: dict[str, Step] = {"Identity": lambda vector: vector, "Tanh": torch.tanh}


def _reduced(how: str, states: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    return torch.segment_reduce(states, how, lengths=counts, unsafe=True)


def cosine(left: Array, right: Array) -> float:
    """Return the cosine of two vectors (width,); 0 if one is zero, as for a blank text."""
    norms = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(left @ right) / norms if norms else 0.0


class SentenceEncoder:
    """Compute one vector per sentence; raise a permanent :class:`MetricError` for unknown parts."""

    def __init__(self, checkpoint: str, precision: str = "float32") -> None:
        self.checkpoint = checkpoint
        folder = Path(places.find(checkpoint))
        places.check(checkpoint, folder)
        self.weights = places.fingerprint(folder)
        if laser.is_laser(folder):
            self.encoder: Encoder = laser.get(checkpoint, precision)
            self.limit, self.is_lowercase = NO_LIMIT, False
            self.pool, self.steps = _POOLING["pooling_mode_max_tokens"], list[Step]()
            return
        transformer, *rest = self._modules(folder)
        # The encoder keeps the name of the hub, so that other metrics share it.
        encoder = str(folder / transformer) if transformer else checkpoint
        self.encoder = encoders.get(encoder, precision=precision)
        settings = _read(folder / transformer / "sentence_bert_config.json")
        self.limit = int(settings.get("max_seq_length") or NO_LIMIT)
        self.is_lowercase = bool(settings.get("do_lower_case"))
        self.pool = _POOLING["pooling_mode_mean_tokens"]
        if rest:
            kind, path = rest.pop(0)
            if kind != "Pooling":
                raise self._no_part(kind)
            self.pool = self._pooling(_read(folder / path / "config.json"))
        self.steps = [self._step(kind, folder / path) for kind, path in rest]

    @torch.inference_mode()
    def encode(self, texts: Iterable[str]) -> Vectors:
        """Return the vector of every distinct text, (width,); zero for a blank text."""
        forms = {text: text.lower() if self.is_lowercase else text for text in texts}
        layer = self.encoder.n_layers - 1
        with noting() as truncated:
            found = embed(self.encoder, forms.values(), [layer], self.limit, spaced=False)
        for text, form in forms.items():
            if form in truncated:
                note(text)
        states = [each.states[layer] for each in found.values()]
        vectors = dict(zip(found, self._apply(states) if states else (), strict=True))
        return {
            text: vectors[form] if form.strip() else np.zeros_like(vectors[form])
            for text, form in forms.items()
        }

    def fields(self, name: str = "checkpoint") -> dict[str, str | int]:
        """Return the fields of a signature: those of all parts."""
        return {name: self.checkpoint, f"{name}-weights": self.weights}

    def _apply(self, states: Sequence[torch.Tensor]) -> Array:
        """Return the vectors of texts from the states of their pieces: all at once, copied once."""
        counts = moved(torch.tensor([len(each) for each in states]), states[0].device)
        with computing(self.encoder.spec.device, "float32"):
            vectors = self.pool(torch.cat(list(states)), counts)
            for step in self.steps:
                vectors = step(vectors)
        return np.asarray(vectors.double().cpu().numpy())

    def _modules(self, folder: Path) -> list[Any]:
        """Return the path of the transformer, then (type, path) of the parts after it."""
        listed = _read(folder / "modules.json", default=[])
        if not listed:
            return [""]
        if _read(folder / "config_sentence_transformers.json").get("default_prompt_name"):
            raise _unsupported(
                message(
                    "sentence-encoder.prompt",
                    "The checkpoint {checkpoint} puts a prompt before every text, which is not "
                    "supported.",
                    checkpoint=self.checkpoint,
                )
            )
        kinds = [(str(each["type"]).rsplit(".", 1)[-1], str(each["path"])) for each in listed]
        if kinds[0][0] != "Transformer":
            raise _unsupported(
                message(
                    "sentence-encoder.first-part",
                    "The checkpoint {checkpoint} begins with {part}; expected a Transformer.",
                    checkpoint=self.checkpoint,
                    part=kinds[0][0],
                )
            )
        return [kinds[0][1], *kinds[1:]]

    def _step(self, kind: str, folder: Path) -> Step:
        if kind == "Dense":
            return self._dense(folder)
        if kind == "Normalize":
            return lambda vector: torch.nn.functional.normalize(vector, dim=1)
        raise self._no_part(kind)

    def _no_part(self, kind: str) -> MetricError:
        return _unsupported(
            message(
                "sentence-encoder.part",
                "The checkpoint {checkpoint} has a part {part}, which is not supported.",
                checkpoint=self.checkpoint,
                part=kind,
            )
        )

    def _pooling(self, settings: Mapping[str, Any]) -> Pooling:
        chosen = [key for key, on in settings.items() if key.startswith("pooling_mode_") and on]
        if named := settings.get("pooling_mode"):
            names = [named] if isinstance(named, str) else named
            chosen = [_NAMES.get(name, name) for name in names]
        if not chosen or not set(chosen) <= set(_POOLING):
            raise _unsupported(
                message(
                    "sentence-encoder.pooling",
                    "The pooling of the checkpoint {checkpoint} is not supported: {modes}.",
                    checkpoint=self.checkpoint,
                    modes=chosen or ["–"],
                )
            )
        # In the order of sentence-transformers, whatever the order of the file.
        steps = [step for key, step in _POOLING.items() if key in chosen]
        return lambda states, counts: torch.cat([step(states, counts) for step in steps], dim=1)

    def _dense(self, folder: Path) -> Step:
        settings = _read(folder / "config.json")
        name = str(settings.get("activation_function", "Identity")).rsplit(".", 1)[-1]
        if name not in _ACTIVATIONS:
            raise _unsupported(
                message(
                    "sentence-encoder.activation",
                    "The checkpoint {checkpoint} has the activation {activation}, which is not "
                    "supported.",
                    checkpoint=self.checkpoint,
                    activation=name,
                )
            )
        weights = self._weights(folder)
        weight, bias = (
            weights[key].to(self.encoder.spec.device) if key in weights else None
            for key in ("linear.weight", "linear.bias")
        )
        if weight is None:
            raise _unsupported(
                message(
                    "sentence-encoder.weights-missing",
                    "The checkpoint {checkpoint} does not have the weights of {part}.",
                    checkpoint=self.checkpoint,
                    part=folder.name,
                )
            )
        return lambda vector: _ACTIVATIONS[name](torch.nn.functional.linear(vector, weight, bias))

    def _weights(self, folder: Path) -> dict[str, torch.Tensor]:
        from safetensors.torch import load_file

        try:
            if (folder / "model.safetensors").exists():
                return load_file(folder / "model.safetensors")
            weights: dict[str, torch.Tensor] = torch.load(
                folder / "pytorch_model.bin", map_location="cpu", weights_only=True
            )
        except Exception as error:
            raise _unsupported(
                message(
                    "sentence-encoder.part-not-loaded",
                    "The part {part} of the checkpoint {checkpoint} cannot be loaded.",
                    part=folder.name,
                    checkpoint=self.checkpoint,
                )
            ) from error
        return weights


def _unsupported(problem: Message) -> MetricError:
    return MetricError(problem, permanent=True)


def _read(path: Path, default: Any = None) -> Any:
    """Read a JSON file of a checkpoint; return an empty object if there is none."""
    if not path.exists():
        return {} if default is None else default
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        problem = message("file.not-json", "{path} is not a JSON file.", path=str(path))
        raise MetricError(problem, permanent=True) from error
