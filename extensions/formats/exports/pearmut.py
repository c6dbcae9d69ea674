"""A campaign and its answers as Pearmut (1.1.6) has them.

A campaign that came from there goes out as it came; any other one is written from its targets, a
screen a document, with gold and practice items and their rules. Spans count UTF-16 units of the
output, the end included; special tokens follow it, one unit each, and a span in the source is the
first of them.

The log has the current answers, a line a screen, with times of the server, of what the campaign
file has: without other control items where that is written from the targets. Texts that are
no system's output are `text 1`, `text 2` by their columns.
"""

import json
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

from django.db.models import Q

from annotation.exports.rows import judgments_of, system_name, with_spans
from annotation.filters import EVERYTHING, Filters
from annotation.judging.answers import rated_text
from annotation.models import Campaign, Item, Judgment, OriginalFile
from annotation.prefill.suggestions import offered
from annotation.protocols import Protocol, Span
from annotation.protocols.base import SOURCE
from extensions.formats.pearmut.answering import write_answers
from extensions.formats.pearmut.contents import write_source

MISSING = "[missing]"
# What a written campaign has: outputs to be judged, and texts whose right answers are known.
KNOWN = Q(kind=Item.Kind.TARGET, output__isnull=False) | Q(
    kind__in=(Item.Kind.GOLD, Item.Kind.TUTORIAL)
)
Rated = tuple[Judgment, Sequence[Span]]


def campaign_json(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[str]:
    """Yield the campaign file: the imported one, or one written from the targets."""
    own = OriginalFile.objects.filter(campaign=campaign).first()
    if own is not None:
        yield own.content
        return
    yield json.dumps(_written(campaign), ensure_ascii=False)


def _written(campaign: Campaign) -> dict[str, Any]:
    """Return a campaign file of outputs to be judged, gold and practice; a document per screen."""
    rows = campaign.items.filter(KNOWN).select_related("segment", "output__system")
    documents: dict[str, list[Any]] = {"": [], "welcome": [], "random": []}
    order = rows.order_by("screen", "place", "pk")
    for _, screen in groupby(
        order, key=lambda item: (_place(item), item.screen is None, item.screen or item.pk)
    ):
        items = list(screen)
        own = _segments(items)
        if place := _place(items[0]):
            _add_rules(own, items, campaign.judging)
        documents[place].append(own)
    scheme = campaign.judging.spans
    info: dict[str, Any] = {
        "assignment": "single-stream",
        "protocol": _protocol(campaign.judging),
        "shuffle": False,
        "users": max(1, campaign.annotators.count()),
        "instructions": campaign.instructions,
        **({"instructions_goodbye": campaign.goodbye} if campaign.goodbye else {}),
    }
    if campaign.assignment_mode == Campaign.Mode.DYNAMIC:
        info |= {
            "assignment": "dynamic",
            "shuffle": True,
            "dynamic_models": campaign.systems_per_screen,
            "dynamic_coldstart": campaign.cold_start,
        }
    info |= write_answers(campaign.judging)
    if scheme is not None:
        info["special_tokens"] = list(scheme.tokens) or [MISSING]
    extra = {f"data_{name}": own for name, own in documents.items() if name and own}
    return {"info": info, "campaign_id": campaign.slug, "data": documents[""]} | extra


def _add_rules(
    segments: Sequence[dict[str, Any]], items: Sequence[Item], protocol: Protocol
) -> None:
    """Say what is right of gold and practice items, which may be skipped."""
    first = next((scale.key for scale in protocol.scales), "") or "score"
    for segment, same in zip(segments, _by_segment(items), strict=True):
        segment["validation"] = {_model(item): [_rule(item, items, first)] for item in same}


def _rule(item: Item, items: Sequence[Item], scale: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if item.low is not None and item.high is not None:
        found[scale] = [item.low, item.high]
    if item.feedback:
        found["warning"] = escape(item.feedback, quote=False)
    if item.kind == Item.Kind.TUTORIAL:
        found["allow_skip"] = True
    rules, text = item.rules or {}, rated_text(item)
    if errors := rules.get("errors"):
        found["error_spans"] = [
            {
                "start_i": [_unit_at(text, low), _unit_at(text, high)],
                "end_i": [_unit_at(text, first) - 1, _unit_at(text, last) - 1],
                **({"severity": severity} if severity else {}),
            }
            for low, high, first, last, severity in errors
        ]
    others = {each.place: each for each in items if each.pk != item.pk}
    if (above := others.get(rules.get("above", -1))) is not None:
        found["score_greaterthan"] = _model(above)
    return found


def _protocol(protocol: Protocol) -> str:
    if protocol.spans is None:
        return "DA"
    if protocol.spans.categories or not protocol.has_score:
        return "MQM"
    return "cESA" if protocol.layout.has_systems else "ESA"


def loses(protocol: Protocol) -> frozenset[str]:
    """Return what of a protocol has no place.

    Only cESA reads special tokens back as such; a screen has one comment and one time.
    """
    lost = set() if _protocol(protocol) == "cESA" else {"tokens"}
    return frozenset(lost | ({"comments", "times"} if protocol.layout.has_several else set()))


def _segments(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return a screen in Pearmut's form: a list of segments, each with its outputs by model."""
    return [
        {
            "item_id": same[0].segment.key,
            **({"doc_id": document} if (document := same[0].segment.document) else {}),
            **write_source(same[0].segment.source, same[0].segment.beside),
            "tgt": {_model(item): rated_text(item) for item in same},
            **({"instructions": escape(note, quote=False)} if (note := same[0].note) else {}),
            **_suggested(same),
        }
        for same in _by_segment(items)
    ]


def _suggested(items: Sequence[Item]) -> dict[str, Any]:
    """Return the errors marked beforehand, without those planted by a trial."""
    found = {
        _model(item): [write_span(each.span, rated_text(item)) for each in own]
        for item in items
        if (own := offered(item.suggestions, ""))
    }
    return {"error_spans": found} if found else {}


def _by_segment(items: Sequence[Item]) -> list[list[Item]]:
    return [list(same) for _, same in groupby(items, key=lambda item: item.segment_id)]


def _model(item: Item) -> str:
    """Return the system; other texts are named by the number of their column."""
    return system_name(item) or f"text {item.column + 1}"


def log_lines(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[str]:
    """Yield the current answers as Pearmut's log: one line per screen, in annotators' order."""
    rows = judgments_of(campaign, filters).filter(
        is_current=True, assignment__item__output__isnull=False
    ) | judgments_of(campaign, filters).filter(is_current=True).exclude(assignment__item__text="")
    if not OriginalFile.objects.filter(campaign=campaign).exists():
        known = campaign.items.filter(KNOWN)
        rows = rows.filter(assignment__item__in=known)
    numbers: dict[tuple[str, str], int] = {}
    for (label, _), found in groupby(with_spans(rows.distinct()), key=_screen):
        screen = list(found)
        kind = _place(screen[0][0].assignment.item)
        number = numbers[label, kind] = numbers.get((label, kind), -1) + 1
        entry = _entry(campaign, screen) | {"user_id": label}
        entry["item_i"] = f"{kind}_{number}" if kind else number
        yield json.dumps(entry, ensure_ascii=False) + "\n"


def _screen(rated: Rated) -> tuple[str, int]:
    assignment = rated[0].assignment
    item = assignment.item
    return assignment.annotator.label, -item.pk if item.screen is None else item.screen


def _place(item: Item) -> str:
    if item.kind == Item.Kind.TUTORIAL:
        return "welcome"
    return "" if item.kind == Item.Kind.TARGET else "random"


def _entry(campaign: Campaign, screen: Sequence[Rated]) -> dict[str, Any]:
    items = [judgment.assignment.item for judgment, _ in screen]
    by_item = {judgment.assignment.item_id: (judgment, spans) for judgment, spans in screen}
    first, last = screen[0][0], screen[-1][0]
    stamps = (("load", first.started_at), ("submit", last.submitted_at))
    return {
        "annotation": [
            {_model(item): _answer(item, *by_item[item.pk]) for item in same}
            for same in _by_segment(items)
        ],
        "actions": [
            {"time": time.timestamp(), "action": action} for action, time in stamps if time
        ],
        "item": _segments(items),
        "comment": "\n".join(judgment.comment for judgment, _ in screen if judgment.comment),
    }


def _answer(item: Item, judgment: Judgment, spans: Sequence[Span]) -> dict[str, Any]:
    return {
        "score": None if judgment.ratings else judgment.score,
        "error_spans": [write_span(span, rated_text(item)) for span in spans],
        "textfield": judgment.post_edit,
        **({"sliders": judgment.ratings} if judgment.ratings else {}),
    }


def write_span(span: Span, text: str) -> dict[str, Any]:
    """Return a span with the offsets of Pearmut 1.1.5 and later.

    Pearmut cannot mark the source, so a span there becomes the first special token, `[missing]`.

    >>> write_span(Span("target", 2, 3, "minor"), "a \\U0001f600")["end_i"]
    3
    """
    length = len(text)
    if span.side == SOURCE:
        span = Span("target", length, length + 1, span.severity, span.category)
    return {
        "start_i": _unit_at(text, span.start),
        "end_i": _unit_at(text, span.end) - 1,
        "category": span.category or None,
        "severity": span.severity,
    }


def _unit_at(text: str, place: int) -> int:
    """Return the UTF-16 unit of a code point; special tokens behind the text have one each."""
    before = len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
    return before + max(0, place - len(text))
