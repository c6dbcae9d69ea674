"""Beam search over rows that each have a wanted length, a reward and a limit of their own.

What a row gives does not depend on the rows beside it. Outputs can also be scored, whatever
search found them: how probable the model finds them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig, LogitsProcessor, LogitsProcessorList

from extensions.neural.encoding.encoders import moved
from training.translation import lengths
from training.translation.decoding.checkpoints import Checkpoint, has_length_tokens, no_gradients
from training.translation.lengths import PIECES

# What a search may write next: never an end too early, never a piece too much.


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


# Pieces of sources times beams that are searched at once.
ROOM = {"cpu": 6_000, "cuda": 60_000}


@dataclass(frozen=True)
class Row:
    """The pieces of a source, and the requirements of its output.

    `target_length` is the input of a length control in pieces. `forced` is the length in units of
    the search at which the output ends. `reward` is added to the score for every unit.
    """

    source: tuple[int, ...]
    target_length: int | None = None
    forced: int | None = None
    reward: float = 0.0


@dataclass(frozen=True)
class Found:
    """An output's pieces, without what stands before and after, and the search's score."""

    pieces: tuple[int, ...]
    score: float


@dataclass(frozen=True)
class Beam:
    """How to search: beams, the unit of forced lengths and rewards, and of the score, whose sum is
    divided by length^`penalty`. `n_best` of the beams are returned."""

    size: int = 4
    unit: str = PIECES
    penalty: float = 1.0
    n_best: int = 1


def search(checkpoint: Checkpoint, rows: Sequence[Row], beam: Beam) -> list[list[Found]]:
    """Return the best outputs of each row."""
    units = units_of(checkpoint, beam.unit)
    found: dict[int, list[Found]] = {}
    for places in _batches(checkpoint, rows, beam):
        outputs = _search(checkpoint, [rows[n] for n in places], beam, units)
        found |= zip(places, outputs, strict=True)
    return [found[n] for n in range(len(rows))]


def limit_of(checkpoint: Checkpoint, row: Row) -> int:
    """Return how many pieces an output may have that nothing else ends."""
    room = checkpoint.limit - len(checkpoint.prefix) - 2
    if checkpoint.is_causal:
        room = max(1, room - len(row.source))
    usual = 3 * len(row.source) + 30
    asked = max(row.target_length or 0, row.forced or 0)
    return min(room, max(usual, 2 * asked + 10))


def _batches(checkpoint: Checkpoint, rows: Sequence[Row], beam: Beam) -> Iterator[list[int]]:
    """Return batches of rows of similar length, the longest first."""
    room = ROOM["cuda" if "cuda" in str(checkpoint.device) else "cpu"]
    order = sorted(
        range(len(rows)), key=lambda n: (-len(rows[n].source), -(rows[n].target_length or 0))
    )
    batch: list[int] = []
    for n in order:
        longest = len(rows[batch[0]].source) if batch else 0
        if batch and (len(batch) + 1) * longest * beam.size > room:
            yield batch
            batch = []
        batch.append(n)
    if batch:
        yield batch


def _search(
    checkpoint: Checkpoint, rows: Sequence[Row], beam: Beam, units: Units
) -> list[list[Found]]:
    given = _inputs(checkpoint, rows)
    limits = [limit_of(checkpoint, row) for row in rows]
    rule = _rule(checkpoint, rows, limits, beam, units)
    start = given["input_ids"] if checkpoint.is_causal else given["decoder_input_ids"]
    rule.start = start.shape[1]
    with no_gradients():
        done = checkpoint.model.generate(
            **given,
            generation_config=_config(checkpoint, beam, max(limits)),
            logits_processor=LogitsProcessorList([rule]),
            use_model_defaults=False,
        )
    scores = done.sequences_scores.tolist() if beam.size > 1 else [0.0] * len(rows)
    every = [
        Found(_until_end(checkpoint, ids[rule.start :]), score)
        for ids, score in zip(done.sequences.tolist(), scores, strict=True)
    ]
    return [every[n : n + beam.n_best] for n in range(0, len(every), beam.n_best)]


def _config(checkpoint: Checkpoint, beam: Beam, longest: int) -> GenerationConfig:
    config = checkpoint.model.config
    return GenerationConfig(  # type: ignore[no-untyped-call]
        num_beams=beam.size,
        num_return_sequences=beam.n_best,
        length_penalty=beam.penalty,
        max_new_tokens=longest + 1,
        eos_token_id=checkpoint.ends,
        pad_token_id=checkpoint.padding,
        decoder_start_token_id=getattr(config, "decoder_start_token_id", None),
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=beam.size > 1,
    )


def _inputs(checkpoint: Checkpoint, rows: Sequence[Row]) -> dict[str, Tensor]:
    given = padded(checkpoint, [row.source for row in rows], left=checkpoint.is_causal)
    if checkpoint.is_causal:
        return given
    prefix = [list(checkpoint.prefix) for _ in rows]
    if has_length_tokens(checkpoint):
        prefix = [[*own, checkpoint.length_token(int(row.target_length or 0))]
                  for own, row in zip(prefix, rows, strict=True)]  # fmt: skip
    given["decoder_input_ids"] = moved(torch.tensor(prefix), checkpoint.device)
    if checkpoint.has_control and not has_length_tokens(checkpoint):
        wanted = [int(row.target_length or 0) for row in rows]
        given["wanted_lengths"] = moved(torch.tensor(wanted), checkpoint.device)
    return given


def padded(
    checkpoint: Checkpoint, texts: Sequence[Sequence[int]], *, left: bool = False
) -> dict[str, Tensor]:
    """Return pieces of several texts in one tensor, with what attends to them."""
    longest = max(map(len, texts))
    ids = torch.full((len(texts), longest), checkpoint.padding)
    mask = torch.zeros_like(ids)
    for n, text in enumerate(texts):
        place = slice(longest - len(text), None) if left else slice(len(text))
        ids[n, place], mask[n, place] = torch.tensor(list(text)), 1
    device = checkpoint.device
    return {"input_ids": moved(ids, device), "attention_mask": moved(mask, device)}


def _rule(
    checkpoint: Checkpoint, rows: Sequence[Row], limits: Sequence[int], beam: Beam, units: Units
) -> LengthRule:
    def each(values: Sequence[Any]) -> Tensor:
        given = torch.tensor(values, dtype=torch.float32, device=checkpoint.device)
        return given.repeat_interleave(beam.size)

    wanted = each([torch.nan if row.forced is None else row.forced for row in rows])
    return LengthRule(checkpoint, units, wanted, each([row.reward for row in rows]), each(limits))


def _until_end(checkpoint: Checkpoint, ids: Sequence[int]) -> tuple[int, ...]:
    ends = {*checkpoint.ends, checkpoint.padding}
    n = next((place for place, piece in enumerate(ids) if piece in ends), len(ids))
    return tuple(ids[:n])


BATCH = 32


def log_probabilities(
    checkpoint: Checkpoint, rows: Sequence[Row], outputs: Sequence[Sequence[int]]
) -> list[float]:
    """Return ln p of each output with its end, given its row's source and target length."""
    found: list[float] = []
    for start in range(0, len(rows), BATCH):
        part = slice(start, start + BATCH)
        found += log_probabilities_at_once(checkpoint, rows[part], outputs[part])
    return found


def log_probabilities_at_once(
    checkpoint: Checkpoint, rows: Sequence[Row], outputs: Sequence[Sequence[int]]
) -> list[float]:
    """Return what :func:`log_probabilities` does, from one pass over all rows."""
    befores = [_before(checkpoint, row) for row in rows]
    read = [[*before, *output] for before, output in zip(befores, outputs, strict=True)]
    given = padded(checkpoint, read)
    if not checkpoint.is_causal:
        given = {"decoder_input_ids": given["input_ids"], **_sources(checkpoint, rows)}
    with no_gradients():
        logits = checkpoint.model(**given, use_cache=False).logits.float().log_softmax(-1)
    # Row by row, each would be waited for.
    n_written = [len(output) + 1 for output in outputs]
    places = [
        (row, place, piece)
        for row, (before, output) in enumerate(zip(befores, outputs, strict=True))
        for place, piece in enumerate([*output, checkpoint.end], start=len(before) - 1)
    ]
    each = logits[moved(torch.tensor(places), logits.device).unbind(1)].cpu()
    return [float(own.sum()) for own in each.split(n_written)]


def _before(checkpoint: Checkpoint, row: Row) -> list[int]:
    if checkpoint.is_causal:
        return list(row.source)
    first = (
        [checkpoint.length_token(int(row.target_length or 0))]
        if has_length_tokens(checkpoint)
        else []
    )
    return [*checkpoint.prefix, *first]


def _sources(checkpoint: Checkpoint, rows: Sequence[Row]) -> dict[str, torch.Tensor]:
    given = padded(checkpoint, [row.source for row in rows])
    if checkpoint.has_control and not has_length_tokens(checkpoint):
        wanted = [int(row.target_length or 0) for row in rows]
        given["wanted_lengths"] = moved(torch.tensor(wanted), checkpoint.device)
    return given
