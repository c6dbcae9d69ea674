"""Why nobody takes what waits in a queue: from what workers report and have in hand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto

from core.work.models import Now, Work, all_kinds
from metaeval.messages import Message
from metrics import catalogue
from metrics.models.fleet import Worker, living

# What hosts lack.
Lacking = Mapping[str, Sequence[Message | str]]
# What workers have in hand, by the name of its kind.
IN_HAND = {
    "document": "results",
    "hash-check": "a check of hashes",
    "import": "an import",
    "letter": "e-mails",
    "notification": "notifications",
    "training": "a training job",
    "translation": "a translation",
}


class Reason(StrEnum):
    """Why nobody takes what waits."""

    ABSENT = auto()
    REFUSING = auto()
    BUSY = auto()
    UNKNOWN = auto()


@dataclass(frozen=True)
class Idle:
    """A queue in which something waits that no worker has taken.

    `workers` maps each worker of the queue to what its host lacks (REFUSING), to what it has in
    hand (BUSY), or to nothing.
    """

    queue: str
    reason: Reason
    workers: Mapping[str, Sequence[Message | str]] = field(default_factory=dict)


def explain(waiting: Mapping[str, Iterable[Lacking]]) -> list[Idle]:
    """Say of each queue why what waits there is not taken.

    `waiting` has, by queue, what each host lacks for each piece of work. Costs a query for each
    kind of work, none where nothing waits.
    """
    if not waiting:
        return []
    workers = list(living().filter(is_stopping=False).prefetch_related("children"))
    in_hand = _in_hand()
    return [
        _explain(queue, list(lacking), [row for row in workers if queue in row.queues], in_hand)
        for queue, lacking in sorted(waiting.items())
    ]


def _explain(
    queue: str,
    lacking: Sequence[Lacking],
    workers: Sequence[Worker],
    in_hand: Mapping[str, Sequence[str]],
) -> Idle:
    if not workers:
        return Idle(queue, Reason.ABSENT)
    able = [row for row in workers if any(not each.get(row.host) for each in lacking)]
    if not able:
        lacks = {row.name: _sentences(row.host, lacking) for row in workers}
        return Idle(queue, Reason.REFUSING, lacks)
    busy = {row.name: tuple(dict.fromkeys(in_hand.get(row.uid, ()))) for row in able}
    slots = {row.name: max(1, len(row.children.all())) for row in able}
    is_busy = all(len(in_hand.get(row.uid, ())) >= slots[row.name] for row in able)
    return Idle(queue, Reason.BUSY if is_busy else Reason.UNKNOWN, busy)


def _sentences(host: str, lacking: Sequence[Lacking]) -> tuple[Message | str, ...]:
    return tuple(dict.fromkeys(each for lacks in lacking for each in lacks.get(host, ())))


def _in_hand() -> dict[str, list[str]]:
    """Return what the processes of each worker have in hand, by the worker's `uid`."""
    found: dict[str, list[str]] = {}
    infos = catalogue.infos(retired=True)
    for kind in all_kinds():
        rows = kind.model._default_manager.filter(status=Work.Status.RUNNING, expires_at__gte=Now())
        names = rows.values_list("owner", "run__metric" if kind.name == "slice" else "status")
        for owner, name in names:
            what = IN_HAND.get(kind.name) or (infos[name].label if name in infos else name)
            found.setdefault(owner.partition(".")[0], []).append(what)
    return found
