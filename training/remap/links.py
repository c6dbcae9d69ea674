"""Word alignments from a file, found for the pairs of a corpus by their text. Pure."""

import re
from collections.abc import Sequence
from pathlib import Path

from training.contract import JobError
from training.remap.alignment import Links

_BLANKS = re.compile(r"\s+")
Pair = tuple[str, str]
Aligned = tuple[list[str], list[str], Links]


def read(path: Path) -> dict[Pair, Aligned]:
    """Read lines of source tokens, target tokens and links `i-j` from 0, by text without blanks.

    Raises JobError, which names the line, where a link leads nowhere.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise JobError(f"The word alignments in {path} cannot be read: {_why(error)}") from error
    found = dict(_read_line(f"{path}, line {n}", line) for n, line in enumerate(lines, 1))
    if not found:
        raise JobError(f"{path} is empty: there are no word alignments in it.")
    return found


def _why(error: OSError | UnicodeDecodeError) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror}."
    return "they are not UTF-8."


def _read_line(place: str, line: str) -> tuple[Pair, Aligned]:
    cells = line.split("\t")
    if len(cells) != 3:
        message = f"{place}: three columns are needed, not {len(cells)}: tokens, tokens, links."
        raise JobError(message)
    source, target = cells[0].split(), cells[1].split()
    links = {_read_link(place, text) for text in cells[2].split()}
    for i, j in links:
        if i >= len(source) or j >= len(target):
            message = f"{place}: there is no pair of words for the link {i}-{j}; it counts from 0."
            raise JobError(message)
    return (bare(cells[0]), bare(cells[1])), (source, target, links)


def _read_link(place: str, text: str) -> tuple[int, int]:
    matched = re.fullmatch(r"(\d+)-(\d+)", text)
    if not matched:
        # What the file holds is not told: whoever starts a job may not be who may read it.
        raise JobError(f"{place}: a link is two numbers, written as 3-4.")
    return int(matched[1]), int(matched[2])


def bare(text: str) -> str:
    """Return a text without blanks, by which tokenised and plain text are the same."""
    return _BLANKS.sub("", text)


def choose(
    pairs: Sequence[Pair], found: dict[Pair, Aligned], reverse: bool
) -> list[Aligned | None]:
    """Return the alignment of each pair, None for one that the file lacks.

    The file reads as the corpus was uploaded; with ``reverse`` the pairs are turned round.
    """
    if not reverse:
        return [found.get((bare(source), bare(target))) for source, target in pairs]
    return [_turn(found.get((bare(target), bare(source)))) for source, target in pairs]


def _turn(aligned: Aligned | None) -> Aligned | None:
    if aligned is None:
        return None
    source, target, links = aligned
    return target, source, {(j, i) for i, j in links}
