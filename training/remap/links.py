"""Read word alignments from a file, and match them to pairs of a corpus by text."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from metaeval.messages import Message, message
from training.contract import JobError
from training.remap.alignment import Links

_BLANKS = re.compile(r"\s+")
Pair = tuple[str, str]
Aligned = tuple[list[str], list[str], Links]


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


def read(path: Path) -> dict[Pair, Aligned]:
    """Read lines of source tokens, target tokens and links `i-j` from 0, by text without blanks.

    Raises JobError, which names the line, for an invalid link.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise JobError(_unreadable(path, error)) from error
    found = dict(_read_line(Place(str(path), n), line) for n, line in enumerate(lines, 1))
    if not found:
        raise JobError(
            message("alignments.empty", "{file} has no word alignments.", file=str(path))
        )
    return found


def _unreadable(path: Path, error: OSError | UnicodeDecodeError) -> Message:
    if isinstance(error, OSError):
        return message(
            "alignments.unreadable",
            "The word alignments in {file} cannot be read: {reason}.",
            file=str(path),
            reason=error.strerror,
        )
    return message(
        "alignments.not-utf8",
        "The word alignments in {file} cannot be read: not UTF-8.",
        file=str(path),
    )


def _read_line(place: Place, line: str) -> tuple[Pair, Aligned]:
    cells = line.split("\t")
    if len(cells) != 3:
        raise JobError(
            message(
                "alignments.columns",
                "{file}, line {line}: expected three columns (source tokens, target tokens, "
                "links), found {columns}.",
                **place._asdict(),
                columns=len(cells),
            )
        )
    source, target = cells[0].split(), cells[1].split()
    links = {_read_link(place, text) for text in cells[2].split()}
    for i, j in links:
        if i >= len(source) or j >= len(target):
            raise JobError(
                message(
                    "alignments.no-words",
                    "{file}, line {line}: the link {link} names a word that the texts do not have. "
                    "Words are counted from 0.",
                    **place._asdict(),
                    link=f"{i}-{j}",
                )
            )
    return (bare(cells[0]), bare(cells[1])), (source, target, links)


def _read_link(place: Place, text: str) -> tuple[int, int]:
    matched = re.fullmatch(r"(\d+)-(\d+)", text)
    if not matched:
        # Do not quote the file: the account that starts a job may not be allowed to read it.
        raise JobError(
            message(
                "alignments.link",
                "{file}, line {line}: a link must be two numbers, such as 3-4.",
                **place._asdict(),
            )
        )
    return int(matched[1]), int(matched[2])


def bare(text: str) -> str:
    """Return a text without spaces, so that tokenised and plain text are equal."""
    return _BLANKS.sub("", text)


def choose(
    pairs: Sequence[Pair], found: dict[Pair, Aligned], reverse: bool
) -> list[Aligned | None]:
    """Return the alignment of each pair, None for one that is not in the file.

    The file has the direction of the upload; with ``reverse`` the pairs are reversed.
    """
    if not reverse:
        return [found.get((bare(source), bare(target))) for source, target in pairs]
    return [_turn(found.get((bare(target), bare(source)))) for source, target in pairs]


def _turn(aligned: Aligned | None) -> Aligned | None:
    if aligned is None:
        return None
    source, target, links = aligned
    return target, source, {(j, i) for i, j in links}
