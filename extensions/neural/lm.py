"""Compute the mean negative log-likelihood of texts under a causal language model.

This is the language-model term of XMoverScore (Zhao et al. 2020, section 3.3). Imports torch:
workers only.
"""

import math
from collections import OrderedDict
from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from extensions.neural.encoding import encoders, memory
from extensions.neural.encoding.encoders import LoadError, reason, require_rows, whole
from extensions.neural.encoding.memory import ModelSpec
from extensions.neural.encoding.precision import computing
from metaeval.messages import message
from metrics.base import MetricError
from metrics.checkpoints import places
from metrics.truncation import note

Array = NDArray[np.float64]
Form = Literal["log-probability", "probability"]
# Pieces of one forward pass; logits are large: 50,257 numbers per piece for GPT-2.
PIECES_PER_BATCH = {"cpu": 1_024, "cuda": 16_384}
LONGEST = 1_024
KEPT = 200_000


class LanguageModel:
    """Hold a causal language model on a device; each distinct text is read once."""

    def __init__(self, spec: ModelSpec, tokenizer: Any, model: Any) -> None:
        self.spec, self.tokenizer, self.model = spec, tokenizer, model
        self.device = device = spec.device
        self.budget = PIECES_PER_BATCH[torch.device(device).type]
        self.longest = min(LONGEST, getattr(model.config, "max_position_embeddings", LONGEST))
        self.vocabulary_size = int(model.config.vocab_size)
        self._known: OrderedDict[str, tuple[float, int, bool]] = OrderedDict()
        self._begun: dict[str, tuple[int, bool]] = {}
        self._computing: list[tuple[list[str], torch.Tensor]] = []

    def read(self, texts: Sequence[str]) -> tuple[Array, NDArray[np.int64]]:
        """Return the mean negative log-likelihoods of pieces 2, 3, … (n,), and piece counts (n,).

        No start token is added, so the first piece is never predicted. A text of at most one piece
        gets ln(vocabulary), as if pieces were drawn uniformly. Texts are truncated to 1,024 pieces
        or to the limit of the model, which is recorded (:mod:`metrics.truncation`).
        """
        self.begin(texts)
        # All texts of this call stay cached until it ends.
        found = {text: self._known[text] for text in texts if text in self._known}
        found |= self._computed()
        self._keep(found)
        values = [found[text] for text in texts]
        for text, (_, _, is_truncated) in found.items():
            if is_truncated:
                note(text)
        return (
            np.array([value for value, _, _ in values], dtype=np.float64),
            np.array([count for _, count, _ in values], dtype=np.int64),
        )

    def begin(self, texts: Sequence[str]) -> None:
        """Begin to compute what :meth:`read` will be asked for; a GPU is not waited for."""
        known = self._known.keys() | self._begun.keys()
        pieces = self._tokenize([text for text in dict.fromkeys(texts) if text not in known])
        ids = {text: each[: self.longest] for text, each in pieces.items()}
        self._begun |= {
            text: (len(ids[text]), len(each) > self.longest) for text, each in pieces.items()
        }
        self._computing += encoders.in_batches(
            self,
            [text for text in ids if len(ids[text]) > 1],
            length=lambda text: len(ids[text]),
            work=lambda batch: self._mean_nll([ids[text] for text in batch]),
        )

    def _computed(self) -> dict[str, tuple[float, int, bool]]:
        """Return all that was begun. Copied once: a GPU computes all before it is waited for."""
        batches, begun, self._computing, self._begun = self._computing, self._begun, [], {}
        values = torch.cat([each for _, each in batches]).tolist() if batches else []
        found = dict(zip(chain.from_iterable(each for each, _ in batches), values, strict=True))
        # Texts of one piece were not computed.
        blind = math.log(self.vocabulary_size)
        return {text: (found.get(text, blind), *each) for text, each in begun.items()}

    def _tokenize(self, texts: Sequence[str]) -> dict[str, list[int]]:
        if not texts:
            return {}
        stripped = [text.strip() for text in texts]
        # Long texts are truncated above, so the tokenizer's warning is superfluous.
        read = self.tokenizer(stripped, add_special_tokens=False, verbose=False)["input_ids"]
        return {text: list(ids) for text, ids in zip(texts, read, strict=True)}

    @torch.inference_mode()
    def _mean_nll(self, ids: Sequence[Sequence[int]]) -> torch.Tensor:
        longest = max(map(len, ids))
        # The padding does not matter, because a causal model sees it after the text.
        tokens = torch.zeros((len(ids), longest), dtype=torch.long)
        mask = torch.zeros((len(ids), longest), dtype=torch.long)
        for row, text in enumerate(ids):
            tokens[row, : len(text)] = torch.tensor(text)
            mask[row, : len(text)] = 1
        tokens, mask = (encoders.moved(each, self.device) for each in (tokens, mask))
        with computing(self.device, "float32"):
            logits = self.model(tokens, attention_mask=mask, use_cache=False).logits[:, :-1]
        losses = torch.nn.functional.cross_entropy(
            logits.float().transpose(1, 2), tokens[:, 1:], reduction="none"
        )
        counted = mask[:, 1:].double()
        return (losses.double() * counted).sum(1) / counted.sum(1)

    def _keep(self, found: dict[str, tuple[float, int, bool]]) -> None:
        for text, value in found.items():
            self._known[text] = value
            self._known.move_to_end(text)
        while len(self._known) > KEPT:
            self._known.popitem(last=False)


def term(mean_nll: Array, n_pieces: NDArray[np.int64], form: Form) -> Array:
    """Return the term that is added to a similarity; larger is more fluent.

    ``log-probability`` is −mean NLL (2020 release). ``probability`` is exp(−mean NLL / n) (main
    branch since June 2022); it divides a mean by n again, so it is not a perplexity and favours
    long texts.
    """
    if form == "log-probability":
        return -mean_nll
    probability: Array = np.exp(-mean_nll / np.maximum(n_pieces, 1))
    return probability


def get(checkpoint: str, *, device: str | None = None) -> LanguageModel:
    """Return the resident language model; load it if needed.

    Raises a permanent :class:`MetricError` if the checkpoint is missing or not a causal language
    model.
    """
    folder = places.find(checkpoint)
    weights = places.fingerprint(folder)
    device = device or encoders.best_device()
    spec = ModelSpec("language model", checkpoint, "float32", device, weights)
    return memory.get(spec, folder, lambda: _load(spec, folder))


def signature_fields(model: LanguageModel, weights: Sequence[float]) -> dict[str, str | int]:
    """Return model and weights (similarity, model) for a signature."""
    coupling = "/".join(f"{weight:g}" for weight in weights)
    return {"lm": model.spec.checkpoint, "lm-weights": model.spec.weights, "coupling": coupling}


def _load(spec: ModelSpec, folder: str) -> LanguageModel:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    places.check(spec.checkpoint, folder)
    tokenizers: Any = AutoTokenizer
    models: Any = AutoModelForCausalLM
    try:
        tokenizer = whole(lambda: tokenizers.from_pretrained(folder, local_files_only=True))
        model, report = models.from_pretrained(
            folder, local_files_only=True, weights_only=True, output_loading_info=True
        )
        if report["missing_keys"]:
            # transformers would give an encoder a random output layer, and it is not causal.
            raise LoadError(
                message(
                    "lm.weights-missing",
                    "the weights {name} are missing.",
                    name=sorted(report["missing_keys"])[0],
                )
            )
    except Exception as error:
        problem = message(
            "lm.not-loaded",
            "The checkpoint {checkpoint} cannot be loaded as a causal language model: {error}",
            checkpoint=spec.checkpoint,
            error=reason(error, folder),
        )
        raise MetricError(problem, permanent=True) from error
    require_rows(spec.checkpoint, tokenizer, model)
    return LanguageModel(spec, tokenizer, model.eval().to(spec.device))
