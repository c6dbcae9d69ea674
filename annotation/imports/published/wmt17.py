"""WMT17: published human scores of outputs and of systems, no judgments.

`wmt17-zh-en` and `wmt17-de-en`: 560 scores of outputs each, 16 and 11 of systems. An output that
several systems share is one data point.
"""

from collections import defaultdict

from annotation.imports.drafts import CampaignDraft
from annotation.imports.published.pairs import Pair
from annotation.imports.tables import read_table
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft

QUESTION = "How accurately does the translation express the meaning of the source?"


def read(pair: Pair) -> tuple[TestSetDraft, CampaignDraft]:
    """Read `wmt17/<pair>/*.tsv`. Raises ValidationError naming file and row."""
    return _test_set(pair), _campaign(pair)


def _test_set(pair: Pair) -> TestSetDraft:
    segments = [
        SegmentDraft(key=row["sid"], source=row["source"], references={"A": row["reference"]})
        for row in read_table(pair.folder / "segments.tsv", "sid", "source", "reference")
    ]
    outputs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in read_table(pair.folder / "outputs.tsv", "sid", "system", "output"):
        outputs[row["system"]][row["sid"]] = row["output"]
    return TestSetDraft(
        slug=f"wmt17-{pair.name}",
        name=f"WMT17 {pair.label}",
        source_language=pair.source,
        target_language=pair.target,
        description="newstest2017, the segments that have a published human score.",
        segments=segments,
        systems=[SystemDraft(name=name, outputs=texts) for name, texts in outputs.items()],
    )


def _campaign(pair: Pair) -> CampaignDraft:
    """Return the campaign; an output that several systems share was judged once."""
    rows = read_table(pair.folder / "seg-human.tsv", "sid", "system", "human_z")
    systems = read_table(pair.folder / "sys-human.tsv", "system", "human_z")
    return CampaignDraft(
        slug=f"wmt17-{pair.name}",
        name=f"WMT17 {pair.label}",
        study="wmt17",
        question=QUESTION,
        output_scores={(row["system"], row["sid"]): row.real("human_z") for row in rows},
        system_scores={row["system"]: row.real("human_z") for row in systems},
    )
