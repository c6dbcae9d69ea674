"""MLQE direct assessments: one NMT system, no references, six judgments a segment.

`mlqe-en-zh` and `mlqe-ro-en`: 6,000 judgments each, by 23 and 27 annotators.
"""

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.published.pairs import Pair
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft

SYSTEM = "nmt"
QUESTION = "How good is the translation?"


def read(pair: Pair) -> tuple[TestSetDraft, CampaignDraft]:
    """Read `da-annotators/<pair>/*.tsv`. Raises ValidationError naming file and row."""
    columns = ("segment_id", "source", "translation")
    segments = list(read_table(pair.folder / "segments.tsv", *columns))
    place = {row["segment_id"]: index for index, row in enumerate(segments)}
    judgments = [
        JudgmentDraft(row["annotator"], row.find("segment_id", place), row.whole("raw"))
        for row in read_table(pair.folder / "judgments.tsv", "segment_id", "annotator", "raw")
    ]
    campaign = CampaignDraft(
        slug=f"mlqe-{pair.name}",
        name=f"MLQE {pair.label}",
        study="mlqe",
        question=QUESTION,
        shown_text=Campaign.ShownText.SOURCE,
        items=[ItemDraft(row["segment_id"], SYSTEM) for row in segments],
        judgments=judgments,
    )
    return _test_set(segments, pair), campaign


def _test_set(segments: list[Row], pair: Pair) -> TestSetDraft:
    translations = {row["segment_id"]: row["translation"] for row in segments}
    return TestSetDraft(
        slug=f"mlqe-{pair.name}",
        name=f"MLQE {pair.label}",
        source_language=pair.source,
        target_language=pair.target,
        description="Wikipedia sentences, development split; CC BY-SA 4.0.",
        segments=[SegmentDraft(key=row["segment_id"], source=row["source"]) for row in segments],
        systems=[SystemDraft(name=SYSTEM, outputs=translations)],
    )
