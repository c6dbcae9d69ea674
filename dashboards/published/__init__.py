"""Published tables as data, each with its source, for comparison with one's own.

A file of this folder has columns (one per task) and, for each statistic, one value per column (null
where there is none). `quality` names statistics of `extensions.comparison.document.QUALITY`. The
rows of `correlations` name the corresponding measures of Touchstone, where they exist, and have the
average that is printed with them.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Published:
    """One task of a published table; `values` maps (statistic, measure or "") to its number.

    `averages` are those printed with all columns of its table, in the same form.
    """

    key: str
    label: str
    title: str
    direction: str
    length_ratio: str
    source: str
    licence: str
    note: str
    values: dict[tuple[str, str], float]
    measures: dict[str, str]
    averages: dict[tuple[str, str], float]


@cache
def published() -> dict[str, Published]:
    """Return every published column by its key, such as `cheng2023/en-zh-80`."""
    files = sorted(FOLDER.glob("*.json"))
    found = [one for path in files for one in _columns(json.loads(path.read_text("utf-8")))]
    return {one.key: one for one in found}


def _columns(table: dict[str, Any]) -> list[Published]:
    measures = {
        row["measure"]: row["label"] for part in table["correlations"] for row in part["rows"]
    }
    return [
        Published(
            key=f"{table['key']}/{column['key']}",
            label=column["label"],
            title=table["title"],
            direction=column["direction"],
            length_ratio=column["length_ratio"],
            source=table["source"],
            licence=table["licence"],
            note=table["note"],
            values=_values(table, at),
            measures=measures,
            averages={
                (part["statistic"], row["measure"]): row["average"]
                for part in table["correlations"]
                for row in part["rows"]
                if "average" in row
            },
        )
        for at, column in enumerate(table["columns"])
    ]


def _values(table: dict[str, Any], at: int) -> dict[tuple[str, str], float]:
    quality = {(part["statistic"], ""): part["values"][at] for part in table["quality"]}
    return quality | {
        (part["statistic"], row["measure"]): row["values"][at]
        for part in table["correlations"]
        for row in part["rows"]
        if row["values"][at] is not None
    }
