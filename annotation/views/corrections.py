"""How tables were read, for the person to correct on the page of an import."""

from dataclasses import dataclass
from typing import Any

from annotation.forms.choices import is_changed
from annotation.forms.columns import ColumnsForm
from annotation.forms.tables import WORDS, DirectionsForm, HumanScoresWords, changed
from annotation.imports import human_scores, sources
from annotation.imports.sources import Reading, Sent


@dataclass
class Correction:
    """Forms of what is said beside tables, of what their columns hold, and of directions."""

    words: HumanScoresWords
    columns: ColumnsForm
    directions: DirectionsForm

    def is_valid(self) -> bool:
        """Check all, so that every error is shown."""
        return not any([self.words.errors, self.columns.errors, self.directions.errors])

    def is_changed(self) -> bool:
        """Whether a choice differs from those that the preview was made with."""
        return any(is_changed(form) for form in (self.words, self.columns, self.directions))


def correction_of(sent: Sent, reading: Reading, data: Any) -> Correction | None:
    """Return the forms, filled with how tables were read; None for campaigns of tools."""
    if sent.tool not in WORDS:
        return None
    return Correction(
        WORDS[sent.tool](data, initial=dict(sent.words), prefix="words"),
        ColumnsForm(
            reading.columns,
            reading.wanted,
            reading.fields,
            data,
            repeatable=(human_scores.SCORE.name,) if sent.tool == sources.HUMAN_SCORES else (),
        ),
        DirectionsForm(reading.directions, data),
    )


def read_anew(
    token: str, sent: Sent, reading: Reading, correction: Correction, user_id: int
) -> str:
    """Keep the files under what was said now, and return their new token.

    Columns that were left as they were found stay open: in tables of errors and of times the
    same column may hold different things. Of the fields that several columns may hold, all are
    said once one is: a further column is chosen beside the others, not in their place.
    """
    columns = correction.columns
    said = {
        column: field
        for column, field in columns.chosen.items()
        if field != reading.fields.get(column, "") or field in columns.repeatable
    }
    kept = sources.keep(
        changed(sent, correction.words, said, correction.directions.stated), user_id
    )
    sources.forget(token, user_id)
    return kept
