"""Forms on the preview of an upload or import, in which a person corrects how files were read.

Nothing is stored that was not shown with the choices that are sent.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.uploads.pending import Sent
from annotation.uploads.problems import showable
from annotation.uploads.tables.columns import Wanted
from annotation.uploads.tables.meanings import OWN, SYSTEM, WANTED, Meaning

CHANGED = (
    "Nothing was stored, because you changed a choice. This is what the files hold with it: check "
    "it, then store it."
)


def is_changed(form: forms.BaseForm) -> bool:
    """Return True if a bound form states other values than it was shown with.

    Values are compared as the fields read them. Fields that were not sent state nothing; what
    cannot be read counts as a change.
    """
    if not form.is_valid():
        return True
    return any(
        form.cleaned_data[name] != _shown(field, form.get_initial_for_field(field, name))
        for name, field in form.fields.items()
        if not field.widget.value_omitted_from_data(form.data, form.files, form.add_prefix(name))
    )


def _shown(field: forms.Field, initial: Any) -> Any:
    try:
        return field.clean(initial)
    except ValidationError:
        return None


NOT_USED = "not used"


class ColumnsForm(forms.Form):
    """A choice for every column of a table, in the order of the table.

    `fields_of` is the present meaning of columns, such as `columns.propose` returns. Columns
    without one stand at `unused`, which tables with columns of free names call differently. `own`
    is what a column alone may be besides, such as the outputs of the system that it names. Fields
    of `repeatable` may have several columns.
    """

    def __init__(
        self,
        columns: Sequence[str],
        wanted: Sequence[Wanted],
        fields_of: Mapping[str, str],
        data: Any = None,
        *,
        unused: str = NOT_USED,
        own: Mapping[str, Wanted] | None = None,
        prefix: str = "column",
        repeatable: Collection[str] = (),
    ) -> None:
        super().__init__(data, prefix=prefix)
        self.columns, self.repeatable = columns, repeatable
        choices = [("", unused), *((field.name, field.label) for field in wanted)]
        for number, column in enumerate(columns):
            alone = [(own[column].name, own[column].label)] if own and column in own else []
            self.fields[str(number)] = forms.ChoiceField(
                label=showable(column),
                choices=[*choices, *alone],
                required=False,
                initial=fields_of.get(column, ""),
                label_suffix="",
            )

    def clean(self) -> dict[str, Any]:
        """Refuse two columns for one field."""
        cleaned: dict[str, Any] = super().clean() or {}
        seen: dict[str, str] = {}
        for number, column in enumerate(self.columns):
            field = cleaned.get(str(number), "")
            if field and field in seen and field not in self.repeatable:
                self.add_error(
                    str(number), f"“{seen[field]}” holds the same already; choose one of the two."
                )
            seen.setdefault(field, column)
        return cleaned

    @property
    def chosen(self) -> dict[str, str]:
        """What the person said of every column; empty fields are not used."""
        return {column: self.cleaned_data[str(n)] for n, column in enumerate(self.columns)}


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
