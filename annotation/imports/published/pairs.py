"""Find the language pairs of a published data set, with their folders and names."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.core.exceptions import ValidationError

from annotation.imports.tables import read_table
from core import languages
from metaeval.messages import Message, message, truncated


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
            raise ValidationError(
                [
                    message(
                        "published.no-pairs",
                        "{folder} has no language pairs. Set TOUCHSTONE_DATA or pass --data.",
                        folder=str(where),
                    )
                ]
            )
        if missing := sorted(set(chosen) - found.keys()):
            raise ValidationError(
                [
                    message(
                        "published.unknown-pairs",
                        "{folder} does not have {missing}. It has {pairs}.",
                        folder=str(where),
                        missing=missing,
                        pairs=truncated(sorted(found), 20),
                    )
                ]
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
