"""The form of stage 1: a description, and files by role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import chain, count
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.template.defaultfilters import filesizeformat
from django.utils.functional import lazy
from django.utils.text import slugify
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.access import test_sets_with_media
from annotation.models import Project, TestSet
from annotation.projects import hidden_slug
from annotation.uploads import InputFile, Submission, SystemFile
from annotation.uploads.files import RatioError, parse_ratio
from annotation.uploads.formats.base import TEST_SET, Door
from annotation.uploads.formats.registry import declared
from annotation.uploads.tables.lines import LABELS
from annotation.uploads.tables.pairs import ALL
from annotation.uploads.tables.skipping import SKIP
from annotation.uploads.waiting import Sent
from core import languages
from core.messages import invalid, translated

# Words for "no length control".
FULL_WORDS = ("", "full", "1", "100%")
WORDS = (
    *("name", "source_language", "target_language", "description", "project"),
    *("ratio", "lines", "pair"),
)
ROLE_NAMES = {
    "source": _("Source"), "references": _("Reference"), "documents": _("Document ids"),
    "systems": _("System output"), "tables": _("Table"),
    "recordings": _("Recordings and pictures"),
}  # fmt: skip
SINGLE = ("source", "documents")
DOOR = "test-set"
# The upload page has this address.
RESERVED = "upload"


def _files_of(door: Door) -> str:
    """Return the files that an import reads, those of installed extensions included."""
    names = [each.name for each in declared() if door in each.doors and each.read]
    text = gettext("TSV, CSV, XLSX, ODS, Parquet or JSON. Also recognised: {formats}.")
    return text.format(formats="; ".join(names))


files_of = lazy(_files_of, str)


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
            raise forms.ValidationError(self.error_messages["required"], code="required")
        return [file for file in sent if file]


class OneFileField(forms.FileField):
    """One file, which may be empty: the reader names it."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, allow_empty_file=True, **kwargs)


class LanguageField(forms.CharField):
    """A language by code or name; its page includes `annotation/_known_languages.html`.

    One that is not required and blank is an empty text.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            max_length=languages.LONGEST,
            widget=forms.TextInput(attrs={"list": "known-languages"}),
            **kwargs,
        )

    def clean(self, value: Any) -> str:
        """Return the code in its standard spelling."""
        try:
            text = super().clean(value)
            return languages.find(text) if text or self.required else ""
        except languages.LanguageError as error:
            raise forms.ValidationError([error.message]) from error


class ProjectField(forms.CharField):
    """A project by its short name, or none; not asked for where there is none to choose."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, label=_("Project"), **kwargs)
        self.widget = forms.HiddenInput()

    def offer(self, projects: Iterable[Project]) -> None:
        """Let a person choose among these projects."""
        if choices := [(each.slug, each.name) for each in projects]:
            self.widget = forms.Select(choices=[("", _("none")), *choices])


class LanguagesForm(forms.Form):
    """A form that asks for `source_language` and `target_language`."""

    source_language = LanguageField(
        label=_("Source language"), help_text=_("A name or a code: German, Deutsch or de.")
    )
    target_language = LanguageField(label=_("Target language"))


class UploadForm(forms.Form):
    """Files with segments and outputs, and a description of the test set.

    `earlier` is the same person's previous upload: its files are used unless they are unticked or
    replaced by others of their name (a single source or document file by any other).
    """

    name = forms.CharField(
        label=_("Name"), max_length=120, help_text=_("Such as “newstest2025 en-zh”.")
    )
    source_language = LanguageField(
        label=_("Source language"),
        required=False,
        help_text=_(
            "A name or a code: German, Deutsch or de. Leave languages blank if a table or the "
            "stored test set states them."
        ),
    )
    target_language = LanguageField(label=_("Target language"), required=False)
    description = forms.CharField(
        label=_("Description"), required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    source = OneFileField(label=_("Source"), help_text=_("One segment per line."))
    references = FilesField(
        label=_("References"),
        required=False,
        help_text=_("One file per reference, aligned with the source line by line."),
    )
    documents = OneFileField(
        label=_("Document ids"), help_text=_("Optional. One id per line of the source.")
    )
    systems = FilesField(
        required=False,
        label=_("System outputs"),
        help_text=_(
            "One file per system. The file name is the system’s name; baseline@0.8.txt is the "
            "system baseline at 80% of full length."
        ),
    )
    ratio = forms.CharField(
        required=False,
        label=_("Length ratio of the outputs"),
        help_text=_(
            "For outputs whose file name or table states no ratio. Leave blank if the length was "
            "not controlled."
        ),
    )
    lines = forms.ChoiceField(
        required=False,
        label=_("Line n of files without keys is"),
        help_text=_("Only needed for a stored test set that is not in the order of a source file."),
    )
    tables = FilesField(
        required=False,
        label=_("Tables"),
        help_text=files_of(TEST_SET),
    )

    pair = forms.ChoiceField(
        required=False,
        label=_("Tables with several language pairs"),
        choices=[("", _("read the pair above")), (ALL, _("make one test set for each pair"))],
    )

    recordings = FilesField(
        required=False,
        label=_("Recordings and pictures"),
        help_text=_("The files that the column media names, or a ZIP archive of them."),
    )

    project = ProjectField(
        help_text=_("A new test set of a project is private to its members at first.")
    )

    kept_files = forms.MultipleChoiceField(
        required=False,
        label=_("Files that you have already sent"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("They are kept for two hours. Untick files that must not be used."),
    )

    # What is seldom needed is folded.
    SELDOM = ("description", "documents", "ratio", "lines", "pair", "recordings")

    @property
    def more(self) -> list[forms.BoundField]:
        """The folded fields."""
        return [self[name] for name in self.SELDOM]

    @property
    def has_more(self) -> bool:
        """Whether a folded field has a value or an error."""
        return any(field.errors or field.value() for field in self.more)

    def __init__(self, data: Any = None, files: Any = None, *, earlier: Sent | None = None) -> None:
        super().__init__(data, files, initial=dict(earlier.words) if earlier else None)
        self.fields["lines"].choices = [  # type: ignore[attr-defined]
            ("", _("known from the order of the source file")),
            *((value, translated(label)) for value, label in LABELS.items()),
        ]
        self.offer(earlier)

    def offer(self, earlier: Sent | None) -> None:
        """Offer files that were sent before."""
        self.earlier = earlier
        choices = [
            (str(n), f"{ROLE_NAMES[role]}: {file.name}, {filesizeformat(file.size)}")
            for n, (role, file) in enumerate(earlier.by_role if earlier else [])
        ]
        self.fields["kept_files"].choices = choices  # type: ignore[attr-defined]
        self.initial["kept_files"] = [number for number, _ in choices]

    def clean_ratio(self) -> Decimal:
        """Read `0.8` or `80%`."""
        text: str = self.cleaned_data["ratio"].strip().lower()
        if text in FULL_WORDS:
            return Decimal(1)
        try:
            return parse_ratio(text)
        except RatioError as error:
            raise forms.ValidationError([error.message]) from error

    def clean(self) -> dict[str, Any]:
        """Ask for at least one file."""
        data = super().clean() or self.cleaned_data
        if not self.errors and not self.files_sent():
            raise invalid(
                "upload.no-source-or-table",
                "Choose a source file with the systems’ outputs, or a table.",
            )
        return data

    def files_sent(self) -> list[tuple[str, InputFile]]:
        """Return the files by role, including those that were sent before."""
        data = self.cleaned_data
        found = []
        for role in ROLE_NAMES:
            sent = data.get(role) or []
            new = [InputFile.sent(file) for file in (sent if isinstance(sent, list) else [sent])]
            names = {file.name for file in new}
            replaced = bool(new) and role in SINGLE
            found += [
                (role, file)
                for file in self._still_kept(role)
                if not replaced and file.name not in names
            ]
            found += [(role, file) for file in new]
        return found

    def _still_kept(self, role: str) -> list[InputFile]:
        kept = self.earlier.by_role if self.earlier else []
        ticked = {int(number) for number in self.cleaned_data.get("kept_files", [])}
        return [file for n, (its, file) in enumerate(kept) if its == role and n in ticked]

    def sent(self) -> Sent:
        """Return what was typed and chosen, valid or not, so that nothing is lost."""
        words: dict[str, Any] = {name: self.data.get(name, "") for name in WORDS}
        files = self.files_sent()
        if self.earlier is not None:
            same = {id(file) for file in self.earlier.files.values()}
            tables = {file.name for role, file in files if role == "tables" and id(file) in same}
            columns = self.earlier.words.get("columns", {})
            words |= {name: self.earlier.words.get(name) for name in ("decode", SKIP)}
            words["columns"] = {name: c for name, c in columns.items() if name in tables}
        return Sent.of(DOOR, files, words)


def submission_of(words: Mapping[str, Any], sent: Sent, user: Any) -> Submission:
    """Return valid words and files as a user's submission."""
    return Submission(
        slug=slug_of(words["name"], user, words["project"]),
        name=words["name"],
        source_language=words["source_language"],
        target_language=words["target_language"],
        description=words["description"],
        project=words["project"],
        ratio=words["ratio"],
        lines=words["lines"],
        pair=words["pair"],
        source=sent.single("source"),
        references=sent.several("references"),
        documents=sent.single("documents"),
        systems=[SystemFile(file) for file in sent.several("systems")],
        tables=sent.several("tables"),
        media=sent.several("recordings"),
        columns=sent.words.get("columns") or {},
        decode=sent.words.get("decode") or False,
        skip=frozenset(sent.words.get(SKIP) or ()),
    )


def read_again(sent: Sent, user: Any) -> Submission | None:
    """Return what was sent as a submission, if the words are still valid."""
    everything = [str(number) for number in range(len(sent.files))]
    data = QueryDict(mutable=True)
    data.update({name: sent.words.get(name, "") for name in WORDS})
    data.setlist("kept_files", everything)
    form = UploadForm(data, earlier=sent)
    return submission_of(form.cleaned_data, sent, user) if form.is_valid() else None


def slug_of(name: str, user: Any = None, project: str = "") -> str:
    """Return the slug of the stored test set of this name, or an unused one made from the name.

    The same name therefore always means the same test set, and another name another one, even if
    no letter of a name may be in an address. A user's names are those that the user may read.
    """
    rows = TestSet.objects.all() if user is None else test_sets_with_media(user)
    stored = rows.filter(name=name).values_list("slug", flat=True).first()
    if stored:
        return stored
    base = slugify(name)[:70] or "test-set"
    if project:
        return hidden_slug(base, Project.objects.filter(slug=project).first(), name)
    taken = {
        RESERVED,
        *TestSet.objects.filter(slug__startswith=base).values_list("slug", flat=True),
    }
    numbered = (f"{base}-{number}" for number in count(2))
    return next(slug for slug in chain([base], numbered) if slug not in taken)
