"""Reads the published data sets; tests skip where the data folder is not present."""

from __future__ import annotations

import csv
import os
from functools import cache
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DATA = (ROOT / os.environ.get("TOUCHSTONE_DATA", "../shared/data")).resolve()
# Small inputs that once failed, beside the data folder.
CASES = DATA.parent / "cases"


@cache
def table(name: str) -> dict[str, list[str]]:
    """Return column -> values of a tab-separated file of the data folder."""
    path = DATA / name
    assert path.exists(), f"no {name} under TOUCHSTONE_DATA"
    with path.open(encoding="utf-8", newline="") as lines:
        reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        header = next(reader)
        rows = list(reader)
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def numbers(values: list[str]) -> np.ndarray:
    """Return floats; empty fields become nan."""
    return np.array([float(value) if value else np.nan for value in values])


def pivot(rows: list[str], columns: list[str], values: np.ndarray) -> tuple[np.ndarray, list, list]:
    """Return a rows x columns matrix (nan where absent) and both label lists, sorted."""
    names, heads = sorted(set(rows)), sorted(set(columns))
    at_row = {name: i for i, name in enumerate(names)}
    at_column = {name: j for j, name in enumerate(heads)}
    matrix = np.full((len(names), len(heads)), np.nan)
    for row, column, value in zip(rows, columns, values, strict=True):
        matrix[at_row[row], at_column[column]] = value
    return matrix, names, heads
