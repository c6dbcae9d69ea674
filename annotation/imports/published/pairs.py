"""Find the language pairs of a published data set, with their folders and names."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.imports.tables import Row, read_table
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from core import languages
from core.messages import invalid
from metaeval.messages import Message, truncated


@dataclass(frozen=True)
class Pair:
    """One language pair of a set. `name` is written as in the data, `label` as on pages."""

    name: str
    folder: Path
    source: str
    target: str

    @property
    def label(self) -> str:
        """Both languages in English: `Chinese–English`."""
        return "–".join(map(languages.display_name, (self.source, self.target)))

    def rows(self, file: str, *columns: str) -> Iterator[Row]:
        """Yield the rows of a table with these columns. Raises ValidationError."""
        return read_table(self.folder / file, *columns)

    def cells(self, file: str, *columns: str) -> Iterator[tuple[str, ...]]:
        """Yield some cells of each row of a table. Raises ValidationError."""
        return (tuple(row[column] for column in columns) for row in self.rows(file, *columns))

    def segments(
        self, file: str, key: str, *, document: str = "", **references: str
    ) -> list[SegmentDraft]:
        """Return the segments of a table by its columns. Raises ValidationError."""
        columns = [key, "source", *([document] if document else []), *references.values()]
        return [
            SegmentDraft(
                row[key],
                row["source"],
                row[document] if document else "",
                {name: row[column] for name, column in references.items()},
            )
            for row in self.rows(file, *columns)
        ]

    def test_set(
        self,
        slug: str,
        name: str,
        description: str,
        segments: Iterable[SegmentDraft] = (),
        outputs: Iterable[Sequence[str]] = (),
    ) -> TestSetDraft:
        """Return the test set of this pair; `outputs` are system, segment and text."""
        texts: dict[str, dict[str, str]] = {}
        for system, segment, text in outputs:
            texts.setdefault(system, {})[segment] = text
        return TestSetDraft(
            slug=slug,
            name=name,
            source_language=self.source,
            target_language=self.target,
            description=description,
            segments=list(segments),
            systems=[SystemDraft(system, outputs=own) for system, own in texts.items()],
        )


@dataclass(frozen=True)
class DataSet:
    """A published set: what it is, who reads it, and where its language pairs lie.

    `reader` is the dotted path of a function from a `Pair` to drafts. `folder` is below the data
    folder, with `*` in the place of the pair; where nothing stands there, it is `unnamed`. A set
    that holds all pairs in one table names it and its column as `index` instead.
    """

    about: Message
    reader: str
    folder: str
    unnamed: str = ""
    index: tuple[str, str] | None = None

    def pairs(self, data: Path, chosen: Collection[str] = ()) -> list[Pair]:
        """Return the existing pairs by name, or only the `chosen` ones.

        Raises ValidationError if there are no pairs, or if a chosen one does not exist.
        """
        found = {pair.name: pair for pair in self._found(data)}
        where = data / self.folder
        if not found:
            raise invalid(
                "published.no-pairs",
                "{folder} has no language pairs. Set TOUCHSTONE_DATA or pass --data.",
                folder=str(where),
            )
        if missing := sorted(set(chosen) - found.keys()):
            raise invalid(
                "published.unknown-pairs",
                "{folder} does not have {missing}. It has {pairs}.",
                folder=str(where),
                missing=missing,
                pairs=truncated(sorted(found), 20),
            )
        return [found[name] for name in sorted(found) if not chosen or name in chosen]

    def _found(self, data: Path) -> Iterator[Pair]:
        if self.index is not None:
            folder, (table, column) = data / self.folder, self.index
            if folder.is_dir():
                names = dict.fromkeys(row[column] for row in read_table(folder / table, column))
                yield from (pair for name in names if (pair := _pair(name, folder)))
            return
        parent, pattern = (data / self.folder).parent, Path(self.folder).name
        before, _, after = pattern.partition("*")
        for path in sorted(parent.glob(pattern)):
            name = path.name[len(before) : len(path.name) - len(after)].strip("-") or self.unnamed
            if path.is_dir() and (pair := _pair(name, path)):
                yield pair


def _pair(name: str, folder: Path) -> Pair | None:
    """Return the pair with this name, or None if the name is not one of two languages."""
    try:
        return Pair(name, folder, *languages.split_pair(name))
    except ValueError:
        return None
