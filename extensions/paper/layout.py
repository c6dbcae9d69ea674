"""The layout of Cheng et al. (2023): the order, groups and numbers of its rows and tables."""

import re
from collections.abc import Iterable, Mapping
from functools import cache

from dashboards.published import published

# The numbers of the tables of layers; further encoders get the numbers after `LAST_TABLE`.
ENCODERS = {
    "bert-base-multilingual-cased": 11,
    "bart-large-mnli": 12,
    "deberta-xlarge-mnli": 13,
    "roberta-large-mnli": 14,
}
LAST_TABLE = 14
# The metrics of table 9 by our keys, as it names them.
STANDING = {"bleurt-20": "BLEURT", "wmt20-comet-da": "wmt20-comet-da"}
# Headings of tables 6 and 7, in their order, with the names of their metrics; others have none.
GROUPS = {
    "ROUGE": re.compile(r"rouge", re.IGNORECASE),
    "COMET": re.compile(r".*comet", re.IGNORECASE),
    "BERTScore": re.compile(r"bertscore|(m?bert|bart|x?l?m?-?roberta|deberta)-", re.IGNORECASE),
}
# A metric of whole systems: its segments are no scores of their own.
OF_SYSTEMS = frozenset({"bleu-star", "BLEU*"})
_COLUMN = "cheng2023/en-zh-80"


def encoder_name(encoder: object) -> str:
    """Return the name of an encoder in the tables: the last part of its checkpoint."""
    return str(getattr(encoder, "checkpoint", encoder)).rsplit("/", 1)[-1]


def group_of(name: str) -> str:
    """Return the heading above a metric; empty for one without."""
    return next((each for each, pattern in GROUPS.items() if pattern.match(name)), "")


@cache
def names(statistic: str) -> dict[str, str]:
    """Return the names of the rows of table 6 (`r_hybrid`) or 7 (`tau`) by our keys, in order."""
    column = published()[_COLUMN]
    return {key: column.measures[key] for found, key in column.values if found == statistic}


def place_of(name: str, order: Mapping[str, object] | Iterable[str]) -> int:
    """Return the place of a name in an order; names that it lacks come last."""
    known = list(order)
    return known.index(name) if name in known else len(known)
