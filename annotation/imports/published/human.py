"""Read published judgments and human scores, with a reader for each data set.

A reader turns the files of a language pair into drafts; its documentation is that of the data set.
All of them raise ValidationError naming file and row.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from annotation.imports.drafts import (
    SHOW_OUTPUT,
    CampaignDraft,
    ItemDraft,
    JudgmentDraft,
)
from annotation.imports.published.pairs import Pair
from annotation.imports.tables import Row
from annotation.models import Campaign, Item
from annotation.models.corpus import NO_SOURCE
from annotation.protocols import Span
from annotation.protocols.base import SOURCE, TARGET
from annotation.protocols.published import our_category
from annotation.uploads import SegmentDraft, TestSetDraft
from metaeval.messages import message

Drafts = tuple[TestSetDraft, CampaignDraft]
Cell = tuple[str, str]
COPY = re.compile(r"#(bad|duplicate)\d*$")
HOW_GOOD = "How good is the translation?"
HOW_ACCURATE = "How accurately does the translation express the meaning of the source?"
KINDS = {
    "SYSTEM": Item.Kind.TARGET,
    "REPEAT": Item.Kind.REPEAT,
    "REF": Item.Kind.REF,
    "BAD_REF": Item.Kind.BAD_REF,
}


def wmt17(pair: Pair) -> Drafts:
    """WMT17: published human scores of outputs and of systems, no judgments.

    `wmt17-zh-en` and `wmt17-de-en`: 560 scores of outputs each, 16 and 11 of systems. An output
    that several systems share is one data point.
    """
    slug, name = f"wmt17-{pair.name}", f"WMT17 {pair.label}"
    test_set = pair.test_set(
        slug,
        name,
        "newstest2017, the segments that have a published human score.",
        pair.segments("segments.tsv", "sid", A="reference"),
        pair.cells("outputs.tsv", "system", "sid", "output"),
    )
    rows = pair.rows("seg-human.tsv", "sid", "system", "human_z")
    systems = pair.rows("sys-human.tsv", "system", "human_z")
    return test_set, CampaignDraft(
        slug=slug,
        name=name,
        study="wmt17",
        question=HOW_ACCURATE,
        output_scores={(row["system"], row["sid"]): row.real("human_z") for row in rows},
        system_scores={row["system"]: row.real("human_z") for row in systems},
    )


def da_annotators(pair: Pair) -> Drafts:
    """MLQE direct assessments: one NMT system, no references, six judgments a segment.

    `mlqe-en-zh` and `mlqe-ro-en`: 6,000 judgments each, by 23 and 27 annotators.
    """
    slug, name, system = f"mlqe-{pair.name}", f"MLQE {pair.label}", "nmt"
    segments = pair.segments("segments.tsv", "segment_id")
    place = {segment.key: index for index, segment in enumerate(segments)}
    test_set = pair.test_set(
        slug,
        name,
        "Wikipedia sentences, development split; CC BY-SA 4.0.",
        segments,
        ((system, *rest) for rest in pair.cells("segments.tsv", "segment_id", "translation")),
    )
    return test_set, CampaignDraft(
        slug=slug,
        name=name,
        study="mlqe",
        question=HOW_GOOD,
        shown_text=Campaign.ShownText.SOURCE,
        items=[ItemDraft(key, system) for key in place],
        judgments=[
            JudgmentDraft(row["annotator"], row.find("segment_id", place), row.whole("raw"))
            for row in pair.rows("judgments.tsv", "segment_id", "annotator", "raw")
        ],
    )


def wmt21(pair: Pair) -> Drafts:
    """WMT21: crowd judgments in HITs with bad references, repeats and references.

    `wmt21-ru-en`: 14,305 judgments by 96 workers, each control paired with its output; z over all
    items of a worker, as published. Judgments of `HUMAN.0` are kept, because an annotator's mean
    and spread are over everything that they rated, but which reference was shown is not published:
    they count for no system.
    """
    slug, name = f"wmt21-{pair.name}", f"WMT21 {pair.label}, crowd"
    references = {"A": "reference_a", "B": "reference_b"}
    test_set = pair.test_set(
        slug,
        name,
        "newstest2021, the outputs that were judged.",
        pair.segments("segments.tsv", "sid", document="document", **references),
        pair.cells("outputs.tsv", "system", "sid", "output"),
    )
    names = {system.name for system in test_set.systems}
    rows = list(pair.rows("judgments.tsv", "hit", "worker", "system", "sid", "type", "raw"))
    keys = [(row["hit"], row["system"], row["sid"]) for row in rows]
    targets = {
        key: index
        for index, (key, row) in enumerate(zip(keys, rows, strict=True))
        if row["type"] == "SYSTEM"
    }
    items = []
    # An item for every judgment, because each HIT was done by one worker.
    for key, row in zip(keys, rows, strict=True):
        kind = row.find("type", KINDS)
        items.append(
            ItemDraft(
                segment=row["sid"],
                system=row["system"] if kind in SHOW_OUTPUT and row["system"] in names else None,
                kind=kind,
                batch=row["hit"],
                partner=None if kind == Item.Kind.TARGET else targets.get(key),
            )
        )
    return test_set, CampaignDraft(
        slug=slug,
        name=name,
        study="wmt21",
        question=HOW_ACCURATE,
        z_pool=Campaign.ZPool.ALL,
        items=items,
        judgments=[JudgmentDraft(r["worker"], i, r.whole("raw")) for i, r in enumerate(rows)],
    )


def graham2015(pair: Pair) -> Drafts:
    """HITs of Graham et al. 2015, three of cs-en, one of them done by 29 workers, some rejected.

    `graham2015`: 2,900 judgments. Sources and the degraded texts were not published; the first are
    marked so, the second empty. Another pair is in a folder with it in its name.
    """
    slug, name = pair.folder.name, f"Graham et al. 2015, {pair.label} HITs"
    columns = ("hit", "position", "type", "system", "sid", "paired_position", "reference")
    rows = list(pair.rows("items.tsv", *columns, "text_shown"))
    places = {(row["hit"], row["position"]): index for index, row in enumerate(rows)}

    def place(row: Row, column: str) -> int:
        """Return the index of the item that a row names within its HIT."""
        if (row["hit"], row[column]) not in places:
            raise row.error(
                message(
                    "published.no-position",
                    "{cell} is not a position of HIT {hit}.",
                    cell=row.cell(column),
                    hit=row["hit"],
                )
            )
        return places[row["hit"], row[column]]

    items = []
    for row in rows:
        kind = row.find("type", KINDS)
        shows_output = kind in SHOW_OUTPUT
        items.append(
            ItemDraft(
                segment=row["sid"],
                system=row["system"] if shows_output else None,
                kind=kind,
                batch=row["hit"],
                text="" if shows_output else row["text_shown"],
                partner=None if kind == Item.Kind.TARGET else place(row, "paired_position"),
            )
        )
    segments = {
        row["sid"]: SegmentDraft(row["sid"], NO_SOURCE, references={"A": row["reference"]})
        for row in rows
    }
    test_set = pair.test_set(
        slug,
        name,
        "newstest2013; the sources are not part of the release.",
        [segments[key] for key in sorted(segments, key=int)],
        (
            (row["system"], row["sid"], row["text_shown"])
            for row in rows
            if KINDS[row["type"]] in SHOW_OUTPUT
        ),
    )
    return test_set, CampaignDraft(
        slug=slug,
        name=name,
        study="graham2015",
        question=HOW_ACCURATE,
        z_pool=Campaign.ZPool.ALL,
        items=items,
        judgments=[
            JudgmentDraft(row["worker"], place(row, "position"), row.whole("score"))
            for row in pair.rows("judgments.tsv", "hit", "worker", "position", "score")
        ],
    )


def graham2015_scores(pair: Pair) -> Drafts:
    """Scores of segments by Graham et al. 2015: means of 15 or more judgments, with texts.

    `graham2015-scores-es-en`, `-en-de` and `-cs-en`: 500, 140 and 70. Each segment has the output
    of one system. The human post-edits of the outputs are not imported: they are corrections of
    one output, not independent references.
    """
    slug, name = f"graham2015-scores-{pair.name}", f"Graham et al. 2015, {pair.label} segments"
    columns = ("lp", "system", "sid", "source", "reference", "output", "z_mean")
    rows = [row for row in pair.rows("segment-scores.tsv", *columns) if row["lp"] == pair.name]
    segments: dict[str, SegmentDraft] = {}
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
    test_set = pair.test_set(
        slug,
        name,
        "newstest2013, one output of each segment, judged by 15 people or more.",
        [segments[key] for key in sorted(segments, key=int)],
        ((row["system"], row["sid"], row["output"]) for row in rows),
    )
    return test_set, CampaignDraft(
        slug=slug,
        name=name,
        study="graham2015",
        question=HOW_ACCURATE,
        output_scores={(row["system"], row["sid"]): row.real("z_mean") for row in rows},
    )


def calibration_da(pair: Pair) -> Drafts:
    """WMT22 calibration HITs: the same documents rated by a dozen people, with times.

    `calibration-en-zh` and `calibration-zh-en`: 1,296 and 1,406 judgments of 16 documents with 100
    segments. Every segment of a document is rated, then the document as a whole.
    """
    slug, name = f"calibration-{pair.name}", f"WMT22 calibration {pair.label}"
    columns = ("item", "level", "document", "system", "source", "translation")
    table = list(pair.rows("items.tsv", *columns))
    place = {row["item"]: index for index, row in enumerate(table)}
    # A screen is a document by one system: its segments in order, then itself.
    screens: dict[Cell, list[str]] = defaultdict(list)
    items = []
    for row in table:
        key = row["document"], row["system"]
        screens[key].append(row["item"])
        is_document = row.find("level", {"segment": False, "document": True})
        items.append(
            ItemDraft(
                segment=screens[key][0] if is_document else row["item"],
                system=row["system"],
                kind=Item.Kind.DOCUMENT if is_document else Item.Kind.TARGET,
                screen=list(screens).index(key) + 1,
                place=len(screens[key]) - 1,
            )
        )
    rated = [row for row in table if row["level"] == "segment"]
    test_set = pair.test_set(
        slug,
        name,
        "General translation task of WMT22; for research purposes only.",
        [SegmentDraft(row["item"], row["source"], row["document"]) for row in rated],
        ((row["system"], row["item"], row["translation"]) for row in rated),
    )
    return test_set, CampaignDraft(
        slug=slug,
        name=name,
        study="wmt22-calibration",
        question=HOW_GOOD,
        protocol="document-da",
        shown_text=Campaign.ShownText.SOURCE,
        items=items,
        judgments=[
            JudgmentDraft(
                row["annotator"], row.find("item", place), row.whole("score"), *_times(row)
            )
            for row in pair.rows("judgments.tsv", "annotator", "item", "score", "start", "end")
        ],
    )


def _times(row: Row) -> tuple[datetime, datetime]:
    """Return start and end of a judgment, which rows have in Unix seconds."""
    start, end = (datetime.fromtimestamp(row.real(name), tz=UTC) for name in ("start", "end"))
    return start, end


def mqm_ted(pair: Pair) -> Drafts:
    """WMT21 TED talks with MQM annotations: one annotator per output.

    `mqm-ted-zh-en`: 7,935 outputs of 15 systems by nine annotators, with 5,618 error spans and the
    published penalties. No agreement can be computed. Two of the systems are human: they are
    judged as systems, and serve as references of the segments that they have. The one error
    without a place is marked over the whole output.
    """
    outputs = {
        (segment, system): text
        for segment, system, text in pair.cells("outputs.tsv", "seg_id", "system", "output")
    }
    place = {cell: index for index, cell in enumerate(outputs)}
    columns = ("seg_id", "system", "rater", "category", "severity", "side", "start", "end")
    found: dict[tuple[Cell, str], list[Span]] = defaultdict(list)
    for row in pair.rows("annotations.tsv", *columns):
        cell = require_output(row, "seg_id", outputs)
        spans = found[cell, row["rater"]]
        if row["severity"] != "No-error":
            spans.append(
                read_span(row, MQM_SEVERITIES, None if row["side"] != "none" else outputs[cell])
            )
    by_system: dict[str, dict[str, str]] = defaultdict(dict)
    for (segment, system), text in outputs.items():
        by_system[system][segment] = text
    # `ref`, or `refA`, is the first; others carry their letter.
    references = {
        human[1] or "A": texts
        for name, texts in by_system.items()
        if (human := re.fullmatch("ref([A-Z]?)", name))
    }
    segments = pair.segments("segments.tsv", "seg_id", document="doc")
    for each in segments:
        each.references = {
            name: texts[each.key] for name, texts in references.items() if texts.get(each.key)
        }
    slug, name = f"mqm-ted-{pair.name}", f"WMT21 TED {pair.label}"
    test_set = pair.test_set(
        slug,
        name,
        "TED talks of the WMT21 metrics task, with error annotations.",
        segments,
        ((system, segment, text) for (segment, system), text in outputs.items()),
    )
    return test_set, CampaignDraft(
        slug=slug,
        name=f"{name}, MQM",
        study="wmt21",
        question="Mark every error in the translation, and choose its category and severity.",
        protocol="mqm",
        shown_text=Campaign.ShownText.SOURCE,
        items=[ItemDraft(segment, system) for segment, system in outputs],
        judgments=[
            JudgmentDraft(rater, place[cell], None, spans=tuple(spans))
            for (cell, rater), spans in found.items()
        ],
    )


SIDES = {"source": SOURCE, "target": TARGET, "none": TARGET, "missing": SOURCE}
MQM_SEVERITIES = {"Major": "major", "Minor": "minor", "Neutral": "neutral"}


def read_span(row: Row, severities: Mapping[str, str], whole: str | None) -> Span:
    """Return the error of a row; one without a place is marked over the `whole` of a text."""
    return Span(
        side=row.find("side", SIDES),
        start=row.whole("start") if whole is None else 0,
        end=row.whole("end") if whole is None else len(whole),
        severity=row.find("severity", severities),
        category=our_category(row["category"]),
    )


def require_output(row: Row, key: str, outputs: Iterable[Cell]) -> Cell:
    """Return segment and system of a row. Raises ValidationError if there is no such output."""
    if (row[key], row["system"]) not in outputs:
        raise row.error(
            message(
                "published.no-output",
                "{cell} has no output for segment {segment}.",
                cell=row.cell("system"),
                segment=row[key],
            )
        )
    return row[key], row["system"]


def appraise_esa(pair: Pair) -> Drafts:
    """An Appraise log of error span annotation at WMT23: scores without texts.

    `appraise-esa-en-de`: 3,106 scores and times of 33 logins; 32 of the 33 published quality
    p-values come out. Of an item that was rated twice the later score counts. The texts are not
    part of the release, so the sources are marked so and the outputs are empty: no metric can run,
    but annotators, control items and systems can be analysed. Of the error spans only their
    numbers were published; they are not imported. Every login did one HIT. A degraded document is
    paired, segment by segment, with the document as the system wrote it.
    """
    columns = ("login", "item", "type", "system", "document", "score", "start", "end")
    rows = list(pair.rows("judgments.tsv", *columns))
    shown = {(row["login"], row["item"]): row for row in rows}
    place = {key: index for index, key in enumerate(shown)}
    items = _of_log(shown)
    keys = sorted({item.segment for item in items})
    slug = f"appraise-esa-{pair.name}"
    test_set = pair.test_set(
        slug,
        f"WMT23 {pair.label}, judged in Appraise",
        "The texts are not part of the release.",
        [SegmentDraft(key, NO_SOURCE, document=key.rpartition(":")[0]) for key in keys],
        ((item.system, item.segment, "") for item in items if item.system),
    )
    return test_set, CampaignDraft(
        slug=slug,
        name=f"WMT23 {pair.label}, error span annotation in Appraise",
        study="wmt23",
        question="Considering the errors you marked, how well does the translation keep the "
        "meaning, and how well does it read?",
        protocol="esa",
        shown_text=Campaign.ShownText.SOURCE,
        z_pool=Campaign.ZPool.ALL,
        items=items,
        judgments=[
            JudgmentDraft(
                row["login"], place[row["login"], row["item"]], row.whole("score"), *_times(row)
            )
            for row in rows
        ],
    )


def _of_log(shown: Mapping[Cell, Row]) -> Sequence[ItemDraft]:
    """Return the items of a log; segments are named by document and place: ids are of a HIT."""
    seen: Counter[Cell] = Counter()
    keys: list[tuple[str, str, str]] = []
    targets: dict[tuple[str, str, str], int] = {}
    for index, row in enumerate(shown.values()):
        seen[row["login"], row["document"]] += 1
        # Of several marks only the last: keys that are stored do not change.
        document = COPY.sub("", row["document"]).removesuffix(f"#{row['system']}")
        segment = f"{document}:{seen[row['login'], row['document']]}"
        keys.append((row["login"], row["system"], segment))
        if row["type"] == "TGT":
            targets.setdefault(keys[-1], index)
    items = []
    for index, (row, key) in enumerate(zip(shown.values(), keys, strict=True)):
        partner = targets.get(key)
        kind = row.find("type", {"TGT": Item.Kind.TARGET, "BAD": Item.Kind.BAD_REF})
        if kind == Item.Kind.TARGET and partner != index:
            kind = Item.Kind.REPEAT
        items.append(
            ItemDraft(
                segment=key[2],
                system=None if kind == Item.Kind.BAD_REF else row["system"],
                kind=kind,
                batch=row["login"],
                partner=None if partner == index else partner,
            )
        )
    return items
