"""Cache the current judgments of a campaign as one table, and update it.

Judgments are only added, and a revised one loses its `is_current` mark. So what a process has read
stays right but for the assignments that were answered since, and few rows bring it up to date. That
nothing else has changed is proved by numbers that the database takes of all current judgments;
where they differ, everything is read anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Max, Q, QuerySet, Sum
from numpy.typing import NDArray

from annotation.added import OVERLAP, AddedUp
from annotation.models import Campaign, Judgment
from annotation.models.judgment import VALUE
from core.caching import Cache
from core.text import batched

NOTHING = -1
Table = NDArray[Any]
ITEM = "assignment__item__"
KEYS = {
    "pk": "pk",
    "assignment": "assignment_id",
    "annotator": "assignment__annotator_id",
    "position": "assignment__position",
    "item": "assignment__item_id",
    "output": f"{ITEM}output_id",
    "segment": f"{ITEM}segment_id",
    "partner": f"{ITEM}partner_id",
    "screen": f"{ITEM}screen",
}
NUMBERS: dict[str, Any] = {
    "low": f"{ITEM}low",
    "high": f"{ITEM}high",
    "score": VALUE,
    "given": "score",
    "paid": "paid_ms",
    "active": "active_ms",
    "inclusion": "assignment__inclusion",
}
OTHERS = (f"{ITEM}kind", "time_doubt", "created_at", "started_at", "submitted_at", "sent_together")
COLUMNS: tuple[Any, ...] = (*KEYS.values(), *NUMBERS.values(), *OTHERS)
# `created` and `submitted` are in Unix seconds, `seconds` is the server's time of one answer.
ROW = np.dtype(
    [
        *((name, "i8") for name in KEYS),
        *((name, "f8") for name in NUMBERS),
        ("kind", "U10"),
        ("doubted", "?"),
        *((name, "f8") for name in ("created", "seconds", "submitted")),
    ]
)
# Some 300,000 judgments; a larger campaign is kept alone.
BYTES = 64 * 2**20
# Rows of the database that are in memory at a time.
CHUNK = 20_000
# Up to this many rows are inserted, of more all rows are sorted.
INSERTED = 10 * OVERLAP
_cache: Cache[Table] = Cache(BYTES, keeps_newest=True)


class State(NamedTuple):
    """A fingerprint of the current judgments: it is equal only if they are the same."""

    n: int
    keys: int
    values: float
    newest: float


def current_judgments(campaign: Campaign) -> Table:
    """Return all current judgments as rows of ROW, in each annotator's own order.

    Practice and excluded annotators' are among them. Nobody may change the table.
    """
    rows, state = _cache.get(campaign.pk), _stored(campaign)
    if rows is not None and _state(rows) == state:
        return rows
    if rows is not None:
        rows = _updated(campaign, rows, state)
    if rows is None:
        chunks = batched(_values(_current(campaign)).iterator(CHUNK), CHUNK)
        rows = _ordered(np.concatenate([np.empty(0, ROW), *map(_table, chunks)]))
    rows.flags.writeable = False
    _cache.put(campaign.pk, rows, rows.nbytes)
    return rows


def _updated(campaign: Campaign, rows: Table, state: State) -> Table | None:
    """Return the rows with what came since, or None where that does not explain every change.

    `state` was stored just before; what came meanwhile has the database asked once more.
    """
    newest = int(rows["pk"].max(initial=0))
    new = _table(list(_values(_current(campaign).filter(pk__gt=newest - OVERLAP))))
    others = rows[~np.isin(rows["assignment"], new["assignment"])]
    is_little = len(new) <= INSERTED
    found = _inserted(others, new) if is_little else _ordered(np.concatenate([others, new]))
    reached = _state(found)
    return found if reached == state or reached == _stored(campaign) else None


def _current(campaign: Campaign) -> QuerySet[Judgment]:
    return Judgment.objects.filter(
        is_current=True, assignment__annotator__campaign=campaign
    ).order_by()


def _stored(campaign: Campaign) -> State:
    """Return the state of the current judgments in the database."""
    found = _current(campaign).aggregate(
        n=Count("pk"), keys=Sum("pk"), values=Sum("score"), newest=Max("created_at")
    )
    newest = found["newest"]
    values = float(found["values"] or 0)
    return State(found["n"], found["keys"] or 0, values, newest.timestamp() if newest else 0.0)


def _state(rows: Table) -> State:
    """Return the same of a table; whole scores add up exactly, penalties are not counted."""
    newest = float(rows["created"].max(initial=0.0))
    return State(len(rows), int(rows["pk"].sum()), float(np.nansum(rows["given"])), newest)


def _inserted(rows: Table, new: Table) -> Table:
    """Return ordered rows with few others at their places, without sorting all again."""
    annotators, new = np.ascontiguousarray(rows["annotator"]), _ordered(new)
    places = []
    for row in new:
        start, end = np.searchsorted(annotators, [row["annotator"], row["annotator"] + 1])
        own = rows[start:end]
        is_before = own["position"] < row["position"]
        is_before |= (own["position"] == row["position"]) & (own["pk"] < row["pk"])
        places.append(start + int(is_before.sum()))
    return np.insert(rows, places, new)


def _ordered(rows: Table) -> Table:
    order = np.lexsort((rows["pk"], rows["position"], rows["annotator"]))
    return np.asarray(rows[order])


def _values(judgments: QuerySet[Judgment]) -> QuerySet[Judgment, Any]:
    return judgments.values_list(*COLUMNS)


def _table(rows: Sequence[Sequence[Any]]) -> Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    table = np.empty(len(rows), ROW)
    for name, column in zip(KEYS, columns, strict=False):
        table[name] = [NOTHING if value is None else value for value in column]
    for name, column in zip(NUMBERS, columns[len(KEYS) :], strict=False):
        table[name] = np.array(column, dtype=np.float64)
    kind, doubt, created, started, submitted, together = columns[-len(OTHERS) :]
    table["kind"], table["doubted"] = kind, [bool(each) for each in doubt]
    table["created"], table["submitted"] = _moments(created), _moments(submitted)
    table["seconds"] = [
        (end - begin).total_seconds() / shared if begin and end else np.nan
        for begin, end, shared in zip(started, submitted, together, strict=True)
    ]
    return table


def _moments(times: Sequence[Any]) -> list[float]:
    return [np.nan if time is None else time.timestamp() for time in times]


AGAIN_SECONDS = 60.0


class Added(NamedTuple):
    """Judgments, revised ones among them, and the number of the newest; 0 without any."""

    n: int
    newest: int


@dataclass(frozen=True)
class _Counted:
    """The judgments numbered `upto` or lower; `at` is monotonic, in seconds.

    `upto` is a number of any campaign.
    """

    added: Added
    upto: int
    at: float


def _with(found: Added, rows: QuerySet[Judgment]) -> Added:
    new = rows.aggregate(n=Count("pk"), newest=Max("pk"))
    return Added(found.n + new["n"], new["newest"] or found.newest)


_added = AddedUp("added", Added(0, 0), _with)
_counts: Cache[_Counted] = Cache(4096)


def judgments_added(campaign: Campaign) -> Added:
    """Return how many there are now; that data of persons was removed shows after a while."""
    counted = _counts.get(campaign.pk)
    if counted is None or monotonic() - counted.at > AGAIN_SECONDS:
        counted = _Counted(*_added.older(campaign), monotonic())
        _counts.put(campaign.pk, counted, 1)
    # No condition on the campaign, so that a database begins with the few and not with all of it.
    own = Q(assignment__annotator__campaign=campaign)
    found = Judgment.objects.filter(pk__gt=counted.upto).aggregate(
        n=Count("pk", filter=own), newest=Max("pk", filter=own)
    )
    n, newest = counted.added
    return Added(n + found["n"], found["newest"] or newest)
