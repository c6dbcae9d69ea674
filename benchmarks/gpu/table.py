"""The rows of all cases as one table in Markdown, and what in them is wrong."""

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
# Largest differences, in standard deviations of the scores.
EXACT = 1e-3
TIMES_ITS_OWN = 4
HEAD = (
    "family",
    "precision",
    "difference in SD (the package's own)",
    "pairs/s",
    "the package's",
    "peak MiB",
    "next process after an error",
    "note",
)


def markdown(rows: Sequence[Row]) -> str:
    """The table below a line that says where it was measured, and what is wrong below it."""
    devices = sorted({row["device"] for row in rows if "device" in row})
    lines = ["; ".join(devices), "", _line(HEAD), _line(["---"] * len(HEAD)), *map(line, rows)]
    return "\n".join([*lines, *(["", *found] if (found := faults(rows)) else [])])


def faults(rows: Sequence[Row]) -> list[str]:
    """A sentence for each row that breaks a bound or has no numbers that it should have."""
    found = []
    for row in rows:
        name = f"{row['case']} {row['precision']}".strip()
        if not row.get("recovered"):
            found.append(f"{name}: after an error the next process did not go on.")
        if (difference := row.get("difference")) is not None and not difference <= bound(row):
            found.append(f"{name}: {difference:.1e} is more than {bound(row):.1e}.")
        elif difference is None and row["precision"] != "tf32":
            found.append(f"{name}: not measured: {row['note']}.")
    return found


def bound(row: Row) -> float:
    """In less than float32 what the package itself differs by; without a package there is none."""
    if row["precision"] == "float32":
        return EXACT
    own = row["own_difference"]
    return float("inf") if own is None else max(EXACT, TIMES_ITS_OWN * own)


def line(row: Row) -> str:
    """A row in Markdown."""
    return _line(_cells(row))


def _cells(row: Row) -> list[str]:
    alone = row.get("own_difference") is None and row.get("against")
    note = row["note"] or (f"against {row['against']}" if alone else "")
    return [
        row["case"],
        row["precision"],
        _number(row.get("difference"), ".0e", own=row.get("own_difference")),
        _number(row.get("pairs_per_second"), ",.0f"),
        _number(row.get("peer_pairs_per_second"), ",.0f"),
        _number(row.get("peak_mib"), ",.0f"),
        "goes on" if row.get("recovered") else "does not go on",
        note,
    ]


def _number(value: float | None, form: str, own: float | None = None) -> str:
    if value is None:
        return "–"
    return f"{value:{form}}" + ("" if own is None else f" ({own:{form}})")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
