"""What a search may write next: never an end too early, never a piece too much."""

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from transformers import LogitsProcessor

from training.translation import lengths
from training.translation.decoding.checkpoints import Checkpoint


@dataclass(frozen=True)
class Units:
    """How much each token adds to an output's length: as its first token, and later.

    `is_blank` marks tokens that would count as a word and be none.
    """

    first: Tensor
    later: Tensor
    is_blank: Tensor


def units_of(checkpoint: Checkpoint, unit: str) -> Units:
    """Return the length of tokens in a unit; syllables are counted per piece."""
    texts = checkpoint.tokens
    if unit == lengths.PIECES:
        first = later = [1] * len(texts)
    elif unit == lengths.WORDS:
        first, later = [1] * len(texts), [int(text.startswith(" ")) for text in texts]
    else:
        count = lengths.counter(unit)
        first = later = [_added(count, text) for text in texts]
    made = [torch.tensor(each, dtype=torch.float32) for each in (first, later)]
    for each in made:
        each[[*checkpoint.ends, *checkpoint.banned]] = 0.0
    made.append(torch.tensor([unit == lengths.WORDS and text == " " for text in texts]))
    return Units(*(each.to(checkpoint.device) for each in made))


@lru_cache(maxsize=300_000)
def _added(count: lengths.Count, text: str) -> int:
    return (
        count(text)
        if any(sign.isalnum() for sign in text) or count is lengths.count_characters
        else 0
    )


class LengthRule(LogitsProcessor):
    """Bans and rewards tokens of rows, each by its own wanted length, reward and limit.

    `wanted` (rows,) is nan where a row is not forced: an end is banned before that length is
    reached and any token that would exceed it. `reward` is added per unit. At `limit` pieces a row
    ends. `start` is how many tokens stand before outputs.
    """

    def __init__(
        self, checkpoint: Checkpoint, units: Units, wanted: Tensor, reward: Tensor, limit: Tensor
    ) -> None:
        self.units, self.wanted, self.reward, self.limit = units, wanted, reward, limit
        self.is_forced = not bool(wanted.isnan().all())
        self.is_rewarded = bool((reward != 0).any())
        self.is_end = torch.zeros(len(units.later), dtype=torch.bool, device=wanted.device)
        self.is_end[checkpoint.ends] = True
        self.is_banned = torch.zeros_like(self.is_end)
        self.is_banned[checkpoint.banned] = True
        self.start = 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        written = input_ids[:, self.start :]
        added = self.units.later if written.shape[1] else self.units.first
        scores = scores.masked_fill(self.is_banned, -torch.inf)
        if self.is_rewarded:
            scores = scores + self.reward[:, None] * added
        if self.is_forced:
            left = (self.wanted - self._length(written))[:, None]
            # Comparisons with nan are false: such rows are free.
            too_early = (left > 0) & self.is_end
            too_much = (added > left) | (self.units.is_blank & ~left.isnan())
            scores = scores.masked_fill(too_early | too_much, -torch.inf)
        must_end = (written.shape[1] >= self.limit)[:, None] | scores.isneginf().all(
            1, keepdim=True
        )
        return torch.where(must_end, torch.where(self.is_end, 0.0, -torch.inf), scores)

    def _length(self, written: Tensor) -> Tensor:
        if not written.shape[1]:
            return torch.zeros_like(self.wanted)
        return self.units.first[written[:, 0]] + self.units.later[written[:, 1:]].sum(dim=1)
