"""mt-metrics-eval directories, version 2: sources, references, outputs, scores."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import numpy as np

from metaeval.arrays import BoolArray, FloatArray, mean_along, one_length
from metaeval.files.decoding import split_lines
from metaeval.files.text import (
    FormatError,
    numbers,
    plain_number,
    read_lines,
    read_text,
    write_lines,
)
from metaeval.messages import DataError, Message, data_error, message
from metaeval.scores.matrix import ScoreMatrix

# Score and rating files of mt-metrics-eval directories.

Ratings: TypeAlias = Mapping[str, Sequence[tuple[str | None, str | None]]]
Documents: TypeAlias = Sequence[tuple[str, str]]
# Systems whose lines are read in blocks.
MOST_BLOCKS = 300


@dataclass(frozen=True, eq=False)
class Scores:
    """System -> scores in file order: one per segment, document or domain, or a single one.

    ``domains`` names them where the level is ``domain``. nan is written as ``None``.
    """

    values: Mapping[str, FloatArray]
    domains: tuple[str, ...] = ()

    def at(self, places: Sequence[int]) -> Scores:
        """Return the scores at some places, without names of domains."""
        return Scores({system: own[list(places)] for system, own in self.values.items()})


def read_scores(path: Path, level: str, documents: Documents, size: int | None) -> Scores:
    """Read a file of SYSTEM SCORE lines (DOMAIN SYSTEM SCORE for domains) on `size` segments."""
    text, domains = read_text(path), defaultdict[str, list[str]](list)
    if level == "seg" and size and (blocks := _blocks(text, size)):
        cells = list(chain.from_iterable(blocks.values()))
        scores = numbers(path, "SCORE", range(1, len(cells) + 1), cells)
        return Scores(dict(zip(blocks, scores.reshape(-1, size), strict=True)))
    columns = _columns(path, text, 3 if level == "domain" else 2)
    systems = columns[-2]
    scores = numbers(path, "SCORE", range(1, len(systems) + 1), columns[-1])
    counts = Counter(systems)
    place = dict(zip(counts, range(len(counts)), strict=True))
    scores = scores[np.argsort([place[system] for system in systems], kind="stable")]
    parts = np.split(scores, np.cumsum([*counts.values()][:-1], dtype=np.int64))
    values = dict(zip(counts, parts, strict=False))
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
    return Scores(values, tuple(labels))


def _blocks(text: str, size: int) -> dict[str, list[str]] | None:
    """Return the scores of each system where `size` lines follow each other, with single tabs.

    None for any other file. This takes a third of the time of `_columns`.
    """
    blocks: dict[str, list[str]] = {}
    if text.count("\n") > MOST_BLOCKS * size:  # each block is cut from all that follows it
        return None
    rest = f"\n{text}".rstrip("\n")
    while rest:
        name = rest[1 : rest.find("\t")]
        start, *cells = rest.split(f"\n{name}\t", size)
        if start or len(cells) != size or name in blocks or name.split() != [name]:
            return None
        end = cells[-1].find("\n") if "\n" in cells[-1] else len(cells[-1])
        cells[-1], rest = cells[-1][:end], cells[-1][end:]
        blocks[name] = cells
    is_whole = text.rstrip("\n").count("\n") + 1 == size * len(blocks)  # No line is blank.
    return blocks if is_whole and all(map(all, blocks.values())) else None


def _columns(path: Path, text: str, width: int) -> list[list[str]]:
    """Return the fields of all lines, split at white space, by column."""
    lines = list(map(str.split, split_lines(text)))
    for line, fields in enumerate(lines, start=1):
        if len(fields) != width:
            raise FormatError(path, line, wrong_fields(width, len(fields)))
    return [[fields[place] for fields in lines] for place in range(width)]


def score_lines(scores: Scores, level: str, documents: Documents, size: int) -> list[str]:
    """Return the lines of a score file."""
    expected = len(scores.domains) if level == "domain" else expected_scores(level, documents, size)
    lines = []
    for system, values in scores.values.items():
        if len(values) != expected:
            raise data_error(
                "evalset.n-scores",
                "{system} has {n} scores at level {level}; expected {expected}.",
                system=system, n=len(values), level=level, expected=expected,
            )  # fmt: skip
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


NO_OUTPUT = "[No translation supplied]"
# Replaces every source of a set that has scores without texts.
NO_SOURCE = "[source not published]"


@dataclass(frozen=True, kw_only=True, eq=False)
class EvalSet:
    """One language pair of a test set, in the order of its files.

    Attributes
    ----------
    documents
        (domain, document) of each segment, or empty without a file of documents; a document's
        segments are contiguous.
    references, outputs
        name -> one text per segment; None where a system gave none.
    human_scores, metric_scores
        (name, level) -> `Scores`, with level ``sys``, ``doc``, ``domain`` or ``seg``. A metric's
        name ends in the references it used: ``BLEU-refA``, ``QE-src``.
    ratings
        name -> system -> (errors as JSON or None, annotator or None) per segment.
    metadata
        system -> lines of JSON, unchanged.
    """

    name: str
    language_pair: str
    sources: tuple[str, ...]
    documents: tuple[tuple[str, str], ...]
    references: Mapping[str, tuple[str | None, ...]]
    outputs: Mapping[str, tuple[str | None, ...]]
    human_scores: Mapping[tuple[str, str], Scores] = field(default_factory=dict)
    metric_scores: Mapping[tuple[str, str], Scores] = field(default_factory=dict)
    ratings: Mapping[str, Ratings] = field(default_factory=dict)
    metadata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """Names of the segments: "1", "2", ..."""
        return tuple(str(number + 1) for number in range(len(self.sources)))

    def human(self, name: str, level: str = "seg") -> ScoreMatrix:
        """Return human scores of segments, or of documents (``doc``), as a matrix."""
        return self._matrix(self.human_scores, name, level)

    @property
    def domains(self) -> list[str]:
        """Names of the domains, sorted."""
        return sorted({domain for domain, _ in self.documents})

    def of_domain(self, domain: str) -> EvalSet:
        """Return the segments of one domain; scores of the domain become those of systems.

        Scores of whole systems are not of this domain, so they are dropped. Raises DataError for an
        unknown domain.
        """
        if domain not in self.domains:
            raise _unknown(message("evalset.domain-names", "domains"), domain, self.domains)
        kept = [place for place, (name, _) in enumerate(self.documents) if name == domain]
        # A document whose segments are of two domains has one score, which counts in both.
        names = dict.fromkeys(document for _, document in self.documents)
        members = {self.documents[place] for place in kept}
        places = {
            "seg": kept,
            "doc": [place for place, name in enumerate(names) if (domain, name) in members],
        }

        def texts(given: Mapping[str, tuple[str | None, ...]]) -> dict[str, tuple[str | None, ...]]:
            return {name: tuple(each[place] for place in kept) for name, each in given.items()}

        def scores(given: Mapping[tuple[str, str], Scores]) -> dict[tuple[str, str], Scores]:
            found = {}
            for (name, level), each in given.items():
                if level in places:
                    found[name, level] = each.at(places[level])
                elif level == "domain" and domain in each.domains:
                    found[name, "sys"] = each.at([each.domains.index(domain)])
            return found

        return replace(
            self,
            sources=tuple(self.sources[place] for place in kept),
            documents=tuple(self.documents[place] for place in kept),
            references=texts(self.references),
            outputs=texts(self.outputs),
            human_scores=scores(self.human_scores),
            metric_scores=scores(self.metric_scores),
            ratings={
                name: {system: [rows[place] for place in kept] for system, rows in each.items()}
                for name, each in self.ratings.items()
            },
        )

    def metrics(self, level: str = "seg") -> dict[str, ScoreMatrix]:
        """Return all metrics that have scores of segments, or of documents (``doc``)."""
        names = [name for name, each in self.metric_scores if each == level]
        return {name: self._matrix(self.metric_scores, name, level) for name in names}

    def _matrix(
        self, scores: Mapping[tuple[str, str], Scores], name: str, level: str
    ) -> ScoreMatrix:
        if (name, level) not in scores:
            known = sorted(entry for entry, each in scores if each == level)
            of_segments = message("evalset.of-segments", "scores of segments")
            of_documents = message("evalset.of-documents", "scores of documents")
            raise _unknown(of_segments if level == "seg" else of_documents, name, known)
        documents = [document for _, document in self.documents] or None
        columns = self.segments if level == "seg" else tuple(dict.fromkeys(documents or ()))
        rows = scores[name, level].values
        stack: FloatArray = np.array(list(rows.values())).reshape(len(rows), len(columns))
        return ScoreMatrix(stack, rows, columns, documents if level == "seg" else None)


def write_evalset(evalset: EvalSet, directory: str | Path) -> None:
    """Write one language pair as an mt-metrics-eval directory; reading it gives the same back.

    Systems and scores are written in the order given, so the same data give the same bytes.

    Raises
    ------
    DataError
        A text holds a line break, a name holds blanks (a system with blanks cannot be read back),
        or a list has not one entry per segment. Nothing is written then.
    """
    root, pair = Path(directory), evalset.language_pair
    size = len(evalset.sources)
    files: dict[Path, list[str]] = {
        root / "sources" / f"{pair}.txt": _lines("sources", evalset.sources, size),
    }
    if evalset.documents:
        files[root / "documents" / f"{pair}.docs"] = [
            f"{_word(domain)}\t{_word(document)}" for domain, document in evalset.documents
        ]
    one_length(documents=evalset.documents or range(size), segments=range(size))
    for name, texts in evalset.references.items():
        if set(name) & set(".-") or name in ("all", "src"):
            raise data_error(
                "evalset.reference-name",
                "The name of a reference may have no “.” or “-”, and cannot be all or src: {name}.",
                name=name,
            )
        files[root / "references" / f"{pair}.{_word(name)}.txt"] = _lines(name, texts, size)
    for name, texts in evalset.outputs.items():
        files[root / "system-outputs" / pair / f"{_word(name)}.txt"] = _lines(name, texts, size)
    for (name, level), scores in evalset.human_scores.items():
        path = root / "human-scores" / f"{pair}.{_word(name)}.{level}.score"
        files[path] = score_lines(scores, level, evalset.documents, size)
    for (name, level), scores in evalset.metric_scores.items():
        path = root / "metric-scores" / pair / f"{_word(name)}.{level}.score"
        files[path] = score_lines(scores, level, evalset.documents, size)
    for name, ratings in evalset.ratings.items():
        files[root / "human-scores" / f"{pair}.{_word(name)}.seg.rating"] = [
            "\t".join([_word(system), errors or "None", *([rater] if rater else [])])
            for system, entries in ratings.items()
            for errors, rater in entries
        ]
    for name, records in evalset.metadata.items():
        files[root / "metadata" / pair / f"{_word(name)}.jsonl"] = list(records)
    for path, lines in files.items():
        write_lines(path, lines)


def _lines(name: str, texts: tuple[str | None, ...], size: int) -> list[str]:
    one_length(**{f"texts[{name!r}]": texts, "segments": range(size)})
    for position, text in enumerate(texts, start=1):
        if text is not None and "\n" in text:
            raise data_error(
                "evalset.line-break", "{name}, segment {segment}: the text has a line break.",
                name=name, segment=position,
            )  # fmt: skip
    return [NO_OUTPUT if text is None else text for text in texts]


def _unknown(what: Message, name: str, known: Iterable[str]) -> DataError:
    return data_error(
        "evalset.unknown", "There is no “{name}” among the {what}: {known}.",
        what=what, name=name, known=list(known),
    )  # fmt: skip


def _word(name: str) -> str:
    if not name or name.split() != [name] or "/" in name:
        raise data_error(
            "evalset.name", "A name may have no blank and no “/”, and cannot be empty: “{name}”.",
            name=name,
        )  # fmt: skip
    return name


FILES, SEGMENTS = "sys.score", "mean of segments"


@dataclass(frozen=True, eq=False)
class SystemScores:
    """One score per system, as systems x 1; ``origins`` has the origin of each metric's scores.

    ``sys.score``: the directory's file of system scores; ``mean of segments``: it has no such file.
    """

    human: ScoreMatrix
    metrics: Mapping[str, ScoreMatrix]
    human_origin: str
    origins: Mapping[str, str]


def evalset_system_scores(evalset: EvalSet, human: str) -> SystemScores:
    """Return system scores as published, or means of segments without a file of system scores.

    BLEU of a system is not the mean over its segments, and some metrics score whole systems
    only; so a ``*.sys.score`` file counts before the mean of a ``*.seg.score``. Where the humans'
    scores are means themselves, those of metrics are over the same outputs; else over all.

    Raises
    ------
    DataError
        There are no scores of this name on either level.
    """
    ours, origin, judged = _humans(evalset, human)
    metrics, origins = {}, {}
    for name in dict.fromkeys(name for name, _ in evalset.metric_scores):
        found = _vector(evalset.metric_scores, name)
        origins[name] = FILES if found else SEGMENTS
        if not found and (name, "seg") in evalset.metric_scores:
            found = _means(evalset.metric_scores[name, "seg"].values, judged)
        if found:
            metrics[name] = found
    known = {name: origins[name] for name in metrics}
    return SystemScores(human=ours, metrics=metrics, human_origin=origin, origins=known)


def _humans(evalset: EvalSet, name: str) -> tuple[ScoreMatrix, str, Mapping[str, BoolArray]]:
    """Return the scores, where they are from, and the cells that their means are over."""
    found = _vector(evalset.human_scores, name)
    if found:
        return found, FILES, {}
    if (name, "seg") not in evalset.human_scores:
        known = sorted({entry for entry, level in evalset.human_scores if level in ("sys", "seg")})
        raise _unknown(message("evalset.human-scores", "human scores"), name, known)
    segments = evalset.human_scores[name, "seg"].values
    judged = {system: ~np.isnan(values) for system, values in segments.items()}
    return _means(segments, {}), SEGMENTS, judged


def _vector(scores: Mapping[tuple[str, str], Scores], name: str) -> ScoreMatrix | None:
    if (name, "sys") not in scores:
        return None
    rows = scores[name, "sys"].values
    return _matrix(np.array(list(rows.values())).reshape(-1), rows)


def _means(rows: Mapping[str, FloatArray], judged: Mapping[str, BoolArray]) -> ScoreMatrix:
    """Return the mean of each system's segments, of the judged ones where that is known."""
    kept = [
        np.where(judged[system], values, np.nan) if system in judged else values
        for system, values in rows.items()
    ]
    return _matrix(mean_along(np.array(kept)), rows)


def _matrix(values: FloatArray, systems: Iterable[str]) -> ScoreMatrix:
    return ScoreMatrix(values[:, None], systems, ["all"])
