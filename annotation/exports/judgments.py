"""Judgments as a tidy table, one row per judgment, which reads back as the same judgments.

`kind` is the kind of item, `is_current` marks what counts, `is_excluded` an excluded annotator;
`item` and `partner` number items, so that controls can be paired. `z_targets` and `z_all` are
z-scores of current judgments over outputs and over everything. `seconds` is the server's time;
`visible_ms`, `active_ms`, `paid_ms` and `time_doubt` are the other clocks, and `sent_together` how
many answers shared one screen. `screen`, `place`, `column` (from 1) and `n_columns` say beside what
an output was shown, `position` when in the annotator's own order. `context_openings` is how often
the document around the segment was opened, `plays` how often its recording was played. `spans` is
JSON in CSV and nested elsewhere.

`judgment_key` identifies a judgment and `annotator_key` a person in all exports of all servers:
`A1` of two campaigns are two people unless their keys are equal. `settings` has the campaign's
name, question, own scales and errors, and so on as JSON, in its first row.

Some campaigns have more columns: `own_text` (items whose text is no output), `note`, `low`, `high`,
`feedback` and `rules` (gold and practice), `excluded_at` and `exclusion_reason`, `openings` and
`playing` (when documents were opened and recordings played, as JSON). Own scales, choices and
post-editing have `scale_NAME`, `choice_NAME`, `post_edit`, `hter`; scores are in the unit of their
scale. Where errors are suggested, there is `condition`. `inclusion` is the probability with which a
system was drawn for its screen, and `segment_inclusion` that with which a segment was drawn, where
a part of the test set is judged; it is empty for control items of other segments.

The tables of spans have one row per span, which `judgment` joins to the judgments; `origin` and
`fate` say what came of suggestions.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from django.db.models import Count, Q
from django.http import Http404, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import salted_hmac

from annotation.exports.rows import (
    judgments_of,
    moments,
    system_name,
    values_with_spans,
    with_spans,
)
from annotation.exports.tables import csv_lines, csv_response, in_blocks
from annotation.filters import EVERYTHING, Filters
from annotation.imports.judgments.exported.columns import (
    CHOICE,
    COLUMNS,
    CONDITION,
    EDITS,
    EXCLUSION,
    GOLD,
    INCLUSION,
    NOTE,
    OPENINGS,
    PERSON,
    PLAYING,
    SAMPLED,
    SCALE,
    SOME,
    TEXT,
    Type,
    type_of,
)
from annotation.imports.judgments.exported.settings import SETTINGS
from annotation.judging.answers import rated_text
from annotation.models import AuditEntry, Campaign, ContextOpening, Item, Playback, SuggestionFate
from annotation.prefill.suggestions import key_of
from annotation.protocols import Span
from annotation.protocols.base import TARGET
from annotation.quality.exclusions import EXCLUDE
from core.text import RISKY, neutralise

# Error spans as a table of their own: one row per span, joined to judgments by `judgment`.
# Where errors are suggested, `origin` and `fate` say where a span came from.

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
FATE = ("origin", "fate")
Row = dict[str, Any]


def span_dict(span: Span) -> Row:
    """Return a span by the names of its fields."""
    return {
        "side": span.side,
        "start": span.start,
        "end": span.end,
        "severity": span.severity,
        "category": span.category,
    }


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


JUDGMENT_HEADER = tuple(COLUMNS)
ANNOTATOR, ITEM = "assignment__annotator", "assignment__item"
# Columns that are stored as they go out, and where.
STORED = {
    **dict.fromkeys(
        (
            "score", "revision", "is_current", "started_at", "submitted_at", "penalty", "comment",
            "is_flagged", "visible_ms", "active_ms", "paid_ms", "time_doubt", "sent_together",
        )
    ),
    "judgment": "pk",
    "judgment_key": "submit_key",
    "position": "assignment__position",
    "annotator": f"{ANNOTATOR}__label",
    "is_simulated": f"{ANNOTATOR}__is_simulated",
    "item": f"{ITEM}_id",
    "partner": f"{ITEM}__partner_id",
    **{name: f"{ITEM}__{name}" for name in ("kind", "batch", "screen", "place", "n_columns")},
    "segment": f"{ITEM}__segment__key",
    "document": f"{ITEM}__segment__document",
}  # fmt: skip
# What other columns are made of.
PARTS = {
    "assignment": "assignment_id",
    "person": f"{ANNOTATOR}_id",
    "account": f"{ANNOTATOR}__user_id",
    "external": f"{ANNOTATOR}__external_id",
    "excluded": f"{ANNOTATOR}__excluded_at",
    "drawn": "assignment__column",
    "stands": f"{ITEM}__column",
    "by": f"{ITEM}__output__system__name",
    "whole": f"{ITEM}__system__name",
    "of": f"{ITEM}__segment_id",
}
# The same of columns that only some campaigns have.
MORE = {
    **{name: name for name in ("ratings", "choices", *EDITS)},
    **{name: f"assignment__{name}" for name in (CONDITION, INCLUSION)},
    **{name: f"{ITEM}__{name}" for name in (NOTE, *GOLD)},
    TEXT: f"{ITEM}__text",
}
TIMES = [name for name, kind in (COLUMNS | SOME).items() if kind == Type.TIME]
# Both z-scores of a person's value.
Z = Callable[[int, float], tuple[float | None, ...]]
# Columns of text that no person wrote: their cells never begin like a formula.
CODES = frozenset({"kind", "length_ratio", "protocol", "time_doubt", "judgment_key"})


def header_of(campaign: Campaign) -> tuple[str, ...]:
    """Return the names of a campaign's columns: own scales, choices and edits come last."""
    protocol = campaign.judging
    scales = [SCALE + scale.key for scale in protocol.scales if scale.key]
    choices = [CHOICE + choice.key for choice in protocol.choices]
    is_gold = Q(kind__in=(Item.Kind.GOLD, Item.Kind.TUTORIAL))
    has = campaign.items.aggregate(
        texts=Count("pk", filter=~Q(text="")),
        notes=Count("pk", filter=~Q(note="")),
        gold=Count("pk", filter=is_gold | ~Q(feedback="") | Q(rules__isnull=False)),
    )
    some = {
        (TEXT,): has["texts"],
        (NOTE,): has["notes"],
        GOLD: has["gold"],
        EXCLUSION: campaign.annotators.exclude(excluded_at=None).exists(),
        (OPENINGS,): _openings_of(campaign).exists(),
        (PLAYING,): _plays_of(campaign).exists(),
        (*scales, *choices): True,
        EDITS: bool(protocol.text),
        (CONDITION,): campaign.is_prefilled,
        (INCLUSION,): campaign.assignment_mode == Campaign.Mode.DYNAMIC,
        (SAMPLED,): campaign.sample is not None,
    }
    more = (name for names, is_there in some.items() if is_there for name in names)
    return (*JUDGMENT_HEADER, *more)


def judgment_dicts(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[Row]:
    """Yield judgments by the names of `header_of`; z-scores are of current ones only.

    Times are datetimes and spans lists of dictionaries; other lists and objects are JSON. Rows that
    filters exclude are not part of the z-scores of the others.
    """
    header = header_of(campaign)
    for values in _values(campaign, filters, header):
        yield {name: values[name] for name in header}


def _values(campaign: Campaign, filters: Filters, header: Sequence[str]) -> Iterator[Row]:
    """Yield the columns of `header` by name, together with what they are made of."""
    pools = moments(campaign, filters)
    reasons = _reasons(campaign) if EXCLUSION[0] in header else {}
    openings, playing = _openings(campaign), dict(_plays_of(campaign))
    sampled = dict(campaign.sampled_segments.values_list("segment", "inclusion"))
    more = header[len(JUDGMENT_HEADER) :]
    paths = {name: path or name for name, path in (STORED | PARTS).items()}
    paths |= MORE if more else {}
    settings: str | None = settings_text(campaign)
    same = _same(campaign)

    @lru_cache(maxsize=10_000)
    def z(person: int, value: float) -> tuple[float | None, ...]:
        known = (pools[name].get(person) for name in ("targets", "all"))
        return tuple(each.z(value) if each else None for each in known)

    for values, spans in values_with_spans(campaign, filters, paths):
        values[OPENINGS] = openings.get(values["assignment"], [])
        values[PLAYING] = playing.get(values["judgment"], [])
        values[SAMPLED] = sampled.get(values["of"])
        values["exclusion_reason"] = reasons.get(values["person"], "")
        later = [(name, _more(values, name)) for name in more]
        values |= same
        _make(values, spans, z)
        values["settings"], settings = settings, None
        values.update(later)
        yield values


def settings_text(campaign: Campaign) -> str:
    """Return the settings of a campaign that its judgments depend on, as JSON."""
    values = {name: getattr(campaign, name) for name in SETTINGS}
    return json.dumps(values, ensure_ascii=False)


def _more(values: Row, name: str) -> Any:
    if name.startswith(CHOICE):
        return values["choices"].get(name.removeprefix(CHOICE))
    if name.startswith(SCALE):
        return values["ratings"].get(name.removeprefix(SCALE))
    if name == "excluded_at":
        return values["excluded"]
    value = values[name]
    if name in (OPENINGS, PLAYING, "rules"):
        return json.dumps(value, ensure_ascii=False) if value else None
    return value


def _reasons(campaign: Campaign) -> dict[int, str]:
    """Return the reason of the last exclusion of each annotator."""
    rows = AuditEntry.objects.filter(campaign=campaign, action=EXCLUDE).order_by("pk")
    return dict(rows.values_list("annotator_id", "reason"))


def _openings_of(campaign: Campaign) -> Any:
    return ContextOpening.objects.filter(assignment__annotator__campaign=campaign)


def _openings(campaign: Campaign) -> dict[int, list[str]]:
    """Return when the document around an item's segment was opened, by assignment."""
    found: dict[int, list[str]] = {}
    for assignment, time in _openings_of(campaign).values_list("assignment", "opened_at"):
        found.setdefault(assignment, []).append(time.isoformat())
    return found


def _plays_of(campaign: Campaign) -> Any:
    """Return how the recording beside a segment was played, by judgment."""
    own = Playback.objects.filter(judgment__assignment__annotator__campaign=campaign)
    return own.values_list("judgment", "events")


def _same(campaign: Campaign) -> Row:
    """Return the columns that are the same in every row."""
    return {
        "campaign": campaign.slug,
        "length_ratio": str(campaign.length_ratio),
        "protocol": campaign.protocol,
        "source_language": campaign.test_set.source_language,
        "target_language": campaign.test_set.target_language,
    }


def _make(values: Row, spans: Sequence[Span], z: Z) -> None:
    """Add the columns that are not stored as they go out."""
    start, end, drawn = values["started_at"], values["submitted_at"], values["drawn"]
    values["system"] = values["by"] or values["whole"]
    values["z_targets"], values["z_all"] = _z(values, z)
    values["seconds"] = round((end - start).total_seconds(), 3) if start and end else None
    values["is_excluded"] = values["excluded"] is not None
    values["column"] = (values["stands"] if drawn is None else drawn) + 1
    values["context_openings"] = len(values[OPENINGS])
    values["plays"] = sum(what == "play" for _, what, _ in values[PLAYING])
    values["spans"] = [span_dict(span) for span in spans] if spans else []
    person = values["person"], values["account"], values["external"]
    values["annotator_key"] = annotator_key(*person)
    values["judgment_key"] = str(values["judgment_key"])


@lru_cache(maxsize=10_000)
def annotator_key(person: int, account: int | None, external: str) -> str:
    """Return what identifies a person: their key where they were imported from, or a new one.

    One account, or one person of a provider, has the same key in all campaigns; nobody can tell
    from it who it is.
    """
    if external.startswith(PERSON):
        return external.removeprefix(PERSON)
    value = f"id:{external}" if external else f"account:{account}" if account else f"own:{person}"
    return salted_hmac("annotation.exports.person", value, algorithm="sha256").hexdigest()[:20]


def _z(values: Row, z: Z) -> tuple[float | None, ...]:
    """Return both z-scores of a judgment; None if analyses do not count it."""
    is_practice = values["kind"] == Item.Kind.TUTORIAL
    if not values["is_current"] or is_practice or values["excluded"] is not None:
        return (None, None)
    return z(values["person"], -values["penalty"] if values["score"] is None else values["score"])


def plain(row: Row) -> Row:
    """Make the times of a row text, as JSON and CSV have them, and return it."""
    for name in TIMES:
        if time := row.get(name):
            row[name] = time.isoformat()
    return row


def judgment_lines(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[str]:
    """Yield the judgments as a CSV table in portions of lines."""
    return csv_lines(header_of(campaign), judgment_rows(campaign, filters), is_harmless=True)


def judgment_rows(campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[tuple[Any, ...]]:
    """Yield the values of `header_of` as CSV cells that no spreadsheet runs; spans are JSON."""
    header = header_of(campaign)
    cells = itemgetter(*header)
    texts = [name for name in header if type_of(name) == Type.TEXT and name not in CODES]
    for row in map(plain, _values(campaign, filters, header)):
        row["spans"] = json.dumps(row["spans"], ensure_ascii=False) if row["spans"] else "[]"
        for name in texts:
            if (text := row[name]) and str(text)[0] in RISKY:
                row[name] = neutralise(text)
        yield cells(row)


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
        return csv_response(name, judgment_lines(campaign, filters))
    if fmt == "json":
        name = filters.file_name(f"{campaign.slug}-judgments")
        return StreamingHttpResponse(
            in_blocks(_json_array(campaign, filters)),
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
