"""Forms that upload parallel text and start a job or a sweep."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotation.forms.uploads import LanguageField, ProjectField
from metaeval.messages import Message, message
from metaeval.reasons import reason_of
from metrics import options
from metrics.forms.families import PREFIX, field_of
from metrics.options import Option
from training.contract import TrainingKind
from training.jobs import starting
from training.jobs.starting import LONGEST_NAME, NO_CORPUS, missing, refusal, slug_of
from training.models import ParallelCorpus
from training.parallel.reading import ParallelError, Row, read_moses, read_pairs

# Addresses of pages, which cannot be names of corpora.
RESERVED = {"upload"}
ANYWAY = _("Start anyway: the job waits until a worker can do it.")
PAPER_SEEDS = ", ".join(map(str, starting.SEEDS))


class CorpusForm(forms.Form):
    """Parallel text in one file or two. After `is_valid`, `rows` has the rows of the files."""

    name = forms.SlugField(
        max_length=60,
        label=_("Name"),
        help_text=_("Used in addresses and commands. Letters, digits, - and _ are allowed."),
    )
    source_language = LanguageField(
        label=_("Source language"), help_text=_("A code or a name: zh, pt-BR, Chinese.")
    )
    target_language = LanguageField(label=_("Target language"))
    file = forms.FileField(
        allow_empty_file=True,
        label=_("File"),
        help_text=_(
            "TSV with a source and a target column, or lines “source ||| target”. Or only the "
            "source side, one sentence per line, with the target side in the second file."
        ),
    )
    target_file = forms.FileField(
        required=False,
        allow_empty_file=True,
        label=_("Target side"),
        help_text=_("Needed only if the first file has just the source side."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rows: list[Row] = []

    def clean_name(self) -> str:
        """Refuse a name that is already used."""
        name = str(self.cleaned_data["name"])
        if name in RESERVED or ParallelCorpus.objects.filter(name=name).exists():
            raise refusal(
                message("corpus.name-taken", "There is already a corpus named {name}.", name=name)
            )
        return name

    def clean(self) -> dict[str, Any]:
        """Read the files; an error names the file and the line."""
        data = super().clean() or self.cleaned_data
        if data.get("source_language", 1) == data.get("target_language", 2):
            same = message("corpus.same-language", "Source and target language must differ.")
            self.add_error("target_language", refusal(same))
        if self.errors:
            return data
        try:
            self.rows = read(data)
        except ParallelError as error:
            self.add_error("file", refusal(error.message))
        return data


def read(data: Mapping[str, Any]) -> list[Row]:
    """Read one uploaded file of pairs, or two files of one side each; raises ParallelError."""
    file, target = data["file"], data["target_file"]
    if target:
        return read_moses((file.name, file.read()), (target.name, target.read()))
    return read_pairs(file.name, file.read(), (data["source_language"], data["target_language"]))


class JobForm(forms.Form):
    """A job; with several values of a setting, separated by commas, a sweep.

    After `is_valid`, `grid` has the settings of every job.
    """

    name = forms.CharField(
        max_length=LONGEST_NAME,
        label=_("Name"),
        help_text=_("The resulting metric or model gets this name."),
    )
    corpora = forms.ModelMultipleChoiceField(
        ParallelCorpus.objects.all(),
        to_field_name="name",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Parallel text"),
    )
    project = ProjectField(help_text=_("Only its members see the job."))
    anyway = forms.BooleanField(required=False, label=ANYWAY)

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
        """Refuse a name that cannot be a part of an address."""
        return slug_of(self.cleaned_data["name"])

    @property
    def main(self) -> list[forms.BoundField]:
        """Return the settings that are always shown."""
        return [self[PREFIX + option.name] for option in self.kind.options if self._is_main(option)]

    @property
    def advanced(self) -> list[forms.BoundField]:
        """Return the settings that are folded."""
        rest = [option for option in self.kind.options if not self._is_main(option)]
        return [self[PREFIX + option.name] for option in rest]

    @property
    def has_folded_errors(self) -> bool:
        """Return True if a folded setting has an error."""
        return any(field.errors for field in self.advanced)

    def _is_main(self, option: Option) -> bool:
        return not self.kind.main or option.name in self.kind.main

    def clean(self) -> dict[str, Any]:
        """Check every value of every setting; several values of one make a sweep."""
        data = super().clean() or self.cleaned_data
        if self.kind.needs_corpus and not data.get("corpora") and "corpora" not in self.errors:
            self.add_error("corpora", refusal(NO_CORPUS))
        values = {option.name: self._values(option) for option in self.kind.options}
        if self.errors:
            return data
        try:
            self.grid = starting.expand_grid(values)
        except ValidationError as error:
            self.add_error(None, error)
        self._check_together()
        if not self.errors and self.missing and not data.get("anyway"):
            self.add_error("anyway", ValidationError(list(self.missing)))
        return data

    @cached_property
    def missing(self) -> list[Message]:
        """Return what no worker has for these jobs; with the settings shown, if none are sent."""
        shown = {each.name: self[PREFIX + each.name].value() for each in self.kind.options}
        found = [need for chosen in self.grid or [shown] for need in missing(self.kind, chosen)]
        return list(dict.fromkeys(found))

    def _check_together(self) -> None:
        """Refuse settings of a job that do not fit together, at their fields."""
        found = {pair for chosen in self.grid for pair in self.kind.conflicts(chosen).items()}
        for name, error in sorted(found, key=str):
            self.add_error(PREFIX + name, refusal(error))

    def _values(self, option: Option) -> list[Any]:
        found = []
        for text in _split(option, str(self.data.get(PREFIX + option.name, ""))):
            try:
                found.append(options.clean_all([option], {option.name: text})[option.name])
            except ValueError as error:
                # Without the name of the option: the field shows the error.
                problem = getattr(error, "problem", reason_of(error))
                self.add_error(PREFIX + option.name, refusal(problem))
        return list(dict.fromkeys(found))


def _split(option: Option, text: str) -> list[str]:
    if option.kind not in ("integer", "number"):
        return [text.strip()]
    return [part.strip() for part in text.split(",") if part.strip()] or [""]


def _field(option: Option) -> forms.Field:
    field = field_of(option)
    if option.kind in ("integer", "number"):
        # Not a number input: several values, separated by commas, are a sweep.
        field.widget = forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
        field.help_text = _help(option)
    return field


def _help(option: Option) -> Any:
    """Return the help of a number with its bounds."""
    bounds = _bounds(option)
    if not bounds or not option.help:
        return bounds or option.help
    return message("option.help", "{help} {bounds}", help=option.help, bounds=bounds)


def _bounds(option: Option) -> Message | None:
    low, high = option.minimum, option.maximum
    if low is None and high is None:
        return None
    if low is None:
        return message("option.at-most", "At most {high}.", high=high)
    if high is None:
        return message("option.at-least", "At least {low}.", low=low)
    return message("option.between", "From {low} to {high}.", low=low, high=high)
