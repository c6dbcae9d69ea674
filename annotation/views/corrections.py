"""How tables were read, for the person to correct on the page of an import."""

from dataclasses import dataclass
from typing import Any

from annotation.forms.columns import ColumnsForm
from annotation.forms.tables import WORDS, HumanScoresWords, changed
from annotation.imports import human_scores, sources
from annotation.imports.sources import Reading, Sent


@dataclass
class Correction:
    """A form of what is said beside tables, and one of what their columns hold."""

    words: HumanScoresWords
    columns: ColumnsForm

    def is_valid(self) -> bool:
        """Check both, so that every error is shown."""
        return all([self.words.is_valid(), self.columns.is_valid()])


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
    kept = sources.keep(changed(sent, correction.words, said), user_id)
    sources.forget(token, user_id)
    return kept
