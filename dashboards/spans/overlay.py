"""Cut a text into pieces where marks of annotators or a metric begin or end."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from metaeval.messages import Message, message

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
