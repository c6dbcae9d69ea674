"""Show one output: its texts, all judgments and all scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Any

from django.db.models import Avg, Count, F, Max, Min, Q
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import campaign_for_reader, researcher_required
from annotation.models import Campaign, Item, Judgment, Output, PublishedScore
from annotation.models.judgment import VALUE
from annotation.web.parameters import NOTHING, takes
from core.text import key
from dashboards.spans.page import MarkedText, marked_texts
from metrics import catalogue, documents
from metrics.imported.held import of_output
from metrics.models import MetricSignature, SegmentScore
from metrics.scores import latest_signatures, unpack

KINDS = (Item.Kind.TARGET, Item.Kind.REPEAT)
ANNOTATOR = "assignment__annotator"


@dataclass(frozen=True)
class JudgmentLine:
    """One current judgment; `z` is None for practice, and for excluded or constant annotators."""

    annotator: str
    is_repeat: bool
    value: float
    z: float | None
    seconds: float | None
    submitted_at: datetime | None
    comment: str
    is_excluded: bool


@dataclass(frozen=True)
class ScoreLine:
    """One measure of one metric, computed here or imported."""

    label: str
    value: float
    is_turned: bool
    signature: str
    is_imported: bool = False


@dataclass(frozen=True)
class OutputView:
    """Everything about one output."""

    output: Output
    references: Sequence[str]
    judgments: Sequence[JudgmentLine]
    published: float | None
    scores: Sequence[ScoreLine]
    marked: Sequence[MarkedText] = ()
    is_published_lower: bool = False


def find_output(campaign: Campaign, pk: int | str) -> Output:
    """Return an output of a campaign's systems; 404 for any other."""
    rows = Output.objects.select_related("system", "segment")
    found = rows.filter(system__campaigns=campaign, pk=key(str(pk))).first()
    if found is None:
        raise Http404
    return found


def output_view(campaign: Campaign, output: Output) -> OutputView:
    """Read an output's judgments and scores, in a handful of queries."""
    published = PublishedScore.objects.filter(campaign=campaign, output=output).first()
    references = output.segment.references.values_list("text", flat=True)
    signatures = {row.pk: row for row in latest_signatures(campaign.test_set).values()}
    return OutputView(
        output,
        list(references),
        _judgments(campaign, output),
        published.value if published else None,
        _scores(output, signatures),
        marked_texts(campaign, output, list(signatures.values())),
        campaign.lower_is_better,
    )


def _judgments(campaign: Campaign, output: Output) -> list[JudgmentLine]:
    items = Item.objects.filter(campaign=campaign, output=output, kind__in=KINDS).order_by()
    # Few are named, so that a database begins with them and not with all of the campaign.
    rows = Judgment.objects.filter(
        is_current=True, assignment__item__in=list(items.values_list("pk", flat=True))
    ).select_related("assignment__annotator", "assignment__item")
    found = list(rows.order_by(f"{ANNOTATOR}__label", "pk"))
    spreads = _spreads(campaign, {row.assignment.annotator_id for row in found})
    return [_line(row, _z(row, spreads)) for row in found]


def _line(row: Judgment, z: float | None) -> JudgmentLine:
    started, submitted = row.started_at, row.submitted_at
    seconds = (submitted - started).total_seconds() if started and submitted else None
    return JudgmentLine(
        annotator=row.assignment.annotator.label,
        is_repeat=row.assignment.item.kind == Item.Kind.REPEAT,
        value=row.value,
        z=z,
        seconds=seconds / row.sent_together if seconds is not None else None,
        submitted_at=submitted,
        comment=row.comment,
        is_excluded=row.assignment.annotator.excluded_at is not None,
    )


def _spreads(campaign: Campaign, annotators: set[int]) -> dict[int, tuple[float, float]]:
    """Return mean and standard deviation (ddof 1) of a few annotators over the campaign's pool.

    The database computes them, so other judgments are not read. Constant annotators are skipped.
    """
    rows = Judgment.objects.filter(
        is_current=True,
        assignment__annotator__in=annotators,
        assignment__annotator__excluded_at=None,
    ).exclude(assignment__item__kind=Item.Kind.TUTORIAL)
    if campaign.z_pool != Campaign.ZPool.ALL:
        rows = rows.filter(assignment__item__kind=Item.Kind.TARGET)
    found = (
        rows.order_by()
        .values(who=F(f"{ANNOTATOR}_id"))
        .annotate(n=Count("pk"), mean=Avg(VALUE), squares=Avg(VALUE * VALUE))
        .annotate(low=Min(VALUE), high=Max(VALUE))
    )
    return {
        row["who"]: (row["mean"], sqrt((row["squares"] - row["mean"] ** 2) * n / (n - 1)))
        for row in found
        if row["low"] < row["high"]
        for n in [row["n"]]
    }


def _z(row: Judgment, spreads: Mapping[int, tuple[float, float]]) -> float | None:
    if row.assignment.annotator_id not in spreads:
        return None
    mean, sd = spreads[row.assignment.annotator_id]
    return (row.value - mean) / sd


def _scores(output: Output, signatures: Mapping[int, MetricSignature]) -> list[ScoreLine]:
    by_content = Q(signature__in=list(signatures), content_key=output.content_key)
    for pk, signature in signatures.items():
        info = catalogue.get(signature.metric)
        if info.reads_documents:
            by_content |= Q(signature=pk, content_key=documents.key_of(info, output))
    stored = SegmentScore.objects.filter(by_content).order_by()
    packed: dict[int, Any] = dict(stored.values_list("signature_id", "values"))
    brought = of_output(list(signatures.values()), output)
    lines = []
    for pk, signature in signatures.items():
        if pk in packed:
            lines += _score_lines(signature, packed[pk])
        elif pk in brought:
            lines.append(_imported_line(signature, brought[pk]))
    return lines


def _imported_line(signature: MetricSignature, value: float) -> ScoreLine:
    info = catalogue.get(signature.metric)
    return ScoreLine(info.label, value, not info.higher_is_better, signature.signature, True)


def _score_lines(signature: MetricSignature, packed: bytes) -> list[ScoreLine]:
    info = catalogue.get(signature.metric)
    labels = dict(zip(info.measures, info.measure_labels, strict=True))
    width = len(signature.measures) + len(signature.statistics)
    values = unpack([packed], width)[0]
    return [
        ScoreLine(
            labels.get(key, key), float(value), not info.higher_is_better, signature.signature
        )
        for key, value in zip(signature.measures, values, strict=False)
        if key in info.table_measures or key not in info.measures
    ]


@researcher_required
@require_safe
@takes(NOTHING)
def output(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """Show one output, as a fragment for the scatter plot or as a page."""
    campaign = campaign_for_reader(request, slug)
    context = output_context(campaign, pk)
    is_fragment = request.headers.get("X-Fragment") == "output"
    template = "dashboards/_output.html" if is_fragment else "dashboards/output.html"
    return render(request, template, context | {"section": "campaigns", "tab": "scatter"})


def output_context(campaign: Campaign, pk: int | str) -> dict[str, Any]:
    """Return the context of one output; 404 for an output of another campaign."""
    return {"campaign": campaign, "shown": output_view(campaign, find_output(campaign, pk))}
