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

import csv
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch

from extensions.neural.encoding import encoders, precision
from extensions.neural.encoding.encoders import Encoder
from extensions.neural.encoding.token_vectors import empty_ids, tokenize
from extensions.neural.on_encoder import OnEncoder, greedy_match
from extensions.neural.xbertscore.idf import UNIFORM, Weights, fit_weights
from metaeval.messages import Message, message
from metaeval.reasons import reason_of
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
from metrics.checkpoints import hashes, places
from metrics.families import references
from metrics.families.references import chosen
from metrics.options import precision_of

# Read baselines of BERTScore in bert-score's format, and rescale scores by them. Imports
# neither Django nor torch. The baseline b is the score of unrelated sentences of a language. A
# value x is rescaled to (x - b) / (1 - b), which changes no rank within a column (Zhang et al.
# 2020, section "Rescaling" of their package). A file has the columns LAYER, P, R, F.

_COLUMNS = ("LAYER", "P", "R", "F")


@dataclass(frozen=True, eq=False)
class Baseline:
    """Hold ``values`` (layers, 3) for P, R and F; ``digest`` identifies the file in signatures."""

    values: Scores
    digest: str

    def rescale(self, scores: Scores) -> Scores:
        """Return rescaled scores, (n, 3 × layers)."""
        below = self.values.reshape(-1)
        return np.asarray((scores - below) / (1 - below))


def locate(checkpoint: str, name: str) -> Path:
    """Return the path of an absolute name, or of one in the folder of a checkpoint.

    Raises :class:`MetricError` where that checkpoint is not on this machine.
    """
    return Path(name) if Path(name).is_absolute() else Path(places.find(checkpoint)) / name


def read(path: Path, layers: int) -> Baseline:
    """Read the baselines of layers 0 to ``layers`` - 1.

    Raises a permanent :class:`MetricError` that names file, line and field, or the missing layer.
    """
    try:
        raw = path.read_bytes()
        lines = raw.decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        problem = message(
            "file.unreadable",
            "{path} cannot be read: {error}.",
            path=str(path),
            error=reason_of(error),
        )
        raise _error(problem) from error
    separator = "\t" if lines and "\t" in lines[0] else ","
    head, *rows = csv.reader(lines, delimiter=separator) if lines else [[]]
    if [name.strip().upper() for name in head] != list(_COLUMNS):
        problem = message(
            "baseline-file.columns",
            "{path}, line 1: expected the columns {columns}.",
            path=str(path),
            columns=",".join(_COLUMNS),
        )
        raise _error(problem)
    found = dict(_row(path, number, row) for number, row in enumerate(rows, start=2) if row)
    for layer in range(layers):
        if layer not in found:
            problem = message(
                "baseline-file.no-layer",
                "{path} has no baseline for layer {layer}; expected layers 0 to {last}.",
                path=str(path),
                layer=layer,
                last=layers - 1,
            )
            raise _error(problem)
    values = np.array([found[layer] for layer in range(layers)])
    return Baseline(values, hashlib.sha256(raw).hexdigest()[:12])


def _row(path: Path, number: int, row: list[str]) -> tuple[int, list[float]]:
    if len(row) != len(_COLUMNS):
        problem = message(
            "baseline-file.fields",
            "{path}, line {line}: expected {expected} fields, but there are {actual}.",
            path=str(path),
            line=number,
            expected=len(_COLUMNS),
            actual=len(row),
        )
        raise _error(problem)
    values = [_number(path, number, *cell) for cell in zip(_COLUMNS, row, strict=True)]
    return int(values[0]), values[1:]


def _number(path: Path, number: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    is_right = value.is_integer() if column == "LAYER" and value == value else value < 1
    if not is_right:
        place = {"path": str(path), "line": number, "column": column, "value": text}
        if column == "LAYER":
            problem = message(
                "baseline-file.layer",
                "{path}, line {line}, {column}: “{value}” is not a layer.",
                **place,
            )
        else:
            problem = message(
                "baseline-file.value",
                "{path}, line {line}, {column}: “{value}” is not a number below 1.",
                **place,
            )
        raise _error(problem)
    return value


def _error(problem: Message) -> MetricError:
    return MetricError(problem, permanent=True)


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
        path = locate(self.info.checkpoint, name)
        return read(path, self.encoder.n_layers)

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
        ids = {text: tokenize(self.encoder.tokenizer, text) for text in dict.fromkeys(texts)}
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
        tokens = {text: tokenize(self.encoder.tokenizer, text) for text in _texts(units)}
        for _, (rows, values) in encoders.in_batches(
            self.encoder,
            units,
            length=lambda unit: max(len(tokens[text]) for text in unit.texts),
            size=lambda unit: len(unit.texts),
            work=lambda batch: self._score_together(batch, tokens),
            split=Unit.halves,
        ):
            pooled.add(rows, values)
        scores = pooled.result()
        return self.baseline.rescale(scores) if self.baseline else scores

    @torch.inference_mode()
    def _score_together(
        self, units: Sequence[Unit], tokens: dict[str, list[int]]
    ) -> tuple[list[int], Scores]:
        """Return the (pairs, 3 × layers) values of all pairs of some units, and their rows."""
        place = {text: number for number, text in enumerate(_texts(units))}
        pairs = [
            (row, place[hypothesis], place[reference])
            for unit in units
            for row, hypothesis in zip(unit.rows, unit.hypotheses, strict=True)
            for reference in unit.references
        ]
        ids = [tokens[text] for text in place]
        values = _all_layers(self.encoder, ids, pairs, self.fitted)
        return [row for row, _, _ in pairs], values


def _all_layers(
    encoder: Encoder,
    ids: Sequence[Sequence[int]],
    pairs: Sequence[tuple[int, int, int]],
    table: Weights,
) -> Scores:
    states, mask = encoder.hidden_states(ids)
    weights = _weights(encoder, ids, mask, table)
    hypotheses = torch.tensor([left for _, left, _ in pairs], device=mask.device)
    right_sides = torch.tensor([right for _, _, right in pairs], device=mask.device)
    layers = []
    while states:
        # Release each layer after use.
        layers.append(greedy_match(states.pop(0), mask, weights, hypotheses, right_sides))
    return np.asarray(torch.cat(layers, dim=1).double().cpu().numpy())


def _weights(
    encoder: Encoder, ids: Sequence[Sequence[int]], mask: torch.Tensor, table: Weights
) -> torch.Tensor:
    """Return the weight (1, or idf) of each piece.

    Special tokens, padding and the placeholder of an empty text have weight 0.
    """
    special = {encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id}
    empty = empty_ids(encoder.tokenizer)
    weights = torch.zeros(mask.shape)
    for row, text in enumerate(ids):
        if list(text) == empty:
            continue
        weights[row, : len(text)] = torch.tensor(
            [0.0 if token in special else table.table.get(token, table.unseen) for token in text]
        )
    return weights.to(mask.device)


def _units(inputs: Sequence[SegmentInput]) -> list[Unit]:
    return [
        Unit(texts, tuple(rows), tuple(inputs[row].hypothesis for row in rows))
        for texts, rows in group_by_references(inputs).items()
    ]


def _texts(units: Sequence[Unit]) -> list[str]:
    return list(dict.fromkeys(text for unit in units for text in unit.texts))
