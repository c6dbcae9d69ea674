"""HITs of Graham et al. 2015, three of cs-en, one of them done by 29 workers, some rejected.

`graham2015`: 2,900 judgments. Sources and the degraded texts were not published; the first are
marked so, the second empty.
"""

from collections import defaultdict

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.published.pairs import Pair
from annotation.imports.published.wmt21 import KINDS, QUESTION, SHOWS_OUTPUT
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign, Item
from annotation.models.corpus import NO_SOURCE
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from metaeval.messages import message


def read(pair: Pair) -> tuple[TestSetDraft, CampaignDraft]:
    """Read `raw-crowd-da/graham2015/*.tsv`, or another pair in a folder with it in its name.

    Raises ValidationError naming file and row.
    """
    slug, name = pair.folder.name, f"Graham et al. 2015, {pair.label} HITs"
    columns = ("hit", "position", "type", "system", "sid", "paired_position", "reference")
    rows = list(read_table(pair.folder / "items.tsv", *columns, "text_shown"))
    place = {(row["hit"], row["position"]): index for index, row in enumerate(rows)}
    judgments = [
        JudgmentDraft(row["worker"], _place(row, "position", place), row.whole("score"))
        for row in read_table(pair.folder / "judgments.tsv", "hit", "worker", "position", "score")
    ]
    campaign = CampaignDraft(
        slug=slug,
        name=name,
        study="graham2015",
        question=QUESTION,
        z_pool=Campaign.ZPool.ALL,
        items=[_item(row, place) for row in rows],
        judgments=judgments,
    )
    return _test_set(rows, pair, slug, name), campaign


def _place(row: Row, column: str, place: dict[tuple[str, str], int]) -> int:
    """Return the index of the item that the row names within its HIT."""
    if (row["hit"], row[column]) not in place:
        raise row.error(
            message(
                "published.no-position",
                "{cell} is not a position of HIT {hit}.",
                cell=row.cell(column),
                hit=row["hit"],
            )
        )
    return place[row["hit"], row[column]]


def _item(row: Row, place: dict[tuple[str, str], int]) -> ItemDraft:
    kind = row.find("type", KINDS)
    shows_output = kind in SHOWS_OUTPUT
    return ItemDraft(
        segment=row["sid"],
        system=row["system"] if shows_output else None,
        kind=kind,
        batch=row["hit"],
        text="" if shows_output else row["text_shown"],
        partner=None if kind == Item.Kind.TARGET else _place(row, "paired_position", place),
    )


def _test_set(rows: list[Row], pair: Pair, slug: str, name: str) -> TestSetDraft:
    segments = {
        row["sid"]: SegmentDraft(
            key=row["sid"], source=NO_SOURCE, references={"A": row["reference"]}
        )
        for row in rows
    }
    outputs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        if KINDS[row["type"]] in SHOWS_OUTPUT:
            outputs[row["system"]][row["sid"]] = row["text_shown"]
    return TestSetDraft(
        slug=slug,
        name=name,
        source_language=pair.source,
        target_language=pair.target,
        description="newstest2013; the sources are not part of the release.",
        segments=[segments[key] for key in sorted(segments, key=int)],
        systems=[SystemDraft(name=name, outputs=texts) for name, texts in outputs.items()],
    )
