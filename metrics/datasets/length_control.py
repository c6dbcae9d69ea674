"""IWSLT 2022, isometric translation: outputs of systems that should keep the source's length.

A test set of 200 segments with the outputs of six systems, and no campaign.
"""

from collections import defaultdict

from annotation.imports import Pair
from annotation.imports.tables import read_table
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from metrics.datasets.store import EvaluationDraft


def read(pair: Pair) -> EvaluationDraft:
    """Read `length-control/<pair>/*.tsv`. Raises ValidationError naming file and row."""
    outputs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in read_table(pair.folder / "outputs.tsv", "seg", "system", "output"):
        outputs[row["system"]][row["seg"]] = row["output"]
    columns = ("seg", "source", "reference")
    return EvaluationDraft(
        TestSetDraft(
            slug=f"isometric-{pair.name}",
            name=f"IWSLT 2022 isometric {pair.label}",
            source_language=pair.source,
            target_language=pair.target,
            description="Speech; outputs should be within 10% of the source's length. CC BY 4.0.",
            segments=[
                SegmentDraft(row["seg"], row["source"], references={"A": row["reference"]})
                for row in read_table(pair.folder / "segments.tsv", *columns)
            ],
            systems=[SystemDraft(name, outputs=texts) for name, texts in outputs.items()],
        )
    )
