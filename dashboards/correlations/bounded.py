"""Add baselines and the human ceiling as rows to the table of metrics."""

from dataclasses import replace

from dashboards.comparisons.bounds import Bounds, FloorValue, Person
from dashboards.comparisons.values import ceiling_label
from dashboards.correlations.document import CEILING, FLOOR, PERSON, Correlations, Row
from metaeval.messages import Message, message
from metaeval.replication.bounds import BELOW, NOT_ABOVE

# With more annotators only their mean is a row.
MOST_PEOPLE = 12


FLOOR_SIGN = "⊥"
FLOOR_LEGEND = message(
    "baseline.sign",
    "{sign}: below the baselines (random scores, a constant, and text length), or not above them.",
    sign=FLOOR_SIGN,
)


def floored(label: Message | str, state: str) -> str:
    """Return a metric's label for a table of a paper, with a sign if it is not above baselines."""
    return f"{label} {FLOOR_SIGN}" if state in (BELOW, NOT_ABOVE) else str(label)


def bound_rows(document: Correlations) -> list[Row]:
    """Return the rows of all baselines, of the human ceiling, and of its annotators."""
    compared = document.comparison
    bounds = compared.bounds if compared else None
    if bounds is None:
        return list(document.floors)
    known = {row.key: row for row in document.floors}
    rows = [_floor(document, each, known.get(each.key)) for each in bounds.floors]
    return [*rows, *_people(document, bounds)]


def values_of(bounds: Bounds) -> dict[str, tuple[float | None, float | None, float | None]]:
    """Return value, low and high of baselines, human ceiling and annotators, by the rows' keys."""
    found = {each.key: (each.value, each.low, each.high) for each in bounds.floors}
    if bounds.ceiling:
        whole = bounds.ceiling
        found[CEILING] = (whole.value, None, None)
        found |= {person_key(each): (each.value, None, None) for each in whole.people}
    return found


def person_key(person: Person) -> str:
    """Return the key of an annotator's row."""
    return f"person:{person.label}"


def person_label(label: str) -> Message:
    """Return the label of an annotator's row."""
    return message("ceiling.annotator", "Annotator {annotator}", annotator=label)


def _floor(document: Correlations, found: FloorValue, row: Row | None) -> Row:
    """Return a baseline with its interval; the constant has no other numbers."""
    if row is None:
        ends = found.value, found.low, found.high
        return _row(document, found.key, found.label, FLOOR, document.n_judged, *ends)
    return replace(row, value=found.value, low=found.low, high=found.high)


def _people(document: Correlations, bounds: Bounds) -> list[Row]:
    ceiling = bounds.ceiling
    if ceiling is None:
        return []
    every = ceiling.people
    n = max((each.n for each in every), default=0)
    mean = _row(document, CEILING, ceiling_label(len(every)), CEILING, n, ceiling.value)
    return [
        mean,
        *(
            _row(document, person_key(each), person_label(each.label), PERSON, each.n, each.value)
            for each in (every if len(every) <= MOST_PEOPLE else ())
        ),
    ]


def _row(
    document: Correlations,
    key: str,
    label: Message | str,
    kind: str,
    n: int,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
) -> Row:
    """Return a row with the value of the question only."""
    scores = next((row.scores for row in document.rows), "")
    return Row(
        campaign=document.campaign, scores=scores, key=key, label=label, signature="", origin="",
        is_turned=False, metric=kind, n=n, n_missing=0, tau=None, r_segment=None, n_systems=0,
        r_system=None, r_hybrid=None, r_limit=None, value=value, low=low, high=high, kind=kind,
    )  # fmt: skip
