"""The columns of our exports of judgments with their types, as files are written and read."""

from collections.abc import Iterable
from enum import StrEnum
from functools import lru_cache

from annotation.uploads.formats.registry import OUR_JUDGMENTS
from metaeval.files.names import NAMES, NUMBER, Field
from metaeval.files.names import TEXT as ANY
from metaeval.messages import Message, message


class Type(StrEnum):
    """What the cells of a column hold; a JSON text is a list or an object."""

    TEXT = "text"
    WHOLE = "whole"
    KEY = "key"
    REAL = "real"
    TRUTH = "truth"
    TIME = "time"
    JSON = "json"
    SPANS = "spans"


# In the order of the files.
COLUMNS: dict[str, Type] = {
    "campaign": Type.TEXT,
    "annotator": Type.TEXT,
    "is_simulated": Type.TRUTH,
    "kind": Type.TEXT,
    "segment": Type.TEXT,
    "document": Type.TEXT,
    "system": Type.TEXT,
    "length_ratio": Type.TEXT,
    "score": Type.WHOLE,
    "z_targets": Type.REAL,
    "z_all": Type.REAL,
    "revision": Type.WHOLE,
    "is_current": Type.TRUTH,
    "started_at": Type.TIME,
    "submitted_at": Type.TIME,
    "seconds": Type.REAL,
    "protocol": Type.TEXT,
    "penalty": Type.REAL,
    "comment": Type.TEXT,
    "is_flagged": Type.TRUTH,
    "visible_ms": Type.WHOLE,
    "active_ms": Type.WHOLE,
    "paid_ms": Type.WHOLE,
    "time_doubt": Type.TEXT,
    "sent_together": Type.WHOLE,
    "is_excluded": Type.TRUTH,
    "batch": Type.TEXT,
    "item": Type.KEY,
    "partner": Type.KEY,
    "screen": Type.WHOLE,
    "column": Type.WHOLE,
    "n_columns": Type.WHOLE,
    "judgment": Type.KEY,
    "context_openings": Type.WHOLE,
    "plays": Type.WHOLE,
    "spans": Type.SPANS,
    "place": Type.WHOLE,
    "position": Type.WHOLE,
    "source_language": Type.TEXT,
    "target_language": Type.TEXT,
    "annotator_key": Type.TEXT,
    "judgment_key": Type.TEXT,
    "settings": Type.JSON,
}
# Columns that only some campaigns have; the names of scales and choices follow these.
SCALE, CHOICE = "scale_", "choice_"
EDITS = ("post_edit", "hter")
# Items with a text of their own, a note, or a right score.
TEXT, NOTE, GOLD = "own_text", "note", ("low", "high", "feedback", "rules")
EXCLUSION = ("excluded_at", "exclusion_reason")
OPENINGS, PLAYING = "openings", "playing"
# Which suggestions were shown, and with which probability a system was drawn for its screen.
CONDITION, INCLUSION = "condition", "inclusion"
# The probability with which a segment was drawn, where a part of the test set is judged.
SAMPLED = "segment_inclusion"
SOME: dict[str, Type] = {
    TEXT: Type.TEXT,
    NOTE: Type.TEXT,
    "low": Type.WHOLE,
    "high": Type.WHOLE,
    "feedback": Type.TEXT,
    "rules": Type.JSON,
    "excluded_at": Type.TIME,
    "exclusion_reason": Type.TEXT,
    OPENINGS: Type.JSON,
    PLAYING: Type.JSON,
    "post_edit": Type.TEXT,
    "hter": Type.REAL,
    CONDITION: Type.TEXT,
    INCLUSION: Type.REAL,
    SAMPLED: Type.REAL,
}
# In the table of suggestions: all those of an item.
ITEM_SUGGESTIONS = "item_suggestions"
# What keys of annotators begin with where they are stored.
PERSON = "touchstone:"
# Columns whose values follow from others.
COMPUTED = frozenset({"z_targets", "z_all", "context_openings", "plays", "judgment"})


def type_of(column: str) -> Type:
    """Return what the cells of a column hold."""
    if column.startswith(SCALE):
        return Type.WHOLE
    return COLUMNS.get(column) or SOME.get(column) or Type.TEXT


def is_exported(columns: Iterable[str]) -> bool:
    """Return True for the columns of an export of ours."""
    return set(columns) >= OUR_JUDGMENTS


@lru_cache(maxsize=4096)  # asked for every cell
def answer_field(title: str) -> str:
    """Return the field of a column for an own scale or a choice; empty for other columns.

    >>> answer_field("scale_Fluency"), answer_field("score")
    ('scale_fluency', '')
    """
    field = title.strip().casefold()
    is_named = any(field.startswith(head) and field != head for head in (SCALE, CHOICE))
    return field if is_named else ""


def is_answer(field: str) -> bool:
    """Return True for the field of an own scale, a choice or a post-edit."""
    return field == "post_edit" or bool(answer_field(field))


def answer_of(field: str) -> Field:
    """Return the field of an own scale or a choice."""
    return Field(field, _label(field))


def fields_beside(names: Iterable[str]) -> tuple[Field, ...]:
    """Return the fields of exports that have none of these names."""
    known = set(names)
    return tuple(
        Field(
            name,
            _label(name),
            NUMBER if type_of(name) in (Type.WHOLE, Type.REAL) else ANY,
            other_names=", ".join(NAMES.get(name, ())),
        )
        for name in (*COLUMNS, *SOME)
        if name not in known
    )


def _label(name: str) -> Message:
    plain = name.replace("_", " ")
    if name in COMPUTED:
        return message("judgments.computed-again", "{field} (computed again)", field=plain)
    return message("judgments.as-exported", "{field}", field=plain)
