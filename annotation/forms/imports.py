"""Forms of the import page, one per tool, and of the page of gold and practice items."""

from functools import partial
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.forms.uploads import OneFileField
from annotation.uploads import InputFile
from annotation.uploads.waiting import Sent
from core.messages import invalid

# Files that a campaign's segments refer to.
RECORDINGS = partial(
    OneFileField,
    label=_("Recordings and pictures"),
    help_text=_("Optional: a ZIP archive of the files that the campaign names."),
)


class StudyField(forms.SlugField):
    """The study that an imported campaign joins."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            max_length=80,
            label=_("Study"),
            help_text=_(
                "Optional: campaigns of one study are shown side by side and averaged. Use "
                "letters, digits, hyphens and underscores."
            ),
        )


class QuestionField(forms.CharField):
    """The question that annotators were asked, if the files do not have it."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            max_length=2_000,
            label=_("Question to the annotators"),
            help_text=_(
                "Optional: as the study asked it. Leave blank to use the question of the files or "
                "the protocol."
            ),
        )


class ToolForm(forms.Form):
    """The base of every tool's form; `roles` are its files, `tool` is its name.

    `title` is its heading, `holds` says what such files hold, and `about` is a template that
    explains what is read. If `first` names fields, all others are folded.
    """

    tool = ""
    title: str | Promise = ""
    holds: str | Promise = ""
    about = ""
    roles: tuple[str, ...] = ()
    first: tuple[str, ...] = ()

    @property
    def visible_first(self) -> list[forms.BoundField]:
        """The fields that are always shown."""
        return [field for field in self if not self.first or field.name in self.first]

    @property
    def more(self) -> list[forms.BoundField]:
        """The folded fields."""
        return [field for field in self if self.first and field.name not in self.first]

    def sent(self) -> Sent:
        """Return the submitted files and values, which have not been read yet."""
        data = self.cleaned_data
        files = []
        for role in self.roles:
            given = data.get(role) or []
            each = given if isinstance(given, list) else [given]
            files += [(role, InputFile.sent(file)) for file in each]
        words = {name: data[name] for name in self.fields if name not in self.roles}
        return Sent.of(self.tool, files, words)

    def clean(self) -> dict[str, Any]:
        """Require the files; the reader reports empty ones."""
        data = super().clean() or self.cleaned_data
        for role in self.roles:
            if role not in getattr(self, "optional", ()) and not data.get(role):
                self.add_error(role, invalid("upload.choose-file", "Choose a file."))
        return data


class GoldForm(forms.Form):
    """One table of gold and practice items."""

    table = OneFileField(label=_("Table"), help_text=_("TSV, CSV, XLSX, ODS, Parquet or JSON."))

    def clean_table(self) -> Any:
        """Require a file."""
        if not self.cleaned_data["table"]:
            raise invalid("upload.choose-file", "Choose a file.")
        return self.cleaned_data["table"]


class CampaignFileForm(forms.Form):
    """A whole campaign in one file."""

    campaign_file = forms.FileField(
        label=_("Campaign file"), help_text=_("JSON, as written by Export.")
    )
    recordings = RECORDINGS()
    slug = forms.SlugField(
        required=False,
        max_length=80,
        label=_("Short name of a copy"),
        help_text=_("Needed if the campaign of the file is already stored."),
    )
