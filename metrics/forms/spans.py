"""Forms for error spans: those found elsewhere, and those that annotators get as suggestions."""

from collections.abc import Sequence
from typing import Any

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
            "TSV, CSV, XLSX, ODS, Parquet or JSON with one row per span: system, segment, start, "
            "end and severity. Category, side (target, source or missing), confidence and score "
            "are optional. Write the severity no-error for an output without errors. Lists of "
            "WMT25 (start_indices, end_indices, error_types) and JSON lists (errors) are accepted "
            "too. Offsets count Unicode characters from 0."
        ),
        error_messages=if_missing("spans.choose-file", "Choose at least one file."),
    )

    def __init__(self, *args: object, has_files: bool = False, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        if has_files:
            del self.fields["tables"]

    def sent(self) -> list[InputFile]:
        """Return the files, which have not been read yet."""
        return [InputFile.sent(file) for file in self.cleaned_data["tables"]]


SUGGESTED, GOLD = "suggested", "gold"
WHAT = {
    SUGGESTED: _("suggestions: annotators see them and keep, change or remove them"),
    GOLD: _("adjudicated errors: the known errors, for a trial; annotators never see them"),
}
NOTHING = _("Choose a metric, or files with spans.")


class SharesForm(forms.Form):
    """The shares of a trial's conditions, in percent of each annotator's documents."""

    blank = forms.IntegerField(
        label=_("Blank"),
        min_value=0,
        max_value=100,
        help_text=_("No suggestions; the other conditions are compared with this one."),
    )
    prefilled = forms.IntegerField(
        label=_("Prefilled"),
        min_value=0,
        max_value=100,
        help_text=_("All suggestions. With 100 there is no trial."),
    )
    planted = forms.IntegerField(
        label=_("With a planted error"),
        min_value=0,
        max_value=15,
        help_text=_("All suggestions plus a false one on text that was adjudicated as correct."),
    )
    withheld = forms.IntegerField(
        label=_("With a known error withheld"),
        min_value=0,
        max_value=50,
        help_text=_("All suggestions except those for one adjudicated error."),
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=2**53,
        help_text=_("The seed for all random choices of the trial."),
    )


class SuggestForm(forms.Form):
    """The purpose of spans, and the metric or the files that they come from."""

    what = forms.ChoiceField(label=_("Purpose"), choices=list(WHAT.items()), initial=SUGGESTED,
                             widget=forms.RadioSelect)  # fmt: skip
    metric = forms.ChoiceField(label=_("Metric"), required=False)
    tables = FilesField(
        label=_("or files with spans"),
        required=False,
        help_text=_(
            "TSV, CSV, XLSX, ODS, Parquet or JSON with one row per span: system, segment, start, "
            "end and severity. Category and side (target, source or missing) are optional. Write "
            "the severity no-error for an output without errors. Offsets count Unicode characters "
            "from 0."
        ),
    )
    ends = forms.ChoiceField(
        label=_("The end offset is"), choices=list(ENDS.items()), required=False
    )

    def __init__(
        self, *args: Any, metrics: Sequence[str], has_files: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        if has_files:
            del self.fields["tables"], self.fields["metric"]
        else:
            own: Any = self.fields["metric"]
            own.choices = [("", _("no metric: from files")), *((name, name) for name in metrics)]

    def clean(self) -> dict[str, Any]:
        """Require a metric or files."""
        given = super().clean() or self.cleaned_data
        asked = {"metric", "tables"} & set(self.fields)
        if asked and not given.get("metric") and not given.get("tables"):
            self.add_error("tables", NOTHING)
        return given

    def sent(self) -> list[InputFile]:
        """Return the files, which have not been read yet."""
        return [InputFile.sent(file) for file in self.cleaned_data["tables"]]
