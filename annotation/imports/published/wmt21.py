"""WMT21: crowd judgments in HITs with bad references, repeats and references.

`wmt21-ru-en`: 14,305 judgments by 96 workers, each control paired with its output; z over all items
of a worker, as published. Judgments of `HUMAN.0` are kept, because an annotator's mean and spread
are over everything that they rated, but which reference was shown is not published: they count for
no system.
"""

from collections import defaultdict

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.published.pairs import Pair
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign, Item
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft

QUESTION = "How accurately does the translation express the meaning of the source?"
KINDS = {
    "SYSTEM": Item.Kind.TARGET,
    "REPEAT": Item.Kind.REPEAT,
    "REF": Item.Kind.REF,
    "BAD_REF": Item.Kind.BAD_REF,
}
# These show the system's own output; REF and BAD_REF show another text.
SHOWS_OUTPUT = {Item.Kind.TARGET, Item.Kind.REPEAT}


def read(pair: Pair) -> tuple[TestSetDraft, CampaignDraft]:
    """Read `raw-crowd-da/wmt21-<pair>/*.tsv`. Raises ValidationError naming file and row."""
    test_set = _test_set(pair)
    names = {system.name for system in test_set.systems}
    columns = ("hit", "worker", "system", "sid", "type", "raw")
    rows = list(read_table(pair.folder / "judgments.tsv", *columns))
    campaign = CampaignDraft(
        slug=f"wmt21-{pair.name}",
        name=f"WMT21 {pair.label}, crowd",
        study="wmt21",
        question=QUESTION,
        z_pool=Campaign.ZPool.ALL,
        items=_items(rows, names),
        judgments=[JudgmentDraft(r["worker"], i, r.whole("raw")) for i, r in enumerate(rows)],
    )
    return test_set, campaign


def _test_set(pair: Pair) -> TestSetDraft:
    columns = ("sid", "document", "source", "reference_a", "reference_b")
    segments = [
        SegmentDraft(
            key=row["sid"],
            document=row["document"],
            source=row["source"],
            references={"A": row["reference_a"], "B": row["reference_b"]},
        )
        for row in read_table(pair.folder / "segments.tsv", *columns)
    ]
    outputs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in read_table(pair.folder / "outputs.tsv", "sid", "system", "output"):
        outputs[row["system"]][row["sid"]] = row["output"]
    return TestSetDraft(
        slug=f"wmt21-{pair.name}",
        name=f"WMT21 {pair.label}, crowd",
        source_language=pair.source,
        target_language=pair.target,
        description="newstest2021, the outputs that were judged.",
        segments=segments,
        systems=[SystemDraft(name=name, outputs=texts) for name, texts in outputs.items()],
    )


def _items(rows: list[Row], names: set[str]) -> list[ItemDraft]:
    """Return an item for every judgment, because each HIT was done by one worker."""
    targets = {
        (row["hit"], row["system"], row["sid"]): index
        for index, row in enumerate(rows)
        if row["type"] == "SYSTEM"
    }
    items = []
    for row in rows:
        kind = row.find("type", KINDS)
        is_output = kind in SHOWS_OUTPUT and row["system"] in names
        key = (row["hit"], row["system"], row["sid"])
        items.append(
            ItemDraft(
                segment=row["sid"],
                system=row["system"] if is_output else None,
                kind=kind,
                batch=row["hit"],
                partner=None if kind == Item.Kind.TARGET else targets.get(key),
            )
        )
    return items
