"""Import WMT23: MQM, DA+SQM and two ESA campaigns with metrics, as scores without texts.

`wmt23-en-de-mqm`, `-da-sqm`, `-esa-1` and `-esa-2`: 13 systems, 557 segments, 13 metrics. The human
translation `refA` was judged, too, and is marked as such, so metrics are compared without it.
Outputs are empty and sources are marked as not published, so scores can be compared, but nothing
can be read or scored.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from annotation.imports import CampaignDraft, Pair
from annotation.imports.human_scores import QUESTION
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign
from annotation.models.corpus import NO_SOURCE
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from metaeval.messages import message
from metrics.datasets.store import EvaluationDraft, MetricDraft

HUMANS = {"mqm": "MQM", "da_sqm": "DA+SQM", "esa_1": "ESA, first", "esa_2": "ESA, second"}
KEYS = ("system", "seg")
PROVENANCE = message("wmt23.origin", "WMT23 metrics task, as released in mt-metrics-eval.")


def read(pair: Pair) -> EvaluationDraft:
    """Read `wmt23-meta/<pair>/*.tsv`. Raises ValidationError naming file and row."""
    columns = ("seg", "domain", "document")
    segments = [
        SegmentDraft(row["seg"], NO_SOURCE, row["document"])
        for row in read_table(pair.folder / "documents.tsv", *columns)
    ]
    rows = list(read_table(pair.folder / "segment-scores.tsv", *KEYS))
    wholes = list(read_table(pair.folder / "system-scores.tsv", "system"))
    systems = list(dict.fromkeys(row["system"] for row in [*rows, *wholes]))
    keys = [segment.key for segment in segments]
    slug, name = f"wmt23-{pair.name}", f"WMT23 {pair.label}"
    test_set = TestSetDraft(
        slug=slug,
        name=name,
        source_language=pair.source,
        target_language=pair.target,
        description="General translation task, segments are paragraphs; scores without texts.",
        segments=segments,
        systems=[SystemDraft(system, outputs=dict.fromkeys(keys, "")) for system in systems],
    )
    campaigns = [
        CampaignDraft(
            slug=f"{slug}-{human.replace('_', '-')}",
            name=f"{name}, {label}",
            study="wmt23-meta",
            question=QUESTION,
            shown_text=Campaign.ShownText.SOURCE,
            output_scores={(r["system"], r["seg"]): r.real(human) for r in rows if r.get(human)},
            system_scores={r["system"]: r.real(human) for r in wholes if r.get(human)},
        )
        for human, label in HUMANS.items()
        if rows and human in rows[0]
    ]
    return EvaluationDraft(test_set, campaigns, metrics_of(pair.folder, keys), PROVENANCE)


def metrics_of(folder: Path, keys: Sequence[str]) -> list[MetricDraft]:
    """Return the metrics' scores of these segments, and system scores if these are all segments."""
    rows = list(read_table(folder / "segment-scores.tsv", *KEYS))
    wholes = list(read_table(folder / "system-scores.tsv", "system"))
    place = {key: index for index, key in enumerate(keys)}
    is_whole = {row["seg"] for row in rows} <= place.keys()
    names = [column for column in (rows[0] if rows else ()) if column not in (*KEYS, *HUMANS)]
    return [
        MetricDraft(
            name,
            keys,
            _outputs(rows, name, place),
            {r["system"]: r.real(name) for r in wholes if r.get(name)} if is_whole else {},
        )
        for name in names
    ]


def _outputs(rows: Sequence[Row], name: str, place: dict[str, int]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in rows:
        if row[name] and row["seg"] in place:
            scores = found.setdefault(row["system"], [np.nan] * len(place))
            scores[place[row["seg"]]] = row.real(name)
    return found
