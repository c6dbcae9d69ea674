"""Forms of tables of judgments and of published human scores: files, and how they are read."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from annotation import protocols
from annotation.forms.imports import QuestionField, StudyField, ToolForm
from annotation.forms.uploads import FilesField
from annotation.imports.judgments.options import HIGHER, LAST_WINS, LOWER
from annotation.imports.sources import HUMAN_SCORES, JUDGMENTS, Sent
from annotation.models import Campaign, TestSet
from annotation.protocols.composed import MOST_WEIGHT
from annotation.uploads import InputFile
from annotation.uploads.problems import showable
from core import languages
from metaeval.scores.directions import Direction

COLUMNS, DIRECTIONS = "columns", "directions"


def stated(lower: Iterable[str], higher: Iterable[str]) -> dict[str, str]:
    """Return the words that state directions of scores, none where none was stated."""
    directions = dict.fromkeys(higher, HIGHER) | dict.fromkeys(lower, LOWER)
    return {DIRECTIONS: json.dumps(directions)} if directions else {}


class HumanScoresWords(forms.Form):
    """What a person says beside tables of scores; empty fields leave it to the tables."""

    name = forms.CharField(
        required=False, max_length=120, help_text="Empty: the name of the first file."
    )
    study = StudyField()
    question = QuestionField()
    source_language = forms.CharField(
        required=False,
        max_length=languages.LONGEST,
        widget=forms.TextInput(attrs={"list": "known-languages"}),
        help_text="Where the tables have no column of it. A code or a name: zh, pt-BR, Chinese.",
    )
    target_language = forms.CharField(
        required=False,
        max_length=languages.LONGEST,
        widget=forms.TextInput(attrs={"list": "known-languages"}),
    )
    test_set = forms.ModelChoiceField(
        TestSet.objects.order_by("name"),
        to_field_name="slug",
        required=False,
        label="Stored test set",
        empty_label="none: texts come with the tables, or there are none",
        help_text="Segments and systems must then have its keys and names.",
    )
    system = forms.CharField(
        required=False, max_length=120, help_text="Where the tables have no column of systems."
    )

    def words(self) -> dict[str, str]:
        """Return what was said, as text."""
        words = {name: value for name, value in self.cleaned_data.items() if name in self.fields}
        if isinstance(words.get("test_set"), TestSet):
            words["test_set"] = words["test_set"].slug
        return {name: str(value) for name, value in words.items() if value not in (None, "", False)}


class JudgmentsWords(HumanScoresWords):
    """What a person says beside tables of judgments."""

    annotator = forms.CharField(
        required=False,
        max_length=80,
        help_text="Where one person gave all judgments, or a cell names nobody.",
    )
    protocol = forms.ChoiceField(
        required=False,
        help_text="Else: scores alone are direct assessment, scores with error spans ESA, error "
        "spans alone MQM.",
    )
    scale = forms.CharField(
        required=False,
        max_length=40,
        label="Scale of the scores",
        help_text="Empty: whole numbers from 0 to 100. Otherwise its ends, such as 0-6: scores are "
        "then mapped linearly to 0–100 and rounded.",
    )
    ties = forms.ChoiceField(
        required=False,
        label="Two different answers without times",
        choices=[("", "are errors"), (LAST_WINS, "the last row counts, earlier ones are kept")],
    )
    critical = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MOST_WEIGHT,
        label="Weight of a critical error",
        help_text="Where the tables have any. GEMBA-MQM counts 25, Unbabel 10, of which a major "
        "one is 5.",
    )
    ends_included = forms.BooleanField(
        required=False, label="The end of an error span names its last character"
    )
    time_zone = forms.CharField(
        required=False,
        max_length=60,
        help_text="Of times that name none, such as Europe/Berlin. Empty: UTC.",
    )
    dates = forms.ChoiceField(
        required=False,
        label="Dates such as 8/4/2025",
        choices=[
            ("", "as the other dates show"),
            ("day", "the day comes first"),
            ("month", "the month comes first"),
        ],
    )
    shown_text = forms.ChoiceField(
        required=False,
        label="Annotators saw",
        initial=Campaign.ShownText.SOURCE,
        choices=[(value, f"the {label.lower()}") for value, label in Campaign.ShownText.choices][
            ::-1
        ],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = [(name, protocols.get(name).label) for name in protocols.PROTOCOLS]
        self.fields["protocol"].choices = [("", "as the columns say"), *labels]  # type: ignore[attr-defined]


class TablesForm(ToolForm):
    """Tables by number."""

    first = ("tables", "name", "study", "source_language", "target_language", "test_set")

    def sent(self) -> Sent:
        """Return what the person sent; nothing has been read yet."""
        files = {str(n): InputFile.sent(file) for n, file in enumerate(self.cleaned_data["tables"])}
        words = self.words()  # type: ignore[attr-defined]
        if self.data.get(COLUMNS):
            words[COLUMNS] = str(self.data[COLUMNS])
        if isinstance(self.data, QueryDict):
            lists = [self.data.getlist(f"{each}_is_better") for each in (LOWER, HIGHER)]
            words |= stated(*lists)
        return Sent(self.tool, files, words)


class JudgmentsForm(TablesForm, JudgmentsWords):
    """Tables of judgments, with texts in them or beside them."""

    tool = prefix = JUDGMENTS
    title = "A table of judgments"
    about = "annotation/_judgments_columns.html"
    field_order = ("tables",)

    tables = FilesField(
        help_text="TSV, CSV, XLSX or JSON: the judgments, and if you like tables of the texts."
    )


class HumanScoresForm(TablesForm, HumanScoresWords):
    """Tables of published scores, with texts in them or beside them."""

    tool = prefix = HUMAN_SCORES
    title = "Published human scores"
    about = "annotation/_human_scores_columns.html"
    field_order = ("tables",)

    tables = FilesField(
        help_text="TSV, CSV, XLSX or JSON: scores of segments, of systems, and if you like the "
        "texts."
    )


WORDS: dict[str, type[HumanScoresWords]] = {
    JUDGMENTS: JudgmentsWords,
    HUMAN_SCORES: HumanScoresWords,
}


class DirectionsForm(forms.Form):
    """What is better of every human score that tables hold: higher or lower."""

    def __init__(self, directions: Mapping[str, Direction], data: Any = None) -> None:
        super().__init__(data, prefix="direction")
        self.names = list(directions)
        for number, (name, direction) in enumerate(directions.items()):
            known = {None: "", True: LOWER, False: HIGHER}[direction.is_lower]
            self.fields[str(number)] = forms.ChoiceField(
                label=showable(name),
                choices=[
                    *([] if known else [("", "choose")]),
                    (HIGHER, "higher is better"),
                    (LOWER, "lower is better"),
                ],
                required=False,
                initial=known,
                help_text=direction.reason.text,
                label_suffix="",
            )

    @property
    def stated(self) -> dict[str, str]:
        """What the person said otherwise than it was read, by name."""
        chosen = {name: self.cleaned_data[str(n)] for n, name in enumerate(self.names)}
        return {
            name: better
            for n, (name, better) in enumerate(chosen.items())
            if better and better != self.fields[str(n)].initial
        }


def changed(
    sent: Sent, words: HumanScoresWords, said: dict[str, str], directions: dict[str, str]
) -> Sent:
    """Return what was sent with other words, and what was said of columns and directions."""
    values = words.words()
    for name, own in ((COLUMNS, said), (DIRECTIONS, directions)):
        if both := json.loads(sent.words.get(name, "") or "{}") | own:
            values[name] = json.dumps(both)
    return Sent(sent.tool, sent.files, values)
