"""WMT17 zh-en and de-en: published human scores of outputs and of systems, no judgments."""

from collections import defaultdict
from pathlib import Path

from annotation.imports.drafts import CampaignDraft
from annotation.imports.tables import read_table
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft

NAMES = {"zh-en": "WMT17 Chinese–English", "de-en": "WMT17 German–English"}
QUESTION = "How accurately does the black text express the meaning of the gray text?"


def read(folder: Path) -> list[tuple[TestSetDraft, CampaignDraft]]:
    """Read `wmt17/<direction>/*.tsv`. Raises ValidationError naming file and row."""
    return [(_test_set(folder / "wmt17" / d, d), _campaign(folder / "wmt17" / d, d)) for d in NAMES]


def _test_set(folder: Path, direction: str) -> TestSetDraft:
    segments = [
        SegmentDraft(key=row["sid"], source=row["source"], references={"A": row["reference"]})
        for row in read_table(folder / "segments.tsv", "sid", "source", "reference")
    ]
    outputs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in read_table(folder / "outputs.tsv", "sid", "system", "output"):
        outputs[row["system"]][row["sid"]] = row["output"]
    return TestSetDraft(
        slug=f"wmt17-{direction}",
        name=NAMES[direction],
        source_language=direction[:2],
        target_language=direction[3:],
        description="newstest2017, the segments that have a published human score.",
        segments=segments,
        systems=[SystemDraft(name=name, outputs=texts) for name, texts in outputs.items()],
    )


def _campaign(folder: Path, direction: str) -> CampaignDraft:
    """An output that several systems share was judged once: its score is one data point."""
    rows = read_table(folder / "seg-human.tsv", "sid", "system", "human_z")
    systems = read_table(folder / "sys-human.tsv", "system", "human_z")
    return CampaignDraft(
        slug=f"wmt17-{direction}",
        name=NAMES[direction],
        study="wmt17",
        question=QUESTION,
        output_scores={(row["system"], row["sid"]): row.real("human_z") for row in rows},
        system_scores={row["system"]: row.real("human_z") for row in systems},
    )
