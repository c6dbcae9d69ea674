"""The forms of training: parallel text to upload, and a job or a sweep to start."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.forms.uploads import LanguageField
from metrics import options
from metrics.forms.families import PREFIX, field_of
from metrics.options import Option
from training.contract import TrainingKind
from training.jobs.starting import LONGEST_NAME, slug_of
from training.models import ParallelCorpus
from training.parallel.reading import ParallelError, Row, read_moses, read_pairs
from training.sweeps import starting

# The addresses of pages, which no corpus can have as its name.
RESERVED = {"upload"}
PAPER_SEEDS = ", ".join(map(str, starting.SEEDS))


class CorpusForm(forms.Form):
    """Parallel text in one file or in two. After `is_valid`, `rows` are what the files hold."""

    name = forms.SlugField(
        max_length=60, help_text="In addresses and commands: letters, digits, - and _."
    )
    source_language = LanguageField(help_text="A code or a name: zh, pt-BR, Chinese.")
    target_language = LanguageField()
    file = forms.FileField(
        allow_empty_file=True,
        label="File",
        help_text="TSV with a source and a target column, or lines “source ||| target”. "
        "Or the source side alone, one sentence a line, with the second file below.",
    )
    target_file = forms.FileField(
        required=False,
        allow_empty_file=True,
        label="Target side",
        help_text="Only where the first file holds the source side alone.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rows: list[Row] = []

    def clean_name(self) -> str:
        """Refuse a name that is taken."""
        name = str(self.cleaned_data["name"])
        if name in RESERVED or ParallelCorpus.objects.filter(name=name).exists():
            raise ValidationError(f"There is a corpus named {name} already.")
        return name

    def clean(self) -> dict[str, Any]:
        """Read the files; an error names the file and the line."""
        data = super().clean() or self.cleaned_data
        if data.get("source_language", 1) == data.get("target_language", 2):
            self.add_error("target_language", "Source and target have to differ.")
        if self.errors:
            return data
        try:
            self.rows = read(data)
        except ParallelError as error:
            self.add_error("file", str(error))
        return data


def read(data: Mapping[str, Any]) -> list[Row]:
    """Read one uploaded file of pairs, or two of a side each; raises ParallelError."""
    file, target = data["file"], data["target_file"]
    if target:
        return read_moses((file.name, file.read()), (target.name, target.read()))
    return read_pairs(file.name, file.read(), (data["source_language"], data["target_language"]))


class JobForm(forms.Form):
    """A job of a kind, or with several values of a setting, separated by commas, a sweep.

    After `is_valid`, `grid` holds the settings of every job.
    """

    name = forms.CharField(max_length=LONGEST_NAME, help_text="What comes of it is named after it.")
    corpora = forms.ModelMultipleChoiceField(
        ParallelCorpus.objects.all(),
        to_field_name="name",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Parallel text",
    )

    def __init__(
        self,
        kind: TrainingKind,
        data: Any = None,
        initial: Mapping[str, Any] | None = None,
        known: Iterable[str] = (),
    ) -> None:
        super().__init__(data, initial=dict(initial or {}))
        self.kind, self.known = kind, list(known)
        self.grid: starting.Grid = []
        if not kind.needs_corpus:
            del self.fields["corpora"]
        for option in kind.options:
            self.fields[PREFIX + option.name] = _field(option)

    def clean_name(self) -> str:
        """Refuse a name that nothing of an address can be made of."""
        return slug_of(self.cleaned_data["name"])

    @property
    def main(self) -> list[forms.BoundField]:
        """The settings that are shown at once."""
        return [self[PREFIX + option.name] for option in self.kind.options if self._is_main(option)]

    @property
    def advanced(self) -> list[forms.BoundField]:
        """The settings that are folded."""
        rest = [option for option in self.kind.options if not self._is_main(option)]
        return [self[PREFIX + option.name] for option in rest]

    @property
    def has_folded_errors(self) -> bool:
        """Whether what is folded has to be seen."""
        return any(field.errors for field in self.advanced)

    def _is_main(self, option: Option) -> bool:
        return not self.kind.main or option.name in self.kind.main

    def clean(self) -> dict[str, Any]:
        """Check every value of every setting; several of one make a sweep."""
        data = super().clean() or self.cleaned_data
        if self.kind.needs_corpus and not data.get("corpora") and "corpora" not in self.errors:
            self.add_error("corpora", "Choose a parallel corpus.")
        values = {option.name: self._values(option) for option in self.kind.options}
        if self.errors:
            return data
        try:
            self.grid = starting.combine(values)
        except ValidationError as error:
            self.add_error(None, error)
        self._check_together()
        return data

    def _check_together(self) -> None:
        """Refuse the settings of any job that do not go together, at their fields."""
        found = {pair for chosen in self.grid for pair in self.kind.conflicts(chosen).items()}
        for name, message in sorted(found):
            self.add_error(PREFIX + name, message[:1].upper() + message[1:])

    def _values(self, option: Option) -> list[Any]:
        found = []
        for text in _split(option, str(self.data.get(PREFIX + option.name, ""))):
            try:
                found.append(options.clean_all([option], {option.name: text})[option.name])
            except ValueError as error:
                message = str(error).removeprefix(f"{option.label}: ")
                self.add_error(PREFIX + option.name, message[:1].upper() + message[1:])
        return list(dict.fromkeys(found))


def _split(option: Option, text: str) -> list[str]:
    if option.kind not in ("integer", "number"):
        return [text.strip()]
    return [part.strip() for part in text.split(",") if part.strip()] or [""]


def _field(option: Option) -> forms.Field:
    field = field_of(option)
    if option.kind in ("integer", "number"):
        # No number input: several values, separated by commas, are a sweep.
        field.widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
        field.help_text = " ".join(filter(None, [option.help, _bounds(option)]))
    return field


def _bounds(option: Option) -> str:
    low, high = option.minimum, option.maximum
    if low is None:
        return "" if high is None else f"(at most {high:g})"
    return f"(at least {low:g})" if high is None else f"(at least {low:g}, at most {high:g})"
