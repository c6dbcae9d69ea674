"""The choices of a paper: what its tables and figures show, read from an address or a command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from django.http.request import QueryDict

from annotation.filters import FilterError
from annotation.filters.choice import quoted
from dashboards.comparisons.selection import one_of
from metaeval.messages import Message, message

# What decides the layers that tables 6 and 7 show of each encoder, and that table 8 lists.
BEST, HELD_OUT, SCORED = "best", "held-out", "scored"
LAYERS: Mapping[str, Message] = {
    BEST: message("paper.layers-best", "best, as the study"),
    HELD_OUT: message("paper.layers-held-out", "of held-out folds"),
    SCORED: message("paper.layers-scored", "as scored"),
}
# The system-level statistic of table 6.
LIMIT, HYBRIDS = "limit", "hybrids"
SYSTEM_LEVEL: Mapping[str, Message] = {
    LIMIT: message("paper.limit", "limit of hybrids"),
    HYBRIDS: message("paper.hybrids", "drawn hybrids"),
}
# The rows of a column of table 9 that may have a mark.
FIRST, EACH = "first", "each"
MARKED: Mapping[str, Message] = {
    FIRST: message("paper.marks-first", "the best system"),
    EACH: message("paper.marks-each", "each system"),
}
MOST_LAYERS = 40


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What a reader chose.

    `order` and `layer_order` are language pairs, in the order of their columns in all tables and in
    those of layers; pairs that are not named follow. `metrics` are the rows of tables 6 and 7 and
    of the figures, and `table9` those of table 9, by key; empty for the usual ones. `top` is the
    most layers of an encoder, 0 for all.
    """

    order: Sequence[str] = ()
    layer_order: Sequence[str] = ()
    metrics: Sequence[str] = ()
    table9: Sequence[str] = ()
    layers: str = BEST
    level: str = LIMIT
    marked: str = FIRST
    top: int = MOST_LAYERS

    @classmethod
    def from_query(cls, query: QueryDict) -> Self:
        """Return the choices of an address. Raises FilterError."""
        top = query.get("top", "") or str(MOST_LAYERS)
        if not top.isascii() or not top.isdecimal() or len(top) > 4:
            raise FilterError(
                message(
                    "paper.top",
                    "top must be a number of layers, or 0 for all. It is {value}.",
                    value=quoted(top),
                )
            )
        return cls(
            order=_listed(query, "order"),
            layer_order=_listed(query, "layer_order"),
            metrics=query.getlist("metric"),
            table9=query.getlist("table9"),
            layers=one_of(query, "layers", list(LAYERS)),
            level=one_of(query, "level", list(SYSTEM_LEVEL)),
            marked=one_of(query, "marked", list(MARKED)),
            top=int(top),
        )

    def as_words(self) -> dict[str, Any]:
        """Return the choices for a file that lists them."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {k: list(v) if isinstance(v, list | tuple) else v for k, v in found.items()}


def _listed(query: QueryDict, name: str) -> list[str]:
    return [part.strip().lower() for part in query.get(name, "").split(",") if part.strip()]
