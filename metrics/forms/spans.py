"""The form for error spans that were found elsewhere."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms.uploads import FilesField
from annotation.uploads import InputFile
from core.messages import if_missing

ENDS = {
    "": _("not known yet: show how many spans end at words"),
    "included": _("the last character of the span (Appraise)"),
    "excluded": _("the position after the last character (WMT files, mt-metrics-eval, Python)"),
}


class SpanFilesForm(forms.Form):
    """Files, the metric's name, and the meaning of end offsets."""

    name = forms.CharField(label=_("Name of the metric"), max_length=60)
    ends = forms.ChoiceField(
        label=_("The end offset is"), choices=list(ENDS.items()), required=False
    )
    tables = FilesField(
        label=_("Files with spans"),
        help_text=_(
            "TSV, CSV, XLSX, Parquet or JSON with one row per span: system, segment, start, end "
            "and severity. Category, side (target, source or missing), confidence and score are "
            "optional. Write the severity no-error for an output without errors. Lists of WMT25 "
            "(start_indices, end_indices, error_types) and JSON lists (errors) are accepted too. "
            "Offsets count Unicode characters from 0."
        ),
        error_messages=if_missing("spans.choose-file", "Choose at least one file."),
    )

    def __init__(self, *args: object, has_files: bool = False, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if has_files:
            del self.fields["tables"]

    @property
    def ends_included(self) -> bool | None:
        """Return True if the end is within the span, None if that was not chosen."""
        return {"included": True, "excluded": False}.get(self.cleaned_data["ends"])

    def sent(self) -> list[InputFile]:
        """Return the files, which have not been read yet."""
        return [InputFile.sent(file) for file in self.cleaned_data["tables"]]
