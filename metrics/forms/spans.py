"""The form of error spans that were found elsewhere."""

from django import forms

from annotation.forms.uploads import FilesField
from annotation.uploads import InputFile

ENDS = {
    "": "not said yet: show me how many ends fall on words",
    "included": "the last character of the span (Appraise)",
    "excluded": "the place behind it (WMT files, mt-metrics-eval, Python)",
}


class SpanFilesForm(forms.Form):
    """Files, the metric's name, and what an end is."""

    name = forms.CharField(label="Name of the metric", max_length=60)
    ends = forms.ChoiceField(label="An end names", choices=list(ENDS.items()), required=False)
    tables = FilesField(
        label="Files with spans",
        help_text="TSV, CSV, XLSX or JSON: system, segment, "
        "start, end, severity, perhaps category, "
        "side (target, source, missing), confidence and score, a row a span; severity no-error for "
        "an output without one. Lists of WMT25 (start_indices, end_indices, error_types) and JSON "
        "lists (errors) are read, too. Offsets count Unicode characters from 0.",
        error_messages={"required": "Choose at least one file."},
    )

    def __init__(self, *args: object, has_files: bool = False, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if has_files:
            del self.fields["tables"]

    @property
    def ends_included(self) -> bool | None:
        """Return True if ends are included, None if the person did not choose."""
        return {"included": True, "excluded": False}.get(self.cleaned_data["ends"])

    def sent(self) -> list[InputFile]:
        """Return the files; nothing has been read yet."""
        return [InputFile.sent(file) for file in self.cleaned_data["tables"]]
