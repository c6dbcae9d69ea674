"""Folders in the layout of mt-metrics-eval, version 2: texts, human scores, ratings, metric scores.

`archives` unpacks what is sent, `folder` finds test set and language pairs, `read` turns one pair
into drafts, and `ratings` its error spans into judgments.
"""

from metrics.datasets.mtme.archives import packed, unpacked
from metrics.datasets.mtme.folder import (
    choose_pairs,
    find_root,
    guess_pair,
    is_pair,
    pairs_of,
    place_of,
)
from metrics.datasets.mtme.read import Choice, read

__all__ = [
    "Choice",
    "choose_pairs",
    "find_root",
    "guess_pair",
    "is_pair",
    "packed",
    "pairs_of",
    "place_of",
    "read",
    "unpacked",
]
