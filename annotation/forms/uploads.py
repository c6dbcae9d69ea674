"""The form of stage 1: a description, and files by role."""

from __future__ import annotations

from decimal import Decimal
from itertools import chain, count
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.text import slugify

from annotation import languages
from annotation.models import TestSet
from annotation.uploads import InputFile, Submission, SystemFile, label_of_file
from annotation.uploads.submissions import parse_ratio

# "full" also where a person means "no length control".
FULL_WORDS = ("", "full", "1", "100%")
# The upload page has this address.
RESERVED = "upload"


class FilesInput(forms.ClearableFileInput):
    """Several files at once."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A list of files, empty if none was sent. Empty files pass: the reader names them."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        """Return the files."""
        sent = data if isinstance(data, (list, tuple)) else [data] if data else []
        if not sent and self.required:
            raise forms.ValidationError(self.error_messages["required"])
        return [file for file in sent if file]


class OneFileField(forms.FileField):
    """One file, which may be empty: the reader names it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, allow_empty_file=True, **kwargs)


class LanguageField(forms.CharField):
    """A language by code or name; its page includes `annotation/_known_languages.html`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            max_length=languages.LONGEST,
            widget=forms.TextInput(attrs={"list": "known-languages", "autocomplete": "off"}),
            **kwargs,
        )

    def clean(self, value: Any) -> str:
        """Return the code in its standard spelling."""
        try:
            return languages.find(super().clean(value))
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error


class LanguagesForm(forms.Form):
    """A form that asks for `source_language` and `target_language`."""

    source_language = LanguageField(help_text="A code or a name: zh, pt-BR, Chinese.")
    target_language = LanguageField()


class UploadForm(LanguagesForm):
    """Where the segments and outputs come from, and what they are called."""

    name = forms.CharField(max_length=120, help_text="Such as “newstest2025 en-zh”.")
    description = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    source = OneFileField(label="Source", help_text="One segment a line.")
    references = FilesField(
        required=False, help_text="One file a reference, with the lines of the source."
    )
    documents = OneFileField(label="Document ids", help_text="One id a line. Optional.")
    systems = FilesField(
        required=False,
        label="System outputs",
        help_text="One file a system. The file name is the system’s name; "
        "baseline@0.8.txt is the system baseline at 80% of full length.",
    )
    ratio = forms.CharField(
        required=False,
        label="Length ratio of the outputs",
        help_text="Where neither file name nor table states one. Empty: no length control.",
    )
    tables = FilesField(
        required=False, label="Tables", help_text="TSV, CSV or JSONL with the columns below."
    )

    def clean_ratio(self) -> Decimal:
        """Read `0.8` or `80%`."""
        text: str = self.cleaned_data["ratio"].strip().lower()
        if text in FULL_WORDS:
            return Decimal(1)
        try:
            return parse_ratio(text)
        except ValueError as error:
            raise forms.ValidationError(f"{error}.") from error

    def clean(self) -> dict[str, Any]:
        """Ask for at least one file."""
        data = super().clean() or self.cleaned_data
        roles = ("source", "references", "documents", "systems", "tables")
        if not self.errors and not any(data.get(role) for role in roles):
            raise forms.ValidationError(
                "Choose a source file with the systems’ outputs, or a table."
            )
        return data

    def submission(self) -> Submission:
        """Return what the person sent; nothing has been read yet."""
        data = self.cleaned_data
        target = data["target_language"]
        systems = [
            SystemFile(InputFile.sent(file), label_of_file(file.name or "", target))
            for file in data["systems"]
        ]
        return Submission(
            slug=slug_of(data["name"]),
            name=data["name"],
            source_language=data["source_language"],
            target_language=target,
            description=data["description"],
            ratio=data["ratio"],
            source=_sent(data["source"]),
            references=[InputFile.sent(file) for file in data["references"]],
            documents=_sent(data["documents"]),
            systems=systems,
            tables=[InputFile.sent(file) for file in data["tables"]],
        )


def _sent(file: UploadedFile[Any] | None) -> InputFile | None:
    return InputFile.sent(file) if file else None


def slug_of(name: str) -> str:
    """Return the slug of the stored test set of this name, or an unused one made from the name.

    The same name therefore always means the same test set, and another name another one, also
    where nothing of a name can stand in an address.
    """
    stored = TestSet.objects.filter(name=name).values_list("slug", flat=True).first()
    if stored:
        return stored
    base = slugify(name)[:70] or "test-set"
    taken = {
        RESERVED,
        *TestSet.objects.filter(slug__startswith=base).values_list("slug", flat=True),
    }
    numbered = (f"{base}-{number}" for number in count(2))
    return next(slug for slug in chain([base], numbered) if slug not in taken)
