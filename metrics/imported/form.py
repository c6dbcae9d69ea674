"""The forms of the import page: the files, and the choices for each metric in them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.forms.uploads import FilesField
from annotation.uploads import InputFile
from annotation.uploads.tables.lines import LABELS
from core.messages import translated
from metrics.imported.checking import Found
from metrics.imported.files import Choices, Reading

METRIC, BY_SOURCE = _("a metric"), _("the source, which says the segment")
COMPARED = _("the output, compared with the stored one")


class ScoreFilesForm(forms.Form):
    """Tables and score files, any number of them."""

    tables = FilesField(
        label=_("Files with scores"),
        help_text=_(
            "TSV, CSV, XLSX, ODS, Parquet or JSON with segment, system and a column for each "
            "metric, or with segment, system, metric and score. For scores of documents or "
            "domains, replace the segment by document or domain; omit it for scores of whole "
            "systems. The output files of COMET, MetricX, BLEURT and mt-metrics-eval are accepted "
            "too."
        ),
        error_messages={"required": _("Choose at least one file.")},
    )

    def sent(self) -> list[InputFile]:
        """Return the files; nothing has been read yet."""
        return [InputFile.sent(file) for file in self.cleaned_data["tables"]]


HIGHER, LOWER = "higher", "lower"


class MetricsForm(forms.Form):
    """Which metrics of the files are imported, their names, and what of each is better."""

    def __init__(self, found: Sequence[Found], data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.found = found
        for n, each in enumerate(found):
            better = {None: "", True: LOWER, False: HIGHER}[each.is_lower]
            self.fields[f"take-{n}"] = forms.BooleanField(required=False, initial=each.is_taken)
            self.fields[f"name-{n}"] = forms.CharField(required=False, initial=each.name)
            self.fields[f"better-{n}"] = forms.ChoiceField(
                choices=[(name, name) for name in ("", HIGHER, LOWER)],
                required=False,
                initial=better,
            )

    def _of(self, what: str) -> dict[str, Any]:
        return {e.key: self.cleaned_data[f"{what}-{n}"] for n, e in enumerate(self.found)}

    def applied(self, choices: Choices) -> Choices:
        """Return choices with those of this form."""
        if not self.found:
            return choices
        better = self._of("better")
        return replace(
            choices,
            metrics=tuple(key for key, is_taken in self._of("take").items() if is_taken),
            names={key: name or key for key, name in self._of("name").items()},
            lower=frozenset(key for key, each in better.items() if each == LOWER),
            higher=frozenset(key for key, each in better.items() if each == HIGHER),
        )


class OriginForm(forms.Form):
    """What the lines of files without keys are of."""

    def __init__(self, reading: Reading, choices: Choices, data: QueryDict | None = None) -> None:
        super().__init__(data, initial={"lines": choices.lines})
        if reading.lines:
            self.fields["lines"] = forms.ChoiceField(
                label=_("Line n of files without keys is"),
                choices=[("", _("choose")), *((n, translated(LABELS[n])) for n in reading.lines)],
                required=False,
            )
