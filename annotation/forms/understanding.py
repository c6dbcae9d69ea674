"""The part of the upload's preview where a person corrects how their files were read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms

from annotation.forms.choices import is_changed
from annotation.forms.columns import ColumnsForm
from annotation.uploads.pending import Sent
from annotation.uploads.problems import showable
from annotation.uploads.tables.columns import Wanted
from annotation.uploads.tables.meanings import OWN, SYSTEM, WANTED, Meaning

# More make a page that nobody reads; the command takes any number.
MOST_SELECTS = 300


class DecodeForm(forms.Form):
    """Whether HTML entities become characters."""

    decode = forms.BooleanField(
        required=False, label='Decode HTML entities (&quot; becomes ")', label_suffix=""
    )


class Understanding:
    """Forms for the columns of every table and for entities, bound where `data` is given."""

    def __init__(self, meanings: Sequence[Meaning], sent: Sent, data: Any = None) -> None:
        self.meanings, self.sent = meanings, sent
        self.is_too_wide = sum(len(m.columns) for m in meanings) > MOST_SELECTS
        shown = [] if self.is_too_wide else meanings
        self.tables = [_columns_form(n, meaning, data) for n, meaning in enumerate(shown)]
        self.decode = DecodeForm(data, initial={"decode": sent.decode})

    def is_valid(self) -> bool:
        """Whether every choice can be followed."""
        wrong = [form for form in (*self.tables, self.decode) if not form.is_valid()]
        return not wrong

    def is_changed(self) -> bool:
        """Whether a choice differs from those that the preview was made with."""
        return any(is_changed(form) for form in (*self.tables, self.decode))

    def as_sent(self) -> Sent:
        """Return what was sent, with the choices of this form."""
        columns = {
            meaning.file: form.chosen
            for meaning, form in zip(self.meanings, self.tables, strict=False)
        }
        decode = self.decode.cleaned_data["decode"]
        return replace(self.sent, columns=columns or self.sent.columns, decode=decode)

    def named(self) -> list[tuple[str, ColumnsForm]]:
        """The tables' forms with their files."""
        return [(m.file, form) for m, form in zip(self.meanings, self.tables, strict=False)]


def _columns_form(number: int, meaning: Meaning, data: Any) -> ColumnsForm:
    own = {column: _own(column, meaning) for column in meaning.columns}
    form = ColumnsForm(
        meaning.columns, WANTED, meaning.fields, data, own=own, prefix=f"table{number}"
    )
    for field, column in zip(form.fields.values(), meaning.columns, strict=True):
        field.label = showable(meaning.titles.get(column, column))
        field.help_text = showable(meaning.samples.get(column, ""))
    return form


def _own(column: str, meaning: Meaning) -> Wanted:
    """What this column alone may be: a named reference, or outputs of the system of its name."""
    field = showable(meaning.fields.get(column, ""))
    if field and field not in OWN and not field.startswith(SYSTEM):
        return Wanted(field, field.replace("_", " "))
    title = showable(meaning.titles.get(column, column))
    name = field.removeprefix(SYSTEM) if field.startswith(SYSTEM) else title
    return Wanted(SYSTEM + name, f"outputs of the system “{name}”")
