"""mt-metrics-eval directories, version 2: sources, references, outputs, scores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from metaeval.arrays import FloatArray
from metaeval.evalset_scores import (
    Ratings,
    Scores,
    read_ratings,
    read_scores,
    score_lines,
)
from metaeval.scores import ScoreMatrix
from metaeval.textfiles import FormatError, read_lines, write_lines

NO_OUTPUT = "[No translation supplied]"
LEVELS = ("sys", "doc", "domain", "seg")


@dataclass(frozen=True, kw_only=True, eq=False)
class EvalSet:
    """One language pair of a test set, in the order of its files.

    Attributes
    ----------
    documents
        (domain, document) of each segment; a document's segments are contiguous.
    references, outputs
        name -> one text per segment; None where a system gave none.
    human_scores, metric_scores
        (name, level) -> `Scores`, with level ``sys``, ``doc``, ``domain`` or ``seg``. A metric's
        name ends in the references it used: ``BLEU-refA``, ``QE-src``.
    ratings
        name -> system -> (errors as JSON or None, rater or None) per segment.
    metadata
        system -> lines of JSON, kept as they are.
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

    @property
    def segments(self) -> tuple[str, ...]:
        """Names of the segments: "1", "2", ..."""
        return tuple(str(number + 1) for number in range(len(self.sources)))

    def human(self, name: str) -> ScoreMatrix:
        """Return human segment scores as a matrix."""
        return self._matrix(self.human_scores, name)

    def metrics(self) -> dict[str, ScoreMatrix]:
        """Return all metrics that have segment scores."""
        names = [name for name, level in self.metric_scores if level == "seg"]
        return {name: self._matrix(self.metric_scores, name) for name in names}

    def _matrix(self, scores: Mapping[tuple[str, str], Scores], name: str) -> ScoreMatrix:
        if (name, "seg") not in scores:
            known = sorted(entry for entry, level in scores if level == "seg")
            raise KeyError(f"no segment scores {name!r}; there are {', '.join(known)}")
        rows = scores[name, "seg"].values
        stack: FloatArray = np.array(list(rows.values())).reshape(len(rows), len(self.sources))
        return ScoreMatrix(stack, rows, self.segments)


def read_evalset(directory: str | Path, language_pair: str) -> EvalSet:
    """Read one language pair of an mt-metrics-eval directory.

    Systems come in the order of their files' names and, in score files, in the order of the
    lines; mt-metrics-eval keeps them in a set, whose order changes from run to run. All files
    are UTF-8. The ``.jsonl`` variants of texts are read where there is no ``.txt``.

    Raises
    ------
    FormatError
        (a ValueError) naming file, line and field: a file is missing, has another number of
        lines than the source, or a score is no number.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> scores = {("m-src", "seg"): Scores({"A": np.array([0.5, 1.0])})}
    >>> small = EvalSet(name="t", language_pair="en-de", sources=("a", "b"),
    ...     documents=(("news", "d1"),) * 2, references={"refA": ("c", "d")},
    ...     outputs={"A": ("e", None)}, metric_scores=scores)
    >>> with TemporaryDirectory() as folder:
    ...     write_evalset(small, folder)
    ...     again = read_evalset(folder, "en-de")
    >>> again.outputs["A"], again.metrics()["m-src"].values.tolist()
    (('e', None), [[0.5, 1.0]])
    """
    root = Path(directory)
    sources = _texts(root / "sources" / f"{language_pair}.txt", "source", None)
    size = len(sources)
    documents = _documents(root / "documents" / f"{language_pair}.docs", size)
    outputs = {
        path.stem: _texts(path, "hypothesis", size)
        for path in _listed(root / "system-outputs" / language_pair, "")
    }
    references = {
        path.stem[len(language_pair) + 1 :]: _texts(path, "target", size)
        for path in _listed(root / "references", f"{language_pair}.")
    }
    human, ratings = _human(root, language_pair, documents, outputs)
    metrics = {}
    for path in _files(root / "metric-scores" / language_pair, ".score"):
        name, level = _name_and_level(path, path.name)
        metrics[name, level] = read_scores(path, level, documents, complete=True)
    metadata = {
        path.stem: tuple(read_lines(path))
        for path in _files(root / "metadata" / language_pair, ".jsonl")
    }
    return EvalSet(
        name=root.name,
        language_pair=language_pair,
        sources=tuple(text or "" for text in sources),
        documents=documents,
        references=references,
        outputs=outputs,
        human_scores=human,
        metric_scores=metrics,
        ratings=ratings,
        metadata=metadata,
    )


def write_evalset(evalset: EvalSet, directory: str | Path) -> None:
    """Write one language pair as an mt-metrics-eval directory; reading it gives the same back.

    Systems and scores are written in the order given, so the same data give the same bytes.

    Raises
    ------
    ValueError
        A text holds a line break, a name holds blanks (a system with blanks cannot be read back),
        or a list has not one entry per segment. Nothing is written then.
    """
    root, pair = Path(directory), evalset.language_pair
    size = len(evalset.sources)
    files: dict[Path, list[str]] = {
        root / "sources" / f"{pair}.txt": _lines("sources", evalset.sources, size),
        root / "documents" / f"{pair}.docs": [
            f"{_word(domain)}\t{_word(document)}" for domain, document in evalset.documents
        ],
    }
    if len(evalset.documents) != size:
        raise ValueError(f"documents: {len(evalset.documents)} entries for {size} segments")
    for name, texts in evalset.references.items():
        if set(name) & set(".-") or name in ("all", "src"):
            raise ValueError(f"references: {name!r} may hold no '.' or '-' and not be all or src")
        files[root / "references" / f"{pair}.{_word(name)}.txt"] = _lines(name, texts, size)
    for name, texts in evalset.outputs.items():
        files[root / "system-outputs" / pair / f"{_word(name)}.txt"] = _lines(name, texts, size)
    for (name, level), scores in evalset.human_scores.items():
        path = root / "human-scores" / f"{pair}.{_word(name)}.{level}.score"
        files[path] = score_lines(scores, level, evalset.documents)
    for (name, level), scores in evalset.metric_scores.items():
        path = root / "metric-scores" / pair / f"{_word(name)}.{level}.score"
        files[path] = score_lines(scores, level, evalset.documents)
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


def _human(
    root: Path,
    pair: str,
    documents: tuple[tuple[str, str], ...],
    outputs: Mapping[str, tuple[str | None, ...]],
) -> tuple[dict[tuple[str, str], Scores], dict[str, Ratings]]:
    scores: dict[tuple[str, str], Scores] = {}
    ratings: dict[str, Ratings] = {}
    for path in _files(root / "human-scores", "", f"{pair}."):
        rest = path.name[len(pair) + 1 :]
        if rest.endswith(".seg.rating"):
            ratings[rest[: -len(".seg.rating")]] = read_ratings(path, len(documents))
        elif rest.endswith(".score"):
            name, level = _name_and_level(path, rest)
            scores[name, level] = read_scores(path, level, documents, complete=False)
            strangers = set(scores[name, level].values) - set(outputs)
            if strangers:
                system = sorted(strangers)[0]
                raise FormatError(path, None, f"system {system!r} has no file of outputs")
    return scores, ratings


def _name_and_level(path: Path, name: str) -> tuple[str, str]:
    parts = name.removesuffix(".score").rsplit(".", 1)
    if len(parts) != 2 or parts[1] not in LEVELS:
        raise FormatError(path, None, f"expected NAME.LEVEL.score with LEVEL of {LEVELS}")
    return parts[0], parts[1]


def _listed(folder: Path, prefix: str) -> list[Path]:
    """Return .txt files, and .jsonl files that have no .txt beside them, by name."""
    texts = _files(folder, ".txt", prefix)
    have = {path.stem for path in texts}
    lines = [path for path in _files(folder, ".jsonl", prefix) if path.stem not in have]
    return sorted([*texts, *lines])


def _files(folder: Path, suffix: str, prefix: str = "") -> list[Path]:
    if not folder.is_dir():
        return []
    names = [path for path in folder.iterdir() if path.is_file()]
    return sorted(p for p in names if p.name.endswith(suffix) and p.name.startswith(prefix))


def _texts(path: Path, key: str, size: int | None) -> tuple[str | None, ...]:
    if not path.exists() and path.with_suffix(".jsonl").exists():
        path = path.with_suffix(".jsonl")
    lines = read_lines(path)
    if path.suffix == ".jsonl":
        lines = [_field(path, number, line, key) for number, line in enumerate(lines, start=1)]
    if size is not None and len(lines) != size:
        raise FormatError(path, None, f"{len(lines)} lines for {size} segments of the source")
    return tuple(None if line == NO_OUTPUT else line for line in lines)


def _field(path: Path, number: int, line: str, key: str) -> str:
    try:
        value = json.loads(line)[key]
    except (ValueError, TypeError, KeyError):
        raise FormatError(path, number, f"expected a JSON object with field {key}") from None
    if not isinstance(value, str):
        raise FormatError(path, number, f"field {key}: expected a string")
    return value.rstrip()


def _documents(path: Path, size: int) -> tuple[tuple[str, str], ...]:
    documents: list[tuple[str, str]] = []
    closed: set[str] = set()
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split()
        if len(cells) != 2:
            raise FormatError(path, number, f"expected DOMAIN and DOCUMENT, got {line!r}")
        if documents and documents[-1][1] != cells[1]:
            closed.add(documents[-1][1])
        if cells[1] in closed:
            raise FormatError(path, number, f"document {cells[1]} is not contiguous")
        documents.append((cells[0], cells[1]))
    if len(documents) != size:
        raise FormatError(path, None, f"{len(documents)} lines for {size} segments of the source")
    return tuple(documents)


def _lines(name: str, texts: tuple[str | None, ...], size: int) -> list[str]:
    if len(texts) != size:
        raise ValueError(f"{name}: {len(texts)} texts for {size} segments")
    for position, text in enumerate(texts, start=1):
        if text is not None and "\n" in text:
            raise ValueError(f"{name}, segment {position}: a text holds a line break")
    return [NO_OUTPUT if text is None else text for text in texts]


def _word(name: str) -> str:
    if not name or name.split() != [name] or "/" in name:
        raise ValueError(f"{name!r}: a name may hold no blanks and no '/', and not be empty")
    return name
