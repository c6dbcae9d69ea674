"""The first rows of an import as they will be stored: judgments, scores, or items to rate."""

from collections.abc import Sequence

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.uploads import TestSetDraft
from annotation.uploads.previews import FIRST
from metaeval.messages import Message, message

ANNOTATOR = message("first.annotator", "Annotator")
SEGMENT = message("first.segment", "Segment")
SYSTEM = message("first.system", "System")
KIND = message("first.kind", "Kind")
SCORE = message("first.score", "Score")
ERRORS = message("first.errors", "Errors")
START = message("first.start", "Start")
END = message("first.end", "End")
COMMENT = message("first.comment", "Comment")
CAMPAIGN = message("first.campaign", "Campaign")
OUTPUT = message("first.output", "Output")
SOURCE = message("first.source", "Source")
Rows = tuple[Sequence[Message], list[list[str]]]


def first_rows(test_set: TestSetDraft, campaign: CampaignDraft) -> Rows:
    """Return headings and rows of a draft: what it has of judgments, else scores, else items."""
    if campaign.judgments:
        judgments = (ANNOTATOR, SEGMENT, SYSTEM, KIND, SCORE, ERRORS, START, END, COMMENT)
        rows = [_judgment(each, campaign.items) for each in campaign.judgments[:FIRST]]
        return judgments, rows
    if campaign.output_scores or campaign.system_scores:
        scores = [(segment, system, v) for (system, segment), v in campaign.output_scores.items()]
        scores += [("", system, value) for system, value in campaign.system_scores.items()]
        rows = [[campaign.name, seg, system, f"{value:g}"] for seg, system, value in scores[:FIRST]]
        return (CAMPAIGN, SEGMENT, SYSTEM, SCORE), rows
    sources = {segment.key: segment.source for segment in test_set.segments}
    outputs = {system.name: system.outputs for system in test_set.systems}
    rows = [
        [
            each.segment,
            each.system or "",
            str(each.kind.label),
            sources.get(each.segment, ""),
            each.text or outputs.get(each.system or "", {}).get(each.segment, ""),
        ]
        for each in campaign.items[:FIRST]
    ]
    return (SEGMENT, SYSTEM, KIND, SOURCE, OUTPUT), rows


def _judgment(judgment: JudgmentDraft, items: Sequence[ItemDraft]) -> list[str]:
    item = items[judgment.item]
    scores = [] if judgment.score is None else [str(judgment.score)]
    if judgment.ratings:
        scores = [f"{name} {value}" for name, value in judgment.ratings.items()]
    times = [
        time.isoformat(" ", "seconds") if time else ""
        for time in (judgment.started_at, judgment.submitted_at)
    ]
    return [
        judgment.annotator,
        item.segment,
        item.system or "",
        str(item.kind.label),
        ", ".join(scores),
        str(len(judgment.spans) or ""),
        *times,
        judgment.comment,
    ]
