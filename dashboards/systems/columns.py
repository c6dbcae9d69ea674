"""Scores of the systems by the humans and every measure, and the scores that agreement compares."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol, TypeVar

from dashboards.documents.head import Ends
from dashboards.documents.reasons import Measured
from metaeval.messages import Message


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A number of a system with its mark; `is_best` where it is bold.

    A system without a human score is not `is_judged`, and no mark compares it with judged systems.
    """

    score: float | None
    mark: str = ""
    rank: int | None = None
    is_best: bool = False
    is_judged: bool = True


@dataclass(frozen=True, kw_only=True)
class Row(Cell):
    """One system by the humans (clusters, ranks from `first` to `last`, wins) or by a measure.

    A measure's `p` and `difference` compare the system with the next or the best one, over the
    `shared` segments; `n` counts the segments of the score. An excluded system is above
    `above` of the `against` systems that it is compared with.
    """

    measure: str
    system: str
    cluster: int | None = None
    first: int | None = None
    last: int | None = None
    wins: int | None = None
    p: float | None = None
    n: int
    shared: int | None = None
    difference: float | None = None
    above: int | None = None
    against: int | None = None


@dataclass(frozen=True)
class Compared:
    """One system's scores in τ-b and accuracy: both sides over the same `n` segments."""

    system: str
    human: float | None
    score: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class Column(Measured):
    """A measure's systems, best first, and the agreement of their order with the humans'.

    `accuracy_ends` generalize to other systems of the same kind. `tau_without_outliers` and
    `accuracy_without_outliers` exclude outlier systems; None where there are none. `is_given`: the
    scores of systems were imported. `n` is the fewest segments of a system, and `is_even` means
    that all systems have all segments. The spans are ranges of segments per system.
    """

    is_given: bool
    is_corpus: bool
    tau: float | None
    accuracy: float | None
    accuracy_ends: Ends | None
    tau_without_outliers: float | None = None
    accuracy_without_outliers: float | None = None
    n_systems: int
    n: int
    is_even: bool
    span: Message
    compared_span: Message
    rows: Sequence[Row]
    compared: Sequence[Compared]


@dataclass(frozen=True)
class AgreementLine:
    """One system: the human score over `n` segments, and the measures' scores over the same."""

    system: str
    human: float | None
    n: int
    scores: Sequence[float | None]


@dataclass(frozen=True)
class AgreementGroup:
    """Scores that τ-b and accuracy compare, of measures with the same human scores.

    `is_shown`: these are the scores of the main table.
    """

    keys: Sequence[str]
    labels: Sequence[str]
    is_shown: bool
    lines: Sequence[AgreementLine]


def agreement_groups(human: Sequence[Row], columns: Sequence[Column]) -> list[AgreementGroup]:
    """Return the columns in groups; undefined numbers must be None, not nan."""
    shown = {row.system: row.score for row in human}
    groups = []
    for _, alike in groupby(sorted(columns, key=_human_key), key=_human_key):
        own = list(alike)
        cells = [{row.system: row.score for row in each.compared} for each in own]
        groups.append(
            AgreementGroup(
                keys=[each.key for each in own],
                labels=[each.label for each in own],
                is_shown=all(_is_shown(each, shown) for each in own),
                lines=[
                    AgreementLine(
                        row.system, row.human, row.n, [scores[row.system] for scores in cells]
                    )
                    for row in sorted(own[0].compared, key=_best_first)
                ],
            )
        )
    return groups


def _human_key(column: Column) -> list[tuple[str, bool, float, int]]:
    return sorted((r.system, r.human is None, r.human or 0.0, r.n) for r in column.compared)


def _best_first(row: Compared) -> tuple[float, str]:
    return (float("inf") if row.human is None else -row.human, row.system)


def _is_shown(column: Column, shown: dict[str, float | None]) -> bool:
    """Return whether both sides equal the table, which uses every system's own segments."""
    scores = {row.system: row.score for row in column.rows}
    return all(
        row.human == shown.get(row.system) and row.score == scores[row.system]
        for row in column.compared
        if row.human is not None
    )


class _OfSystem(Protocol):
    @property
    def system(self) -> str: ...


S = TypeVar("S", bound=_OfSystem)


def by_name(rows: Sequence[S]) -> dict[str, S]:
    """Return rows by their system."""
    return {row.system: row for row in rows}
