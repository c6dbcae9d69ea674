"""Show a line per detector, the errors that one of them finds by kind, and those it misses."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.http import HttpRequest

from annotation.filters import FilterError
from annotation.models import Campaign, ErrorSpan, Item, Judgment, Output
from dashboards.pages.page import Page
from dashboards.spans.document import Spans
from dashboards.spans.found import DIMENSIONS, Found, Missed
from metaeval.messages import Message, message
from metrics import catalogue
from metrics.error_spans import MISSING, TARGET
from metrics.models import MetricSignature
from metrics.spans.stored import of_output

PEOPLE, METRIC = "people", "metric"
DESCRIPTIONS = {
    (PEOPLE, "minor"): message("spans.annotators-minor", "Annotators: minor error."),
    (PEOPLE, "major"): message("spans.annotators-major", "Annotators: major error."),
    (METRIC, "minor"): message("spans.metric-minor", "Metric: minor error."),
    (METRIC, "major"): message("spans.metric-major", "Metric: major error."),
}
# Only a part of a longer text is shown.
LONGEST, AROUND = 900, 350


@dataclass(frozen=True)
class Mark:
    """[start, end) in code points of the text; `by` is PEOPLE or METRIC."""

    start: int
    end: int
    severity: str
    by: str


@dataclass(frozen=True)
class Piece:
    """A stretch of text under the same marks."""

    text: str
    marks: Sequence[Mark] = ()

    @property
    def classes(self) -> str:
        """Style classes of the markers and the worst severity."""
        return " ".join(f"{by}-{worst}" for by, worst in self._worst.items())

    @property
    def descriptions(self) -> list[Message]:
        """The markers and the worst severity of each."""
        return [DESCRIPTIONS[each] for each in self._worst.items()]

    @property
    def _worst(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for mark in self.marks:
            is_minor = mark.severity == "minor"
            if not is_minor or mark.by not in found:
                found[mark.by] = "minor" if is_minor else "major"
        return dict(sorted(found.items(), reverse=True))


def pieces(text: str, marks: Sequence[Mark], around: int | None = None) -> list[Piece]:
    """Cut a text; with `around`, only the part of a long text near that position, with dots."""
    low, high = 0, len(text)
    if around is not None and len(text) > LONGEST:
        low, high = max(0, around - AROUND), min(len(text), around + AROUND)
    inside = [mark for mark in marks if mark.start < high and mark.end > low]
    edges = {low, high, *(min(max(e, low), high) for m in inside for e in (m.start, m.end))}
    ordered = sorted(edges)
    found = [
        Piece(text[a:b], [mark for mark in inside if mark.start <= a and b <= mark.end])
        for a, b in pairwise(ordered)
    ]
    before, after = [Piece("…")] * (low > 0), [Piece("…")] * (high < len(text))
    return [*before, *found, *after]


# Show one output with the spans of each annotator and each metric.

KINDS = (Item.Kind.TARGET, Item.Kind.REPEAT)


@dataclass(frozen=True)
class MarkedText:
    """The output with the spans of one annotator or metric; `n_elsewhere` spans are not on it."""

    label: str
    pieces: Sequence[Piece]
    n_spans: int
    n_elsewhere: int


def marked_texts(
    campaign: Campaign, output: Output, signatures: Sequence[MetricSignature]
) -> list[MarkedText]:
    """Return the spans of each annotator, then those of each metric; three queries."""
    people: list[MarkedText] = []
    if campaign.judging.spans is not None:
        people = _people(campaign, output)
    metrics = [
        _marked(
            catalogue.get(signature.metric).label,
            output,
            [(row[0], Mark(row[1], row[2], row[3], METRIC)) for row in rows],
        )
        for signature, rows in of_output(signatures, output)
    ]
    return [*people, *metrics]


def _people(campaign: Campaign, output: Output) -> list[MarkedText]:
    rows = Judgment.objects.filter(
        is_current=True,
        assignment__annotator__campaign=campaign,
        assignment__item__output=output,
        assignment__item__kind__in=KINDS,
    ).order_by("assignment__annotator__label", "pk")
    labels = dict(rows.values_list("pk", "assignment__annotator__label"))
    spans: dict[int, list[tuple[str, Mark]]] = {pk: [] for pk in labels}
    found = ErrorSpan.objects.filter(judgment__in=labels).order_by("start", "end", "pk")
    for span in found:
        mark = Mark(span.start, span.end, span.severity, PEOPLE)
        spans[span.judgment_id].append((span.side, mark))
    return [_marked(labels[pk], output, own) for pk, own in spans.items()]


def _marked(label: str, output: Output, spans: Sequence[tuple[str, Mark]]) -> MarkedText:
    on_it = [mark for side, mark in spans if side == TARGET and mark.end > mark.start]
    elsewhere = sum(side == MISSING or side != TARGET for side, _ in spans)
    return MarkedText(label, pieces(output.text, on_it), len(spans), elsewhere)


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
        "f1_high", "character_precision", "character_recall", "character_f1", "macro_f1",
        "free_precision", "free_recall", "mcc", "mcc_low", "mcc_high", "p", "p_floor",
        "is_at_floor", "signature",
    ),
    context=context,
    takes=("detector",),
    has_scores=False,
)  # fmt: skip
