"""The form for mt-metrics-eval folders."""

import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms.imports import QuestionField, StudyField
from annotation.forms.uploads import FilesField, FilesInput, OneFileField
from annotation.uploads import InputFile
from metaeval.messages import Message, message
from metrics.datasets import mtme

ALL, NONE = "all", "none"


def not_a_pair(pair: str) -> Message:
    """Return the refusal of a text that does not name two languages."""
    return message(
        "dataset.not-a-pair", "“{pair}” is not a language pair. Enter one such as en-de.", pair=pair
    )


class FolderInput(FilesInput):
    """A field for a whole folder, if the browser supports it."""

    def __init__(self) -> None:
        super().__init__(attrs={"webkitdirectory": True, "data-folder": True})


class MtmeForm(forms.Form):
    """An archive, or the files of a folder, and the part to import."""

    # Fields that are folded until one is set.
    SELDOM = ("lower_is_better", "higher_is_better", "name", "study", "question")

    archive = OneFileField(label=_("Archive"), help_text=_("A .zip or .tar.gz of the folder."))
    folder = FilesField(
        required=False,
        label=_("Or the folder itself"),
        widget=FolderInput(),
        help_text=_("Up to 200 files. For more, send an archive."),
    )
    language_pair = forms.CharField(
        required=False,
        max_length=40,
        label=_("Language pair"),
        help_text=_("As in the file names, such as en-de. Optional if there is only one pair."),
    )
    human = forms.CharField(
        required=False,
        label=_("Human scores"),
        help_text=_("Names such as mqm. Leave blank to import all."),
    )
    metrics = forms.CharField(
        required=False,
        label=_("Metrics"),
        help_text=_("Names such as BLEU-refA, or none. Leave blank to import all."),
    )
    lower_is_better = forms.CharField(
        required=False,
        label=_("Scores that are better when lower"),
        help_text=_(
            "Names of metrics and human scores. Leave blank to infer them from names and signs."
        ),
    )
    higher_is_better = forms.CharField(
        required=False,
        label=_("Scores that are better when higher"),
        help_text=_("Needed only if the direction cannot be inferred."),
    )
    name = forms.CharField(
        required=False,
        max_length=80,
        label=_("Name"),
        help_text=_("The name of the test set. Leave blank to use the name of the folder."),
    )
    study = StudyField()
    question = QuestionField()

    @property
    def has_seldom(self) -> bool:
        """Whether a folded field is set or faulty."""
        return any(self.errors.get(name) or self[name].value() for name in self.SELDOM)

    def clean_language_pair(self) -> str:
        """Refuse text that does not name two languages."""
        pair: str = self.cleaned_data["language_pair"].strip()
        if pair and not mtme.is_pair(pair):
            raise forms.ValidationError([not_a_pair(pair)])
        return pair

    def clean(self) -> dict[str, Any]:
        """Require an archive or a folder, and not both."""
        data = super().clean() or self.cleaned_data
        if bool(data.get("archive")) == bool(data.get("folder")):
            self.add_error(
                "archive",
                forms.ValidationError(
                    [message("dataset.archive-or-folder", "Choose an archive or a folder.")]
                ),
            )
        return data

    def choice(self) -> dict[str, Any]:
        """Return the part to import, as stored with the import."""
        data = self.cleaned_data
        metrics = _names(data["metrics"])
        return {
            "language_pair": data["language_pair"],
            "human": _names(data["human"]),
            "metrics": [] if metrics == [NONE] else None if metrics in ([], [ALL]) else metrics,
            "lower_is_better": _names(data["lower_is_better"]),
            "higher_is_better": _names(data["higher_is_better"]),
            "name": data["name"].strip(),
            "study": data["study"],
            "question": data["question"],
        }

    def sent(self, paths: list[str]) -> InputFile:
        """Return the archive; files become one, with `paths` from the script.

        Without the script a browser sends names without folders; the folder of a file is then
        inferred.
        """
        if archive := self.cleaned_data["archive"]:
            return InputFile.sent(archive)
        files = [InputFile.sent(file) for file in self.cleaned_data["folder"]]
        if len(paths) != len(files):
            names = [file.name for file in files]
            pair = self.cleaned_data["language_pair"] or mtme.guess_pair(names)
            paths = [mtme.place_of(name, pair) for name in names]
        top = paths[0].split("/")[0] if paths else ""
        name = self.cleaned_data["name"].strip() or top
        return InputFile.holding(f"{name}.zip", mtme.packed(zip(paths, files, strict=True)))


def _names(text: str) -> list[str]:
    return [name for name in re.split(r"[\s,]+", text.strip()) if name]
