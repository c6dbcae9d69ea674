"""Tables out: CSV that no spreadsheet runs, JSON without nan, and the raw judgments as a stream."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.http import Http404, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from annotation.csvsafe import neutralise
from annotation.models import Campaign, Judgment
from annotation.quality import read_columns, standardise

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
)
COLUMNS = (
    "assignment__annotator_id",
    "assignment__item_id",
    "assignment__annotator__label",
    "assignment__annotator__is_simulated",
    "assignment__item__kind",
    "assignment__item__segment__key",
    "assignment__item__segment__document",
    "assignment__item__output__system__name",
    "score",
    "revision",
    "is_current",
    "started_at",
    "submitted_at",
)


class _Echo:
    """A file that hands back what is written to it."""

    def write(self, value: str) -> str:
        return value


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """Yield a CSV table line by line, with cells that begin like a formula neutralised."""
    writer = csv.writer(_Echo())
    yield writer.writerow(header)
    for row in rows:
        yield writer.writerow(["" if cell is None else neutralise(str(cell)) for cell in row])


def csv_response(
    name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> HttpResponseBase:
    """Answer with a CSV file, sent while it is made."""
    return StreamingHttpResponse(
        csv_lines(header, rows),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )


def table_response(
    fmt: str, name: str, header: Sequence[str], rows: Sequence[dict[str, Any]], document: Any
) -> HttpResponseBase:
    """Answer with `rows` as CSV or with `document` as JSON; 404 for another format."""
    if fmt == "csv":
        return csv_response(name, header, ([row[column] for column in header] for row in rows))
    if fmt == "json":
        return JsonResponse(document, json_dumps_params={"ensure_ascii": False})
    raise Http404


def judgments_response(campaign: Campaign, fmt: str) -> HttpResponseBase:
    """Answer with every judgment of a campaign, all revisions included."""
    if fmt == "csv":
        return csv_response(f"{campaign.slug}-judgments", JUDGMENT_HEADER, judgment_rows(campaign))
    if fmt == "json":
        return StreamingHttpResponse(_json_array(campaign), content_type="application/json")
    raise Http404


def _json_array(campaign: Campaign) -> Iterator[str]:
    before = "["
    for row in judgment_rows(campaign):
        yield before + json.dumps(
            dict(zip(JUDGMENT_HEADER, row, strict=True)), ensure_ascii=False, default=str
        )
        before = ",\n"
    yield "[]" if before == "[" else "]"


def judgment_rows(campaign: Campaign) -> Iterator[tuple[Any, ...]]:
    """Yield the values of JUDGMENT_HEADER; z-scores are of current judgments only."""
    z_of = _z_scores(campaign)
    rows = (
        Judgment.objects.filter(assignment__annotator__campaign=campaign)
        .order_by("assignment__annotator_id", "assignment__position", "revision")
        .values_list(*COLUMNS)
    )
    for annotator, item, label, simulated, *rest in rows.iterator(chunk_size=5_000):
        kind, segment, document, system, score, revision, current, start, end = rest
        z = z_of.get((annotator, item), (None, None)) if current else (None, None)
        seconds = round((end - start).total_seconds(), 3) if start and end else None
        ratio = str(campaign.length_ratio)
        known = (campaign.slug, label, simulated, kind, segment, document, system, ratio, score)
        yield (*known, *z, revision, current, _stamp(start), _stamp(end), seconds)


def _stamp(time: Any) -> str | None:
    return time.isoformat() if time else None


def _z_scores(campaign: Campaign) -> dict[tuple[int, int], tuple[float | None, float | None]]:
    columns = read_columns(campaign)
    if not len(columns):
        return {}
    keys = zip(columns.annotator.tolist(), columns.item.tolist(), strict=True)
    pools = [standardise(columns, pool).z for pool in ("targets", "all")]
    pairs = zip(*([None if z != z else z for z in pool.tolist()] for pool in pools), strict=True)
    return dict(zip(keys, pairs, strict=True))
