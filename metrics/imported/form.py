"""The forms of the import page: the files, and the choices for each metric in them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.forms.columns import ColumnsForm
from annotation.forms.uploads import FilesField
from annotation.uploads import InputFile
from annotation.uploads.tables.columns import unnamed
from annotation.uploads.tables.lines import LINES
from annotation.uploads.tables.skipping import KINDS, SKIP
from metaeval.files.names import Field
from metrics.imported.checking import Look
from metrics.imported.files import FIELDS, Choices

UNUSED = _("a metric, or not used")


class ScoreFilesForm(forms.Form):
    """Tables and score files, any number of them."""

    tables = FilesField(
        label=_("Files with scores"),
        help_text=_(
            "TSV, CSV, XLSX, Parquet or JSON with segment, system and a column for each metric, or "
            "with segment, system, metric and score. For scores of documents or domains, replace "
            "the segment by document or domain; omit it for scores of whole systems. "
            "The output files of COMET, MetricX, BLEURT and mt-metrics-eval are accepted too."
        ),
        error_messages={"required": _("Choose at least one file.")},
    )

    def sent(self) -> list[InputFile]:
        """Return the files; nothing has been read yet."""
        return [InputFile.sent(file) for file in self.cleaned_data["tables"]]


def columns_form(checked: Look) -> ColumnsForm:
    """Return a form for the fields of columns, with the titles of the files."""
    reading = checked.reading
    return titled_form(reading.columns, reading.fields, reading.samples, FIELDS, unused=UNUSED)


def titled_form(
    columns: Mapping[str, str],
    fields: Mapping[str, str],
    samples: Mapping[str, str],
    wanted: Sequence[Field],
    data: QueryDict | None = None,
    **options: Any,
) -> ColumnsForm:
    """Return a form of columns under their titles in the files; `columns` has them by name."""
    by_title = [
        {title: known[name] for name, title in columns.items() if name in known}
        for known in (fields, samples)
    ]
    return ColumnsForm(
        list(columns.values()), wanted, by_title[0], data, samples=by_title[1], **options
    )


def chosen_columns(data: QueryDict) -> ColumnsForm:
    """Return the form of the columns that the page named; reading refuses unknown ones."""
    return ColumnsForm(data.getlist("title"), FIELDS, {}, data, unused=UNUSED)


def choices_of(data: QueryDict, columns: ColumnsForm) -> Choices:
    """Return the choices of a person for metrics and columns.

    Choices for metrics are valid as long as the columns are those that were shown with them.
    """
    chosen = columns.chosen if columns.is_valid() else {}
    skip = frozenset(data.getlist(SKIP)) & KINDS.keys()
    lines = lines if (lines := data.get("lines", "")) in LINES else ""
    system = data.get("system", "")
    if data.get("shown_columns") != shown(chosen):
        return Choices(columns=chosen, skip=skip, lines=lines, system=system)
    keys = data.getlist("key")
    taken = [key for n, key in enumerate(keys) if f"take-{n}" in data]
    return Choices(
        columns=chosen,
        metrics=tuple(taken) if keys else None,
        names={key: data.get(f"name-{n}", "").strip() or key for n, key in enumerate(keys)},
        lower=frozenset(key for n, key in enumerate(keys) if data.get(f"better-{n}") == "lower"),
        higher=frozenset(key for n, key in enumerate(keys) if data.get(f"better-{n}") == "higher"),
        skip=skip,
        lines=lines,
        system=system,
    )


def shown(fields: Any) -> str:
    """Return a hash of the fields of columns, and of whether they have names."""
    chosen = {c: meaning for c, meaning in dict(fields).items() if meaning or unnamed({"": [c]})}
    return digest(json.dumps(chosen, sort_keys=True))


def digest(text: str) -> str:
    """Return a short hash for hidden fields."""
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def is_as_shown(checked: Look, choices: Choices, data: QueryDict) -> bool:
    """Return whether a person's choices are those with which a page showed the files."""
    own = [
        each.name == choices.name_of(each.key)
        and each.is_taken == choices.takes(each.key)
        and (each.is_lower is not True or each.key in choices.lower)
        and (each.is_lower is not False or each.key in choices.higher)
        for each in checked.metrics
    ]
    return (
        data.get("shown_columns") == shown(choices.columns)
        and all(own)
        and checked.choices.skip == choices.skip
        and (checked.choices.lines, checked.choices.system) == (choices.lines, choices.system)
    )


def seen_of(checked: Look) -> str:
    """Return a hash of what a page showed and would store, which the person confirms."""
    metrics = [(each.key, each.name, each.is_taken, each.is_lower) for each in checked.metrics]
    columns = sorted(checked.reading.fields.items())
    return digest(
        repr(
            (
                columns,
                metrics,
                sorted(checked.choices.skip),
                checked.choices.lines,
                checked.choices.system,
                checked.fingerprint,
            )
        )
    )
