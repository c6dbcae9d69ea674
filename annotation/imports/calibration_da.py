"""WMT22 calibration HITs: the same documents rated by a dozen people, with times.

Every segment of a document is rated, then the document as a whole.
"""

from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign, Item
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
    table = list(read_table(folder / "items.tsv", *columns))
    place = {row["item"]: index for index, row in enumerate(table)}
    judgments = [
        JudgmentDraft(
            row["annotator"],
            row.find("item", place),
            row.whole("score"),
            started_at=_time(row.real("start")),
            submitted_at=_time(row.real("end")),
        )
        for row in read_table(
            folder / "judgments.tsv", "annotator", "item", "score", "start", "end"
        )
    ]
    campaign = CampaignDraft(
        slug=f"calibration-{direction}",
        name=NAMES[direction],
        study="wmt22-calibration",
        question=QUESTION,
        protocol="document-da",
        shown_text=Campaign.ShownText.SOURCE,
        items=_items(table),
        judgments=judgments,
    )
    segments = [row for row in table if row["level"] == "segment"]
    return _test_set(segments, direction), campaign


def _items(table: list[Row]) -> list[ItemDraft]:
    """A screen is a document by one system: its segments in order, then all of it."""
    screens: dict[tuple[str, str], list[str]] = defaultdict(list)
    items = []
    for row in table:
        key = row["document"], row["system"]
        shown = screens[key]
        shown.append(row["item"])
        is_document = row.find("level", {"segment": False, "document": True})
        items.append(
            ItemDraft(
                segment=shown[0] if is_document else row["item"],
                system=row["system"],
                kind=Item.Kind.DOCUMENT if is_document else Item.Kind.TARGET,
                screen=list(screens).index(key) + 1,
                place=len(shown) - 1,
            )
        )
    return items


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
