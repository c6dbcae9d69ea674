"""Scores of a test set as tables, in a folder per language pair: ``en-de/segment-scores.tsv``.

``segment-scores.tsv`` has the columns system, seg and one per score; ``system-scores.tsv`` the same
without seg; ``documents.tsv`` seg, domain and document. Columns whose names end in the references
that a metric used (``BLEU-refA``, ``CometKiwi-src``) are metrics, all others are human scores.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from metaeval.files.evalset.folder import NO_SOURCE, EvalSet, Scores
from metaeval.files.tables import read_score_table
from metaeval.files.text import FormatError, Table
from metaeval.messages import message
from metaeval.scores.human_systems import references_read
from metaeval.scores.matrix import ScoreMatrix

SEGMENTS, SYSTEMS, DOCUMENTS = "segment-scores.tsv", "system-scores.tsv", "documents.tsv"


def has_pair(root: Path, pair: str) -> bool:
    """Return True if there is a table of segment scores of a language pair."""
    return (root / pair / SEGMENTS).is_file()


def language_pairs(root: Path) -> set[str]:
    """Return the language pairs that have a table of segment scores."""
    return {path.parent.name for path in root.glob(f"*/{SEGMENTS}")}


def read_tables(root: Path, pair: str, wanted: Callable[[str], bool]) -> EvalSet:
    """Read the tables of a language pair. Raises FormatError naming file, line and field."""
    folder = root / pair
    by_level = {"seg": read_score_table(folder / SEGMENTS)}
    if (folder / SYSTEMS).is_file():
        by_level["sys"] = read_score_table(folder / SYSTEMS)
    first = next(iter(by_level["seg"].values()), None)
    documents: dict[str, tuple[str, str]] = {}
    if (folder / DOCUMENTS).is_file():
        table = Table(folder / DOCUMENTS, ["seg", "domain", "document"])
        for line, row in table.rows:
            segment, domain, document = (
                table.text(line, row, name) for name in ("seg", "domain", "document")
            )
            if segment in documents:
                twice = message(
                    "evalset.segment-twice", "Segment {segment} occurs twice.", segment=segment
                )
                raise FormatError(table.path, line, twice)
            documents[segment] = domain, document
    segments = tuple(documents) or (first.segments if first else ())
    for segment in first.segments if first else ():
        if segment not in segments:
            refusal = message(
                "evalset.no-segment", "The file does not list segment {segment}.", segment=segment
            )
            raise FormatError(folder / DOCUMENTS, None, refusal)
    human: dict[tuple[str, str], Scores] = {}
    metrics: dict[tuple[str, str], Scores] = {}
    for level, columns in by_level.items():
        for name, matrix in columns.items():
            is_metric = name.endswith(("-src", "-all")) or bool(references_read(name))
            if is_metric and not wanted(name):
                continue
            found = _scores(matrix, segments if level == "seg" else matrix.segments)
            (metrics if is_metric else human)[name, level] = found
    return EvalSet(
        name=root.name,
        language_pair=pair,
        sources=(NO_SOURCE,) * len(segments),
        documents=tuple(documents.values()),
        references={},
        outputs={},
        human_scores=human,
        metric_scores=metrics,
    )


def _scores(matrix: ScoreMatrix, segments: tuple[str, ...]) -> Scores:
    """Return the rows of the systems with any score."""
    values = matrix.at(matrix.systems, segments)
    known = matrix.mask.any(axis=1)
    rows = zip(matrix.systems, values, known, strict=True)
    return Scores({system: row for system, row, has_any in rows if has_any})
