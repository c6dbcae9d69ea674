"""Scores of segments by Graham et al. 2015: means of 15 or more judgments, with texts.

`graham2015-scores-es-en`, `-en-de` and `-cs-en`: 500, 140 and 70. Each segment has the output of
one system. The human post-edits of the outputs are not imported: they are corrections of one
output, not independent references.
"""

from collections import defaultdict

from annotation.imports.drafts import CampaignDraft
from annotation.imports.published.pairs import Pair
from annotation.imports.published.wmt21 import QUESTION
from annotation.imports.tables import read_table
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from metaeval.messages import message


def read(pair: Pair) -> tuple[TestSetDraft, CampaignDraft]:
    """Read one pair of `raw-crowd-da/graham2015/segment-scores.tsv`.

    Raises ValidationError naming file and row.
    """
    columns = ("lp", "system", "sid", "source", "reference", "output", "z_mean")
    table = read_table(pair.folder / "segment-scores.tsv", *columns)
    rows = [row for row in table if row["lp"] == pair.name]
    segments: dict[str, SegmentDraft] = {}
    outputs: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        segment = SegmentDraft(row["sid"], row["source"], references={"A": row["reference"]})
        if segments.setdefault(row["sid"], segment) != segment:
            raise row.error(
                message(
                    "published.other-texts",
                    "{cell} has a different source or reference in an earlier row.",
                    cell=row.cell("sid"),
                )
            )
        outputs[row["system"]][row["sid"]] = row["output"]
    slug = f"graham2015-scores-{pair.name}"
    test_set = TestSetDraft(
        slug=slug,
        name=f"Graham et al. 2015, {pair.label} segments",
        source_language=pair.source,
        target_language=pair.target,
        description="newstest2013, one output of each segment, judged by 15 people or more.",
        segments=[segments[key] for key in sorted(segments, key=int)],
        systems=[SystemDraft(name=name, outputs=texts) for name, texts in outputs.items()],
    )
    campaign = CampaignDraft(
        slug=slug,
        name=f"Graham et al. 2015, {pair.label} segments",
        study="graham2015",
        question=QUESTION,
        output_scores={(row["system"], row["sid"]): row.real("z_mean") for row in rows},
    )
    return test_set, campaign
