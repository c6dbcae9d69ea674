"""Show a line per detector, the errors that one of them finds by kind, and those it misses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from annotation.filters import FilterError
from annotation.models import Campaign
from dashboards.pages.page import Page
from dashboards.spans.document import Spans
from dashboards.spans.found import DIMENSIONS, Found, Missed
from dashboards.spans.overlay import METRIC, PEOPLE, Mark, Piece, pieces
from metaeval.messages import message


@dataclass(frozen=True)
class Shown:
    """A miss or a false alarm with its text cut into pieces."""

    row: Missed
    pieces: Sequence[Piece]

    @property
    def marked(self) -> str:
        """The text of the span."""
        return self.row.text[self.row.start : self.row.end]


def context(request: HttpRequest, campaign: Campaign, document: Spans) -> dict[str, Any]:
    """Return the details of the chosen metric, by default the best one."""
    metrics = [line for line in document.rows if line.kind == "metric"]
    wanted = request.GET.get("detector", "")
    if wanted and document.rows and wanted not in {line.key for line in metrics}:
        raise FilterError(
            message(
                "spans.no-detector",
                "detector: “{metric}” has not marked any spans here.",
                metric=wanted,
            )
        )
    chosen = next((line for line in metrics if line.key == wanted), next(iter(metrics), None))
    key = chosen.key if chosen else ""
    found = [row for row in document.found if row.detector == key]
    return {
        "metrics": metrics,
        "chosen": chosen,
        "dimensions": [(label, _of(found, name)) for name, label in DIMENSIONS.items()],
        "shown": [_shown(row) for row in document.missed if row.detector == key],
    }


def _of(rows: Sequence[Found], dimension: str) -> list[Found]:
    return [row for row in rows if row.dimension == dimension]


def _shown(row: Missed) -> Shown:
    marks = [Mark(*place, PEOPLE) for place in row.people]
    marks += [Mark(*place, METRIC) for place in row.metric]
    return Shown(row, pieces(row.text, marks, around=row.start))


SPANS = Page(
    name="spans",
    title=message("page.spans", "Error spans"),
    kind="spans",
    template="dashboards/spans.html",
    columns=(
        "key", "label", "kind", "n", "n_spans", "clean", "precision", "recall", "f1", "f1_low",
        "f1_high", "character_precision", "character_recall", "character_f1", "macro_f1", "mcc",
        "p", "p_floor", "is_at_floor", "signature",
    ),
    context=context,
    takes=("detector",),
    has_scores=False,
)  # fmt: skip
