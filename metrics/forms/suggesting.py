"""The form that says which errors annotators of a campaign are shown beforehand."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.forms.uploads import FilesField
from annotation.uploads import InputFile
from metrics.forms.spans import ENDS

SUGGESTED, GOLD = "suggested", "gold"
WHAT = {
    SUGGESTED: "suggestions: shown to annotators, who keep, change or remove them",
    GOLD: "adjudicated errors: what is known to be right, for a trial; never shown",
}
NOTHING = "Choose a metric, or files with spans."


class SharesForm(forms.Form):
    """The shares of a trial's conditions, in percent of everybody's documents."""

    blank = forms.IntegerField(
        min_value=0,
        max_value=100,
        help_text="Nothing is suggested: what the others are compared with.",
    )
    prefilled = forms.IntegerField(
        min_value=0, max_value=100, help_text="All suggestions; 100 is no trial."
    )
    planted = forms.IntegerField(
        label="With a planted error",
        min_value=0,
        max_value=15,
        help_text="All suggestions and a false one, on text that is adjudicated correct.",
    )
    withheld = forms.IntegerField(
        label="With a known error withheld",
        min_value=0,
        max_value=50,
        help_text="All suggestions but those of one adjudicated error.",
    )
    seed = forms.IntegerField(min_value=0, max_value=2**53, help_text="Draws all of it.")


class SuggestForm(forms.Form):
    """What the spans are for, and a metric or files that they come from."""

    what = forms.ChoiceField(label="These are", choices=list(WHAT.items()), initial=SUGGESTED,
                             widget=forms.RadioSelect)  # fmt: skip
    metric = forms.ChoiceField(label="Found by", required=False)
    tables = FilesField(
        label="or files with spans",
        required=False,
        help_text="TSV, CSV, XLSX or JSON: system, segment, "
        "start, end, severity, perhaps category and "
        "side (target, source, missing), a row a span; severity no-error for an output without "
        "one. Offsets count Unicode characters from 0.",
    )
    ends = forms.ChoiceField(label="An end names", choices=list(ENDS.items()), required=False)

    def __init__(
        self, *args: Any, metrics: Sequence[str], has_files: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        if has_files:
            del self.fields["tables"], self.fields["metric"]
        else:
            own: Any = self.fields["metric"]
            own.choices = [("", "no metric: from files"), *((name, name) for name in metrics)]

    def clean(self) -> dict[str, Any]:
        """Ask for a source."""
        given = super().clean() or self.cleaned_data
        asked = {"metric", "tables"} & set(self.fields)
        if asked and not given.get("metric") and not given.get("tables"):
            self.add_error("tables", NOTHING)
        return given

    @property
    def ends_included(self) -> bool | None:
        """What the person said of ends."""
        return {"included": True, "excluded": False}.get(self.cleaned_data["ends"])

    def sent(self) -> list[InputFile]:
        """Return the files; nothing has been read yet."""
        return [InputFile.sent(file) for file in self.cleaned_data["tables"]]
