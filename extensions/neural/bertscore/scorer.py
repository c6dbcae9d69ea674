"""Compute BERTScore of outputs against references; encode each text once and keep all layers.

Equal to bert-score 0.3.13 with ``all_layers=True`` within 1e-5 in float32 if its batches hold one
text (tests). In larger batches, bert-score matches padding with similarity 0; padding is never
matched here. With several references each value is the largest over them, as in bert-score, unless
an option says otherwise. Texts longer than the encoder's limit are truncated, as in bert-score.

With ``idf`` and ``baseline`` of bert-score, values are equal within 2e-5 (tests). ``idf`` counts
pieces over the N references of the test set. The signature names them (``idf:``), so scores of
different test sets are never mixed. A test set needs at least two references. A text scores 0 if
every reference contains all of its pieces. Every worker needs the file of a ``baseline``; nothing
is downloaded. The files of bert-score are in its package, below ``rescale_baseline/``.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import torch

from extensions.neural.bertscore import options
from extensions.neural.bertscore.options import Baseline
from extensions.neural.encoding import encoders, precision
from extensions.neural.encoding.encoders import Encoder, moved
from extensions.neural.encoding.token_vectors import (
    UNIFORM,
    Weights,
    empty_ids,
    fit_weights,
    tokenize_all,
)
from extensions.neural.on_encoder import OnEncoder, greedy_match
from metaeval.messages import message
from metrics import truncation
from metrics.base import (
    InputError,
    MetricError,
    MetricInfo,
    Scores,
    SegmentInput,
    check_inputs,
    format_signature,
    group_by_references,
)
from metrics.checkpoints import hashes
from metrics.families import references
from metrics.families.references import chosen
from metrics.options import precision_of

# Increase it with every change that alters a value.
REVISION = 2
# With one reference, the weight of each of its pieces would be 0.
LEAST_REFERENCES = 2


@dataclass(frozen=True)
class Unit:
    """Hold the outputs of the same references, which must be in memory together.

    ``hypotheses`` are the outputs of ``rows``.
    """

    references: tuple[str, ...]
    rows: tuple[int, ...]
    hypotheses: tuple[str, ...]

    @cached_property
    def texts(self) -> list[str]:
        """Return every distinct text."""
        return list(dict.fromkeys([*self.references, *self.hypotheses]))

    def halves(self) -> list["Unit"]:
        """Return two units with half of the outputs each; itself if it has only one output."""
        middle = len(self.rows) // 2
        if not middle:
            return [self]
        return [
            Unit(self.references, self.rows[part], self.hypotheses[part])
            for part in (slice(middle), slice(middle, None))
        ]


class BertScore(OnEncoder):
    """Compute BERTScore with the checkpoint of the description, for any languages."""

    def __init__(self, info: MetricInfo, *, source_language: str, target_language: str) -> None:
        self.info = info
        self.encoder = encoders.get(info.checkpoint, precision=precision_of(info))
        expected = 3 * self.encoder.n_layers
        if info.width != expected:
            problem = message(
                "bertscore.other-layers",
                "{metric} was configured with {expected} layers, but {checkpoint} has {actual}.",
                metric=info.label,
                expected=info.width // 3,
                checkpoint=info.checkpoint,
                actual=self.encoder.n_layers,
            )
            raise MetricError(problem, permanent=True)
        given = dict(info.options)
        self.weights = None if given.get("idf") else UNIFORM
        self.baseline = self._read_baseline(str(given.get("baseline") or ""))

    def _read_baseline(self, name: str) -> Baseline | None:
        if not name:
            return None
        path = options.locate_baseline(self.info.checkpoint, name)
        return options.read_baseline(path, self.encoder.n_layers)

    def fit(self, references: Iterable[tuple[str, ...]]) -> None:
        """Count for each piece how many references contain it."""
        texts = sorted(text for each in references for text in chosen(self.info, each))
        if len(texts) < LEAST_REFERENCES:
            problem = message(
                "bertscore.too-few-references",
                "{metric} uses idf weights, which need at least {least} references. There are "
                "{count}.",
                metric=self.info.label,
                least=LEAST_REFERENCES,
                count=len(texts),
            )
            raise InputError(problem)
        ids = tokenize_all(self.encoder, texts)
        digest = hashes.of_text(json.dumps(texts, ensure_ascii=False))[:12]
        self.weights = fit_weights([ids[text] for text in texts], digest)

    @property
    def fitted(self) -> Weights:
        """Return the weights of pieces; a permanent :class:`MetricError` before :meth:`fit`."""
        if self.weights is None:
            problem = message(
                "bertscore.not-fitted",
                "{metric} uses idf weights and has not read the references of a test set.",
                metric=self.info.label,
            )
            raise MetricError(problem, permanent=True)
        return self.weights

    def signature(self) -> str:
        """Return everything that changes a value."""
        return format_signature(
            self.info.name,
            {
                "checkpoint": self.info.checkpoint,
                "weights": self.encoder.spec.weights,
                **precision.signature_fields(self.precision),
                "idf": self.fitted.digest or "no",
                "rescaled": self.baseline.digest if self.baseline else "no",
            }
            | references.field(self.info)
            | {"revision": REVISION},
        )

    @truncation.reported
    def score(self, inputs: Sequence[SegmentInput]) -> Scores:
        """Return (n, 3 × layers): precision, recall and F1 of layer 0, of layer 1, …"""
        check_inputs(self.info, inputs)
        pooled = references.Pool(self.info, len(inputs))
        units = _units(references.trim(self.info, inputs))
        tokens = tokenize_all(self.encoder, _texts(units))
        for _, (rows, values) in encoders.in_batches(
            self.encoder,
            units,
            length=lambda unit: max(len(tokens[text]) for text in unit.texts),
            size=lambda unit: len(unit.texts),
            prepare=lambda batch: self._prepared(batch, tokens),
            work=self._score_together,
            split=Unit.halves,
        ):
            pooled.add(rows, values)
        scores = pooled.result()
        return self.baseline.rescale(scores) if self.baseline else scores

    def _prepared(self, units: Sequence[Unit], tokens: dict[str, list[int]]) -> "_Prepared":
        place = {text: number for number, text in enumerate(_texts(units))}
        pairs = [
            (row, place[hypothesis], place[reference])
            for unit in units
            for row, hypothesis in zip(unit.rows, unit.hypotheses, strict=True)
            for reference in unit.references
        ]
        ids = [tokens[text] for text in place]
        return _Prepared(pairs, self.encoder.pad(ids), _weights(self.encoder, ids, self.fitted))

    @torch.inference_mode()
    def _score_together(self, given: "_Prepared") -> tuple[list[int], Scores]:
        """Return the (pairs, 3 × layers) values of all pairs of some units, and their rows."""
        states, mask = self.encoder.compute(given.padded)
        weights = moved(given.weights, mask.device)
        _, hypotheses, right_sides = moved(torch.tensor(given.pairs), mask.device).unbind(1)
        layers = []
        while states:
            # Release each layer after use.
            layers.append(greedy_match(states.pop(0), mask, weights, hypotheses, right_sides))
        values = np.asarray(torch.cat(layers, dim=1).double().cpu().numpy())
        return [row for row, _, _ in given.pairs], values


@dataclass(frozen=True)
class _Prepared:
    """Hold a batch: (row, output, reference) by places of texts, padded texts, their weights."""

    pairs: list[tuple[int, int, int]]
    padded: Any
    weights: torch.Tensor


def _weights(encoder: Encoder, ids: Sequence[Sequence[int]], table: Weights) -> torch.Tensor:
    """Return the weight (1, or idf) of each piece, (texts, longest).

    Special tokens, padding and the placeholder of an empty text have weight 0.
    """
    special = {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}
    empty = empty_ids(encoder.tokenizer)
    # Every piece is looked up once: the same ones come again and again.
    found = {piece: table.table.get(piece, table.unseen) for piece in set(chain.from_iterable(ids))}
    found |= dict.fromkeys(special & found.keys(), 0.0)
    longest, weights = max(map(len, ids)), []
    for text in ids:
        row = [] if list(text) == empty else [found[piece] for piece in text]
        weights.append(row + [0.0] * (longest - len(row)))
    return torch.tensor(weights)


def _units(inputs: Sequence[SegmentInput]) -> list[Unit]:
    return [
        Unit(texts, tuple(rows), tuple(inputs[row].hypothesis for row in rows))
        for texts, rows in group_by_references(inputs).items()
    ]


def _texts(units: Sequence[Unit]) -> list[str]:
    return list(dict.fromkeys(text for unit in units for text in unit.texts))
