"""Read the files of an import of campaigns: tables, and campaigns of other tools."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from annotation.imports import human_scores, judgments
from annotation.imports.drafts import CampaignDraft, described
from annotation.imports.judgments import Reading, read_options
from annotation.imports.judgments.options import stated_columns
from annotation.imports.store import examine
from annotation.uploads import InputFile, Report, TestSetDraft
from annotation.uploads.tables.skipping import SKIP, kinds_of, read_skipping
from annotation.uploads.waiting import Sent
from core import extensions
from metaeval.messages import MessageError, message

if TYPE_CHECKING:
    from annotation.forms.imports import ToolForm

__all__ = [
    "HUMAN_SCORES",
    "JUDGMENTS",
    "ChoiceError",
    "Question",
    "Reading",
    "Sent",
    "Tool",
    "check",
    "decide",
    "read",
    "tools",
]
JUDGMENTS, HUMAN_SCORES = "judgments", "human-scores"
TABLES = {JUDGMENTS: judgments.read, HUMAN_SCORES: human_scores.read}
Drafts = list[tuple[TestSetDraft, CampaignDraft]]


@dataclass(frozen=True)
class Question:
    """A question on the preview of files, asked by a template if a problem has the code.

    The answer is one of the choices, under the key `word`.
    """

    word: str
    code: str
    choices: tuple[str, ...]
    template: str


@dataclass(frozen=True)
class Tool:
    """Another tool whose campaigns are imported, of an extension (`Extension.tools`).

    The form has its name. `read` reads what was sent; `open_file` reads a campaign in one file with
    a :class:`annotation.campaign_files.storing.Wish`, if the tool has such files.
    """

    form: "type[ToolForm]"
    read: Callable[[Sent, Report], Drafts]
    question: Question | None = None
    open_file: Callable[[InputFile, Report, Any], Drafts] | None = None


def tools() -> dict[str, Tool]:
    """Return the tools by their names, which are kinds of imports, too."""
    return {each.form.tool: each for each in chain.from_iterable(extensions.imported("tools"))}


class ChoiceError(MessageError, ValueError):
    """A choice does not exist."""


def check(sent: Sent, user: Any = None) -> tuple[Reading, Report]:
    """Read the files and compare them with what is stored, without the rows to skip."""

    def once(report: Report) -> Reading:
        reading = read(sent, report)
        if not report.errors:
            examine(reading.drafts, report, user=user)
        return reading

    reading, report = read_skipping(kinds_of(sent.words.get(SKIP, "")), once)
    report.gather()
    return reading, report


def read(sent: Sent, report: Report) -> Reading:
    """Read the files and report their problems."""
    reading = _read(sent, report)
    return replace(reading, drafts=described(reading.drafts, sent.words, report))


def _read(sent: Sent, report: Report) -> Reading:
    if sent.door in TABLES:
        options = read_options(sent.words, report)
        if report.errors:
            return Reading()
        reading = TABLES[sent.door](list(sent.files.values()), options, report)
        # Problems of several language pairs are reported once.
        report.problems = list(dict.fromkeys(report.problems))
        report.gather()
        return reading
    report.chosen = {"": stated_columns(sent.words, report)}
    return Reading(drafts=tools()[sent.door].read(sent, report))


def decide(sent: Sent, question: Question, answer: str) -> Sent:
    """Return the import with an answer. Raises ChoiceError for a choice that does not exist."""
    if answer not in question.choices:
        raise ChoiceError(
            message(
                "import.choice",
                "The choice “{choice}” does not exist. Choose one of {choices}.",
                choice=answer[:40],
                choices=question.choices,
            )
        )
    return replace(sent, words={**sent.words, question.word: answer})
