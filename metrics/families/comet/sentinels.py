"""Sentinels (Perrella et al. 2024): a COMET encoder and head that read one of the three texts.

The format is that of the package sentinel-metric, whose names of weights are COMET's: the last
layer's vector of the first token, then the head.
"""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

KIND = "sentinel_regression_metric"
SIDES = ("src", "mt", "ref")


class Sentinel(nn.Module):
    """An encoder and a head; ``hparams`` are those of hparams.yaml."""

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
        """Return the tokens of texts, cut to 512 with XLM-RoBERTa (COMET itself cuts to 510)."""
        return self.encoder.tokenizer(
            texts, return_tensors="pt", padding=True, truncation=True, max_length=self.longest
        )

    @property
    def longest(self) -> int:
        """How many tokens of a text are read, special ones included."""
        return int(min(self.encoder.tokenizer.model_max_length, self.encoder.max_positions))

    def compute_sentence_embedding(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> torch.Tensor:
        """Return the (n, width) vectors of the first tokens."""
        states = self.encoder.model(input_ids=input_ids, attention_mask=attention_mask)
        return torch.as_tensor(states.last_hidden_state[:, 0])


def load(settings: Mapping[str, Any], weights: Path, encoder: str) -> Sentinel:
    """Load one; ValueError where its settings name no text that is read."""
    if settings.get("sent_to_use", "mt") not in SIDES:
        raise ValueError(f"sent_to_use is {settings['sent_to_use']!r}")
    model = Sentinel(settings, encoder)
    document = torch.load(weights, map_location="cpu", weights_only=True)
    model.load_state_dict(document["state_dict"], strict=False)
    return model
