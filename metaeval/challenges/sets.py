"""Read challenge sets with metric scores: ACES, SPAN-ACES and DEMETR."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.files.cells import read_score
from metaeval.files.text import FormatError, Table, read_text
from metaeval.messages import message

ACES, DEMETR = "ACES", "DEMETR"
GOOD, BAD = "-good", "-bad"
SPANS = (
    "good-translation-prediction", "incorrect-translation-prediction",
    "incorrect-translation-annotated",
)  # fmt: skip
# Categories of ACES by the beginnings of the names of phenomena; all others are mistranslations.
_CATEGORIES = {
    "addition": "addition",
    "omission": "omission",
    "copy-source": "untranslated",
    "untranslated": "untranslated",
    "do-not-translate": "do not translate",
    "hyponym-replacement": "overtranslation",
    "hypernym-replacement": "undertranslation",
    "antonym-replacement": "real-world knowledge",
    "commonsense": "real-world knowledge",
    "real-world-knowledge": "real-world knowledge",
    "similar-language": "wrong language",
    "punctuation": "punctuation",
}
_SPAN = re.compile(r"<v>(.*?)</v>", re.DOTALL)


@dataclass(frozen=True, eq=False)
class ChallengeSet:
    """Pairs of a good and an incorrect translation, with the scores of metrics.

    Attributes
    ----------
    layout
        ``ACES`` (and SPAN-ACES) or ``DEMETR``.
    phenomena, categories, sources
        One per pair. A category is a group of phenomena; DEMETR's is the severity.
    good, bad
        metric -> scores of the pairs, higher better; nan is missing.
    spans
        Per pair, the annotated error spans and those predicted in the incorrect translation, as
        texts; empty without predictions.
    n_unchanged
        Rows that were skipped because the perturbation changed nothing (DEMETR).
    n_references
        Rows that were skipped because the incorrect translation is the reference itself (DEMETR:
        all of ``base_id35_reference``, and a few that a perturbation turned into it).
    """

    layout: str
    phenomena: tuple[str, ...]
    categories: tuple[str, ...]
    sources: tuple[str, ...]
    good: Mapping[str, FloatArray]
    bad: Mapping[str, FloatArray]
    spans: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    n_unchanged: int = 0
    n_references: int = 0


def category_of(phenomenon: str) -> str:
    """Return the category of ACES that a phenomenon belongs to.

    >>> category_of("hallucination-date-time"), category_of("punctuation:deletion_all")
    ('mistranslation', 'punctuation')
    """
    return next(
        (found for start, found in _CATEGORIES.items() if phenomenon.startswith(start)),
        "mistranslation",
    )


def read_challenge_set(path: str | Path) -> ChallengeSet:
    """Read a challenge set whose rows have the columns ``METRIC-good`` and ``METRIC-bad``.

    ACES and SPAN-ACES have a column ``phenomena`` (TSV, CSV, JSON or JSON lines), DEMETR the fields
    ``pert_name`` and ``severity`` (JSON, or a folder of such files). DEMETR's rows with
    ``pert_check`` false or two equal translations are skipped, and those whose incorrect
    translation is the reference.

    Raises
    ------
    FormatError
        naming file, row and field: a field is missing, or a score is not a number.
    """
    root = Path(path)
    files = sorted(root.glob("*.json")) if root.is_dir() else [root]
    rows = [entry for file in files for entry in _rows(file)]
    if not rows:
        raise FormatError(root, None, message("file.empty", "The file is empty."))
    layout = DEMETR if "pert_name" in rows[0][2] else ACES
    name = "pert_name" if layout == DEMETR else "phenomena"
    metrics = [key.removesuffix(GOOD) for key in rows[0][2]
               if key.endswith(GOOD) and key.removesuffix(GOOD) + BAD in rows[0][2]]  # fmt: skip
    if not metrics:
        refusal = message(
            "challenge.no-scores",
            "There are no scores. Expected two columns per metric, such as BLEU-good and BLEU-bad.",
        )
        raise FormatError(rows[0][0], None, refusal)
    changed = [row for row in rows if layout == ACES or _is_changed(row[2])]
    used = [row for row in changed if layout == ACES or not _is_reference(row[2])]
    columns: dict[str, list[float]] = {}
    phenomena, categories, sources, spans = [], [], [], []
    for file, line, row in used:
        phenomenon = _text(file, line, row, name)
        phenomena.append(phenomenon)
        categories.append(
            _text(file, line, row, "severity") if layout == DEMETR else category_of(phenomenon)
        )
        sources.append(str(row.get("source") or row.get("src_sent") or f"{file.name}:{line}"))
        for key in (metric + end for metric in metrics for end in (GOOD, BAD)):
            columns.setdefault(key, []).append(_score(file, line, key, row.get(key)))
        if all(key in row for key in SPANS[1:]):
            spans.append((_marked(row[SPANS[2]]), _marked(row[SPANS[1]])))
    return ChallengeSet(
        layout,
        tuple(phenomena),
        tuple(categories),
        tuple(sources),
        {metric: np.array(columns[metric + GOOD]) for metric in metrics},
        {metric: np.array(columns[metric + BAD]) for metric in metrics},
        tuple(spans) if len(spans) == len(used) else (),
        len(rows) - len(changed),
        len(changed) - len(used),
    )


def _is_changed(row: Mapping[str, Any]) -> bool:
    """Return whether a perturbation changed the text; some unchanged ones are not marked."""
    marked, text = row.get("pert_check", True) is not False, row.get("pert_sent")
    return marked and (text is None or text != row.get("mt_sent"))


def _is_reference(row: Mapping[str, Any]) -> bool:
    text = row.get("pert_sent")
    return text is not None and text == row.get("eng_sent")


def _rows(path: Path) -> Iterator[tuple[Path, int, Mapping[str, Any]]]:
    """Yield file, line or number of the row, and its fields."""
    if path.suffix not in (".json", ".jsonl"):
        table = Table(path, ["phenomena"])
        for line, cells in table.rows:
            yield path, line, dict(zip(table.header, cells, strict=False))
        return
    text = read_text(path)
    try:
        entries = (
            [json.loads(line) for line in text.splitlines() if line.strip()]
            if path.suffix == ".jsonl"
            else json.loads(text)
        )
    except (ValueError, RecursionError):
        refusal = message("challenge.json", "Expected a JSON list of objects.")
        raise FormatError(path, None, refusal) from None
    if isinstance(entries, dict):  # SPAN-ACES maps numbers to its examples
        entries = list(entries.values())
    for number, entry in enumerate(_objects(path, entries), start=1):
        yield path, number, entry


def _objects(path: Path, entries: object) -> Sequence[Mapping[str, Any]]:
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise FormatError(path, None, message("challenge.json", "Expected a JSON list of objects."))
    return entries


def _text(path: Path, line: int, row: Mapping[str, Any], name: str) -> str:
    value = str(row.get(name) or "").strip()
    if not value:
        empty = message("field.empty", "Field {field} is empty.", field=name)
        raise FormatError(path, line, empty)
    return value


def _score(path: Path, line: int, name: str, value: object) -> float:
    score = read_score("" if value is None else str(value))
    if score is None:
        refusal = message(
            "challenge.score", "Field {field}: expected a number, got “{value}”.",
            field=name, value=str(value),
        )  # fmt: skip
        raise FormatError(path, line, refusal)
    return score


def _marked(text: object) -> frozenset[str]:
    """Return the texts that ``<v>`` marks."""
    found = (span.strip() for span in _SPAN.findall(str(text)))
    return frozenset(span for span in found if span)
