"""Read the files of an import of campaigns: tables, and campaigns of other tools."""

from dataclasses import replace
from typing import Any

from annotation.imports import appraise, human_scores, judgments, pearmut
from annotation.imports.drafts import CampaignDraft, described
from annotation.imports.judgments import Reading, read_options
from annotation.imports.judgments.options import stated_columns
from annotation.imports.store import examine
from annotation.uploads import Report, TestSetDraft
from annotation.uploads.tables.skipping import SKIP, kinds_of, read_skipping
from annotation.uploads.waiting import Sent
from metaeval.messages import MessageError, message

__all__ = [
    "APPRAISE",
    "DOORS",
    "HUMAN_SCORES",
    "JUDGMENTS",
    "PEARMUT",
    "UNMATCHED",
    "ChoiceError",
    "Reading",
    "Sent",
    "check",
    "decide",
    "read",
]
APPRAISE, PEARMUT = "appraise", "pearmut"
JUDGMENTS, HUMAN_SCORES = "judgments", "human-scores"
DOORS = (JUDGMENTS, HUMAN_SCORES, APPRAISE, PEARMUT)
TABLES = {JUDGMENTS: judgments.read, HUMAN_SCORES: human_scores.read}
# The key of the choice for check items that repeat no target.
UNMATCHED = "unmatched"
Drafts = list[tuple[TestSetDraft, CampaignDraft]]


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
    return Reading(drafts=_read_campaign(sent, report))


def _read_campaign(sent: Sent, report: Report) -> Drafts:
    name = sent.words.get("name", "")
    report.chosen = {"": stated_columns(sent.words, report)}
    if sent.door == PEARMUT:
        return pearmut.read(
            sent.files["campaign"],
            report,
            parts=sent.several("campaign")[1:],
            source_language=sent.words["source_language"],
            target_language=sent.words["target_language"],
            name=name,
            ends=sent.words.get("ends", ""),
            breaks=sent.words.get("breaks", ""),
            logs=sent.several("log"),
            media=[sent.files["recordings"]] if "recordings" in sent.files else [],
        )
    return appraise.read(
        sent.files["batches"],
        sent.files["manifest"],
        report,
        scores=sent.files.get("scores"),
        name=name,
        ends=sent.words.get("ends", ""),
        unmatched=sent.words.get(UNMATCHED, ""),
    )


def decide(sent: Sent, unmatched: str) -> Sent:
    """Return the import with the choice for check items that repeat no target.

    Raises ChoiceError for a choice that does not exist.
    """
    if sent.door != APPRAISE or unmatched not in appraise.UNMATCHED:
        raise ChoiceError(
            message(
                "import.choice",
                "The choice “{choice}” does not exist. Choose one of {choices}.",
                choice=unmatched[:40],
                choices=appraise.UNMATCHED,
            )
        )
    return replace(sent, words={**sent.words, UNMATCHED: unmatched})
