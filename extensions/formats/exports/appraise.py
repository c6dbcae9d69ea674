"""Judgments in Appraise's order of columns, and the campaign as batches and manifest.

Times are Unix seconds, 0 if unknown. Gold and practice items have no counterpart in Appraise and
are skipped. Traps are written as BAD. MQM has the score 0: it follows from the spans. A side whose
text is the source becomes `missing`. If a text has no system, its targetID is that of its partner,
or the name of its kind.

`batches.json`, `manifest.json` and `scores.csv` of the archive read back as the same judgments;
errors marked beforehand are in `mqm`, in Appraise's offsets. If items cannot be divided evenly, the
manifest assigns all of them to every annotator.
"""

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import langcodes

from annotation.exports.rows import judgments_of, system_name, with_spans
from annotation.exports.tables import csv_lines
from annotation.filters import EVERYTHING, FilterError, Filters
from annotation.judging.answers import rated_text
from annotation.models import Campaign, Item
from annotation.prefill.suggestions import offered
from annotation.protocols import Layout, Protocol
from extensions.formats.appraise.spans import write_spans
from extensions.formats.readers.appraise_scores import DOCUMENT, PLAIN, SPANS
from metaeval.messages import message

TYPES = {
    Item.Kind.TARGET: "TGT",
    Item.Kind.DOCUMENT: "TGT",
    Item.Kind.REPEAT: "CHK",
    Item.Kind.REF: "REF",
    Item.Kind.BAD_REF: "BAD",
    Item.Kind.TRAP: "BAD",
}
TASK_TYPES = {Layout.SINGLE: "Direct", Layout.TOGETHER: "Pairwise"}
SOURCE_ID = "source"
MOST = 50


def columns_of(campaign: Campaign) -> tuple[str, ...]:
    """Return Appraise's columns for the protocol of a campaign."""
    if campaign.judging.spans is not None:
        return SPANS
    return DOCUMENT if campaign.judging.layout == Layout.DOCUMENT else PLAIN


def loses(protocol: Protocol) -> frozenset[str]:
    """Return what of a protocol has no place: scores go from 0 to 100."""
    has_other = protocol.has_score and not protocol.has_usual_score
    return frozenset({"scores"}) if has_other else frozenset()


def score_lines(
    campaign: Campaign, filters: Filters = EVERYTHING, *, header: bool = False
) -> Iterator[str]:
    """Yield the scores as Appraise exports them: without a header unless asked for.

    Raises FilterError for a campaign without scores and errors.
    """
    _require_place(campaign)
    columns = columns_of(campaign)
    rows = (tuple(row[name] for name in columns) for row in _scores(campaign, filters))
    return csv_lines(columns if header else (), rows)


def _require_place(campaign: Campaign) -> None:
    """Raise FilterError where annotators gave neither scores nor errors: all would be scored 0."""
    if not campaign.judging.has_score and campaign.judging.spans is None:
        text = message(
            "export.appraise-no-score",
            "Appraise has no place for post-edits without a score. Choose another format.",
        )
        raise FilterError(text)


def _scores(campaign: Campaign, filters: Filters) -> Iterator[dict[str, Any]]:
    source, target = (
        _three_letters(code)
        for code in (campaign.test_set.source_language, campaign.test_set.target_language)
    )
    columns = columns_of(campaign)
    rows = judgments_of(campaign, filters).filter(assignment__item__kind__in=list(TYPES))
    for judgment, spans in with_spans(rows):
        item = judgment.assignment.item
        start, end = judgment.started_at, judgment.submitted_at
        yield {
            "username": judgment.assignment.annotator.label,
            "targetID": target_id(item),
            "itemID": item_id(item, columns),
            "itemType": item_type(item),
            "src": source,
            "tgt": target,
            "score": 0 if judgment.score is None else judgment.score,
            "documentID": document_id(item),
            "isCompleteDocument": item.kind == Item.Kind.DOCUMENT,
            "mqm": write_spans(spans, rated_text(item)),
            "start": f"{start.timestamp():.6f}" if start else "0.0",
            "end": f"{end.timestamp():.6f}" if end else "0.0",
        }


def _three_letters(code: str) -> str:
    """Return the ISO 639-3 code, or the code itself where there is none."""
    try:
        return langcodes.Language.get(code).to_alpha3()
    except (LookupError, ValueError):
        return code


def item_type(item: Item) -> str:
    """Return TGT, BAD, REF or CHK."""
    if item.kind == Item.Kind.DOCUMENT and item.partner_id is not None:
        return "BAD" if item.system_id is None else "CHK"
    return TYPES[Item.Kind(item.kind)]


def target_id(item: Item) -> str:
    """Return the system of an item; of a control item, that of its partner."""
    partner = item.partner.output if item.partner is not None else None
    name = system_name(item) or (partner.system.name if partner else None)
    if name is None and item.partner is not None and item.partner.system is not None:
        name = item.partner.system.name
    return name or item.kind


def item_id(item: Item, columns: tuple[str, ...]) -> str:
    """Return the segment's key, without the document's name if there is a documentID."""
    key = item.segment.key
    if columns == PLAIN or not item.segment.document:
        return key
    own = key.removeprefix(f"{item.segment.document}:")
    return f"{own}-all" if item.kind == Item.Kind.DOCUMENT else own


def document_id(item: Item) -> str:
    """Return the document, for control items with the suffix of a copy."""
    name = item.segment.document or f"segment-{item.segment.key}"
    suffixes = {"BAD": "#bad", "REF": "#bad", "CHK": "#duplicate"}
    return name + suffixes.get(item_type(item), "")


def batches_json(campaign: Campaign) -> Iterator[str]:
    """Yield the campaign's items as Appraise's batches, one task after the other."""
    before = "["
    for number, (_, items) in enumerate(groupby(_items(campaign), key=_batch), 1):
        task = {
            "task": {"batchNo": number, "requiredAnnotations": campaign.annotators_per_item},
            "items": list(_task(campaign, items)),
        }
        yield before + json.dumps(task, ensure_ascii=False, indent=1)
        before = ",\n"
    yield "[]" if before == "[" else "]\n"


def _batch(item: Item) -> str:
    return item.batch


def _items(campaign: Campaign) -> Iterator[Item]:
    """Yield the items by batch, in the order in which the batches were stored."""
    rows = campaign.items.filter(kind__in=list(TYPES)).select_related(
        "segment", "output__system", "system", "partner__output__system", "partner__system"
    )
    batches = dict.fromkeys(rows.order_by("pk").values_list("batch", flat=True))
    for batch in batches:
        yield from rows.filter(batch=batch).order_by("pk").iterator(chunk_size=2_000)


def _task(campaign: Campaign, items: Iterable[Item]) -> Iterator[dict[str, Any]]:
    if _task_type(campaign.judging)[0] != "Pairwise":
        for item in items:
            yield _head(campaign, item) | _target(item)
        return
    for _, screen in groupby(items, key=lambda item: item.screen or -item.pk):
        together = list(screen)
        yield _head(campaign, together[0]) | {"targets": [_target(item) for item in together]}


def _head(campaign: Campaign, item: Item) -> dict[str, Any]:
    columns = columns_of(campaign)
    head: dict[str, Any] = {
        "itemID": item_id(item, columns),
        "itemType": item_type(item),
        "sourceID": SOURCE_ID,
        "sourceText": item.segment.source,
    }
    if columns != PLAIN:
        head["documentID"] = document_id(item)
        head["isCompleteDocument"] = item.kind == Item.Kind.DOCUMENT
    if columns == SPANS:
        spans = [each.span for each in offered(item.suggestions, "")]
        head["mqm"] = json.loads(write_spans(spans, rated_text(item)))
    return head


def _target(item: Item) -> dict[str, str]:
    return {"targetID": target_id(item), "targetText": rated_text(item)}


def manifest_json(campaign: Campaign) -> Iterator[str]:
    """Yield the campaign's manifest."""
    kind, options = _task_type(campaign.judging)
    tasks = len(set(campaign.items.filter(kind__in=list(TYPES)).values_list("batch", flat=True)))
    redundancy, annotators = _shares(campaign, tasks)
    languages = campaign.test_set.source_language, campaign.test_set.target_language
    codes = [_three_letters(code) for code in languages]
    manifest = {
        "CAMPAIGN_NAME": campaign.slug,
        "CAMPAIGN_NO": campaign.pk,
        "REDUNDANCY": redundancy,
        "TASKS_TO_ANNOTATORS": [[*codes, "uniform", annotators, tasks]],
        "TASK_TYPE": kind,
    } | ({"TASK_OPTIONS": options} if options else {})
    yield json.dumps(manifest, indent=2) + "\n"


def _task_type(protocol: Protocol) -> tuple[str, str]:
    """Return the task type and its options; Appraise marks errors only in documents."""
    if protocol.spans is None:
        return TASK_TYPES.get(protocol.layout, "Document"), ""
    return "Document", "ESA" if protocol.has_score else "MQM"


def _shares(campaign: Campaign, tasks: int) -> tuple[int, int]:
    """Return ratings per task and the number of annotators.

    Appraise requires equal shares; otherwise every annotator rates every task.
    """
    people, redundancy = max(1, campaign.annotators.count()), campaign.annotators_per_item
    if redundancy <= people and tasks * redundancy % people == 0:
        return redundancy, people
    return (people, people) if people <= MOST else (1, 1)


def bundle(
    campaign: Campaign, filters: Filters = EVERYTHING
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the files that make up the campaign in Appraise; filters choose its scores.

    Raises FilterError for a campaign without scores and errors.
    """
    _require_place(campaign)
    yield "batches.json", batches_json(campaign)
    yield "manifest.json", manifest_json(campaign)
    yield "scores.csv", score_lines(campaign, filters)
