"""Judgments and their error spans as tidy tables: one row per judgment, one row per span.

`kind` is the kind of item, `is_current` marks what counts, `is_excluded` an excluded annotator;
`item` and `partner` number items, so that controls can be paired. `z_targets` and `z_all` are
z-scores of current judgments over outputs and over everything. `seconds` is the server's time;
`visible_ms`, `active_ms`, `paid_ms` and `time_doubt` are the other clocks, and `sent_together` how
many answers shared one screen. `screen`, `column` (from 1) and `n_columns` say beside what an
output was shown, `context_openings` how often the document around the segment was opened, `plays`
how often its recording was played. `spans` is JSON in CSV and nested elsewhere.

Own scales, choices and post-editing have columns at the end: `scale_NAME`, `choice_NAME`,
`post_edit`, `hter`; scores are in the unit of their scale. Where errors are suggested, `condition`
is the last column, and those of spans are `origin` and `fate`. In the table of spans `judgment`
joins them to the judgments.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Count
from django.http import Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase

from annotation.exports.rows import (
    Moments,
    judgments_of,
    moments,
    system_name,
    values_with_spans,
    with_spans,
)
from annotation.exports.tables import csv_response
from annotation.filters import EVERYTHING, Filters
from annotation.judging.answers import rated_text
from annotation.models import Campaign, ContextOpening, Item, Playback, SuggestionFate
from annotation.prefill.suggestions import key_of
from annotation.protocols import Span
from annotation.protocols.base import TARGET

JUDGMENT_HEADER = (
    "campaign",
    "annotator",
    "is_simulated",
    "kind",
    "segment",
    "document",
    "system",
    "length_ratio",
    "score",
    "z_targets",
    "z_all",
    "revision",
    "is_current",
    "started_at",
    "submitted_at",
    "seconds",
    "protocol",
    "penalty",
    "comment",
    "is_flagged",
    "visible_ms",
    "active_ms",
    "paid_ms",
    "time_doubt",
    "sent_together",
    "is_excluded",
    "batch",
    "item",
    "partner",
    "screen",
    "column",
    "n_columns",
    "judgment",
    "context_openings",
    "plays",
    "spans",
)
SPAN_HEADER = (
    "campaign",
    "annotator",
    "kind",
    "segment",
    "document",
    "system",
    "revision",
    "is_current",
    "judgment",
    "number",
    "side",
    "start",
    "end",
    "severity",
    "category",
    "weight",
    "text",
)
DRAWN = ("assignment__condition", "assignment__inclusion")
ANNOTATOR, ITEM = "assignment__annotator", "assignment__item"
# Columns of the judgment that keep their names in exports, in the order of the header.
OWN = (
    "penalty",
    "comment",
    "is_flagged",
    "visible_ms",
    "active_ms",
    "paid_ms",
    "time_doubt",
    "sent_together",
)
COLUMNS = (
    "pk",
    "assignment_id",
    "score",
    "revision",
    "is_current",
    "started_at",
    "submitted_at",
    *OWN,
    f"{ANNOTATOR}_id",
    f"{ANNOTATOR}__label",
    f"{ANNOTATOR}__is_simulated",
    f"{ANNOTATOR}__excluded_at",
    f"{ITEM}_id",
    f"{ITEM}__kind",
    f"{ITEM}__batch",
    f"{ITEM}__partner_id",
    f"{ITEM}__screen",
    "assignment__column",
    f"{ITEM}__column",
    f"{ITEM}__n_columns",
    f"{ITEM}__segment__key",
    f"{ITEM}__segment__document",
    f"{ITEM}__output__system__name",
    f"{ITEM}__system__name",
)
# Prefixes of columns that only some campaigns have: of a scale, and of a choice.
SCALE, CHOICE = "scale_", "choice_"
EDITS = ("post_edit", "hter")
# Campaigns with suggestions: which were shown, and where a span came from.
CONDITION = "condition"
# Campaigns that draw the systems of a screen: the probability of this one.
INCLUSION = "inclusion"
FATE = ("origin", "fate")
Row = dict[str, Any]
Pools = Mapping[str, Mapping[int, Moments]]


def header_of(campaign: Campaign) -> tuple[str, ...]:
    """Return the names of a campaign's columns: own scales, choices and edits come last."""
    protocol = campaign.judging
    scales = [SCALE + scale.key for scale in protocol.scales if scale.key]
    choices = [CHOICE + choice.key for choice in protocol.choices]
    edits = EDITS if protocol.text else ()
    is_dynamic = campaign.assignment_mode == Campaign.Mode.DYNAMIC
    ours = {CONDITION: campaign.is_prefilled, INCLUSION: is_dynamic}
    own = (name for name, is_there in ours.items() if is_there)
    return (*JUDGMENT_HEADER, *scales, *choices, *edits, *own)


def judgment_dicts(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[Row]:
    """Yield judgments by the names of `header_of`; z-scores are of current ones only.

    Times are datetimes and spans lists of dictionaries. Rows that filters exclude are not part of
    the z-scores of the others.
    """
    pools = moments(campaign, filters)
    openings, plays = _openings(campaign), _plays(campaign)
    more = header_of(campaign)[len(JUDGMENT_HEADER) :]
    names = (*COLUMNS, "ratings", "choices", *EDITS, *DRAWN) if more else COLUMNS
    for values, spans in values_with_spans(judgments_of(campaign, filters), names):
        values["context_openings"] = openings.get(values["assignment_id"], 0)
        values["plays"] = plays.get(values["pk"], 0)
        row = _row(campaign, values, spans, pools)
        yield row | {name: _more(values, name) for name in more}


def _more(values: Row, name: str) -> Any:
    if name in (CONDITION, INCLUSION):
        return values[f"assignment__{name}"]
    if name in EDITS:
        return values[name]
    if name.startswith(CHOICE):
        return values["choices"].get(name.removeprefix(CHOICE))
    return values["ratings"].get(name.removeprefix(SCALE))


def _openings(campaign: Campaign) -> dict[int, int]:
    """Return how often the document around an item's segment was opened, by assignment."""
    own = ContextOpening.objects.filter(assignment__annotator__campaign=campaign).order_by()
    return dict(own.values_list("assignment").annotate(n=Count("pk")))


def _plays(campaign: Campaign) -> dict[int, int]:
    """Return how often the recording of a segment was played, by judgment."""
    own = Playback.objects.filter(judgment__assignment__annotator__campaign=campaign)
    rows = own.values_list("judgment", "events")
    return {judgment: sum(what == "play" for _, what, _ in events) for judgment, events in rows}


def _row(campaign: Campaign, values: Row, spans: Sequence[Span], pools: Pools) -> Row:
    start, end = values["started_at"], values["submitted_at"]
    drawn = values["assignment__column"]
    return {
        "campaign": campaign.slug,
        "annotator": values[f"{ANNOTATOR}__label"],
        "is_simulated": values[f"{ANNOTATOR}__is_simulated"],
        "kind": values[f"{ITEM}__kind"],
        "segment": values[f"{ITEM}__segment__key"],
        "document": values[f"{ITEM}__segment__document"],
        "system": values[f"{ITEM}__output__system__name"] or values[f"{ITEM}__system__name"],
        "length_ratio": str(campaign.length_ratio),
        "score": values["score"],
        "z_targets": _z(values, pools["targets"]),
        "z_all": _z(values, pools["all"]),
        "revision": values["revision"],
        "is_current": values["is_current"],
        "started_at": start,
        "submitted_at": end,
        "seconds": round((end - start).total_seconds(), 3) if start and end else None,
        "protocol": campaign.protocol,
        **{name: values[name] for name in OWN},
        "is_excluded": values[f"{ANNOTATOR}__excluded_at"] is not None,
        "batch": values[f"{ITEM}__batch"],
        "item": values[f"{ITEM}_id"],
        "partner": values[f"{ITEM}__partner_id"],
        "screen": values[f"{ITEM}__screen"],
        "column": (values[f"{ITEM}__column"] if drawn is None else drawn) + 1,
        "n_columns": values[f"{ITEM}__n_columns"],
        "judgment": values["pk"],
        "context_openings": values["context_openings"],
        "plays": values["plays"],
        "spans": [span_dict(span) for span in spans],
    }


def _z(values: Row, pool: Mapping[int, Moments]) -> float | None:
    """Return the z-score of a judgment; None if analyses do not count it."""
    known = pool.get(values[f"{ANNOTATOR}_id"])
    is_practice = values[f"{ITEM}__kind"] == Item.Kind.TUTORIAL
    if known is None or not values["is_current"] or is_practice:
        return None
    if values[f"{ANNOTATOR}__excluded_at"] is not None:
        return None
    return known.z(values["score"] if values["score"] is not None else -values["penalty"])


def span_dict(span: Span) -> Row:
    """Return a span by the names of its fields."""
    return {
        "side": span.side,
        "start": span.start,
        "end": span.end,
        "severity": span.severity,
        "category": span.category,
    }


def plain(row: Row) -> Row:
    """Return a row with times as text, as JSON and CSV have them."""
    stamps = {name: row[name] for name in ("started_at", "submitted_at")}
    return row | {name: time.isoformat() if time else None for name, time in stamps.items()}


def judgment_rows(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[tuple[Any, ...]]:
    """Yield the values of `header_of` as CSV cells; spans are JSON."""
    header = header_of(campaign)
    for row in judgment_dicts(campaign, filters):
        cells = plain(row) | {"spans": json.dumps(row["spans"], ensure_ascii=False)}
        yield tuple(cells[name] for name in header)


def span_dicts(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[Row]:
    """Yield every error span by the names of `span_header`, with the text that it marks."""
    scheme = campaign.judging.spans
    rows = judgments_of(campaign, filters)
    rows = rows.prefetch_related("fates") if campaign.is_prefilled else rows
    for judgment, spans in with_spans(rows):
        item = judgment.assignment.item
        fates = (
            {key_of(fate): fate for fate in judgment.fates.all()} if campaign.is_prefilled else {}
        )
        for number, span in enumerate(spans, 1):
            text = rated_text(item) if span.side == TARGET else item.segment.source
            yield {
                "campaign": campaign.slug,
                "annotator": judgment.assignment.annotator.label,
                "kind": item.kind,
                "segment": item.segment.key,
                "document": item.segment.document,
                "system": system_name(item),
                "revision": judgment.revision,
                "is_current": judgment.is_current,
                "judgment": judgment.pk,
                "number": number,
                **span_dict(span),
                "weight": scheme.weight(span) if scheme else None,
                "text": scheme.quote(span, text) if scheme else "",
                **(_fate(fates.get(key_of(span))) if campaign.is_prefilled else {}),
            }


def span_header(campaign: Campaign) -> tuple[str, ...]:
    """Return the names of a span's columns; for suggestions, its origin comes last."""
    return (*SPAN_HEADER, *(FATE if campaign.is_prefilled else ()))


def _fate(fate: SuggestionFate | None) -> Row:
    """Return whether a span was suggested, and what its annotator did to it."""
    return dict(zip(FATE, (fate.origin, fate.fate) if fate else ("own", ""), strict=True))


def span_rows(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[tuple[Any, ...]]:
    """Yield the values of `span_header` as CSV cells."""
    header = span_header(campaign)
    for row in span_dicts(campaign, filters):
        yield tuple(row[name] for name in header)


def json_lines(rows: Iterator[Row]) -> Iterator[str]:
    """Yield one JSON object per line."""
    for row in rows:
        values = plain(row) if "started_at" in row else row
        yield json.dumps(values, ensure_ascii=False) + "\n"


def judgments_response(
    campaign: Campaign, fmt: str, filters: Filters = EVERYTHING
) -> HttpResponseBase:
    """Answer with the judgments of a campaign that filters choose, all revisions included."""
    if fmt == "csv":
        name = filters.file_name(f"{campaign.slug}-judgments")
        return csv_response(name, header_of(campaign), judgment_rows(campaign, filters))
    if fmt == "json":
        name = filters.file_name(f"{campaign.slug}-judgments")
        return StreamingHttpResponse(
            _json_array(campaign, filters),
            content_type="application/json",
            headers={"Content-Disposition": f'inline; filename="{name}.json"'},
        )
    raise Http404


def _json_array(campaign: Campaign, filters: Filters) -> Iterator[str]:
    before = "["
    for row in judgment_dicts(campaign, filters):
        yield before + json.dumps(plain(row), ensure_ascii=False)
        before = ",\n"
    yield "[]" if before == "[" else "]"
