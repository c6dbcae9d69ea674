"""Forms on the preview of an upload or import that correct how files were read.

Only what was previewed with the same choices is stored.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.forms.uploads import LanguageField
from annotation.uploads.drafts import reference_label
from annotation.uploads.problems import ENCODING, SHEETS, WORDS, Seen, showable
from annotation.uploads.problems import SYSTEM as OF_SYSTEMS
from annotation.uploads.tables.columns import FIRST, unnamed
from annotation.uploads.tables.meanings import OWN, REFERENCE, SYSTEM, WANTED, Meaning
from annotation.uploads.tables.pairs import ALL
from annotation.uploads.tables.skipping import KINDS, SKIP
from annotation.uploads.waiting import Sent
from core.messages import invalid, translated
from metaeval.files.names import Field
from metaeval.messages import Message, message

CHANGED = _(
    "Nothing was stored, because you changed a choice. The files have been read again with it: "
    "check the result, then store it."
)


def is_changed(form: forms.BaseForm) -> bool:
    """Return True if a bound form states other values than it was shown with.

    Values are compared as the fields read them. Fields that were not sent are ignored; an invalid
    form counts as changed.
    """
    if not form.is_valid():
        return True
    return any(
        form.cleaned_data[name] != _shown(field, form.get_initial_for_field(field, name))
        for name, field in form.fields.items()
        if not field.widget.value_omitted_from_data(form.data, form.files, form.add_prefix(name))
    )


def _shown(field: forms.Field, initial: Any) -> Any:
    try:
        return field.clean(initial)
    except ValidationError:
        return None


NOT_USED = _("not used")
HEADLESS = _("The first row is data, not names of columns")


class ColumnsForm(forms.Form):
    """A choice for every column of a table, in the order of the table.

    `fields_of` has the present fields of columns, as `columns.propose` returns them; `unused` is
    what else becomes of columns without one. `own` has a further choice for single columns, such as
    the outputs of the system that a column names. Fields of `repeatable` may have several columns.
    `samples` are the first values of columns, `titles` their names in the files. Columns
    without names are called by numbers. For `files`, the sheets and the encoding are chosen where
    there are several, and what unknown systems are.
    """

    def __init__(
        self,
        columns: Sequence[str],
        wanted: Sequence[Field],
        fields_of: Mapping[str, str],
        data: Any = None,
        *,
        unused: Mapping[str, str | Promise] | None = None,
        own: Mapping[str, Field] | None = None,
        prefix: str = "column",
        repeatable: Collection[str] = (),
        samples: Mapping[str, str] | None = None,
        titles: Mapping[str, str] | None = None,
        files: Iterable[Seen] = (),
    ) -> None:
        super().__init__(data, prefix=prefix)
        self.columns, self.repeatable = columns, repeatable
        self.was_headless = bool(unnamed({"": columns}))
        self.of_files: dict[str, str] = {}
        for number, seen in enumerate(files):
            if len(seen.sheets) > 1:
                self.of_files[f"sheets{number}"] = f"{SHEETS} {seen.file}"
                self.fields[f"sheets{number}"] = forms.MultipleChoiceField(
                    label=translated(message("file.sheets-of", "Sheets of {file}", file=seen.file)),
                    choices=[(sheet, sheet) for sheet in seen.sheets],
                    initial=seen.sheets_read,
                    widget=forms.CheckboxSelectMultiple,
                    label_suffix="",
                )
            if seen.encodings:
                label = message("file.encoding-of", "Encoding of {file}", file=seen.file)
                samples_of = [(each, f"{each}: {text}") for each, text in seen.encodings.items()]
                self.of_files[f"encoding{number}"] = f"{ENCODING} {seen.file}"
                self.fields[f"encoding{number}"] = forms.ChoiceField(
                    label=translated(label),
                    choices=[*([] if seen.encoding else [("", _("choose"))]), *samples_of],
                    required=False,
                    initial=seen.encoding,
                    label_suffix="",
                )
            for place, (title, order) in enumerate(seen.words.items()):
                label = message(
                    "file.words-of", "Order of the words of {column}, worst to best", column=title
                )
                self.of_files[f"words{number}-{place}"] = f"{WORDS} {title}"
                self.fields[f"words{number}-{place}"] = forms.CharField(
                    label=translated(label), initial=order, required=False, label_suffix=""
                )
            for place, (name, system) in enumerate(seen.systems.items()):
                label = message("file.system-of", "“{name}” is the system", name=name)
                self.of_files[f"system{number}-{place}"] = f"{OF_SYSTEMS} {name}"
                self.fields[f"system{number}-{place}"] = forms.ChoiceField(
                    label=translated(label),
                    choices=[
                        ("", _("not in the test set")),
                        *((s, s) for s in seen.known_systems),
                    ],
                    initial=system,
                    required=False,
                    label_suffix="",
                )
        choices = list(map(_choice, wanted))
        for number, column in enumerate(columns):
            alone = [_choice(own[column])] if own and column in own else []
            self.fields[str(number)] = forms.ChoiceField(
                label=showable((titles or {}).get(column, column)),
                choices=[("", (unused or {}).get(column, NOT_USED)), *choices, *alone],
                required=False,
                initial=fields_of.get(column, ""),
                help_text=showable((samples or {}).get(column, "")),
                label_suffix="",
            )
        self.fields["headless"] = forms.BooleanField(
            required=False,
            initial=self.was_headless,
            label=HEADLESS,
            label_suffix="",
        )

    def clean(self) -> dict[str, Any]:
        """Refuse two columns for one field."""
        cleaned: dict[str, Any] = super().clean() or {}
        seen: dict[str, str] = {}
        for number, column in enumerate(self.columns):
            field = cleaned.get(str(number), "")
            if field and field in seen and field not in self.repeatable:
                refusal = invalid(
                    "columns.meaning-taken",
                    "“{column}” has this meaning already. Choose one of the two columns.",
                    column=seen[field],
                )
                self.add_error(str(number), refusal)
            seen.setdefault(field, column)
        return cleaned

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be chosen."""
        return not self.columns and not self.of_files

    @property
    def is_renamed(self) -> bool:
        """Whether columns get other names: those of other sheets, of other letters, or numbers."""
        is_headless: bool = self.cleaned_data["headless"]
        of_others = (
            self.cleaned_data[name] != self.fields[name].initial
            for name, key in self.of_files.items()
            if not key.startswith((WORDS, OF_SYSTEMS))
        )
        return is_headless != self.was_headless or any(of_others)

    @property
    def for_files(self) -> dict[str, str]:
        """The chosen sheets and encoding of every file that has several."""
        chosen = {key: self.cleaned_data[name] for name, key in self.of_files.items()}
        return {
            key: each if isinstance(each, str) else "/".join(each) for key, each in chosen.items()
        }

    @property
    def chosen(self) -> dict[str, str]:
        """The chosen field of every column; columns with an empty field are not used.

        Columns that are to have other names have no fields yet.
        """
        if self.is_renamed:
            return {FIRST: ""} if self.cleaned_data["headless"] else {}
        return {column: self.cleaned_data[str(n)] for n, column in enumerate(self.columns)}

    def stated(self, earlier: Mapping[str, str]) -> dict[str, str]:
        """Return the chosen fields with those that were chosen before.

        Columns whose field did not change are not recorded: in tables of errors and of times the
        same column may have other fields. Of the fields that several columns may have, all are
        recorded if one is: another column is chosen in addition to the others, not instead.
        """
        if self.is_renamed:
            return self.chosen | self.for_files
        own = {
            column: self.cleaned_data[name]
            for name, column in ((str(n), column) for n, column in enumerate(self.columns))
            if self.add_prefix(name) in self.data
            if self.cleaned_data[name] != self.fields[name].initial
            or self.cleaned_data[name] in self.repeatable
        }
        return {**earlier, **own, **self.for_files}


class SkipForm(forms.Form):
    """Kinds of problems whose rows are skipped; `counts` has the rows with a problem of each."""

    def __init__(
        self, counts: Mapping[str, int], chosen: Collection[str], data: object = None
    ) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.fields[SKIP] = forms.MultipleChoiceField(
            label=_("Skip rows instead of refusing the files"),
            choices=[
                (name, translated(_label(kind.label, counts.get(name, 0))))
                for name, kind in KINDS.items()
                if name in counts or name in chosen
            ],
            initial=[name for name in KINDS if name in chosen],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            help_text=_("Their number is stored with the import."),
        )

    @property
    def is_empty(self) -> bool:
        """Whether no row can be skipped."""
        return not self.fields[SKIP].choices  # type: ignore[attr-defined]

    @property
    def chosen(self) -> list[str]:
        """The chosen kinds of a valid form, or those that it was shown with."""
        kinds: list[str] = self.cleaned_data[SKIP] if self.is_bound else self.fields[SKIP].initial
        return kinds


def _label(kind: Message, n: int) -> Message:
    return message("skip.kind", "{kind} ({n})", kind=kind, n=n)


# More selects than this make the page unusable; the command accepts any number.
MOST_SELECTS = 300


class DecodeForm(forms.Form):
    """Whether HTML entities become characters."""

    decode = forms.BooleanField(
        required=False, label=_('Decode HTML entities (&quot; becomes ")'), label_suffix=""
    )


SIDES = ("source_language", "target_language")


class PairForm(forms.Form):
    """The language pair whose rows are read, or all: one test set for each pair of the tables.

    Languages that neither a person nor a file states are asked for.
    """

    def __init__(
        self, pairs: Sequence[tuple[str, str]], words: Mapping[str, Any], data: Any = None
    ) -> None:
        super().__init__(data)
        sides = [words[name] for name in SIDES]
        stated = "-".join(sides) if all(sides) else _("choose")
        self.codes = {"-".join(pair): pair for pair in pairs if all(pair)}
        others = [(code, code) for code in self.codes if code != stated]
        if len(self.codes) > 1 or others:
            self.fields["pair"] = forms.ChoiceField(
                label=_("Language pair"),
                choices=[("", stated), *others, (ALL, _("all: one test set for each pair"))],
                initial=words.get("pair", ""),
                required=False,
            )
        elif not self.codes:
            labels = _("Source language"), _("Target language")
            for name, language, label in zip(SIDES, sides, labels, strict=True):
                if not language:
                    self.fields[name] = LanguageField(label=label, required=False)

    def applied(self, words: Mapping[str, Any]) -> dict[str, Any]:
        """Return the words of the upload with the chosen pair."""
        chosen = self.cleaned_data.get("pair", words.get("pair", ""))
        if chosen not in self.codes:
            stated = {name: each for name in SIDES if (each := self.cleaned_data.get(name))}
            return {**words, **stated, "pair": chosen}
        source, target = self.codes[chosen]
        return {**words, "pair": "", "source_language": source, "target_language": target}


class Understanding:
    """Forms for the columns of every table and for entities, bound if `data` is given.

    `skip` is the form of the rows to skip, `pair` that of the language pair.
    """

    def __init__(
        self,
        meanings: Sequence[Meaning],
        sent: Sent,
        skip: SkipForm,
        pair: PairForm,
        data: Any = None,
        files: Iterable[Seen] = (),
    ) -> None:
        self.meanings, self.sent, self.skip, self.pair = meanings, sent, skip, pair
        self.is_too_wide = sum(len(m.columns) for m in meanings) > MOST_SELECTS
        shown = [] if self.is_too_wide else meanings
        self.tables = [_columns_form(n, meaning, data) for n, meaning in enumerate(shown)]
        self.files = ColumnsForm((), (), {}, data, prefix="files", files=files)
        self.decode = DecodeForm(data, initial={"decode": sent.words.get("decode", False)})

    @property
    def forms(self) -> tuple[forms.Form, ...]:
        """All of them."""
        return *self.tables, self.files, self.decode, self.skip, self.pair

    def as_sent(self) -> Sent:
        """Return what was sent, with the choices of this form."""
        columns = {
            meaning.file: form.chosen
            for meaning, form in zip(self.meanings, self.tables, strict=False)
            if not self.files.is_renamed
        }
        if for_files := self.files.for_files:
            columns[""] = for_files
        words = self.pair.applied(self.sent.words) | {
            "decode": self.decode.cleaned_data["decode"],
            SKIP: self.skip.chosen,
        }
        if columns:
            words["columns"] = columns
        return replace(self.sent, words=words)

    def named(self) -> list[tuple[str, ColumnsForm]]:
        """Return the tables' forms with their files, behind the choices of files themselves."""
        named = zip((meaning.file for meaning in self.meanings), self.tables, strict=False)
        return [*([] if self.files.is_empty else [("", self.files)]), *named]


def _columns_form(number: int, meaning: Meaning, data: Any) -> ColumnsForm:
    own = {column: _own(column, meaning) for column in meaning.columns}
    form = ColumnsForm(
        meaning.columns,
        WANTED,
        meaning.fields,
        data,
        own=own,
        prefix=f"table{number}",
        samples=meaning.samples,
    )
    for number, column in enumerate(meaning.columns):
        form.fields[str(number)].label = showable(meaning.titles.get(column, column))
    return form


def _own(column: str, meaning: Meaning) -> Field:
    """Return the further choice of a column: a named reference, or outputs of a system."""
    field = showable(meaning.fields.get(column, ""))
    if field and field not in OWN and not field.startswith(SYSTEM):
        return Field(field, reference_label(field.removeprefix(REFERENCE)))
    title = showable(meaning.titles.get(column, column))
    name = field.removeprefix(SYSTEM) if field.startswith(SYSTEM) else title
    label = message("column.outputs-of", "outputs of the system “{system}”", system=name)
    return Field(SYSTEM + name, label)


def _choice(field: Field) -> tuple[str, str]:
    return field.name, translated(field.label)
