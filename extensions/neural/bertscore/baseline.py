"""Read baselines of BERTScore in bert-score's format, and rescale scores by them.

Imports neither Django nor torch. The baseline b is the score of unrelated sentences of a language.
A value x is rescaled to (x - b) / (1 - b), which changes no rank within a column (Zhang et al.
2020, section "Rescaling" of their package). A file has the columns LAYER, P, R, F.
"""

import csv
import hashlib
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metaeval.messages import Message, message
from metaeval.reasons import reason_of
from metrics.base import MetricError, Scores
from metrics.checkpoints import places

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
