"""Define what a person sends: files by role and a description, with names of systems."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import PurePath
from string import ascii_uppercase

from annotation.uploads.drafts import FULL_LENGTH
from annotation.uploads.files import InputFile
from metaeval.messages import MessageError, message

RATIO = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)", re.ASCII)
LABEL_WITH_RATIO = re.compile(r"@\s*[\d.]+\s*%?$", re.ASCII)
LONGEST_SLUG, LONGEST_NAME = 80, 120
TEXT_ENDINGS = (".txt", ".out", ".hyp", ".sys")


class RatioError(MessageError, ValueError):
    """A text is not a length ratio."""


@dataclass(frozen=True)
class SystemFile:
    """Plain text, one output per line, of the system that `label` names (`name` or `name@0.8`)."""

    file: InputFile
    label: str


@dataclass
class Submission:
    """Files and description of one upload.

    Segments come from `source` (plain text) or from one of the `tables`; outputs from `systems`
    (plain text), from `system:` columns or from tables of outputs. Without segments the stored
    ones of the test set `slug` are meant.

    `media` are the recordings and pictures, or ZIP archives of them, that tables name.

    `columns` maps a file name, or an empty one for all tables, to the fields that a person chose
    for columns (see `columns.propose`). With `decode`, HTML entities become characters.
    `lines` is the meaning of line n of files without keys (`annotation.uploads.tables.lines`).
    `pair` is `all` for a test set of each language pair that tables name, else empty.
    `skip` are kinds of problems whose rows are skipped (`annotation.uploads.tables.skipping`).
    """

    slug: str
    name: str
    source_language: str
    target_language: str
    description: str = ""
    ratio: Decimal = FULL_LENGTH
    source: InputFile | None = None
    references: list[InputFile] = field(default_factory=list)
    documents: InputFile | None = None
    systems: list[SystemFile] = field(default_factory=list)
    tables: list[InputFile] = field(default_factory=list)
    media: list[InputFile] = field(default_factory=list)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    decode: bool = False
    lines: str = ""
    pair: str = ""
    skip: frozenset[str] = frozenset()

    @property
    def files(self) -> list[InputFile]:
        """All files, for their total size."""
        single = [file for file in (self.source, self.documents) if file is not None]
        return [
            *single,
            *self.references,
            *(s.file for s in self.systems),
            *self.tables,
            *self.media,
        ]


def of_pair(submission: Submission, source: str, target: str) -> Submission:
    """Return the submission of one of several language pairs, with the pair in its names."""
    code = f"{source}-{target}"
    return replace(
        submission,
        slug=f"{submission.slug[: LONGEST_SLUG - len(code) - 1]}-{code}".lower(),
        name=f"{submission.name[: LONGEST_NAME - len(code) - 1]} {code}",
        source_language=source,
        target_language=target,
    )


def reference_name(number: int) -> str:
    """Name the references of plain files in their order: A, B, …, Z, A2, B2, …"""
    turn, letter = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[letter] + (str(turn + 1) if turn else "")


def label_of_file(file_name: str, target_language: str = "") -> str:
    """Return the system label that a file name carries: `baseline@0.8.txt` is `baseline@0.8`.

    Only a usual ending of text files or the target language's code is removed, because systems
    have names such as `uedin-nmt.4723`.
    """
    base = PurePath(file_name).name
    for ending in (*TEXT_ENDINGS, f".{target_language.lower()}"):
        if len(ending) > 1 and base.lower().endswith(ending) and len(base) > len(ending):
            return base[: -len(ending)]
    return base


def split_label(label: str, default: Decimal = FULL_LENGTH) -> tuple[str, Decimal]:
    """Split `name@0.8` or `name@80%` into name and ratio; without `@` the default holds.

    Raises RatioError if what follows `@` is not a ratio.
    """
    name, mark, ratio = label.rpartition("@")
    if not mark:
        return label.strip(), default
    return name.strip(), parse_ratio(ratio)


def parse_ratio(text: str) -> Decimal:
    """Read a length ratio, as a share (`0.8`) or in percent (`80%`). Raises RatioError."""
    found = RATIO.fullmatch(text.strip())
    if not found:
        raise RatioError(
            message(
                "ratio.syntax",
                "“{text}” is not a length ratio. Use a number such as 0.8 or 80%.",
                text=text.strip(),
            )
        )
    value = Decimal(found[1])
    return value / 100 if found[2] else value
