"""WMT22 calibration HITs: the same documents rated by a dozen people, with times.

`calibration-en-zh` and `calibration-zh-en`: 1,296 and 1,406 judgments of 16 documents with 100
segments. Every segment of a document is rated, then the document as a whole.
"""

from collections import defaultdict
from datetime import UTC, datetime

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.published.pairs import Pair
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign, Item
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft

QUESTION = "How good is the translation?"


def read(pair: Pair) -> tuple[TestSetDraft, CampaignDraft]:
    """Read `calibration-da/<pair>/*.tsv`. Raises ValidationError naming file and row."""
    columns = ("item", "level", "document", "system", "source", "translation")
    table = list(read_table(pair.folder / "items.tsv", *columns))
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
            pair.folder / "judgments.tsv", "annotator", "item", "score", "start", "end"
        )
    ]
    campaign = CampaignDraft(
        slug=f"calibration-{pair.name}",
        name=f"WMT22 calibration {pair.label}",
        study="wmt22-calibration",
        question=QUESTION,
        protocol="document-da",
        shown_text=Campaign.ShownText.SOURCE,
        items=_items(table),
        judgments=judgments,
    )
    segments = [row for row in table if row["level"] == "segment"]
    return _test_set(segments, pair), campaign


def _items(table: list[Row]) -> list[ItemDraft]:
    """Yield the items of a screen: a document by one system, its segments in order, then itself."""
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


def _test_set(items: list[Row], pair: Pair) -> TestSetDraft:
    outputs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in items:
        outputs[row["system"]][row["item"]] = row["translation"]
    return TestSetDraft(
        slug=f"calibration-{pair.name}",
        name=f"WMT22 calibration {pair.label}",
        source_language=pair.source,
        target_language=pair.target,
        description="General translation task of WMT22; for research purposes only.",
        segments=[
            SegmentDraft(key=row["item"], document=row["document"], source=row["source"])
            for row in items
        ],
        systems=[SystemDraft(name=name, outputs=texts) for name, texts in outputs.items()],
    )
