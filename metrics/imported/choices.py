"""Choices for tables of scores: columns, names, directions, and what to skip."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from annotation.uploads.formats.scores import LINE, METRIC, SCORE, SYSTEM
from annotation.uploads.tables.columns import wanted
from annotation.uploads.tables.objects import GROUP
from metaeval.files.names import NAMES
from metaeval.messages import message

__all__ = ["FIELDS", "HUMAN", "LINE", "METRIC", "PAIR", "RATIO", "SCORE", "SEGMENT", "SYSTEM",
           "Choices"]  # fmt: skip
SEGMENT, PAIR, RATIO = "segment", "language_pair", "length_ratio"
FIELDS = (
    wanted(SEGMENT, message("field.segment", "segment"), *NAMES["item"]),
    wanted(SYSTEM, message("field.system", "system"), GROUP),
    wanted(METRIC, message("field.metric-name", "name of the metric"), "name"),
    wanted(SCORE, message("field.score", "score"), "prediction"),
    wanted(PAIR, message("field.language-pair", "language pair")),
    wanted(RATIO, message("column.length-ratio", "length ratio")),
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
    """The choices of a person; names are those of the files.

    `columns` maps columns to fields; a column with an empty field is not used. Only `metrics` are
    imported (None: all except columns of human scores). `metric` is the name of a metric that the
    table does not name, by default the name of the file. `names` are other names for metrics.
    `lower` and `higher` have a stated direction; the direction of others is that of their scores in
    this test set, or is inferred. `skip` are kinds of problems whose rows are skipped and counted
    (`annotation.uploads.tables.skipping`); otherwise they are errors. `lines` is the meaning of
    line n in files without keys (`annotation.uploads.tables.lines`), `system` the system of files
    that do not name one.
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
        """Return whether a metric is to be imported."""
        return not is_human(name) if self.metrics is None else name in self.metrics

    def name_of(self, name: str) -> str:
        """Return the new name of a metric."""
        return self.names.get(name) or name


def is_human(name: str) -> bool:
    """Return whether a column has a name of human scores: `mqm`, `esa_1`."""
    plain = name.casefold().replace("-", "_").replace(" ", "_")
    return plain in HUMAN or plain.rstrip("0123456789").rstrip("_") in HUMAN
