"""newstest2017 as tokenised, lower-cased text: outputs, references and human scores."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from metrics.base import Scores, SegmentInput


@dataclass(frozen=True)
class Newstest:
    """Rows of outputs with their system, human scores of some of them, published system checks."""

    inputs: list[SegmentInput]
    systems: list[str]
    judged: list[int]
    human: Scores
    checks: list[dict[str, str]]

    def rows_of(self, system: str) -> list[int]:
        return [row for row, name in enumerate(self.systems) if name == system]


def read_newstest(folder: Path) -> Newstest:
    segments = {row["sid"]: row for row in _read(folder / "segments.tsv")}
    outputs = _read(folder / "outputs.tsv")
    place = {(row["sid"], row["system"]): index for index, row in enumerate(outputs)}
    judged = _read(folder / "seg-human.tsv")
    return Newstest(
        inputs=[
            SegmentInput(segment["source"], row["output"], (segment["reference"],))
            for row in outputs
            for segment in [segments[row["sid"]]]
        ],
        systems=[row["system"] for row in outputs],
        judged=[place[row["sid"], row["system"]] for row in judged],
        human=np.array([float(row["human_z"]) for row in judged]),
        checks=_read(folder / "sys-human.tsv"),
    )


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="session")
def newstests(data_dir: Path) -> dict[str, Newstest]:
    return {pair: read_newstest(data_dir / "wmt17" / pair) for pair in ("zh-en", "de-en")}
