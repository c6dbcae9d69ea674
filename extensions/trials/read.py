"""Read the judgments of a campaign with suggestions as arrays, in each annotator's order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.exports.rows import counted
from annotation.filters import SEGMENTS, Filters
from annotation.models import Campaign, ErrorSpan, Item, SuggestionFate
from annotation.models.judgment import VALUE
from annotation.prefill.suggestions import PLANTED, Condition
from metaeval.arrays import BoolArray, FloatArray, IntArray
from metaeval.documents import clusters_from
from metaeval.messages import Message, message

CHUNK = 2_000
ORIGINS = {
    SuggestionFate.Origin.SUGGESTED: message("trial.origin-suggested", "Suggested"),
    SuggestionFate.Origin.PLANTED: message("trial.origin-planted", "Planted"),
}
ITEM, ANNOTATOR = "assignment__item", "assignment__annotator"
Place = tuple[str, int, int]
COLUMNS = (
    "pk", f"{ANNOTATOR}_id", f"{ITEM}__output_id", "assignment__condition", "assignment__position",
    "active_ms", "paid_ms", "time_doubt", "sent_together", f"{ITEM}__suggestions",
    f"{ITEM}__segment__source", f"{ITEM}__segment_id", f"{ITEM}__segment__document",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rated:
    """n judgments with annotator, output, condition and results; all arrays are (n,).

    ``seconds`` are active seconds per segment, by the server's clock where the browser's report is
    implausible (``n_doubted``). ``after`` marks judgments right after one with a planted error.
    ``accepted`` is 1 where a final span overlaps the planted region, and ``missed`` where none
    overlaps the known error; nan where the output has no such region. ``document`` is empty where
    the segment is the unit.
    """

    annotator: IntArray
    output: IntArray
    segment: IntArray
    document: Sequence[str]
    condition: Sequence[str]
    position: FloatArray
    length: FloatArray
    seconds: FloatArray
    value: FloatArray
    after: BoolArray
    accepted: FloatArray
    missed: FloatArray
    share_kept: FloatArray
    n_doubted: int

    def __len__(self) -> int:
        return len(self.annotator)

    @property
    def clusters(self) -> IntArray:
        """The document of each judged segment, once each."""
        _, first = np.unique(self.segment, return_index=True)
        return clusters_from([self.document[place] for place in first], len(first))

    def documents(self, chosen: BoolArray) -> list[str]:
        """The documents of some judgments."""
        return [self.document[place] for place in np.flatnonzero(chosen)]

    def among(self, *conditions: str) -> BoolArray:
        """Which were rated in one of the conditions."""
        return np.isin(np.asarray(self.condition), [str(each) for each in conditions])


@dataclass(frozen=True)
class Fates:
    """The number of suggestions of an origin, by fate."""

    origin: str
    n: int
    kept: int
    moved: int
    severity: int
    category: int
    deleted: int

    @property
    def label(self) -> Message:
        """The name of the origin."""
        return ORIGINS[SuggestionFate.Origin(self.origin)]


def read_rated(campaign: Campaign, filters: Filters) -> Rated:
    """Return the current judgments that analyses use, by annotator and position."""
    chosen = counted(campaign, filters).filter(assignment__item__kind=Item.Kind.TARGET)
    order = chosen.order_by(f"{ANNOTATOR}_id", "assignment__position")
    rows = [dict(zip((*COLUMNS, "value"), row, strict=True))
            for row in order.values_list(*COLUMNS, VALUE).iterator(CHUNK)]  # fmt: skip
    spans, kept = _final([row["pk"] for row in rows])
    by_segment = filters.unit == SEGMENTS
    planted = [_planted(row) for row in rows]
    known = [_known(row) for row in rows]
    finals = [spans.get(row["pk"], ()) for row in rows]
    return Rated(
        annotator=np.array([row[f"{ANNOTATOR}_id"] for row in rows], dtype=np.int64),
        output=np.array([row[f"{ITEM}__output_id"] or 0 for row in rows], dtype=np.int64),
        segment=np.array([row[f"{ITEM}__segment_id"] for row in rows], dtype=np.int64),
        document=["" if by_segment else row[f"{ITEM}__segment__document"] for row in rows],
        condition=[row["assignment__condition"] for row in rows],
        position=np.array([row["assignment__position"] for row in rows], dtype=float),
        length=np.array([len(row[f"{ITEM}__segment__source"]) for row in rows], dtype=float),
        seconds=np.array([_seconds(row) for row in rows], dtype=float),
        value=np.array([row["value"] for row in rows], dtype=float),
        after=_after(rows, planted),
        accepted=np.array([_is_over(p, s) for p, s in zip(planted, finals, strict=True)]),
        missed=1.0 - np.array([_is_over(p, s) for p, s in zip(known, finals, strict=True)], float),
        share_kept=np.array([kept.get(row["pk"], np.nan) for row in rows], dtype=float),
        n_doubted=sum(bool(row["time_doubt"]) for row in rows),
    )


def _seconds(row: Mapping[str, Any]) -> float:
    """Return the active seconds of one judgment of an item."""
    if not row["time_doubt"] and row["active_ms"] is not None:
        return float(row["active_ms"]) / 1000 / float(row["sent_together"])
    return np.nan if row["paid_ms"] is None else float(row["paid_ms"]) / 1000


def _planted(row: Mapping[str, Any]) -> Place | None:
    stored = row[f"{ITEM}__suggestions"] or {"spans": []}
    return next((tuple(own[:3]) for own in stored["spans"] if own[-1] == PLANTED), None)


def _known(row: Mapping[str, Any]) -> Place | None:
    known = (row[f"{ITEM}__suggestions"] or {}).get("known")
    return tuple(known) if known else None


def _is_over(region: Place | None, spans: Sequence[Place]) -> float:
    """Return whether a final span has a character of a region; nan without a region."""
    if region is None:
        return np.nan
    side, start, end = region
    return float(any(own == side and first < end and start < last for own, first, last in spans))


def _final(judgments: Sequence[int]) -> tuple[Mapping[int, list[Place]], Mapping[int, float]]:
    """Return all final spans, planted ones included, and the share of real suggestions kept."""
    spans: dict[int, list[Place]] = defaultdict(list)
    real: dict[int, list[bool]] = defaultdict(list)
    for start in range(0, len(judgments), CHUNK):
        part = judgments[start : start + CHUNK]
        own = ErrorSpan.objects.filter(judgment__in=part).order_by()
        for pk, side, first, last in own.values_list("judgment_id", "side", "start", "end"):
            spans[pk].append((side, first, last))
        for fate in SuggestionFate.objects.filter(judgment__in=part).order_by():
            if fate.origin == SuggestionFate.Origin.SUGGESTED:
                real[fate.judgment_id].append(fate.fate != SuggestionFate.Fate.DELETED)
            elif fate.fate != SuggestionFate.Fate.DELETED:
                spans[fate.judgment_id].append((fate.side, fate.start, fate.end))
    return spans, {pk: sum(own) / len(own) for pk, own in real.items()}


def _after(rows: Sequence[Mapping[str, Any]], planted: Sequence[Place | None]) -> BoolArray:
    """Return which judgments follow one of the same annotator that showed a planted error."""
    found = np.zeros(len(rows), dtype=bool)
    for n in range(1, len(rows)):
        before = rows[n - 1]
        is_next = before["assignment__position"] + 1 == rows[n]["assignment__position"]
        is_same = before[f"{ANNOTATOR}_id"] == rows[n][f"{ANNOTATOR}_id"]
        was_planted = before["assignment__condition"] == Condition.PLANTED
        found[n] = is_next and is_same and was_planted and planted[n - 1] is not None
    return found


def read_fates(campaign: Campaign, filters: Filters) -> list[Fates]:
    """Count the fates of suggestions in the judgments that analyses use."""
    chosen = counted(campaign, filters)
    rows = SuggestionFate.objects.filter(judgment__in=chosen.values("pk")).order_by()
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for origin, fate in rows.values_list("origin", "fate").iterator(CHUNK):
        counts[origin][fate] += 1
    return [
        Fates(origin=origin, n=sum(own.values()), **{fate: own[fate] for fate in _FATES})
        for origin, own in sorted(counts.items(), reverse=True)
    ]


_FATES = ("kept", "moved", "severity", "category", "deleted")
