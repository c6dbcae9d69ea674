"""How a wanted length reaches a decoder: what is added to, or put in place of, its positions.

A decoder of L pieces reads L + 1 tokens: the start, then the pieces. Position t counts them from 0,
and L + 1 − t steps are left there, so 1 where the end is to be predicted.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

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


def build(control: str, form: str, width: int, cap: int) -> nn.Module:
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
