"""MLQE direct assessments: one NMT system, no references, six judgments a segment."""

from pathlib import Path

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft

NAMES = {"en-zh": "MLQE English–Chinese", "ro-en": "MLQE Romanian–English"}
SYSTEM = "nmt"
QUESTION = "How good is the black text as a translation of the gray text?"


def read(folder: Path) -> list[tuple[TestSetDraft, CampaignDraft]]:
    """Read `da-annotators/<direction>/*.tsv`. Raises ValidationError naming file and row."""
    return [_read_direction(folder / "da-annotators" / direction, direction) for direction in NAMES]


def _read_direction(folder: Path, direction: str) -> tuple[TestSetDraft, CampaignDraft]:
    columns = ("segment_id", "source", "translation")
    segments = list(read_table(folder / "segments.tsv", *columns))
    place = {row["segment_id"]: index for index, row in enumerate(segments)}
    judgments = [
        JudgmentDraft(row["annotator"], row.find("segment_id", place), row.whole("raw"))
        for row in read_table(folder / "judgments.tsv", "segment_id", "annotator", "raw")
    ]
    campaign = CampaignDraft(
        slug=f"mlqe-{direction}",
        name=NAMES[direction],
        study="mlqe",
        question=QUESTION,
        shown_text=Campaign.ShownText.SOURCE,
        items=[ItemDraft(row["segment_id"], SYSTEM) for row in segments],
        judgments=judgments,
    )
    return _test_set(segments, direction), campaign


def _test_set(segments: list[Row], direction: str) -> TestSetDraft:
    translations = {row["segment_id"]: row["translation"] for row in segments}
    return TestSetDraft(
        slug=f"mlqe-{direction}",
        name=NAMES[direction],
        source_language=direction[:2],
        target_language=direction[3:],
        description="Wikipedia sentences, development split; CC BY-SA 4.0.",
        segments=[SegmentDraft(key=row["segment_id"], source=row["source"]) for row in segments],
        systems=[SystemDraft(name=SYSTEM, outputs=translations)],
    )
