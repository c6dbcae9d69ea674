"""Transformers as Marian's, with a length control in the decoder.

A plain one and one with length tokens are Marian's own class. `length_control` in the configuration
says which control a checkpoint has.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, MarianConfig, MarianMTModel
from transformers.models.marian.modeling_marian import MarianDecoder

from training.translation.options import LENGTH_TOKEN, PLAIN

# How a wanted length reaches a decoder: what is added to, or put in place of, its positions.
#
# A decoder of L pieces reads L + 1 tokens: the start, then the pieces. Position t counts them from
# 0, and L + 1 − t steps are left there, so 1 where the end is to be predicted.


CAP = 100
# The form of a control that multiplies words once more.
TWICE = ("target-embedding", "forward-backward")


def remaining(lengths: Tensor, positions: Tensor, cap: int | None = None) -> Tensor:
    """Return (batch, positions) steps that are left; 0 after the end."""
    left = (lengths[:, None] + 1 - positions[None, :]).clamp(min=0)
    return left if cap is None else left.clamp(max=cap)


def countdown(left: Tensor, width: int) -> Tensor:
    """Return (…, width): sin and cos, one after the other, of the steps left (Niehues 2020)."""
    half = width // 2
    powers = torch.arange(half, device=left.device, dtype=torch.float32) / max(half - 1, 1)
    angles = left[..., None].float() * 10000.0**-powers
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def difference(lengths: Tensor, positions: Tensor, width: int) -> Tensor:
    """Return (batch, positions, width): sinusoids of length − position in turn (LDPE).

    Takase and Okazaki (2019), equations 4 and 5.
    """
    left = (lengths[:, None] - positions[None, :]).float()
    return _in_turn(left[..., None] * 10000.0 ** -_powers(width, left.device))


def ratio(lengths: Tensor, positions: Tensor, width: int) -> Tensor:
    """Return (batch, positions, width): sinusoids of position / length^(2i/width) in turn (LRPE).

    Takase and Okazaki (2019), equations 6 and 7.
    """
    base = lengths[:, None, None].float().clamp(min=1.0) ** -_powers(width, positions.device)
    return _in_turn(positions[None, :, None].float() * base)


def progress(lengths: Tensor, positions: Tensor, width: int, noise: float = 0.0) -> Tensor:
    """Return (batch, positions, width): the impatience signal of r = position / length, at most 1.

    Botcazou et al. (2025): cos and sin in turn of r · width/2 · 2⌊j/2⌋/width. In training r gets
    Gaussian noise of the deviation 2 / width, as in their program.
    """
    done = positions[None, :] / lengths[:, None].float().clamp(min=1.0)
    if noise:
        done = done + noise * torch.randn_like(done)
    grid = 2 * (torch.arange(width, device=done.device) // 2) / width
    angles = done.clamp(0.0, 1.0)[..., None] * (width / 2) * grid
    is_even = torch.arange(width, device=done.device) % 2 == 0
    return torch.where(is_even, angles.cos(), angles.sin())


def _powers(width: int, device: torch.device) -> Tensor:
    return torch.arange(0, width, 2, device=device, dtype=torch.float32) / width


def _in_turn(angles: Tensor) -> Tensor:
    """Interleave the sines and cosines of angles."""
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


@dataclass(frozen=True)
class Step:
    """What a decoder reads: words (batch, n, width), places (n, width), lengths, positions."""

    words: Tensor
    places: Tensor
    lengths: Tensor
    positions: Tensor
    is_training: bool

    @property
    def width(self) -> int:
        """The model's width."""
        return self.words.shape[-1]

    def left(self, cap: int) -> Tensor:
        """Return the remaining steps, at most `cap`."""
        return remaining(self.lengths, self.positions, cap)


class Projector(nn.Module):
    """“int”: relu(W [word + position ; learned vector of the steps left] + b) (Niehues 2020)."""

    def __init__(self, width: int, cap: int) -> None:
        super().__init__()
        self.cap = cap
        self.table = nn.Embedding(cap + 1, width, padding_idx=0)
        self.projection = nn.Linear(2 * width, width)

    def draw(self) -> None:
        """Draw the table anew with the deviation 1, that of scaled words."""
        with torch.no_grad():
            self.table.weight.normal_()[0] = 0.0

    def forward(self, step: Step) -> Tensor:
        both = torch.cat([step.words + step.places, self.table(step.left(self.cap))], dim=-1)
        return torch.relu(self.projection(both))


class Signal(nn.Module):
    """A control without weights."""

    def __init__(self, name: tuple[str, str], cap: int) -> None:
        super().__init__()
        self.mix, self.cap = SIGNALS[name], cap

    def forward(self, step: Step) -> Tensor:
        mixed: Tensor = self.mix(step, self.cap)
        return mixed


def build_controls(control: str, form: str, width: int, cap: int) -> nn.Module:
    """Return the module of a control; `form` is that of the target embedding."""
    if (control, form) == ("target-embedding", "int"):
        return Projector(width, cap)
    return Signal((control, form if control == "target-embedding" else ""), cap)


def _encoding(step: Step, cap: int) -> Tensor:
    return step.words + countdown(step.left(cap), step.width)


def _forward_backward(step: Step, cap: int) -> Tensor:
    return (step.words + step.places) * math.sqrt(step.width) + countdown(
        step.left(cap), step.width
    )


def _difference(step: Step, cap: int) -> Tensor:
    return step.words + difference(step.lengths, step.positions, step.width)


def _ratio(step: Step, cap: int) -> Tensor:
    return step.words + ratio(step.lengths, step.positions, step.width)


def _progress(step: Step, cap: int) -> Tensor:
    noise = 2 / step.width if step.is_training else 0.0
    return step.words + step.places + progress(step.lengths, step.positions, step.width, noise)


SIGNALS: dict[tuple[str, str], Callable[[Step, int], Tensor]] = {
    ("target-embedding", "encoding"): _encoding,
    TWICE: _forward_backward,
    ("length-difference", ""): _difference,
    ("length-ratio", ""): _ratio,
    ("progress-ratio", ""): _progress,
}


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
        self.control = build_controls(told["control"], told["form"], config.d_model, told["cap"])
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
        if isinstance(module, Projector):
            module.draw()
    return model


def _depth(options: Mapping[str, Any]) -> float:
    """Return the exponent of width that embeddings are scaled by: 0.5, or 1 if scaled twice.

    Initial weights are divided by it, so that embeddings reach the layers with unit variance.
    """
    is_scaled_twice = (options["control"], options["form"]) == TWICE
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
