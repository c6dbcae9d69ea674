"""Find test set, language pairs and files of an mt-metrics-eval folder."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from core import languages
from core.messages import invalid
from metaeval.messages import truncated

PARTS = (
    "documents",
    "sources",
    "references",
    "system-outputs",
    "human-scores",
    "metric-scores",
    "metadata",
)
SUFFIXES = (".txt", ".jsonl", ".docs", ".score", ".rating")
LEVELS = r"(?:sys|doc|domain|seg)"


def find_root(folder: Path) -> Path:
    """Return the folder of the test set: this one, or the only suitable one below.

    Raises ValidationError if there is none, or more than one.
    """
    if not folder.is_dir():
        raise invalid("mtme.no-folder", "The folder {folder} does not exist.", folder=str(folder))
    if _is_root(folder):
        return folder
    found = sorted(
        {p.parent for part in PARTS for p in folder.glob(f"**/{part}") if _is_root(p.parent)}
    )
    if len(found) == 1:
        return found[0]
    if not found:
        raise invalid(
            "mtme.other-layout",
            "“{folder}” has no folder in the layout of mt-metrics-eval, with folders such "
            "as sources, system-outputs, human-scores and metric-scores.",
            folder=folder.name,
        )
    raise invalid(
        "mtme.several-test-sets",
        "“{folder}” has several test sets ({names}). Import them one by one.",
        folder=folder.name,
        names=truncated([path.name for path in found], 20),
    )


def _is_root(folder: Path) -> bool:
    return any((folder / part).is_dir() for part in PARTS)


def pairs_of(root: Path) -> list[str]:
    """Return the language pairs of a folder, from the names of its files."""
    names = {path.stem for path in _below(root, "sources", "documents")}
    names |= {path.name for path in _below(root, "system-outputs", "metric-scores")}
    names |= {path.name.split(".")[0] for path in _below(root, "human-scores", "references")}
    return sorted(name for name in names if is_pair(name))


def _below(root: Path, *parts: str) -> list[Path]:
    return [path for part in parts if (root / part).is_dir() for path in (root / part).iterdir()]


def is_pair(name: str) -> bool:
    """Return whether a name is that of a language pair."""
    try:
        languages.split_pair(name)
    except ValueError:
        return False
    return True


def choose_pairs(root: Path, wanted: str = "") -> list[str]:
    """Return the wanted pair, or the only one there is.

    Raises ValidationError if there is no such pair, or if a choice is needed.
    """
    found = pairs_of(root)
    if not found:
        raise invalid(
            "mtme.no-language-pair",
            "“{folder}” has no file named after a language pair such as en-de.",
            folder=root.name,
        )
    if wanted and wanted not in found:
        raise invalid(
            "mtme.unknown-pair",
            "“{folder}” does not have the language pair {pair}. It has {pairs}.",
            folder=root.name,
            pair=wanted,
            pairs=truncated(found, 40),
        )
    if not wanted and len(found) > 1:
        raise invalid(
            "mtme.choose-pair",
            "“{folder}” has several language pairs. Choose one: {pairs}.",
            folder=root.name,
            pairs=truncated(found, 40),
        )
    return [wanted] if wanted else found


def place_of(name: str, pair: str) -> str:
    """Return the path of a file that was sent without folders, from its name.

    >>> place_of("en-de.mqm.seg.score", "en-de"), place_of("BLEU-refA.sys.score", "en-de")
    ('human-scores/en-de.mqm.seg.score', 'metric-scores/en-de/BLEU-refA.sys.score')
    >>> place_of("en-de.refA.txt", "en-de"), place_of("online-B.txt", "en-de")
    ('references/en-de.refA.txt', 'system-outputs/en-de/online-B.txt')
    """
    own = name.startswith(f"{pair}.")
    if name.endswith(".docs"):
        return f"documents/{name}"
    if re.search(rf"\.(?:{LEVELS}\.score|seg\.rating)$", name):
        return f"human-scores/{name}" if own else f"metric-scores/{pair}/{name}"
    if own:
        is_source = name in (f"{pair}.txt", f"{pair}.jsonl")
        return f"sources/{name}" if is_source else f"references/{name}"
    return f"system-outputs/{pair}/{name}"


def guess_pair(names: Iterable[str]) -> str:
    """Return the language pair in the names of most files; empty if there is none."""
    heads = Counter(head for name in names if is_pair(head := name.split(".")[0]))
    return min(heads, key=lambda head: (-heads[head], head), default="")
