"""A causal language model: how fluent extracts are, and vectors of its words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from extensions.neural.encoding.encoders import best_device
from metaeval.messages import message
from metaeval.reasons import reason_of
from metrics.base import MetricError
from metrics.checkpoints import places
from training.contract import JobError
from training.translation.extraction.search import Floats
from training.translation.requests import not_loaded

# Pieces of texts that are read at once.
ROOM = {"cpu": 16_000, "cuda": 120_000}


class LanguageModel:
    """A causal model with its tokenizer; any that transformers loads."""

    def __init__(self, model: Any, tokenizer: Any, weights: str = "") -> None:
        self.model, self.tokenizer, self.weights = model, tokenizer, weights
        start = tokenizer.bos_token_id
        self.end = tokenizer.eos_token_id
        self.start = self.end if start is None else start
        self.table: Tensor = model.get_input_embeddings().weight.detach()

    def pieces(self, word: str, *, has_blank: bool) -> list[int]:
        """Return the pieces of a word in a text, with the space before it."""
        ids: list[int] = self.tokenizer(
            f" {word}" if has_blank else word, add_special_tokens=False
        ).input_ids
        return ids

    def vector(self, pieces: Sequence[int]) -> NDArray[np.float32]:
        """Return the mean of the pieces' input vectors."""
        ids = torch.tensor(list(pieces), device=self.table.device)
        return np.asarray(self.table[ids].float().mean(dim=0).cpu())

    def nll(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Return the mean −ln p of the pieces of each text, its end included."""
        order = sorted(range(len(texts)), key=lambda n: len(texts[n]))
        found = np.empty(len(texts))
        room, part = ROOM["cuda" if self.model.device.type == "cuda" else "cpu"], list[int]()
        for n in order:
            if part and (len(part) + 1) * (len(texts[n]) + 2) > room:
                found[part] = self._nll([texts[each] for each in part])
                part = []
            part.append(n)
        if part:
            found[part] = self._nll([texts[each] for each in part])
        return found

    def _nll(self, texts: Sequence[Sequence[int]]) -> Floats:
        longest = max(map(len, texts)) + 2
        ids = torch.full((len(texts), longest), self.end)
        for row, text in zip(ids, texts, strict=True):
            row[: len(text) + 2] = torch.tensor([self.start, *text, self.end])
        ids = ids.to(self.model.device)
        n = torch.tensor([len(text) + 1 for text in texts], device=ids.device)
        is_read = torch.arange(longest - 1, device=ids.device) < n[:, None]
        with torch.inference_mode():
            logits = self.model(input_ids=ids[:, :-1]).logits.float()
        each = torch.nn.functional.cross_entropy(
            logits.transpose(1, 2), ids[:, 1:], reduction="none"
        )
        return np.asarray(((each * is_read).sum(dim=1) / n).double().cpu())


def load(name: str, device: str = "") -> LanguageModel:
    """Load a causal language model; JobError says why it cannot be used."""
    try:
        folder = Path(places.find(name))
        places.check(name, folder)
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        if config.is_encoder_decoder:
            raise JobError(
                message(
                    "translation.not-causal", "{model} is not a causal language model.", model=name
                )
            )
        read: Any = AutoTokenizer.from_pretrained
        tokenizer = read(folder, local_files_only=True)
        model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    except MetricError as error:
        raise JobError(error.message) from error
    except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
        raise JobError(not_loaded(name, reason_of(error))) from error
    model.to(device or best_device()).eval()
    return LanguageModel(model, tokenizer, places.fingerprint(folder))
