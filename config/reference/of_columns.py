"""The columns that importers know, with the names that people give them."""

from collections.abc import Iterable

from annotation.imports.human_scores import HUMAN, NAME
from annotation.imports.judgments.fields import JUDGMENT_FIELDS, SPAN_FIELDS, TEXT_FIELDS
from annotation.uploads.tables.columns import Wanted
from annotation.uploads.tables.meanings import WANTED
from config.reference.markdown import code, table
from metrics.imported.choices import FIELDS as SCORES

TABLES = {
    "Test sets and outputs": WANTED,
    "Judgments": JUDGMENT_FIELDS,
    "Judgments: one error a row": SPAN_FIELDS,
    "Human scores": (HUMAN, NAME, *TEXT_FIELDS),
    "Metric scores": SCORES,
}


def write() -> str:
    """Return the page."""
    start = "# Columns of tables\n\nNames are compared without case, blanks and punctuation."
    return start + "".join(f"\n\n## {name}\n\n{_of(fields)}" for name, fields in TABLES.items())


def _of(fields: Iterable[Wanted]) -> str:
    rows = [(code(f.name), f.label, ", ".join(map(code, f.synonyms))) for f in fields]
    return table(("field", "", "also called"), rows)
