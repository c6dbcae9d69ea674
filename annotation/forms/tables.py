"""Forms for tables of judgments and of published human scores: files, and how to read them."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation import protocols
from annotation.forms.columns import HEADLESS
from annotation.forms.imports import QuestionField, StudyField, ToolForm
from annotation.forms.uploads import FilesField, files_of
from annotation.imports.judgments.options import (
    HIGHER,
    LAST_WINS,
    LOWER,
)
from annotation.imports.sources import HUMAN_SCORES, JUDGMENTS
from annotation.models import Campaign, TestSet
from annotation.protocols.composed import MOST_WEIGHT
from annotation.uploads import InputFile
from annotation.uploads.formats import base as uploads
from annotation.uploads.problems import showable
from annotation.uploads.tables.skipping import SKIP
from annotation.uploads.waiting import Sent
from core import languages
from core.messages import translated
from metaeval.messages import Message
from metaeval.scores.directions import Direction

COLUMNS, DIRECTIONS = "columns", "directions"


def stated(lower: Iterable[str], higher: Iterable[str]) -> dict[str, str]:
    """Return the words that state directions of scores; empty if none was stated."""
    directions = dict.fromkeys(higher, HIGHER) | dict.fromkeys(lower, LOWER)
    return {DIRECTIONS: json.dumps(directions)} if directions else {}


class HumanScoresWords(forms.Form):
    """Answers about tables of scores; for blank fields the tables decide."""

    name = forms.CharField(
        label=_("Name"),
        required=False,
        max_length=120,
        help_text=_(
            "Leave blank to use the campaign that the table names, or the name of its file, study "
            "or test set."
        ),
    )
    study = StudyField()
    question = QuestionField()
    source_language = forms.CharField(
        label=_("Source language"),
        required=False,
        max_length=languages.LONGEST,
        widget=forms.TextInput(attrs={"list": "known-languages"}),
        help_text=_("For tables without a column for it. A code or a name: zh, pt-BR, Chinese."),
    )
    target_language = forms.CharField(
        label=_("Target language"),
        required=False,
        max_length=languages.LONGEST,
        widget=forms.TextInput(attrs={"list": "known-languages"}),
    )
    test_set = forms.ModelChoiceField(
        TestSet.objects.order_by("name"),
        to_field_name="slug",
        required=False,
        label=_("Stored test set"),
        empty_label=_("none: the tables contain the texts, or there are no texts"),
        help_text=_("The tables must use its segment keys and system names."),
    )
    system = forms.CharField(
        label=_("System"),
        required=False,
        max_length=120,
        help_text=_("For tables without a column of systems."),
    )

    def words(self) -> dict[str, str]:
        """Return the answers as text."""
        words = {name: value for name, value in self.cleaned_data.items() if name in self.fields}
        if isinstance(words.get("test_set"), TestSet):
            words["test_set"] = words["test_set"].slug
        return {name: str(value) for name, value in words.items() if value not in (None, "", False)}


class JudgmentsWords(HumanScoresWords):
    """Answers about tables of judgments."""

    annotator = forms.CharField(
        label=_("Annotator"),
        required=False,
        max_length=80,
        help_text=_("For rows that name no annotator."),
    )
    protocol = forms.ChoiceField(
        label=_("Protocol"),
        required=False,
        help_text=_(
            "By default: scores only are direct assessment, scores with error spans ESA, error "
            "spans only MQM."
        ),
    )
    scale = forms.CharField(
        required=False,
        max_length=40,
        label=_("Scale of the scores"),
        help_text=_(
            "Leave blank for whole numbers from 0 to 100. Otherwise give its ends, such as 0-6: "
            "scores are mapped linearly to 0–100 and rounded."
        ),
    )
    ties = forms.ChoiceField(
        required=False,
        label=_("Two different judgments without times"),
        choices=[
            ("", _("are errors")),
            (LAST_WINS, _("are revisions: the last row is the current one")),
        ],
    )
    critical = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MOST_WEIGHT,
        label=_("Weight of a critical error"),
        help_text=_(
            "For tables with critical errors. GEMBA-MQM uses 25, Unbabel 10; a major error has 5."
        ),
    )
    severity = forms.CharField(
        required=False,
        max_length=20,
        label=_("Severity of errors that have none"),
        help_text=_("For errors that have only a category, such as labels of other tools."),
    )
    ends_included = forms.BooleanField(
        required=False, label=_("The end of an error span is its last character")
    )
    time_zone = forms.CharField(
        required=False,
        max_length=60,
        label=_("Time zone"),
        help_text=_("For times without a time zone, such as Europe/Berlin. Leave blank for UTC."),
    )
    dates = forms.ChoiceField(
        required=False,
        label=_("Dates such as 8/4/2025"),
        choices=[
            ("", _("infer from the other dates")),
            ("day", _("the day comes first")),
            ("month", _("the month comes first")),
        ],
    )
    shown_text = forms.ChoiceField(
        required=False,
        label=_("Annotators saw"),
        initial=Campaign.ShownText.SOURCE,
        choices=Campaign.ShownText.choices[::-1],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = [(name, protocols.get(name).label) for name in protocols.PROTOCOLS]
        self.fields["protocol"].choices = [("", _("infer from the columns")), *labels]  # type: ignore[attr-defined]


class TablesForm(ToolForm):
    """Tables by number."""

    headless = forms.BooleanField(
        required=False,
        label=HEADLESS,
        help_text=_("Columns are then called column 1, column 2 and so on: choose what they are."),
    )

    first = ("tables", "name", "study", "source_language", "target_language", "test_set")

    def offer(self, test_sets: QuerySet[TestSet]) -> None:
        """Let a person choose among the test sets that they may see."""
        self.fields["test_set"].queryset = test_sets.order_by("name")  # type: ignore[attr-defined]

    def sent(self) -> Sent:
        """Return what the person sent; nothing has been read yet."""
        files = [("tables", InputFile.sent(file)) for file in self.cleaned_data["tables"]]
        words = self.words()  # type: ignore[attr-defined]
        if self.data.get(COLUMNS):
            words[COLUMNS] = str(self.data[COLUMNS])
        if isinstance(self.data, QueryDict):
            lists = [self.data.getlist(f"{each}_is_better") for each in (LOWER, HIGHER)]
            words |= stated(*lists)
            if kinds := self.data.getlist(SKIP):
                words[SKIP] = ",".join(kinds)
        return Sent.of(self.tool, files, words)


class JudgmentsForm(TablesForm, JudgmentsWords):
    """Tables of judgments, with the texts in them or in other tables."""

    tool = prefix = JUDGMENTS
    title = _("A table of judgments")
    holds = _("one row per judgment or error")
    about = "annotation/_judgments_columns.html"
    field_order = ("tables",)

    tables = FilesField(
        label=_("Tables"),
        help_text=files_of(uploads.JUDGMENTS),
    )


class HumanScoresForm(TablesForm, HumanScoresWords):
    """Tables of published scores, with the texts in them or in other tables."""

    tool = prefix = HUMAN_SCORES
    title = _("Published human scores")
    holds = _("means or z-scores of outputs or systems, without the judgments")
    about = "annotation/_human_scores_columns.html"
    field_order = ("tables",)

    tables = FilesField(
        label=_("Tables"),
        help_text=files_of(uploads.HUMAN_SCORES),
    )


WORDS: dict[str, type[HumanScoresWords]] = {
    JUDGMENTS: JudgmentsWords,
    HUMAN_SCORES: HumanScoresWords,
}


def reason_of(direction: Direction) -> str:
    """Return why a direction was inferred, in the language of the page."""
    reason: Message | str = direction.reason
    return translated(reason) if isinstance(reason, Message) else reason


class DirectionsForm(forms.Form):
    """The direction of every human score in tables: higher or lower is better."""

    def __init__(self, directions: Mapping[str, Direction], data: Any = None) -> None:
        super().__init__(data, prefix="direction")
        self.names = list(directions)
        for number, (name, direction) in enumerate(directions.items()):
            known = {None: "", True: LOWER, False: HIGHER}[direction.is_lower]
            self.fields[str(number)] = forms.ChoiceField(
                label=showable(name),
                choices=[
                    *([] if known else [("", _("choose"))]),
                    (HIGHER, _("higher is better")),
                    (LOWER, _("lower is better")),
                ],
                required=False,
                initial=known,
                help_text=reason_of(direction),
                label_suffix="",
            )

    @property
    def stated(self) -> dict[str, str]:
        """The directions that differ from those that were inferred, by name."""
        chosen = {name: self.cleaned_data[str(n)] for n, name in enumerate(self.names)}
        return {
            name: better
            for n, (name, better) in enumerate(chosen.items())
            if better and better != self.fields[str(n)].initial
        }
