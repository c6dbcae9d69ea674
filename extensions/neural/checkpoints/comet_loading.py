"""Load COMET checkpoints from a directory, with their own classes and without the network.

Sentinels (Perrella et al. 2024) are loaded as well: a COMET encoder and head that use one of the
three texts. Their format is that of the package sentinel-metric, which names weights as COMET does.
The head takes the last layer's vector of the first token.
"""

import logging
import zipfile
from argparse import Namespace
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from torch.nn.functional import pairwise_distance

from extensions.neural.encoding import encoders, memory
from extensions.neural.encoding.encoders import whole
from extensions.neural.encoding.memory import ModelSpec, placed
from extensions.neural.encoding.precision import check
from metaeval.messages import DataError, Message, message
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import places

RANKING = "ranking_metric"


SENTINEL = "sentinel_regression_metric"


# The class names in hparams.yaml, and the texts that each class uses; None if the checkpoint
# determines them (CometKiwi uses no reference).
READS = {
    "regression_metric": ("src", "mt", "ref"),
    "referenceless_regression_metric": ("src", "mt"),
    RANKING: ("src", "mt", "ref"),
    SENTINEL: None,
    "unified_metric": None,
    "xcomet_metric": None,
}


class Cutter:
    """Replace the tokenizer of COMET's encoder, which cuts each text whenever it is read.

    Here a text is cut once, by :meth:`count`. Everything else is the tokenizer's.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.own, self.cut = tokenizer, dict[str, Any]()
        # It would advise to let it pad what it cuts, which is to cut twice.
        tokenizer.deprecation_warnings["Asking-to-pad-a-fast-tokenizer"] = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def count(self, texts: Sequence[str]) -> dict[str, int]:
        """Return how many tokens each text has before truncation, and keep these texts alone."""
        read = self.own(list(texts), verbose=False).encodings if texts else []
        # Not the encodings: they have much that COMET does not read.
        self.cut = {
            text: SimpleNamespace(ids=each.ids, offsets=each.offsets, tokens=each.tokens)
            for text, each in zip(texts, read, strict=True)
        }
        return {text: len(each.ids) for text, each in self.cut.items()}

    def __call__(
        self,
        texts: Sequence[str],
        *,
        max_length: int,
        truncation: bool = True,
        padding: bool = False,
        return_tensors: str | None = None,
    ) -> Any:
        """Return what the tokenizer does for texts that were counted; it pads on the right."""
        from transformers import BatchEncoding

        read = [_truncated(self.cut[text], max_length) for text in texts]
        given = {"input_ids": [each.ids for each in read]}
        if padding:
            return self.own.pad(given, return_tensors=return_tensors)
        return BatchEncoding(given, encoding=read, n_sequences=1)


def _truncated(read: Any, longest: int) -> Any:
    """Return a copy of a text, without the tokens before its special last one beyond a limit."""
    cut = {
        name: [*each[: min(longest, len(each)) - 1], each[-1]] for name, each in vars(read).items()
    }
    return SimpleNamespace(**cut)


# The transformer of all classes.
TRUNK = "encoder.model"


@dataclass
class CometModel:
    """Hold a model in memory, its budget of tokens, and the vectors of texts already encoded.

    The keys of ``vectors`` are the texts and whether sentences before the last one are context; the
    values say whether the text is longer than ``longest``.
    """

    model: Any
    device: str
    precision: str
    weights: str
    encoder_settings: str
    budget: int
    vectors: "OrderedDict[tuple[str, bool], tuple[torch.Tensor, bool]]" = field(
        default_factory=OrderedDict
    )

    @property
    def kind(self) -> str:
        """Return the class name in hparams.yaml."""
        return str(self.model.hparams.class_identifier)

    @property
    def is_apart(self) -> bool:
        """Return whether texts are embedded separately, so that one vector serves many outputs."""
        return self.kind not in ("unified_metric", "xcomet_metric")

    @property
    def reads_context(self) -> bool:
        """Return whether ``enable_context`` of comet has an effect: with average pooling."""
        kinds = ("regression_metric", "referenceless_regression_metric")
        return self.kind in kinds and self.model.hparams.pool == "avg"

    @property
    def marks_spans(self) -> bool:
        """Return whether the model marks error spans (xCOMET)."""
        return self.kind == "xcomet_metric"

    @property
    def reads(self) -> tuple[str, ...]:
        """Return which of ``src``, ``mt`` and ``ref`` the model uses."""
        if self.kind == SENTINEL:
            return (str(getattr(self.model.hparams, "sent_to_use", "mt")),)
        return READS[self.kind] or tuple(self.model.hparams.input_segments)

    @property
    def longest(self) -> int:
        """Return the most tokens of one text, special tokens included (COMET reserves two)."""
        if self.kind == SENTINEL:
            return int(self.model.longest)
        return int(self.model.encoder.max_positions) - 2

    def is_too_long(self, lengths: Sequence[int]) -> bool:
        """Return whether texts with these numbers of tokens are truncated in one sequence.

        This is so if one text, or the sequence with its special tokens, is too long. Losing only
        the last special token does not count.
        """
        if max(lengths) > self.longest:
            return True
        encoder = self.model.encoder
        n_special = 1 + (len(lengths) - 1) * encoder.size_separator
        return bool(sum(n - 2 for n in lengths) + n_special > encoder.max_positions)

    def prepare(self, texts: list[str]) -> Any:
        """Return the tokens of texts that are embedded separately."""
        is_sentinel = self.kind == SENTINEL
        return (
            self.model.prepare(texts) if is_sentinel else self.model.encoder.prepare_sample(texts)
        )


def get(name: str, precision: str = "float32") -> CometModel:
    """Return the resident model of a checkpoint directory; load it if needed.

    Raises a permanent :class:`MetricError` if a part is missing or damaged, or if the class is not
    a metric. No code of a checkpoint is run. Raises the errors of :func:`precision.check`.
    """
    device = encoders.best_device()
    check(device, precision)
    folder = places.find(name)
    settings = _settings(Path(folder), name)
    encoder = places.find(str(settings["pretrained_model"]))
    weights = places.fingerprint(folder)
    # The checkpoint contains the encoder's weights; only its settings and tokenizer are loaded.
    encoder_settings = places.fingerprint(encoder, weights=False)
    key = ModelSpec("comet", name, precision, device, f"{weights} {encoder_settings}")

    def load() -> CometModel:
        model = _load(name, Path(folder), settings, encoder)
        model = placed(model, device, precision, TRUNK)
        budget = encoders.tokens_per_batch(device)
        return CometModel(model, device, precision, weights, encoder_settings, budget)

    return memory.get(key, folder, load)


def _load(name: str, folder: Path, settings: dict[str, Any], encoder: str) -> Any:
    places.check(name, folder)
    places.check(str(settings["pretrained_model"]), encoder)
    weights = folder / "checkpoints" / "model.ckpt"
    if not weights.is_file():
        problem = message(
            "comet.no-weights", "{checkpoint} has no checkpoints/model.ckpt.", checkpoint=name
        )
        raise MetricError(problem, permanent=True)
    try:
        model = _with_comet(settings, weights, encoder)
        whole(lambda: model.encoder.tokenizer)
        model.encoder.tokenizer = Cutter(model.encoder.tokenizer)
        present = _names(weights)
    except Exception as error:
        problem = _not_loaded(name, settings, encoder, error)
        raise MetricError(problem, permanent=True) from error
    encoders.require_weights(name, model, model.state_dict().keys() - present)
    return model


def _not_loaded(name: str, settings: dict[str, Any], encoder: str, error: Exception) -> Message:
    if settings.get("encoder_model") == "MiniLM":
        return message(
            "comet.not-loaded-minilm",
            "The checkpoint {checkpoint} cannot be loaded: {error}. COMET reads the tokenizer of "
            "MiniLM from the hub's cache. Fetch it with: hf download xlm-roberta-base",
            checkpoint=name,
            error=reason_of(error),
        )
    if fault := _fault_of_tokenizer(encoder):
        return message(
            "comet.encoder-not-loaded",
            "The encoder {encoder} of {checkpoint} cannot be loaded: {error}",
            encoder=str(settings["pretrained_model"]),
            checkpoint=name,
            error=fault,
        )
    return message(
        "checkpoint.not-loaded",
        "The checkpoint {checkpoint} cannot be loaded: {error}",
        checkpoint=name,
        error=reason_of(error),
    )


def _fault_of_tokenizer(encoder: str) -> Message | str | None:
    """Return why the tokenizer of an encoder cannot be loaded; None if it can."""
    try:
        encoders.load_tokenizer(encoder)
    except Exception as error:
        return encoders.reason(error, encoder)
    return None


def _settings(folder: Path, name: str) -> dict[str, Any]:
    import yaml

    try:
        settings = yaml.safe_load((folder / "hparams.yaml").read_text(encoding="utf-8"))
        identifier = settings["class_identifier"]
        settings["pretrained_model"]
    except (OSError, ValueError, TypeError, KeyError, yaml.YAMLError) as error:
        problem = message(
            "comet.no-settings",
            "{checkpoint} has no hparams.yaml that names its class and its encoder.",
            checkpoint=name,
        )
        raise MetricError(problem, permanent=True) from error
    if identifier not in READS:
        problem = message(
            "comet.not-a-metric",
            "{checkpoint} has the class {identifier}, which is not a metric.",
            checkpoint=name,
            identifier=str(identifier),
        )
        raise MetricError(problem, permanent=True)
    return dict(settings)


def _names(weights: Path) -> set[str]:
    """Return the names of the weights in a file; comet would leave missing weights random."""
    is_mapped = zipfile.is_zipfile(weights)
    document = torch.load(weights, map_location="cpu", weights_only=True, mmap=is_mapped)
    return set(document["state_dict"])


def _with_comet(settings: dict[str, Any], weights: Path, encoder: str) -> Any:
    if settings["class_identifier"] == SENTINEL:
        return load_sentinel(settings, weights, encoder)
    from comet.models import str2model

    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    # The weights were trained with sparsemax; comet 2.2.4 and later load it as softmax (its
    # issue 244).
    is_patched = settings.get("layer_transformation") == "sparsemax_patch"
    changed = {"layer_transformation": "softmax"} if is_patched else {}
    # Lightning searches the sources of all callers for torch.jit, which takes half a second.
    chosen = str2model[settings["class_identifier"]]
    return chosen.load_from_checkpoint.__func__(
        chosen,
        str(weights),
        pretrained_model=encoder,
        load_pretrained_weights=False,
        local_files_only=True,
        strict=False,
        map_location="cpu",
        weights_only=True,
        **changed,
    )


Sides = Mapping[str, torch.Tensor]


def scores(model: Any, sides: Sides) -> torch.Tensor:
    """Return scores (n,) from vectors (n, width) of each text that the model uses."""
    if model.hparams.class_identifier == RANKING:
        return _similarity(sides)
    found = model.estimator(_features(sides))
    return torch.as_tensor(found).view(-1).float()


def _features(sides: Sides) -> torch.Tensor:
    """Return the features of an estimator.

    Rei et al. 2020, eq. 2; without reference: Rei et al. 2021. A sentinel has the vectors of one
    text only (Perrella et al. 2024).
    """
    if len(sides) == 1:
        return next(iter(sides.values()))
    source, output = sides["src"], sides["mt"]
    product, difference = output * source, (output - source).abs()
    features = [output, source, product, difference]
    if "ref" in sides:
        reference = sides["ref"]
        with_reference = [output * reference, (output - reference).abs()]
        features = [output, reference, *with_reference, product, difference]
    return torch.cat(features, dim=1)


def _similarity(sides: Sides) -> torch.Tensor:
    """Return a ranker's similarity: 1 / (1 + harmonic mean of two distances).

    The distances are those to source and reference (Rei et al. 2020, eq. 6 and 7).
    """
    source, reference = (pairwise_distance(sides["mt"], sides[side]) for side in ("src", "ref"))
    return (1 / (1 + 2 * source * reference / (source + reference))).float()


SIDES = ("src", "mt", "ref")


class Sentinel(nn.Module):
    """Hold an encoder and a head; ``hparams`` are those of hparams.yaml."""

    def __init__(self, settings: Mapping[str, Any], encoder: str) -> None:
        from comet.encoders import str2encoder
        from comet.modules import FeedForward

        super().__init__()
        self.hparams = Namespace(**settings)
        self.encoder: Any = str2encoder[settings.get("encoder_model", "XLM-RoBERTa")](
            encoder, load_pretrained_weights=False, local_files_only=True
        )
        self.estimator = FeedForward(
            in_dim=self.encoder.output_units,
            hidden_sizes=settings["hidden_sizes"],
            activations=settings.get("activations", "Tanh"),
            final_activation=settings.get("final_activation"),
            dropout=0.0,
        )

    def prepare(self, texts: list[str]) -> Any:
        """Return the tokens of texts, at most 512 with XLM-RoBERTa (COMET: at most 510)."""
        return self.encoder.tokenizer(
            texts, return_tensors="pt", padding=True, truncation=True, max_length=self.longest
        )

    @property
    def longest(self) -> int:
        """Return the most tokens of a text, special tokens included."""
        return int(min(self.encoder.tokenizer.model_max_length, self.encoder.max_positions))

    def compute_sentence_embedding(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> torch.Tensor:
        """Return the vectors of the first tokens, (n, width)."""
        states = self.encoder.model(input_ids=input_ids, attention_mask=attention_mask)
        return torch.as_tensor(states.last_hidden_state[:, 0])


def load_sentinel(settings: Mapping[str, Any], weights: Path, encoder: str) -> Sentinel:
    """Load a sentinel; raise DataError if its settings name no text."""
    if settings.get("sent_to_use", "mt") not in SIDES:
        raise DataError(
            message(
                "comet.sent-to-use",
                "The setting sent_to_use must be one of {sides}, not “{side}”.",
                sides=list(SIDES),
                side=str(settings["sent_to_use"]),
            )
        )
    model = Sentinel(settings, encoder)
    document = torch.load(weights, map_location="cpu", weights_only=True)
    model.load_state_dict(document["state_dict"], strict=False)
    return model
