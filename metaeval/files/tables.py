"""Score tables, WMT's daRR and DA files, MQM annotations."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from metaeval.arrays import FloatArray, IntArray, mean_along
from metaeval.files.cells import count_infinite, read_score
from metaeval.files.text import FormatError, Table, no_column, plain_number, write_lines
from metaeval.messages import Message, MessageError, data_error, message, plural
from metaeval.results import (
    ConstantInputWarning,
    MissingDataWarning,
    Notes,
    StatisticResult,
    TooFewWarning,
)
from metaeval.scores.matrix import ScoreMatrix

# The segment of scores that are of whole systems.
WHOLE = "all"
# Names of the column with the document of each segment.
DOCUMENT = "document|doc|doc_id"
DOMAIN = "domain"


def read_score_table(
    path: str | Path, *, columns: Sequence[str] | None = None, domain: str = ""
) -> dict[str, ScoreMatrix]:
    """Read a TSV or CSV with columns system, segment (or seg, seg_id, sid) and one per measure.

    Empty fields, words such as NA, nan and None, and infinite values are missing scores (nan; see
    `metaeval.files.cells`). Systems and segments keep the order of the file. Without a
    column of segments the scores are of whole systems: one segment, ``all``. A column document
    (or doc, doc_id) names the document of each segment, which is the unit of intervals and tests.

    Parameters
    ----------
    columns
        The measures wanted; default: every column that holds numbers and missing scores only.
    domain
        Read only rows with this name in the column domain.

    Raises
    ------
    FormatError
        (a ValueError) naming file, line and field.

    Warns
    -----
    MissingDataWarning
        A column that was not asked for has numbers and other words, or missing scores alone: it is
        skipped. A column has infinite values: they count as missing.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.tsv"
    ...     _ = path.write_text("system\\tseg\\tmqm\\nA\\t1\\t-5\\nA\\t2\\t\\nB\\t1\\t0\\n")
    ...     read_score_table(path)["mqm"].values.tolist()
    [[-5.0, nan], [0.0, nan]]
    """
    optional = ["segment|seg|seg_id|sid", DOCUMENT, DOMAIN]
    table = Table(path, ["system", *([DOMAIN] if domain else [])], optional=optional)
    if domain:
        column = table.columns[DOMAIN]
        known = sorted({row[column].strip() for _, row in table.rows})
        table.rows = [(line, row) for line, row in table.rows if row[column].strip() == domain]
        if not table.rows:
            refusal = message(
                "table.no-domain",
                "Column {column} has no {domain}. It has: {known}.",
                column=table.header[column],
                domain=domain,
                known=known,
            )
            raise FormatError(table.path, None, refusal)
    return score_columns(table, columns)


def score_columns(table: Table, columns: Sequence[str] | None = None) -> dict[str, ScoreMatrix]:
    """Return the measures of a table that has been read, as `read_score_table` does."""
    keys = set(table.columns.values())
    wanted = {name: table.header.index(name) for name in columns or () if name in table.header}
    for name in columns or ():
        if name not in wanted:
            raise FormatError(table.path, 1, no_column([name], table.header))
    if columns is None:
        others = [i for i in range(len(table.header)) if i not in keys]
        wanted = {table.header[i]: i for i in others if _is_numeric(table, i)}
    of_systems, of_segments = table.texts("system"), _segments(table)
    cells = dict.fromkeys(zip(of_systems, of_segments, strict=True))
    if len(cells) < len(of_systems):
        _refuse_twice(table)
    systems, segments = list(dict.fromkeys(of_systems)), list(dict.fromkeys(of_segments))
    documents = _documents(table, of_segments)
    at = {name: i for i, name in enumerate(systems)}, {name: j for j, name in enumerate(segments)}
    places = (
        np.array([at[0][system] for system in of_systems], dtype=np.intp),
        np.array([at[1][segment] for segment in of_segments], dtype=np.intp),
    )
    result = {}
    for name, column in wanted.items():
        table.columns[name] = column
        numbers = np.array(table.numbers(name), dtype=np.float64)
        _warn_infinite(table, name, np.flatnonzero(np.isnan(numbers)))
        values = np.full((len(systems), len(segments)), np.nan)
        values[places] = numbers
        result[name] = ScoreMatrix(values, systems, segments, documents.values() or None)
    return result


def _segments(table: Table) -> list[str]:
    return table.texts("segment") if "segment" in table.columns else [WHOLE] * len(table.rows)


def _refuse_twice(table: Table) -> None:
    seen = set()
    for line, row in table.rows:
        key = table.text(line, row, "system"), _segment(table, line, row)
        if key in seen:
            raise FormatError(table.path, line, _twice(*key))
        seen.add(key)


def _documents(table: Table, segments: Sequence[str]) -> dict[str, str]:
    """Return the document of each segment; empty without a column of documents."""
    documents: dict[str, str] = {}
    if "document" not in table.columns:
        return documents
    column = table.columns["document"]
    for (line, row), segment in zip(table.rows, segments, strict=True):
        document = row[column].strip()
        if documents.setdefault(segment, document) != document:
            refusal = message(
                "table.two-documents",
                "Segment {segment} is in document {document} here, and in document {other} "
                "elsewhere.",
                segment=segment,
                document=document,
                other=documents[segment],
            )
            raise FormatError(table.path, line, refusal)
    return documents


def write_score_table(path: str | Path, scores: Mapping[str, ScoreMatrix]) -> None:
    """Write matrices of the same systems and segments as such a TSV; nan becomes empty.

    The column document is there where the first matrix has documents.
    """
    matrices = list(scores.values())
    first = matrices[0]
    if any(m.systems != first.systems or m.segments != first.segments for m in matrices):
        raise data_error("data.other-grid", "The scores have different systems or segments.")
    keys = ["segment"] if first.documents is None else ["segment", "document"]
    columns = [first.segments] if first.documents is None else [first.segments, first.documents]
    lines = ["\t".join(["system", *keys, *scores])]
    for i, system in enumerate(first.systems):
        for j, names in enumerate(zip(*columns, strict=True)):
            values = [plain_number(float(matrix.values[i, j])) for matrix in matrices]
            lines.append("\t".join([system, *names, *values]))
    write_lines(Path(path), lines)


@dataclass(frozen=True, eq=False)
class RelativeRanks:
    """WMT's daRR judgments of one language pair: ``better`` beats ``worse`` in a segment."""

    segments: tuple[str, ...]
    better: tuple[str, ...]
    worse: tuple[str, ...]
    differences: FloatArray

    def kendall_like(self, metric: ScoreMatrix) -> StatisticResult:
        """Return (C - D) / (C + D) over the judgments, metric ties discordant (WMT17-20)."""
        notes = Notes()
        rows = {name: i for i, name in enumerate(metric.systems)}
        columns = {name: j for j, name in enumerate(metric.segments)}
        gaps = []
        for segment, better, worse in zip(self.segments, self.better, self.worse, strict=True):
            known = better in rows and worse in rows and segment in columns
            scored = metric.values[:, columns[segment]] if known else None
            gaps.append(np.nan if scored is None else scored[rows[better]] - scored[rows[worse]])
        values = np.array(gaps)
        missing = int(np.isnan(values).sum())
        notes.exclude("judgment of an output without a metric score", missing)
        if missing:
            text = plural(
                "darr.missing",
                "{n} judgment was excluded: it lacks a metric score.",
                "{n} judgments were excluded: they lack a metric score.",
                n=missing,
            )
            notes.warn(MissingDataWarning(text))
        n, concordant = len(values) - missing, int((values > 0).sum())
        is_constant = n > 0 and not np.nan_to_num(values).any()
        if not n:
            text = message("darr.none", "No judgment has metric scores, so τ is undefined.")
            notes.warn(TooFewWarning(text))
        elif is_constant:
            text = message(
                "darr.constant",
                "The metric gives both outputs of every judgment the same score, so τ is "
                "undefined.",
            )
            notes.warn(ConstantInputWarning(text))
        return StatisticResult(
            n=n,
            **notes.fields,
            statistic=(2 * concordant - n) / n if n and not is_constant else np.nan,
            method="WMT Kendall-like tau (daRR)",
        )


def read_darr(path: str | Path) -> dict[str, RelativeRanks]:
    """Read a daRR file (LP [DATA] SID BETTER WORSE, separated by blanks), by language pair.

    The 2020 files carry the score difference as a sixth field without a name; it is kept.
    """
    table = Table(path, ["LP", "SID", "BETTER", "WORSE"], blanks=True, unnamed=1)
    parts: dict[str, list[tuple[str, str, str, float]]] = {}
    for line, row in table.rows:
        entry = [table.text(line, row, name) for name in ("LP", "SID", "BETTER", "WORSE")]
        if entry[2] == entry[3]:
            refusal = message("darr.itself", "Field WORSE: {system} beats itself.", system=entry[3])
            raise FormatError(table.path, line, refusal)
        gap = np.nan
        if len(row) > len(table.header):
            table.columns["difference"] = len(table.header)
            gap = table.number(line, row, "difference")
        parts.setdefault(entry[0], []).append((entry[1], entry[2], entry[3], gap))
    return {
        pair: RelativeRanks(
            tuple(e[0] for e in entries),
            tuple(e[1] for e in entries),
            tuple(e[2] for e in entries),
            np.array([e[3] for e in entries]),
        )
        for pair, entries in parts.items()
    }


def read_da(path: str | Path) -> dict[str, ScoreMatrix]:
    """Read a WMT DA file (LP [DATA] SID SYSTEM HUMAN, separated by blanks), by language pair.

    System-level files have no SID; their matrix has one segment, ``all``. A system written as
    ``A+B`` stands for several that gave the same output.
    """
    names = ["LP", "SYSTEM", "HUMAN|SCORE|Z.SCR|Z"]
    table = Table(path, names, optional=["segment|SID"], blanks=True)
    parts: dict[str, dict[tuple[str, str], float]] = {}
    for line, row in table.rows:
        pair = table.text(line, row, "LP")
        segment = _segment(table, line, row)
        score = table.number(line, row, "HUMAN")
        for system in table.text(line, row, "SYSTEM").split("+"):
            cells = parts.setdefault(pair, {})
            if (system, segment) in cells:
                raise FormatError(table.path, line, _twice(system, segment))
            cells[system, segment] = score
    return {pair: _matrix(cells) for pair, cells in parts.items()}


# Freitag et al. (2021), table 4: the weights of the WMT metrics task.
MQM_WEIGHTS = {"major": 5.0, "minor": 1.0, "punctuation": 0.1, "non-translation": 25.0}


class SeverityError(MessageError, ValueError):
    """An error has an unknown severity."""


def mqm_weight(category: str, severity: str, weights: Mapping[str, float] = MQM_WEIGHTS) -> float:
    """Return the penalty of one error: Non-translation 25, major 5, minor 1, minor punctuation .1.

    Examples
    --------
    >>> mqm_weight("Fluency/Punctuation", "Minor"), mqm_weight("Non-translation!", "Major")
    (0.1, 25.0)
    """
    kind, level = category.strip().lower(), severity.strip().lower()
    if level in ("no-error", "no error", "neutral") or kind in ("no-error", "no error"):
        return 0.0
    if kind.startswith("non-translation"):
        return weights["non-translation"]
    if level not in ("major", "minor", "critical"):
        raise SeverityError(
            message(
                "mqm.severity",
                "Field severity: expected Major, Minor or No-error, got “{severity}”.",
                severity=severity,
            )
        )
    if level == "minor" and kind == "fluency/punctuation":
        return weights["punctuation"]
    return weights["minor" if level == "minor" else "major"]


def read_mqm(
    path: str | Path, *, weights: Mapping[str, float] = MQM_WEIGHTS
) -> dict[str, ScoreMatrix]:
    """Read an MQM TSV and score it: annotator -> systems x segments, and their ``mean``.

    One line per error, columns system, seg_id, annotator (`rater`), category, severity; a
    segment without errors has one line No-error. The score is minus the sum of the weights
    (Freitag et al. 2021); segments that an annotator did not see are nan.
    """
    names = ["system", "seg_id|segment|seg", "rater", "category", "severity"]
    table = Table(path, names)
    sums: dict[str, dict[tuple[str, str], float]] = {}
    for line, row in table.rows:
        system, segment, rater = (
            table.text(line, row, key) for key in ("system", "seg_id", "rater")
        )
        category = row[table.columns["category"]]
        try:
            weight = mqm_weight(category, table.text(line, row, "severity"), weights)
        except SeverityError as error:
            raise FormatError(table.path, line, error.message) from None
        cells = sums.setdefault(rater, {})
        cells[system, segment] = cells.get((system, segment), 0.0) - weight
    keys = dict.fromkeys(key for cells in sums.values() for key in cells)
    matrices = {rater: _matrix(cells, keys) for rater, cells in sums.items()}
    stack = np.array([matrix.values for matrix in matrices.values()])
    first = next(iter(matrices.values()))
    return {**matrices, "mean": first.with_values(mean_along(stack, axis=0))}


def _matrix(
    cells: Mapping[tuple[str, str], float],
    keys: Mapping[tuple[str, str], None] | None = None,
) -> ScoreMatrix:
    every = list(keys if keys is not None else cells)
    rows = {name: i for i, name in enumerate(dict.fromkeys(system for system, _ in every))}
    columns = {name: j for j, name in enumerate(dict.fromkeys(segment for _, segment in every))}
    values = np.full((len(rows), len(columns)), np.nan)
    for (system, segment), score in cells.items():
        values[rows[system], columns[segment]] = score
    return ScoreMatrix(values, rows, columns)


def _segment(table: Table, line: int, row: list[str]) -> str:
    return table.text(line, row, "segment") if "segment" in table.columns else WHOLE


def _is_numeric(table: Table, column: int) -> bool:
    """Return True where a column holds numbers and missing scores only; warn where it does not."""
    filled = [text for _, row in table.rows if (text := row[column].strip())]
    scores = [read_score(text) for text in filled]
    strange = [text for text, score in zip(filled, scores, strict=True) if score is None]
    has_numbers = any(score is not None and not math.isnan(score) for score in scores)
    name = table.header[column]
    if strange and has_numbers:
        warning = plural(
            "table.column-not-numbers",
            "Column {column} was skipped: {n} of {total} fields is not a number, such as "
            "“{example}”.",
            "Column {column} was skipped: {n} of {total} fields are not numbers, such as "
            "“{example}”.",
            column=name,
            n=len(strange),
            total=len(filled),
            example=strange[0],
        )
        Notes().warn(MissingDataWarning(warning))
    elif filled and not strange and not has_numbers:
        warning = message(
            "table.column-missing",
            "Column {column} was skipped: all {n} scores are missing.",
            column=name,
            n=len(table.rows),
        )
        Notes().warn(MissingDataWarning(warning))
    return has_numbers and not strange


def _warn_infinite(table: Table, name: str, missing: IntArray) -> None:
    """Warn of infinite values, which are among the missing ones."""
    column = table.columns[name]
    cells = (table.rows[n][1][column] for n in missing.tolist())
    if number := count_infinite(cell for cell in cells if cell):
        text = plural(
            "table.infinite",
            "Column {column}: {n} infinite value counts as missing.",
            "Column {column}: {n} infinite values count as missing.",
            column=name,
            n=number,
        )
        Notes().warn(MissingDataWarning(text))


def _twice(system: str, segment: str) -> Message:
    return message(
        "table.output-twice",
        "System {system}, segment {segment} occurs twice.",
        system=system,
        segment=segment,
    )
