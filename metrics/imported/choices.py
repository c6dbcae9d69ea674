"""Choices for tables of scores: columns, names, directions, and what to skip."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.uploads.formats.scores import LINE, METRIC, SCORE, SYSTEM
from annotation.uploads.tables.columns import wanted
from annotation.uploads.tables.objects import GROUP
from metaeval.files.names import NAMES
from metaeval.messages import message

__all__ = ["FIELDS", "HUMAN", "LINE", "METRIC", "PAIR", "SCORE", "SEGMENT", "SYSTEM", "Choices"]
SEGMENT, PAIR = "segment", "language_pair"
FIELDS = (
    wanted(SEGMENT, message("field.segment", "segment"), *NAMES["item"]),
    wanted(SYSTEM, message("field.system", "system"), GROUP),
    wanted(METRIC, message("field.metric-name", "name of the metric"), "name"),
    wanted(SCORE, message("field.score", "score"), "prediction"),
    wanted(PAIR, message("field.language-pair", "language pair")),
)
# Columns with these names hold human scores; they are not metrics unless the person chooses them.
HUMAN = frozenset(
    (
        *("human", "human_score", "human_z", "human_raw", "human_mean", "z_mean", "raw_mean"),
        *("mqm", "da", "da_sqm", "esa", "sqm", "rating", "z", "raw", "score_human"),
    )
)


@dataclass(frozen=True)
class Choices:
    """What a person chose; names are those of the files.

    `columns` maps columns to fields; a column with an empty field is not used. Of the
    metrics only `metrics` are taken (None: all but columns that hold human scores). Where a table
    has scores and no names, `metric` is theirs, or else the name of the file. `names` are other
    names for metrics, `lower` and `higher` those that are stated to be better when lower or
    higher: the direction of others is that of their scores which this test set shows, or else
    inferred. `skip` are kinds of problems whose rows are skipped and counted
    (`annotation.uploads.tables.skipping`); else they are errors. `lines` is the meaning of line n
    in files without keys (`annotation.uploads.tables.lines`), `system` the system of files that do
    not name one.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    metrics: tuple[str, ...] | None = None
    metric: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    lower: frozenset[str] = frozenset()
    higher: frozenset[str] = frozenset()
    skip: frozenset[str] = frozenset()
    lines: str = ""
    system: str = ""

    def takes(self, name: str) -> bool:
        """Whether a metric is to be imported."""
        return not is_human(name) if self.metrics is None else name in self.metrics

    def name_of(self, name: str) -> str:
        """What a metric is to be called."""
        return self.names.get(name) or name


def is_human(name: str) -> bool:
    """Whether a column has a name of human scores: `mqm`, `esa_1`."""
    plain = name.casefold().replace("-", "_").replace(" ", "_")
    return plain in HUMAN or plain.rstrip("0123456789").rstrip("_") in HUMAN
