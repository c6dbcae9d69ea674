"""Read published sets with the scores of metrics, or without campaigns, one reader for each.

A reader turns the files of a language pair into a draft; its documentation is that of the data set.
All of them raise ValidationError naming file and row.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from annotation import protocols
from annotation.imports import CampaignDraft, ItemDraft, JudgmentDraft, Pair
from annotation.imports.human_scores import QUESTION
from annotation.imports.published.human import read_span, require_output
from annotation.imports.tables import Row, read_table
from annotation.models import Campaign
from annotation.models.corpus import NO_SOURCE
from annotation.protocols import Span
from annotation.uploads import SegmentDraft, SystemDraft
from metaeval.messages import message
from metrics.datasets.store import EvaluationDraft, MetricDraft

# WMT15's count of errors; every other metric of that year is better when higher.
LOWER = frozenset({"BS"})
# The human scores of `wmt23-meta`.
HUMANS = {"mqm": "MQM", "da_sqm": "DA+SQM", "esa_1": "ESA, first", "esa_2": "ESA, second"}
KEYS = ("system", "seg")
WMT23 = message("wmt23.origin", "WMT23 metrics task, as released in mt-metrics-eval.")
SEVERITIES = {"minor": "minor", "major": "major", "undecided": "minor"}
Cell = tuple[str, str]


def wmt15(pair: Pair) -> EvaluationDraft:
    """Import WMT15: human and metric scores of whole systems from the metrics task.

    `wmt15-cs-en` and five more: 10 to 16 systems, 15 or 23 metrics; all 114 published correlations
    are reproduced. There are no texts, so systems can be compared, but nothing can be read or
    scored.
    """
    columns = ("lp", "metric", "system", "score", "human")
    rows = [row for row in pair.rows("scores.tsv", *columns) if row["lp"] == pair.name]
    metrics: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row["system"] in metrics[row["metric"]]:
            raise row.error(
                message(
                    "published.score-twice",
                    "{cell} already has a score of {metric}.",
                    cell=row.cell("system"),
                    metric=row["metric"],
                )
            )
        metrics[row["metric"]][row["system"]] = row.real("score")
    # Every metric's row repeats the human score of its system.
    humans: dict[str, float] = {}
    for row in rows:
        if humans.setdefault(row["system"], row.real("human")) != row.real("human"):
            raise row.error(
                message(
                    "published.other-human-score",
                    "{cell} differs from the human score of {system} in an earlier row.",
                    cell=row.cell("human"),
                    system=row["system"],
                )
            )
    slug, name = f"wmt15-{pair.name}", f"WMT15 {pair.label}"
    test_set = pair.test_set(slug, name, "Scores of whole systems, without texts.")
    test_set.systems, test_set.is_systems_only = [SystemDraft(system) for system in humans], True
    return EvaluationDraft(
        test_set,
        [CampaignDraft(slug, name, QUESTION, "wmt15", system_scores=humans)],
        [
            MetricDraft(metric, systems=scores, higher_is_better=metric not in LOWER)
            for metric, scores in metrics.items()
        ],
        message("wmt15.origin", "WMT15 metrics task, scores of systems."),
    )


def wmt23_meta(pair: Pair) -> EvaluationDraft:
    """Import WMT23: MQM, DA+SQM and two ESA campaigns with metrics, as scores without texts.

    `wmt23-en-de-mqm`, `-da-sqm`, `-esa-1` and `-esa-2`: 13 systems, 557 segments, 13 metrics. The
    human translation `refA` was judged, too, and is marked as such, so metrics are compared
    without it. Outputs are empty and sources are marked as not published, so scores can be
    compared, but nothing can be read or scored.
    """
    segments = [
        SegmentDraft(key, NO_SOURCE, document, domain=domain)
        for key, document, domain in pair.cells("documents.tsv", "seg", "document", "domain")
    ]
    rows = list(pair.rows("segment-scores.tsv", *KEYS))
    wholes = list(pair.rows("system-scores.tsv", "system"))
    systems = dict.fromkeys(row["system"] for row in [*rows, *wholes])
    keys = [segment.key for segment in segments]
    slug, name = f"wmt23-{pair.name}", f"WMT23 {pair.label}"
    test_set = pair.test_set(
        slug,
        name,
        "General translation task, segments are paragraphs; scores without texts.",
        segments,
        ((system, key, "") for system in systems for key in keys),
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
    return EvaluationDraft(test_set, campaigns, _metrics_of(pair.folder, keys), WMT23)


def _metrics_of(folder: Path, keys: Sequence[str]) -> list[MetricDraft]:
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


def spans(pair: Pair) -> EvaluationDraft:
    """Import WMT23: error spans of the same outputs by six groups of annotators, one campaign each.

    `wmt23-spans-en-de-wmt-mqm`, `-mqm-1`, `-mqm-iaa`, `-esa-1`, `-esa-2` and `-esa-iaa`: 9,598
    judgments with 11,991 error spans on 2,028 outputs, with texts; WMT's scores are stored with
    the judgments. An omission, which has no position in the output, is marked on the whole source.
    The 22 spans of ESA with an undecided severity are minor, the lesser of the two, so that no
    marked output counts as free of errors. The human reference was judged as a system and is also
    the reference. The scores of metrics on the same outputs come from `wmt23-meta`, if that folder
    is present.
    """
    segments = pair.segments("segments.tsv", "seg", document="document")
    outputs: dict[Cell, str] = {
        (segment, system): text
        for segment, system, text in pair.cells("outputs.tsv", "seg", "system", "output")
    }
    judged: dict[str, list[Row]] = defaultdict(list)
    for row in pair.rows("judgments.tsv", "seg", "system", "set", "annotator", "score"):
        judged[row["set"]].append(row)
    sources = {segment.key: segment.source for segment in segments}
    columns = ("seg", "system", "set", "start", "end", "side", "severity", "category")
    marked: dict[tuple[Cell, str], list[Span]] = defaultdict(list)
    for row in pair.rows("spans.tsv", *columns):
        cell = require_output(row, "seg", outputs)
        whole = sources[row["seg"]] if row["side"] == "missing" else None
        marked[cell, row["set"]].append(read_span(row, SEVERITIES, whole))
    for segment in segments:
        if (human := outputs.get((segment.key, "refA"))) is not None:
            segment.references = {"A": human}
    test_set = pair.test_set(
        f"wmt23-spans-{pair.name}",
        f"WMT23 {pair.label}, error spans",
        "General translation task, the outputs that all groups of annotators marked.",
        segments,
        ((system, segment, text) for (segment, system), text in outputs.items()),
    )
    folder = pair.folder.parent.parent / "wmt23-meta" / pair.name
    metrics = _metrics_of(folder, list(sources)) if folder.is_dir() else []
    campaigns = [_of_group(pair, name, rows, outputs, marked) for name, rows in judged.items()]
    return EvaluationDraft(test_set, campaigns, metrics, WMT23)


def _of_group(
    pair: Pair,
    group: str,
    rows: Sequence[Row],
    outputs: Mapping[Cell, str],
    marked: Mapping[tuple[Cell, str], Sequence[Span]],
) -> CampaignDraft:
    """Return a campaign; scores that differ from the spans are stored as published scores."""
    protocol = protocols.get("mqm" if "MQM" in group else "esa")
    judgments, published = [], {}
    follows = True
    for place, row in enumerate(rows):
        own = tuple(marked.get((require_output(row, "seg", outputs), group), ()))
        score = row.whole("score") if protocol.has_score else None
        judgments.append(JudgmentDraft(row["annotator"] or group, place, score, spans=own))
        published[row["system"], row["seg"]] = row.real("score")
        if score is None and protocol.spans:
            follows &= abs(protocol.spans.penalty(own) + row.real("score")) < 1e-6
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


def length_control(pair: Pair) -> EvaluationDraft:
    """IWSLT 2022, isometric translation: outputs of systems that should keep the source's length.

    A test set of 200 segments with the outputs of six systems, and no campaign.
    """
    return EvaluationDraft(
        pair.test_set(
            f"isometric-{pair.name}",
            f"IWSLT 2022 isometric {pair.label}",
            "Speech; outputs should be within 10% of the source's length. CC BY 4.0.",
            pair.segments("segments.tsv", "seg", A="reference"),
            pair.cells("outputs.tsv", "system", "seg", "output"),
        )
    )
