"""How probable a model finds outputs, whatever search found them."""

from collections.abc import Sequence

import torch

from training.translation.decoding.checkpoints import Checkpoint, has_length_tokens, no_gradients
from training.translation.decoding.generating import Row, padded

BATCH = 32


def log_probabilities(
    checkpoint: Checkpoint, rows: Sequence[Row], outputs: Sequence[Sequence[int]]
) -> list[float]:
    """Return ln p of each output with its end, given its row's source and told length."""
    found: list[float] = []
    for start in range(0, len(rows), BATCH):
        part = slice(start, start + BATCH)
        found += _score(checkpoint, rows[part], outputs[part])
    return found


def _score(
    checkpoint: Checkpoint, rows: Sequence[Row], outputs: Sequence[Sequence[int]]
) -> list[float]:
    end = checkpoint.end
    befores = [_before(checkpoint, row) for row in rows]
    read = [[*before, *output] for before, output in zip(befores, outputs, strict=True)]
    given = padded(checkpoint, read)
    if not checkpoint.is_causal:
        given = {"decoder_input_ids": given["input_ids"], **_sources(checkpoint, rows)}
    with no_gradients():
        logits = checkpoint.model(**given).logits.float().log_softmax(-1)
    scores = []
    for n, (before, output) in enumerate(zip(befores, outputs, strict=True)):
        at = torch.arange(len(before) - 1, len(before) + len(output), device=logits.device)
        written = torch.tensor([*output, end], device=logits.device)
        scores.append(float(logits[n, at, written].sum()))
    return scores


def _before(checkpoint: Checkpoint, row: Row) -> list[int]:
    if checkpoint.is_causal:
        return list(row.source)
    told = [checkpoint.length_token(int(row.told or 0))] if has_length_tokens(checkpoint) else []
    return [*checkpoint.prefix, *told]


def _sources(checkpoint: Checkpoint, rows: Sequence[Row]) -> dict[str, torch.Tensor]:
    given = padded(checkpoint, [row.source for row in rows])
    if checkpoint.is_told and not has_length_tokens(checkpoint):
        told = [int(row.told or 0) for row in rows]
        given["wanted_lengths"] = torch.tensor(told, device=checkpoint.device)
    return given
