"""Score and rating files of mt-metrics-eval directories."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.files.text import FormatError, numbers, plain_number, read_lines
from metaeval.messages import Message, message

Ratings: TypeAlias = Mapping[str, Sequence[tuple[str | None, str | None]]]
Documents: TypeAlias = Sequence[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Scores:
    """System -> scores in file order: one per segment, document or domain, or a single one.

    ``domains`` names them where the level is ``domain``. nan is written as ``None``.
    """

    values: Mapping[str, FloatArray]
    domains: tuple[str, ...] = ()


def read_scores(path: Path, level: str, documents: Documents, size: int | None) -> Scores:
    """Read a file of SYSTEM SCORE lines (DOMAIN SYSTEM SCORE for domains) on `size` segments."""
    width = 3 if level == "domain" else 2
    columns = _columns(path, width)
    systems, domains = columns[-2], defaultdict[str, list[str]](list)
    scores = numbers(path, "SCORE", range(1, len(systems) + 1), columns[-1])
    values = defaultdict[str, list[float]](list)
    for system, score in zip(systems, scores, strict=True):
        values[system].append(score)
    for domain, system in zip(columns[0], systems, strict=True) if level == "domain" else ():
        domains[system].append(domain)
    labels = next(iter(domains.values()), []) if level == "domain" else []
    expected = len(labels) if level == "domain" else expected_scores(level, documents, size)
    for system, own in values.items():
        expected = len(own) if expected is None else expected
        if len(own) != expected:
            refusal = message(
                "evalset.scores",
                "System {system}: expected {expected} scores, got {n}.",
                system=system,
                expected=expected,
                n=len(own),
            )
            raise FormatError(path, None, refusal)
        if level == "domain" and domains[system] != labels:
            refusal = message(
                "evalset.domains",
                "System {system} has other domains than the first system.",
                system=system,
            )
            raise FormatError(path, None, refusal)
    return Scores({name: np.array(own) for name, own in values.items()}, tuple(labels))


def _columns(path: Path, width: int) -> list[list[str]]:
    """Return the fields of all lines, split at white space, by column."""
    lines = read_lines(path)
    cells = "\n".join(lines).split()
    columns = [cells[place::width] for place in range(width)]
    # With single tabs between fields this takes a fifth of the time of splitting every line.
    if (
        len(cells) != width * len(lines)
        or list(map("\t".join, zip(*columns, strict=True))) != lines
    ):
        for line, text in enumerate(lines, start=1):
            if (found := len(text.split())) != width:
                raise FormatError(path, line, wrong_fields(width, found))
    return columns


def score_lines(scores: Scores, level: str, documents: Documents, size: int) -> list[str]:
    """Return the lines of a score file."""
    expected = len(scores.domains) if level == "domain" else expected_scores(level, documents, size)
    lines = []
    for system, values in scores.values.items():
        if len(values) != expected:
            raise ValueError(f"{system}: {len(values)} scores at level {level}, not {expected}")
        for position, value in enumerate(values):
            text = f"{system}\t{plain_number(float(value), empty='None')}"
            lines.append(f"{scores.domains[position]}\t{text}" if level == "domain" else text)
    return lines


def expected_scores(level: str, documents: Documents, size: int | None) -> int | None:
    """Return how many scores a system has at a level; None where nothing says so yet."""
    if level == "sys":
        return 1
    if level == "doc":
        return len({document for _, document in documents})
    return size


def read_ratings(path: Path, size: int | None) -> Ratings:
    """Read a file of SYSTEM, JSON or None, and optionally an annotator, separated by tabs."""
    ratings: dict[str, list[tuple[str | None, str | None]]] = {}
    for line, text in enumerate(read_lines(path), start=1):
        cells = text.split("\t")
        if len(cells) not in (2, 3):
            refusal = message(
                "evalset.rating-fields", "Expected 2 or 3 fields, got {n}.", n=len(cells)
            )
            raise FormatError(path, line, refusal)
        errors = None if cells[1] == "None" else _checked(path, line, cells[1])
        annotator = cells[2] if len(cells) == 3 else None
        ratings.setdefault(cells[0], []).append((errors, annotator))
    for system, entries in ratings.items():
        if size is not None and len(entries) != size:
            refusal = message(
                "evalset.ratings",
                "System {system}: expected {expected} ratings, got {n}.",
                system=system,
                expected=size,
                n=len(entries),
            )
            raise FormatError(path, None, refusal)
    return ratings


def _checked(path: Path, line: int, text: str) -> str:
    try:
        errors = json.loads(text)["errors"]
    except (ValueError, TypeError, KeyError, RecursionError):
        refusal = message(
            "evalset.rating-json", "Field RATING: expected a JSON object with the field errors."
        )
        raise FormatError(path, line, refusal) from None
    if not isinstance(errors, list):
        refusal = message("evalset.errors-list", "Field errors: expected a list.")
        raise FormatError(path, line, refusal)
    for number, error in enumerate(errors, start=1):
        if reason := _wrong(number, error):
            raise FormatError(path, line, reason)
    return text


def wrong_fields(expected: int, n: int) -> Message:
    """Return the message about a line with another number of fields."""
    return message("evalset.fields", "Expected {expected} fields, got {n}.", expected=expected, n=n)


def _wrong(number: int, error: object) -> Message | None:
    """Return what is wrong with an error of a rating, or None, by its specification."""
    if not isinstance(error, dict):
        return message("evalset.error", "Error {number}: expected an object.", number=number)
    start, end = error.get("start"), error.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        return message(
            "evalset.error-offsets",
            "Error {number}: expected whole numbers 0 ≤ start ≤ end, got “{start}” and “{end}”.",
            number=number,
            start=repr(start),
            end=repr(end),
        )
    words = [error.get(name) for name in ("severity", "category")]
    if not all(word is None or isinstance(word, str) for word in words):
        return message(
            "evalset.error-words",
            "Error {number}: severity and category must be text or null.",
            number=number,
        )
    if not isinstance(error.get("is_source_error") or False, bool):
        return message(
            "evalset.error-side",
            "Error {number}: is_source_error must be true or false.",
            number=number,
        )
    return None
