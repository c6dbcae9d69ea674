"""The part of an import's page that says what each column of a table holds."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django import forms

from annotation.uploads.problems import showable
from annotation.uploads.tables.columns import Wanted

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
