"""Floor and ceiling as rows of the table of metrics, and their mark in words."""

from dataclasses import replace

from dashboards.comparisons.bounds import Bounds, FloorValue, Person
from dashboards.correlations.document import CEILING, FLOOR, PERSON, Correlations, Row
from metaeval.replication.bounds import BELOW, NOT_ABOVE

# Of more people only the mean and the range are rows.
MOST_PEOPLE = 12
WORDS = {BELOW: "below the floor", NOT_ABOVE: "not above the floor"}


def floored(label: str, state: str) -> str:
    """Return a metric's label for a table without colours, with the mark that it has."""
    return f"{label} ({WORDS[state]})" if state in WORDS else label


def bound_rows(document: Correlations) -> list[Row]:
    """Return the rows of all floors, of the ceiling, and of the people that it is of."""
    compared = document.comparison
    bounds = compared.bounds if compared else None
    if bounds is None:
        return list(document.floors)
    known = {row.key: row for row in document.floors}
    rows = [_floor(document, each, known.get(each.key)) for each in bounds.floors]
    return [*rows, *_people(document, bounds)]


def values_of(bounds: Bounds) -> dict[str, tuple[float | None, float | None, float | None]]:
    """Return value, low and high of floors, ceiling and people, by the keys of their rows."""
    found = {each.key: (each.value, each.low, each.high) for each in bounds.floors}
    if bounds.ceiling:
        whole = bounds.ceiling
        found[CEILING] = (whole.value, None, None)
        found |= {person_key(each): (each.value, None, None) for each in whole.people}
    return found


def person_key(person: Person) -> str:
    """The key of a person's row."""
    return f"person:{person.label}"


def _floor(document: Correlations, found: FloorValue, row: Row | None) -> Row:
    """A floor with its interval; of one value for everything only that of the question is known."""
    if row is None:
        ends = found.value, found.low, found.high
        return _row(document, found.key, found.label, FLOOR, document.n_judged, *ends)
    return replace(row, value=found.value, low=found.low, high=found.high)


def _people(document: Correlations, bounds: Bounds) -> list[Row]:
    ceiling = bounds.ceiling
    if ceiling is None:
        return []
    every = ceiling.people
    label = f"Ceiling: {len(every)} people"
    n = max((each.n for each in every), default=0)
    mean = _row(document, CEILING, label, CEILING, n, ceiling.value)
    return [
        mean,
        *(
            _row(document, person_key(each), f"Person {each.label}",
                 PERSON, each.n, each.value)
            for each in (every if len(every) <= MOST_PEOPLE else ())
        ),
    ]  # fmt: skip


def _row(
    document: Correlations,
    key: str,
    label: str,
    kind: str,
    n: int,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
) -> Row:
    """A row with a number of the question alone."""
    scores = next((row.scores for row in document.rows), "")
    return Row(
        campaign=document.campaign, scores=scores, key=key, label=label, signature="", origin="",
        is_turned=False, metric=kind, n=n, n_missing=0, tau=None, r_segment=None, n_systems=0,
        r_system=None, r_hybrid=None, r_limit=None, value=value, low=low, high=high, kind=kind,
    )  # fmt: skip
