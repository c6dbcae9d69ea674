"""Import WMT23: error spans of the same outputs by six groups of annotators, one campaign each.

`wmt23-spans-en-de-wmt-mqm`, `-mqm-1`, `-mqm-iaa`, `-esa-1`, `-esa-2` and `-esa-iaa`: 9,598
judgments with 11,991 error spans on 2,028 outputs, with texts; WMT's scores are stored with the
judgments. An omission, which has no position in the output, is marked on the whole source. The 22
spans of ESA with an undecided severity are minor, the lesser of the two, so that no marked output
counts as free of errors. The human reference was judged as a system and is also the reference. The
scores of metrics on the same outputs come from `wmt23-meta`, if that folder is present.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from annotation import protocols
from annotation.imports import CampaignDraft, ItemDraft, JudgmentDraft, Pair
from annotation.imports.published.mqm_names import our_category
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign
from annotation.protocols import Span
from annotation.protocols.base import SOURCE, TARGET
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from metaeval.messages import message
from metrics.datasets.store import EvaluationDraft
from metrics.datasets.wmt23_meta import PROVENANCE, metrics_of

REFERENCE = "refA"
SIDES = {"target": TARGET, "source": SOURCE, "missing": SOURCE}
SEVERITIES = {"minor": "minor", "major": "major", "undecided": "minor"}
Cell = tuple[str, str]
Key = tuple[str, str, str]


def read(pair: Pair) -> EvaluationDraft:
    """Read `spans/<pair>/*.tsv`. Raises ValidationError naming file and row."""
    sources = {
        row["seg"]: row
        for row in read_table(pair.folder / "segments.tsv", "seg", "document", "source")
    }
    outputs: dict[Cell, str] = {
        (row["seg"], row["system"]): row["output"]
        for row in read_table(pair.folder / "outputs.tsv", "seg", "system", "output")
    }
    columns = ("seg", "system", "set", "annotator", "score")
    judged: dict[str, list[Row]] = defaultdict(list)
    for row in read_table(pair.folder / "judgments.tsv", *columns):
        judged[row["set"]].append(row)
    spans = _spans(pair, sources, outputs)
    test_set = _test_set(pair, sources, outputs)
    folder = pair.folder.parent.parent / "wmt23-meta" / pair.name
    metrics = metrics_of(folder, list(sources)) if folder.is_dir() else []
    campaigns = [_campaign(pair, name, rows, outputs, spans) for name, rows in judged.items()]
    return EvaluationDraft(test_set, campaigns, metrics, PROVENANCE)


def _test_set(pair: Pair, sources: Mapping[str, Row], outputs: Mapping[Cell, str]) -> TestSetDraft:
    by_system: dict[str, dict[str, str]] = defaultdict(dict)
    for (segment, system), text in outputs.items():
        by_system[system][segment] = text
    human = by_system.get(REFERENCE, {})
    return TestSetDraft(
        slug=f"wmt23-spans-{pair.name}",
        name=f"WMT23 {pair.label}, error spans",
        source_language=pair.source,
        target_language=pair.target,
        description="General translation task, the outputs that all groups of annotators marked.",
        segments=[
            SegmentDraft(
                key, row["source"], row["document"], {"A": human[key]} if key in human else {}
            )
            for key, row in sources.items()
        ],
        systems=[SystemDraft(name, outputs=texts) for name, texts in by_system.items()],
    )


def _spans(
    pair: Pair, sources: Mapping[str, Row], outputs: Mapping[Cell, str]
) -> dict[Key, list[Span]]:
    columns = ("seg", "system", "set", "start", "end", "side", "severity", "category")
    found: dict[Key, list[Span]] = defaultdict(list)
    for row in read_table(pair.folder / "spans.tsv", *columns):
        if (row["seg"], row["system"]) not in outputs:
            raise row.error(
                message(
                    "published.no-output",
                    "{cell} has no output for segment {segment}.",
                    cell=row.cell("system"),
                    segment=row["seg"],
                )
            )
        span = _span(row, len(sources[row["seg"]]["source"]))
        found[row["seg"], row["system"], row["set"]].append(span)
    return found


def _span(row: Row, source_length: int) -> Span:
    is_missing = row["side"] == "missing"
    return Span(
        side=row.find("side", SIDES),
        start=0 if is_missing else row.whole("start"),
        end=source_length if is_missing else row.whole("end"),
        severity=row.find("severity", SEVERITIES),
        category=our_category(row["category"]),
    )


def _protocol(group: str) -> str:
    return "mqm" if "MQM" in group else "esa"


def _campaign(
    pair: Pair,
    group: str,
    rows: Sequence[Row],
    outputs: Mapping[Cell, str],
    spans: Mapping[Key, Sequence[Span]],
) -> CampaignDraft:
    """Return a campaign; scores that differ from the spans are stored as published scores."""
    protocol = protocols.get(_protocol(group))
    scheme = protocol.spans
    judgments, published = [], {}
    follows = True
    for place, row in enumerate(rows):
        if (row["seg"], row["system"]) not in outputs:
            raise row.error(
                message(
                    "published.no-output",
                    "{cell} has no output for segment {segment}.",
                    cell=row.cell("system"),
                    segment=row["seg"],
                )
            )
        own = tuple(spans.get((row["seg"], row["system"], group), ()))
        score = row.whole("score") if protocol.has_score else None
        judgments.append(JudgmentDraft(row["annotator"] or group, place, score, spans=own))
        published[row["system"], row["seg"]] = row.real("score")
        if score is None and scheme:
            follows &= abs(scheme.penalty(own) + row.real("score")) < 1e-6
    return CampaignDraft(
        slug=f"wmt23-spans-{pair.name}-{group.lower()}",
        name=f"WMT23 {pair.label}, {group}",
        study="wmt23-spans",
        question=protocol.question,
        protocol=protocol.name,
        shown_text=Campaign.ShownText.SOURCE,
        items=[ItemDraft(row["seg"], row["system"]) for row in rows],
        judgments=judgments,
        output_scores={} if follows else published,
    )
