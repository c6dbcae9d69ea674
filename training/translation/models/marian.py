"""Transformers as Marian's, with a length control in the decoder.

A plain one and one with length tokens are Marian's own class. `length_control` in the configuration
says which control a checkpoint has.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, MarianConfig, MarianMTModel
from transformers.models.marian.modeling_marian import MarianDecoder

from training.translation.models import controls
from training.translation.models.controls import Step
from training.translation.options import LENGTH_TOKEN, PLAIN

NO_CONTROL = {"control": PLAIN, "form": "", "cap": 0}


def control_of(config: Any) -> dict[str, Any]:
    """Return the length control that a configuration names; any other checkpoint is plain."""
    return dict(getattr(config, "length_control", None) or NO_CONTROL)


class NoPlaces(nn.Module):
    """In place of positions where a control has put in what the decoder is to know."""

    def forward(self, *args: Any, **kwargs: Any) -> float:
        return 0.0


class ControlledDecoder(MarianDecoder):  # type: ignore[no-untyped-call]
    """Marian's decoder; `lengths` (batch,) are set before each pass."""

    def __init__(self, config: MarianConfig, embed_tokens: nn.Embedding) -> None:
        super().__init__(config, embed_tokens)
        told = config.length_control
        self.places: Any = self.embed_positions
        self.embed_positions: Any = NoPlaces()
        self.scale, self.embed_scale = self.embed_scale, 1.0
        self.control = controls.build(told["control"], told["form"], config.d_model, told["cap"])
        self.lengths = torch.empty(0)

    def forward(  # type: ignore[override]
        self, input_ids: Tensor, inputs_embeds: None = None, **rest: Any
    ) -> Any:
        past, n = rest.get("past_key_values"), input_ids.shape[1]
        start = past.get_seq_length() if past is not None else 0
        positions = torch.arange(start, start + n, device=input_ids.device)
        words = self.embed_tokens(input_ids) * self.scale
        places = self.places(input_ids.shape, position_ids=positions)
        step = Step(words, places, self.lengths, positions, self.training)
        return super().forward(inputs_embeds=self.control(step), **rest)


class LengthControlledMarian(MarianMTModel):  # type: ignore[no-untyped-call]
    """Marian's model with target lengths as input: `wanted_lengths` (batch,)."""

    # As Marian's: transformers' trainer would otherwise pass on how many pieces an update has.
    accepts_loss_kwargs = False

    def __init__(self, config: MarianConfig) -> None:
        super().__init__(config)
        self.model.decoder = ControlledDecoder(config, self.model.decoder.embed_tokens)
        self.post_init()  # type: ignore[no-untyped-call]

    def forward(self, *args: Any, wanted_lengths: Tensor | None = None, **kwargs: Any) -> Any:
        if wanted_lengths is None:
            raise ValueError("wanted_lengths: this model needs target lengths")
        self.model.decoder.lengths = wanted_lengths
        return super().forward(*args, **kwargs)


def build(options: Mapping[str, Any], n_pieces: int, special: Mapping[str, int]) -> MarianMTModel:
    """Return a new model; `special` are the numbers of the end and of padding."""
    config = MarianConfig(  # type: ignore[no-untyped-call]
        vocab_size=n_pieces,
        d_model=options["width"],
        encoder_layers=options["layers"],
        decoder_layers=options["layers"],
        encoder_attention_heads=options["heads"],
        decoder_attention_heads=options["heads"],
        encoder_ffn_dim=options["inner"],
        decoder_ffn_dim=options["inner"],
        dropout=options["dropout"],
        activation_function="relu",
        max_position_embeddings=1024,
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        init_std=options["width"] ** -_depth(options),
        eos_token_id=special["end"],
        forced_eos_token_id=None,
        pad_token_id=special["padding"],
        decoder_start_token_id=special["padding"],
    )
    config.length_control = {name: options[name] for name in ("control", "form", "cap")}
    torch.manual_seed(options["seed"])
    model = _class_of(config)(config)
    for module in model.modules():
        if isinstance(module, controls.Projector):
            module.draw()
    return model


def _depth(options: Mapping[str, Any]) -> float:
    """Return the exponent of width that embeddings are scaled by: 0.5, or 1 if scaled twice.

    Initial weights are divided by it, so that embeddings reach the layers with unit variance.
    """
    is_scaled_twice = (options["control"], options["form"]) == controls.TWICE
    return 1.0 if is_scaled_twice else 0.5


def load(folder: Path, config: Any = None) -> MarianMTModel:
    """Return the model of a folder."""
    config = config or AutoConfig.from_pretrained(folder, local_files_only=True)
    kind: Any = _class_of(config)
    model: MarianMTModel = kind.from_pretrained(folder, config=config, local_files_only=True)
    return model


def _class_of(config: Any) -> type[MarianMTModel]:
    is_genuine = control_of(config)["control"] in (PLAIN, LENGTH_TOKEN)
    return MarianMTModel if is_genuine else LengthControlledMarian
