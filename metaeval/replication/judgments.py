"""The judgments of a replication bundle: human scores, times, traps and agreement."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Any

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, IntArray, content, group_means
from metaeval.files.tables import DOCUMENT
from metaeval.files.text import Table
from metaeval.judgments.agreement.intervals import judgment_agreement
from metaeval.judgments.controls.tests import annotation_times, trap_levels
from metaeval.judgments.standardize import z_scores
from metaeval.messages import MessageError, message
from metaeval.replication.tables import file_content
from metaeval.results import StatisticResult

Row = dict[str, Any]
NOTHING = -1
NO_INTERVAL = message("no-interval.unknown", "no interval")
# Kinds of items that do not show a system's output.
CONTROLS = ("trap", "bad_ref", "ref", "gold")
DAY = 24 * 3600
# Columns of judgments.tsv, as `JudgmentFile` has them.
TEXTS = ("annotator", "kind", "system", "segment")
NUMBERS = ("item", "output", "score", "seconds", "is_target")


@dataclass(frozen=True)
class Chosen:
    """Filters on judgments; the defaults select all.

    ``without`` names excluded annotators. ``systems`` are the only ones whose judgments count
    (empty: all), except those of ``without_systems``. Judgments without a system are not filtered
    by these. ``documents`` and ``domains`` are the only ones that count (with ``segments``, the
    file that lists their segments). Days are ISO days in UTC, both included; seconds limit the
    server's time. A judgment without an end is excluded if a day is set, one without seconds if
    these are limited.
    """

    without: Sequence[str] = ()
    systems: Sequence[str] = ()
    without_systems: Sequence[str] = ()
    has_controls: bool = True
    documents: Sequence[str] = ()
    domains: Sequence[str] = ()
    segments: str | Path | None = None
    since: str = ""
    until: str = ""
    min_seconds: float | None = None
    max_seconds: float | None = None

    def selects(self, table: Table) -> BoolArray:
        """Return which lines of judgments.tsv are selected."""
        chosen = np.ones(len(table.rows), dtype=np.bool_)
        if self.without:
            chosen &= ~_is_in(table.texts("annotator"), self.without)
        systems = [row[table.columns["system"]].strip() for _, row in table.rows]
        if self.systems:
            chosen &= _is_in(systems, ["", *self.systems])
        if self.without_systems:
            chosen &= ~_is_in(systems, set(self.without_systems) - {""})
        if not self.has_controls:
            chosen &= ~_is_in(table.texts("kind"), CONTROLS)
        if (wanted := self._segments()) is not None:
            chosen &= _is_in(table.texts("segment"), wanted)
        return chosen & self._in_time(table)

    def _in_time(self, table: Table) -> BoolArray:
        """Return which lines are within the limits; an unknown time is not within any."""
        chosen = np.ones(len(table.rows), dtype=np.bool_)
        first, last = _midnight(self.since), _midnight(self.until)
        if first is not None or last is not None:
            stamps = [row[table.columns["submitted_at"]].strip() for _, row in table.rows]
            sent = np.array(
                [datetime.fromisoformat(each).timestamp() if each else np.nan for each in stamps]
            )
            chosen &= sent >= (-np.inf if first is None else first)
            chosen &= sent < (np.inf if last is None else last + DAY)
        if self.min_seconds is not None or self.max_seconds is not None:
            seconds = np.array(table.numbers("seconds"))
            chosen &= seconds >= (-np.inf if self.min_seconds is None else self.min_seconds)
            chosen &= seconds <= (np.inf if self.max_seconds is None else self.max_seconds)
        return chosen

    def _segments(self) -> set[str] | None:
        """Return the chosen segments, None for all. Raises MessageError without the file."""
        chosen = {"document": self.documents, "domain": self.domains}
        chosen = {name: wanted for name, wanted in chosen.items() if wanted}
        if not chosen:
            return None
        if self.segments is None:
            raise MessageError(
                message(
                    "command.document-needs-segments",
                    "--document and --domain need --segments, a file that lists the segments.",
                )
            )
        table = Table(self.segments, ["segment", *chosen])
        return {
            table.text(n, row, "segment")
            for n, row in table.rows
            if all(row[table.columns[name]].strip() in wanted for name, wanted in chosen.items())
        }


def _is_in(texts: Sequence[str], wanted: Collection[str]) -> BoolArray:
    known = frozenset(wanted)
    return np.fromiter((text in known for text in texts), dtype=np.bool_, count=len(texts))


def _midnight(day: str) -> float | None:
    if not day:
        return None
    return datetime.combine(date.fromisoformat(day), time(), UTC).timestamp()


@dataclass(frozen=True, eq=False)
class JudgmentFile:
    """The selected judgments, in annotators' order; ``output`` is NOTHING for control items."""

    annotators: tuple[str, ...]
    annotator: tuple[str, ...]
    kind: tuple[str, ...]
    system: tuple[str, ...]
    segment: tuple[str, ...]
    item: IntArray
    output: IntArray
    score: FloatArray
    seconds: FloatArray
    is_target: BoolArray
    document: tuple[str, ...] | None = None


def read_judgments(
    path: str | Path, annotators: str | Path, chosen: Chosen | None = None
) -> JudgmentFile:
    """Read judgments.tsv and annotators.tsv of a bundle, without excluded annotators.

    A column document names each segment's document; a segment without one is its own document.
    The last file is remembered by its content, because several tables of a bundle read it.
    """
    chosen = chosen or Chosen()
    files = [path, annotators, *([chosen.segments] if chosen.segments else [])]
    key = content(*map(str, files), repr(chosen), *(file_content(Path(file)) for file in files))
    if key not in _remembered:
        _remembered.clear()
        _remembered[key] = _read(path, annotators, chosen)
    return _remembered[key]


_remembered: dict[bytes, JudgmentFile] = {}


def forget_judgments() -> None:
    """Free the file that is remembered."""
    _remembered.clear()


def _read(path: str | Path, annotators: str | Path, chosen: Chosen) -> JudgmentFile:
    who = Table(annotators, ["annotator", "is_excluded"])
    excluded = {
        who.text(n, row, "annotator"): who.number(n, row, "is_excluded") > 0 for n, row in who.rows
    }
    texts: dict[str, list[list[str]]] = {}
    numbers: dict[str, list[list[float]]] = {}
    required = [*TEXTS, *NUMBERS, "submitted_at"]
    for table in Table.parts(path, required, optional=[DOCUMENT]):
        is_in = np.array([not excluded[name] for name in table.texts("annotator")], dtype=np.bool_)
        is_in &= chosen.selects(table)
        rows = [table.rows[n] for n in np.flatnonzero(is_in)]
        for name in (*TEXTS, *(["document"] if "document" in table.columns else [])):
            cells = map(str.strip, [row[table.columns[name]] for _, row in rows])
            texts.setdefault(name, []).append(list(map(intern, cells)))  # Names are few.
        for name in NUMBERS:
            numbers.setdefault(name, []).append(table.numbers(name, rows))
    columns = {name: np.concatenate(parts) for name, parts in numbers.items()}
    outputs = columns["output"]
    return JudgmentFile(
        tuple(name for name, is_out in excluded.items() if not is_out),
        **{name: tuple(chain.from_iterable(parts)) for name, parts in texts.items()},
        item=columns["item"].astype(np.int64),
        output=np.where(np.isnan(outputs), NOTHING, outputs).astype(np.int64),
        score=columns["score"],
        seconds=columns["seconds"],
        is_target=columns["is_target"] > 0,
    )


def human_rows(judged: JudgmentFile, *, form: str, pool: str) -> list[Row]:
    """Return the mean human score of every judged output, as z-scores or raw.

    The default ``form`` is z, but raw if a score is below 0: such scores are penalties.
    """
    form = form or ("raw" if (judged.score < 0).any() else "z")
    values = judged.score
    if form == "z" and len(values):
        is_pool = np.array(judged.kind) == "target" if pool == "targets" else None
        values = z_scores(judged.score, judged.annotator, pool=is_pool).z
    wanted = judged.is_target & (judged.output >= 0) & ~np.isnan(values)
    _, first, place, counts = np.unique(
        judged.output[wanted], return_index=True, return_inverse=True, return_counts=True
    )
    means = group_means(values[wanted], place, len(counts))
    rows = np.flatnonzero(wanted)[first]
    return [
        {"system": judged.system[row], "segment": judged.segment[row], "n": int(n),
         "human": float(mean)}
        for row, n, mean in zip(rows, counts, means, strict=True)
    ]  # fmt: skip


def quality_rows(judged: JudgmentFile, *, n_resamples: int, seed: int) -> list[Row]:
    """Return times, traps, and agreement with and without traps, as name and value.

    With ``n_resamples`` agreement has the ends of its intervals.
    """
    kinds = np.array(judged.kind)
    found: Row = {"judgments": len(judged.score)}
    if (timed := ~np.isnan(judged.seconds)).any():
        times = annotation_times(judged.seconds[timed])
        found |= {"seconds": times.mean, "seconds_cut": times.mean_cut}
    traps, targets = kinds == "trap", kinds == "target"
    if traps.any() and (judged.score >= 0).all():
        levels = trap_levels(judged.score[traps])
        found |= {"traps_zero": levels.zero, "traps_low": levels.low, "traps_high": levels.high}
    sets = {"with_traps": targets | traps} if traps.any() else {}
    for suffix, chosen in (sets | {"without_traps": targets}).items():
        found |= _agreement(judged, chosen, suffix, n_resamples, seed)
    return [{"statistic": name, "value": value} for name, value in found.items()]


def _agreement(
    judged: JudgmentFile, chosen: BoolArray, suffix: str, n_resamples: int, seed: int
) -> Row:
    """Return one-vs-rest r and alpha, their intervals, and the method or why there is none.

    Rows are sorted as the pages sort them, so the numbers are the same to the last bit.
    """
    if not chosen.any():
        return {}
    codes = {name: code for code, name in enumerate(judged.annotators)}
    annotator = np.array([codes[name] for name in judged.annotator])[chosen]
    output, item, score = judged.output[chosen], judged.item[chosen], judged.score[chosen]
    units = np.where(output >= 0, output, -1 - item)
    order = np.lexsort((score, units, annotator))
    documents = None
    if judged.document is not None:
        rows = np.flatnonzero(chosen)[order].tolist()
        # If no document is shared, each judged output is a unit of its own.
        if any(judged.document[row] for row in rows):
            documents = [judged.document[row] or f"#{judged.segment[row]}" for row in rows]
    found = judgment_agreement(
        score[order], annotator[order], units[order], documents=documents,
        n_resamples=n_resamples, rng=seed,
    )  # fmt: skip
    parts = {
        "one_vs_rest": found.one_vs_rest,
        "alpha_z": found.alpha_z,
        "alpha_raw": found.alpha_raw,
    }
    values = {f"{name}_{suffix}": part.statistic for name, part in parts.items()}
    return values | (_intervals(parts, suffix) if n_resamples else {})


def _intervals(parts: Mapping[str, StatisticResult], suffix: str) -> Row:
    found: Row = {}
    for name, part in parts.items():
        low, high, _ = part.interval or (None, None, None)
        messages = list(dict.fromkeys(each.message for each in part.warnings))
        why = messages[0] if messages else NO_INTERVAL
        named = {"low": low, "high": high, "interval": part.method or why}
        found |= {f"{name}_{suffix}_{end}": value for end, value in named.items()}
        for n, warning in enumerate(messages if part.interval else messages[1:], 1):
            found[f"{name}_{suffix}_warning" + (f"_{n}" if n > 1 else "")] = warning
    return found
