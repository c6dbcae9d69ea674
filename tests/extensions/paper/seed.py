"""Made-up files in the shape of Cheng et al. (2023): four seeded tables, nothing in them is real.

Two directions, two length ratios, three systems of which two are judged, three annotators of each
direction, 133 ratings of each annotator and length (120 outputs, 13 traps), 18 metrics under their
genuine names, and the layers of four encoders.
"""

import csv
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

DIRECTIONS = ("en-zh", "zh-en")
RATIOS = (0.8, 0.5)
SYSTEMS = ("Target Embedding", "Length Embedding", "Translate-then-Summarize")
JUDGED = SYSTEMS[:2]
N_SEGMENTS, N_TRAPS, N_ANNOTATORS = 60, 13, 3
# How closely each metric follows the quality of an output.
METRICS = {
    **{f"ROUGE{n}-{part}": 0.45 for n in "12L" for part in ("P", "R", "F1")},
    "wmt20-comet-da": 0.95, "wmt21-comet-mqm": 0.85, "wmt21-comet-qe-da": 0.8,
    "bert-base-multilingual-cased": 0.7, "bart-large-mnli": 0.6, "roberta-large-mnli": 0.55,
    "deberta-xlarge-mnli": 0.75, "BLEU*": 0.3, "BLEURT": 0.9,
}  # fmt: skip
# Encoders with the layers that the tables of scores have of them.
LAYERS = {
    "bert-base-multilingual-cased": range(13),
    "bart-large-mnli": range(10, 12),
    "deberta-xlarge-mnli": range(35, 49),
    "roberta-large-mnli": range(12, 14),
}
PARTS = ("P", "R", "F")
QUESTION = "How much of the meaning of the source is kept?"


@dataclass
class Study:
    """What the files hold, by direction and ratio, for the numbers that tests compute."""

    ratings: list[dict[str, Any]] = field(default_factory=list)
    scores: list[dict[str, Any]] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)
    segments: list[dict[str, Any]] = field(default_factory=list)

    def write(self, folder: Path) -> dict[str, Path]:
        """Write the four tables, and return their paths by name."""
        tables = {"segments": self.segments, "outputs": self.outputs, "ratings": self.ratings,
                  "scores": self.scores}  # fmt: skip
        return {name: _write(folder / f"{name}.tsv", rows) for name, rows in tables.items()}


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def make(
    seed: int = 2023,
    layers: Mapping[str, Sequence[int]] = LAYERS,
    metrics: Sequence[str] = tuple(METRICS),
) -> Study:
    """Return a study with these metrics and layers; the same for the same seed."""
    study, rng = Study(), random.Random(seed)
    noise = np.random.default_rng(seed)
    for direction in DIRECTIONS:
        lengths = {}
        for n in range(N_SEGMENTS):
            key = f"{direction}-{n:03}"
            lengths[key] = rng.randint(18, 34)
            source, target = direction.split("-")
            study.segments.append(
                {"language_pair": direction, "segment": key, "source": _text(rng, source, 24),
                 "reference": _text(rng, target, lengths[key])}
            )  # fmt: skip
        for ratio in RATIOS:
            quality = dict(_outputs(study, rng, direction, ratio, lengths))
            _rate(study, rng, direction, ratio, quality)
            _score(study, noise, direction, ratio, quality, _shares(metrics, layers))
    return study


def _text(rng: random.Random, language: str, length: int) -> str:
    if language == "zh":
        return "".join(chr(rng.randint(0x4E00, 0x5E00)) for _ in range(length))
    letters = "abcdefghijklmnoprstuvw"
    return " ".join("".join(rng.choices(letters, k=rng.randint(3, 7))) for _ in range(length))


def _outputs(
    study: Study, rng: random.Random, direction: str, ratio: float, lengths: Mapping[str, int]
) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield the quality of every output; the first system has every length exactly."""
    for level, system in enumerate(SYSTEMS):
        for key, length in lengths.items():
            wanted = max(1, round(ratio * length))
            text = _text(rng, direction[3:], wanted + (rng.randint(0, 2) if level else 0))
            study.outputs.append(
                {"language_pair": direction, "segment": key, "system": system,
                 "length_ratio": ratio, "output": text}
            )  # fmt: skip
            yield (system, key), 40 + 30 * ratio + (0, 6, -14, 9)[level] + rng.gauss(0, 14)


def _rate(
    study: Study, rng: random.Random, direction: str, ratio: float, quality: Mapping[Any, float]
) -> None:
    judged = [cell for cell in quality if cell[0] in JUDGED]
    trapped = rng.sample(judged, N_TRAPS)
    for person in range(N_ANNOTATORS):
        name = f"{direction[:2].upper()}{person + 1}"
        shown = [(cell, "TGT") for cell in judged] + [(cell, "TRAP") for cell in trapped]
        rng.shuffle(shown)
        now = datetime(2022, 3, 1 + person, 9, tzinfo=UTC)
        for (system, key), kind in shown:
            value = quality[system, key] + rng.gauss(4 * person, 9 + 2 * person)
            if kind == "TRAP":
                value = rng.choice((*[0] * 8, 10, 15, 60))
            began, now = now, now + timedelta(seconds=round(rng.lognormvariate(3.4, 0.8)))
            study.ratings.append(
                {"language_pair": direction, "campaign": f"{direction} {ratio:.0%}",
                 "length_ratio": ratio, "annotator": name, "segment": key, "system": system,
                 "kind": kind, "score": min(100, max(0, round(value))),
                 "started_at": began.isoformat(), "submitted_at": now.isoformat()}
            )  # fmt: skip


def _shares(metrics: Sequence[str], layers: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """Return how closely each metric and layer follows quality; the middle layer does best."""
    return {metric: METRICS[metric] for metric in metrics} | {
        f"{encoder} layer.{layer}.{part}": METRICS[encoder] * (0.9 if part == "P" else 1.0)
        - 0.01 * abs(layer - known[len(known) // 2])
        for encoder, known in layers.items()
        for layer in known
        for part in PARTS
    }


def _score(
    study: Study, noise: np.random.Generator, direction: str, ratio: float,
    quality: Mapping[Any, float], shares: Mapping[str, float],
) -> None:  # fmt: skip
    for (system, key), value in quality.items():
        row = {"language_pair": direction, "segment": key, "system": system, "length_ratio": ratio}
        for metric, share in shares.items():
            own = share * (value - 55) / 20 + (1 - share) * noise.normal()
            row[metric] = f"{0.5 + own / 10:.5f}"
        study.scores.append(row)
