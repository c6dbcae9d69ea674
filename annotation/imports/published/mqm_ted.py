"""WMT21 TED talks with MQM annotations: one annotator per output.

`mqm-ted-zh-en`: 7,935 outputs of 15 systems by nine annotators, with 5,618 error spans and the
published penalties. No agreement can be computed. Two of the systems are human: they are judged as
systems, and serve as references of the segments that they have. The one error without a place is
marked over the whole output.
"""

import re
from collections import defaultdict
from collections.abc import Mapping

from annotation.imports.drafts import CampaignDraft, ItemDraft, JudgmentDraft
from annotation.imports.published.mqm_names import our_category
from annotation.imports.published.pairs import Pair
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign
from annotation.protocols import Span
from annotation.protocols.base import SOURCE, TARGET
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from metaeval.messages import message

QUESTION = "Mark every error in the translation, and choose its category and severity."
# `ref`, or `refA`, is the first; others carry their letter.
HUMAN = re.compile(r"ref([A-Z]?)")
SIDES = {"source": SOURCE, "target": TARGET, "none": TARGET}
SEVERITIES = {"Major": "major", "Minor": "minor", "Neutral": "neutral"}
NO_ERROR = "No-error"
Cell = tuple[str, str]


def read(pair: Pair) -> tuple[TestSetDraft, CampaignDraft]:
    """Read `mqm-ted/<pair>/*.tsv`. Raises ValidationError naming file and row."""
    outputs = {
        (row["seg_id"], row["system"]): row["output"]
        for row in read_table(pair.folder / "outputs.tsv", "seg_id", "system", "output")
    }
    place = {cell: index for index, cell in enumerate(outputs)}
    judgments = [
        JudgmentDraft(rater, place[cell], None, spans=tuple(spans))
        for (cell, rater), spans in _spans(pair, outputs).items()
    ]
    campaign = CampaignDraft(
        slug=f"mqm-ted-{pair.name}",
        name=f"WMT21 TED {pair.label}, MQM",
        study="wmt21",
        question=QUESTION,
        protocol="mqm",
        shown_text=Campaign.ShownText.SOURCE,
        items=[ItemDraft(segment, system) for segment, system in outputs],
        judgments=judgments,
    )
    return _test_set(pair, outputs), campaign


def _spans(pair: Pair, outputs: Mapping[Cell, str]) -> dict[tuple[Cell, str], list[Span]]:
    """Return the errors by output and annotator; an empty list if an output has none."""
    columns = ("seg_id", "system", "rater", "category", "severity", "side", "start", "end")
    found: dict[tuple[Cell, str], list[Span]] = defaultdict(list)
    for row in read_table(pair.folder / "annotations.tsv", *columns):
        cell = row["seg_id"], row["system"]
        if cell not in outputs:
            raise row.error(
                message(
                    "published.no-output",
                    "{cell} has no output for segment {segment}.",
                    cell=row.cell("system"),
                    segment=row["seg_id"],
                )
            )
        spans = found[cell, row["rater"]]
        if row["severity"] != NO_ERROR:
            spans.append(_span(row, outputs[cell]))
    return found


def _span(row: Row, output: str) -> Span:
    has_place = row["side"] != "none"
    return Span(
        side=row.find("side", SIDES),
        start=row.whole("start") if has_place else 0,
        end=row.whole("end") if has_place else len(output),
        severity=row.find("severity", SEVERITIES),
        category=our_category(row["category"]),
    )


def _test_set(pair: Pair, outputs: Mapping[Cell, str]) -> TestSetDraft:
    by_system: dict[str, dict[str, str]] = defaultdict(dict)
    for (segment, system), text in outputs.items():
        by_system[system][segment] = text
    references = {
        found[1] or "A": texts
        for name, texts in by_system.items()
        if (found := HUMAN.fullmatch(name))
    }
    segments = [
        SegmentDraft(
            key=row["seg_id"],
            document=row["doc"],
            source=row["source"],
            references={
                name: texts[row["seg_id"]]
                for name, texts in references.items()
                if texts.get(row["seg_id"])
            },
        )
        for row in read_table(pair.folder / "segments.tsv", "seg_id", "doc", "source")
    ]
    return TestSetDraft(
        slug=f"mqm-ted-{pair.name}",
        name=f"WMT21 TED {pair.label}",
        source_language=pair.source,
        target_language=pair.target,
        description="TED talks of the WMT21 metrics task, with error annotations.",
        segments=segments,
        systems=[SystemDraft(name=name, outputs=texts) for name, texts in by_system.items()],
    )
