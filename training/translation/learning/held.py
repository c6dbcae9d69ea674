"""What a model makes of held-out text: loss, and how its free outputs keep the wanted length."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from sacrebleu.metrics.chrf import CHRF

from metaeval.systems import length_deviation
from training.translation.decoding.checkpoints import Checkpoint
from training.translation.decoding.generating import Beam, Row, search
from training.translation.learning.pairs import Collator, Pairs

# Pairs that are translated at each evaluation, and pairs whose loss is computed at once.
MOST, BATCH = 200, 64


@dataclass(frozen=True)
class Measured:
    """Loss a piece without smoothing; mean deviation from the reference's length in pieces, which
    a trained control gets; share of outputs equal to the reference; chrF."""

    loss: float
    length_error: float
    exact: float
    chrf: float


def measure(checkpoint: Checkpoint, pairs: Pairs, collator: Collator) -> Measured:
    """Measure a model greedily on the first pairs of a held-out set."""
    rows = pairs.rows[:MOST]
    asked = [
        Row(tuple(source), len(target) - 1 if checkpoint.has_control else None)
        for source, target in rows
    ]
    outputs = [found[0].pieces for found in search(checkpoint, asked, Beam(size=1))]
    texts = [checkpoint.write(list(output)) for output in outputs]
    references = [target for _, target in pairs.texts[:MOST]]
    own = [len(output) for output in outputs]
    error = length_deviation(own, [len(target) - 1 for _, target in rows])
    equal = [list(o) == target[:-1] for o, (_, target) in zip(outputs, rows, strict=True)]
    return Measured(
        loss(checkpoint, pairs, collator),
        error.statistic,
        float(np.mean(equal)),
        CHRF().corpus_score(texts, [references]).score,
    )


def loss(checkpoint: Checkpoint, pairs: Pairs, collator: Collator) -> float:
    """Return the mean −ln p of a held-out piece, ends and length tokens included."""
    total = n = 0.0
    order: Sequence[int] = sorted(range(len(pairs)), key=lambda place: len(pairs.rows[place][1]))
    for start in range(0, len(order), BATCH):
        batch = collator([pairs[place] for place in order[start : start + BATCH]])
        batch = {name: value.to(checkpoint.device) for name, value in batch.items()}
        with torch.inference_mode():
            found = checkpoint.model(**batch)
        n_pieces = int((batch["labels"] >= 0).sum())
        total, n = total + float(found.loss) * n_pieces, n + n_pieces
    return total / n
