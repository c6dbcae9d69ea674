"""Read mt-metrics-eval directories, version 2; stop at the first fault, or collect all faults."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TypeAlias, TypeVar

from metaeval.files.evalset import tables
from metaeval.files.evalset.folder import (
    NO_OUTPUT,
    NO_SOURCE,
    Documents,
    EvalSet,
    Ratings,
    Scores,
    read_ratings,
    read_scores,
)
from metaeval.files.text import NO_FILE, FormatError, read_lines
from metaeval.messages import message

LEVELS = ("sys", "doc", "domain", "seg")
RATING = ".seg.rating"
Texts: TypeAlias = tuple["str | None", ...]
T = TypeVar("T")


def language_pairs(directory: str | Path) -> set[str]:
    """Return the language pairs of which a directory has human scores, in either layout."""
    root = Path(directory)
    scores = _files(root / "human-scores", ".score")
    found = {path.name.split(".")[0] for path in scores}
    return found | tables.language_pairs(root)


def read_evalset(
    directory: str | Path,
    language_pair: str,
    *,
    metrics: Callable[[str], bool] | None = None,
    faults: list[FormatError] | None = None,
) -> EvalSet:
    """Read one language pair of an mt-metrics-eval directory.

    Systems come in the order of their files' names and, in score files, in the order of the
    lines; mt-metrics-eval keeps them in a set, whose order changes from run to run. All files
    are UTF-8. The ``.jsonl`` variants of texts are read where there is no ``.txt``. Any part may
    be missing: without outputs, the systems are those that have scores; without sources, the
    number of segments is that of documents, outputs, references or scores. A directory may instead
    have tables of scores in a folder per language pair (`metaeval.files.evalset.tables`).

    Parameters
    ----------
    metrics
        Which metrics to read, by name; all unless given.
    faults
        If given, what is wrong with a file is added here, and reading continues without the file.

    Raises
    ------
    FormatError
        (a ValueError) naming file, line and field: a file has another number of lines than the
        source, a score is not a number, a system has no outputs, or there is nothing of this pair.

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryDirectory
    >>> from metaeval.files import write_evalset
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
    wanted = metrics or (lambda _: True)
    if tables.has_pair(Path(directory), language_pair):
        return tables.read_tables(Path(directory), language_pair, wanted)
    return _Reader(Path(directory), language_pair, faults).read(wanted)


class _Reader:
    """One reading. Without a list of faults, the first one ends it."""

    def __init__(self, root: Path, pair: str, faults: list[FormatError] | None) -> None:
        self.root, self.pair, self.faults = root, pair, faults
        self.documents: Documents = ()
        self.size: int | None = None

    def read(self, wanted: Callable[[str], bool]) -> EvalSet:
        """Read every file of the pair."""
        sources = self._source()
        self._read_documents()
        outputs = self._texts(_listed(self.root / "system-outputs" / self.pair, ""), "hypothesis")
        listed = _listed(self.root / "references", f"{self.pair}.")
        cut = len(self.pair) + 1
        references = {name[cut:]: texts for name, texts in self._texts(listed, "target").items()}
        known = {*outputs, *references} if outputs else None
        paths = _files(self.root / "human-scores", "", f"{self.pair}.")
        human = self._scores([path for path in paths if path.suffix == ".score"], cut, known)
        folder = self.root / "metric-scores" / self.pair
        chosen = [path for path in _files(folder, ".score") if wanted(_stem(path.name)[0])]
        metrics = self._scores(chosen, 0, known)
        ratings = self._ratings([path for path in paths if path.name.endswith(RATING)], cut, known)
        if self.size is None:
            self._fault(FormatError(self._source_path(), None, NO_FILE))
        return EvalSet(
            name=self.root.name,
            language_pair=self.pair,
            sources=sources or (NO_SOURCE,) * (self.size or 0),
            documents=tuple(self.documents),
            references=references,
            outputs=outputs,
            human_scores=human,
            metric_scores=metrics,
            ratings=ratings,
            metadata={
                path.stem: tuple(lines)
                for path in _files(self.root / "metadata" / self.pair, ".jsonl")
                if (lines := self._try(read_lines, path)) is not None
            },
        )

    def _try(self, read: Callable[..., T], *arguments: object) -> T | None:
        """Return what can be read; None after a fault was recorded."""
        try:
            return read(*arguments)
        except FormatError as fault:
            self._fault(fault)
            return None

    def _fault(self, fault: FormatError) -> None:
        if self.faults is None:
            raise fault
        self.faults.append(fault)

    def _source_path(self) -> Path:
        path = self.root / "sources" / f"{self.pair}.txt"
        lines = path.with_suffix(".jsonl")
        return lines if lines.exists() and not path.exists() else path

    def _source(self) -> tuple[str, ...]:
        path = self._source_path()
        texts = self._try(_texts_of, path, "source") if path.exists() else None
        self.size = len(texts) if texts is not None else None
        return tuple(text or "" for text in texts or ())

    def _read_documents(self) -> None:
        path = self.root / "documents" / f"{self.pair}.docs"
        found = self._try(_documents, path) if path.exists() else None
        if found is not None and self._fits(path, len(found)):
            self.documents = found

    def _fits(self, path: Path, size: int) -> bool:
        """Return True if a file has one line per segment; the first file sets their number."""
        self.size = size if self.size is None else self.size
        if size != self.size:
            refusal = message(
                "evalset.lines",
                "The file has {lines} lines; the source has {segments} segments.",
                lines=size,
                segments=self.size,
            )
            self._fault(FormatError(path, None, refusal))
        return size == self.size

    def _texts(self, paths: Iterable[Path], key: str) -> dict[str, Texts]:
        read = {path: self._try(_texts_of, path, key) for path in paths}
        return {
            path.stem: texts
            for path, texts in read.items()
            if texts is not None and self._fits(path, len(texts))
        }

    def _scores(
        self, paths: Iterable[Path], cut: int, known: Collection[str] | None
    ) -> dict[tuple[str, str], Scores]:
        """Read score files, whose names without `cut` characters are NAME.LEVEL.score."""
        scores = {}
        for path in paths:
            name, level = _stem(path.name[cut:])
            found = self._try(self._read_scores, path, level)
            if found is not None and self._knows(path, found.values, known):
                scores[name, level] = found
        return scores

    def _read_scores(self, path: Path, level: str) -> Scores:
        if level not in LEVELS:
            refusal = message(
                "evalset.level",
                "Expected a file name NAME.LEVEL.score with one of the levels {levels}.",
                levels=list(LEVELS),
            )
            raise FormatError(path, None, refusal)
        if level in ("doc", "domain") and not self.documents:
            refusal = message(
                "evalset.no-documents",
                "The scores are of documents, but the file of documents is missing.",
            )
            raise FormatError(path, None, refusal)
        found = read_scores(path, level, self.documents, self.size)
        if level == "seg" and self.size is None:
            self.size = max(map(len, found.values.values()), default=None)
        return found

    def _ratings(
        self, paths: Iterable[Path], cut: int, known: Collection[str] | None
    ) -> dict[str, Ratings]:
        ratings = {}
        for path in paths:
            found = self._try(read_ratings, path, self.size)
            if found is not None and self._knows(path, found, known):
                if self.size is None:
                    self.size = max(map(len, found.values()), default=None)
                ratings[path.name[cut : -len(RATING)]] = found
        return ratings

    def _knows(self, path: Path, systems: Iterable[str], known: Collection[str] | None) -> bool:
        """Return True if all systems have texts, or none has."""
        strangers = sorted(set(systems) - set(known)) if known is not None else []
        if strangers:
            refusal = message(
                "evalset.no-outputs",
                "System “{system}” has no file of outputs.",
                system=strangers[0],
            )
            self._fault(FormatError(path, None, refusal))
        return not strangers


def _stem(name: str) -> tuple[str, str]:
    """Return NAME and LEVEL of NAME.LEVEL.score; another name has no level."""
    parts = name.removesuffix(".score").rsplit(".", 1)
    return (parts[0], parts[1]) if len(parts) == 2 else (name, "")


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


def _texts_of(path: Path, key: str) -> Texts:
    lines = read_lines(path)
    if path.suffix == ".jsonl":
        lines = [_field(path, number, line, key) for number, line in enumerate(lines, start=1)]
    return tuple(None if line == NO_OUTPUT else line for line in lines)


def _field(path: Path, number: int, line: str, key: str) -> str:
    try:
        value = json.loads(line)[key]
    except (ValueError, TypeError, KeyError, RecursionError):
        refusal = message(
            "evalset.no-field", "Expected a JSON object with the field {field}.", field=key
        )
        raise FormatError(path, number, refusal) from None
    if not isinstance(value, str):
        refusal = message("evalset.no-string", "Field {field}: expected a string.", field=key)
        raise FormatError(path, number, refusal)
    return value.rstrip()


def _documents(path: Path) -> Documents:
    documents: list[tuple[str, str]] = []
    closed: set[str] = set()
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split()
        if len(cells) != 2:
            refusal = message(
                "evalset.document", "Expected DOMAIN and DOCUMENT, got “{line}”.", line=line
            )
            raise FormatError(path, number, refusal)
        if documents and documents[-1][1] != cells[1]:
            closed.add(documents[-1][1])
        if cells[1] in closed:
            refusal = message(
                "evalset.document-split",
                "Document {document} is not contiguous.",
                document=cells[1],
            )
            raise FormatError(path, number, refusal)
        documents.append((cells[0], cells[1]))
    return documents
