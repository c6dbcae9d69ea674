"""WMT22 calibration HITs: the same segments rated by a dozen people, with times.

The documents' own ratings, one after the segments of each document, are another task and left
out.
"""

from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft

NAMES = {"en-zh": "WMT22 calibration English–Chinese", "zh-en": "WMT22 calibration Chinese–English"}
QUESTION = "How good is the black text as a translation of the gray text?"


def read(folder: Path) -> list[tuple[TestSetDraft, CampaignDraft]]:
    """Read `calibration-da/<direction>/*.tsv`. Raises ValidationError naming file and row."""
    return [
        _read_direction(folder / "calibration-da" / direction, direction) for direction in NAMES
    ]


def _read_direction(folder: Path, direction: str) -> tuple[TestSetDraft, CampaignDraft]:
    columns = ("item", "level", "document", "system", "source", "translation")
    table = read_table(folder / "items.tsv", *columns)
    items = [row for row in table if row["level"] == "segment"]
    place = {row["item"]: index for index, row in enumerate(items)}
    judgments = [
        JudgmentDraft(
            row["annotator"],
            place[row["item"]],
            row.whole("score"),
            started_at=_time(row.real("start")),
            submitted_at=_time(row.real("end")),
        )
        for row in read_table(
            folder / "judgments.tsv", "annotator", "item", "score", "start", "end"
        )
        if row["item"] in place
    ]
    campaign = CampaignDraft(
        slug=f"calibration-{direction}",
        name=NAMES[direction],
        study="wmt22-calibration",
        question=QUESTION,
        shown_text=Campaign.ShownText.SOURCE,
        items=[ItemDraft(row["item"], row["system"]) for row in items],
        judgments=judgments,
    )
    return _test_set(items, direction), campaign


def _time(unix_seconds: float) -> datetime:
    return datetime.fromtimestamp(unix_seconds, tz=UTC)


def _test_set(items: list[Row], direction: str) -> TestSetDraft:
    outputs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in items:
        outputs[row["system"]][row["item"]] = row["translation"]
    return TestSetDraft(
        slug=f"calibration-{direction}",
        name=NAMES[direction],
        source_language=direction[:2],
        target_language=direction[3:],
        description="General translation task of WMT22; for research purposes only.",
        segments=[
            SegmentDraft(key=row["item"], document=row["document"], source=row["source"])
            for row in items
        ],
        systems=[SystemDraft(name=name, outputs=texts) for name, texts in outputs.items()],
    )
