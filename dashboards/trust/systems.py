"""The marks of MT systems: clusters and ranks of the humans, the best system of each metric."""

from collections.abc import Sequence
from typing import Any

from dashboards.trust.marks import forbidden

Document = dict[str, Any]
NO_CLUSTER = {"cluster": None, "first": None, "last": None}
ONE_CLUSTER = "The systems are not distinguishable: the humans’ scores make one cluster of them."
BOLD = "Bold: the first system of a metric where it is significantly better than the second."


def marked(document: Document) -> Document:
    """Return a document of the analysis `systems` with only the marks that are borne out.

    Every row of a metric gets `is_best`; `marks` says in a sentence what is marked, or why not.
    """
    if reason := forbidden(document.get("trust")):
        return _rebuilt(document, [_bare(row) for row in document["human"]], reason, bare=True)
    human = document["human"]
    is_one = len({row["cluster"] for row in human}) == 1 and len(human) > 1
    is_one = is_one and human[0]["cluster"] is not None
    shown = [row | NO_CLUSTER for row in human] if is_one else human
    sentence = f"{ONE_CLUSTER} {BOLD}" if is_one else BOLD
    return _rebuilt(document, shown, sentence, bare=False)


def _rebuilt(
    document: Document, human: Sequence[Document], sentence: str, *, bare: bool
) -> Document:
    columns = [column | {"rows": _cells(column["rows"], document["versus"], bare=bare)}
               for column in document["columns"]]  # fmt: skip
    return document | {
        "human": list(human),
        "columns": columns,
        "rows": [*human, *(row for column in columns for row in column["rows"])],
        "marks": sentence,
    }


def _cells(rows: Sequence[Document], versus: str, *, bare: bool) -> list[Document]:
    is_clear = not bare and _is_clear(rows, versus)
    kept = [_bare(row) for row in rows] if bare else rows
    return [row | {"is_best": is_clear and row["rank"] == 1} for row in kept]


def _is_clear(rows: Sequence[Document], versus: str) -> bool:
    """Whether the first of a metric's systems is significantly better than the second.

    Against the next system below the mark is the first one's, against the best the second one's.
    """
    by_rank = {row["rank"]: row for row in rows}
    bearer = by_rank.get(1 if versus == "next" else 2)
    return bearer is not None and len(rows) > 1 and bool(bearer["mark"])


def _bare(row: Document) -> Document:
    """Without anything that says one system is better than another."""
    return row | NO_CLUSTER | {"rank": None, "wins": None, "mark": ""}
