"""An Appraise log of error span annotation at WMT23: scores without texts.

`appraise-esa-en-de`: 3,106 scores and times of 33 logins; 32 of the 33 published quality p-values
come out. Of an item that was rated twice the later score counts. The texts are not part of the
release, so the sources are marked so and the outputs are empty: no metric can run, but annotators,
control items and systems can be analysed. Of the error spans only their numbers were published;
they are not imported. Every login did one HIT. A degraded document is paired, segment by segment,
with the document as the system wrote it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.published.pairs import Pair
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign, Item
from annotation.models.corpus import NO_SOURCE
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft

QUESTION = (
    "Considering the errors you marked, how well does the translation keep the "
    "meaning, and how well does it read?"
)
COPY = re.compile(r"#(bad|duplicate)\d*$")
Key = tuple[str, str]


def read(pair: Pair) -> tuple[TestSetDraft, CampaignDraft]:
    """Read `raw-crowd-da/appraise-esa-<pair>/*.tsv`. Raises ValidationError naming file and row."""
    path = pair.folder / "judgments.tsv"
    columns = ("login", "item", "type", "system", "document", "score", "start", "end")
    rows = list(read_table(path, *columns))
    shown = {(row["login"], row["item"]): row for row in rows}
    segments = _segments(shown)
    items = _items(shown, segments)
    place = {key: index for index, key in enumerate(shown)}
    judgments = [
        JudgmentDraft(
            row["login"],
            place[row["login"], row["item"]],
            row.whole("score"),
            started_at=_time(row.real("start")),
            submitted_at=_time(row.real("end")),
        )
        for row in rows
    ]
    campaign = CampaignDraft(
        slug=f"appraise-esa-{pair.name}",
        name=f"WMT23 {pair.label}, error span annotation in Appraise",
        study="wmt23",
        question=QUESTION,
        protocol="esa",
        shown_text=Campaign.ShownText.SOURCE,
        z_pool=Campaign.ZPool.ALL,
        items=items,
        judgments=judgments,
    )
    return _test_set(items, pair), campaign


def _time(unix_seconds: float) -> datetime:
    return datetime.fromtimestamp(unix_seconds, tz=UTC)


def _segments(shown: Mapping[Key, Row]) -> dict[Key, str]:
    """Name every segment by its document and its place there: ids are numbers within a HIT."""
    seen: Counter[Key] = Counter()
    names = {}
    for key, row in shown.items():
        seen[row["login"], row["document"]] += 1
        document = COPY.sub("", row["document"]).removesuffix(f"#{row['system']}")
        names[key] = f"{document}:{seen[row['login'], row['document']]}"
    return names


def _items(shown: Mapping[Key, Row], segments: Mapping[Key, str]) -> list[ItemDraft]:
    targets: dict[tuple[str, str, str], int] = {}
    for index, (key, row) in enumerate(shown.items()):
        if row["type"] == "TGT":
            targets.setdefault((row["login"], row["system"], segments[key]), index)
    items = []
    for index, (key, row) in enumerate(shown.items()):
        partner = targets.get((row["login"], row["system"], segments[key]))
        kind = row.find("type", {"TGT": Item.Kind.TARGET, "BAD": Item.Kind.BAD_REF})
        if kind == Item.Kind.TARGET and partner != index:
            kind = Item.Kind.REPEAT
        items.append(
            ItemDraft(
                segment=segments[key],
                system=None if kind == Item.Kind.BAD_REF else row["system"],
                kind=kind,
                batch=row["login"],
                partner=None if partner == index else partner,
            )
        )
    return items


def _test_set(items: Sequence[ItemDraft], pair: Pair) -> TestSetDraft:
    outputs: dict[str, dict[str, str]] = defaultdict(dict)
    for item in items:
        if item.system:
            outputs[item.system][item.segment] = ""
    keys = sorted({item.segment for item in items})
    return TestSetDraft(
        slug=f"appraise-esa-{pair.name}",
        name=f"WMT23 {pair.label}, judged in Appraise",
        source_language=pair.source,
        target_language=pair.target,
        description="The texts are not part of the release.",
        segments=[SegmentDraft(key, NO_SOURCE, document=key.rpartition(":")[0]) for key in keys],
        systems=[SystemDraft(name, outputs=texts) for name, texts in outputs.items()],
    )
