"""The live monitor of a campaign: a page that keeps itself fresh, the same as JSON, remarks."""

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.access import campaign_for_reader, researcher_required, runs_campaign
from annotation.delivery import SIGNATURE, secret_of
from annotation.filters import FilterError
from annotation.models import Campaign, Item
from annotation.monitor import AgreementSoFar, MonitorReport, monitor_report, remarks
from annotation.quality import Figure
from annotation.quality.tables import finite
from annotation.views.live import is_part, render_live
from annotation.views.paging import page_of
from annotation.views.parameters import NOTHING, Parameters, takes

PER_PAGE = 50


@researcher_required
@require_safe
@takes(NOTHING)
@never_cache
def monitor(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """Where the campaign stands; htmx asks for what changes alone."""
    campaign = campaign_for_reader(request, slug)
    report = monitor_report(campaign)
    if fmt:
        return JsonResponse(as_json(campaign, report), json_dumps_params={"ensure_ascii": False})
    context = {
        "campaign": campaign,
        "report": report,
        "is_live": campaign.status == Campaign.Status.OPEN,
        "section": "campaigns",
        "tab": "monitor",
    }
    if runs_campaign(request.user, campaign) and not is_part(request):
        context |= _notifications(campaign)
    return render_live(request, "annotation/monitor.html", context)


def _notifications(campaign: Campaign) -> dict[str, Any]:
    """Who is told, how that went, and the secret of the webhook: for admins only."""
    sent = campaign.audit.filter(action__in=("notified", "notification failed"))
    return {
        "shows_notifications": True,
        "notices": sent.order_by("-pk")[:5],
        "secret": secret_of(campaign.slug),
        "signature_header": SIGNATURE,
    }


@researcher_required
@require_safe
@takes(Parameters(frozenset({"annotator", "page"})))
def monitor_remarks(request: HttpRequest, slug: str) -> HttpResponse:
    """What annotators flagged or commented on."""
    campaign = campaign_for_reader(request, slug)
    annotator = request.GET.get("annotator", "")
    if annotator and not campaign.annotators.filter(label=annotator).exists():
        raise FilterError(f"annotator: this campaign has no annotator {annotator}")
    found = remarks(campaign, annotator=annotator)
    page = page_of(request, found, PER_PAGE)
    kinds = dict(Item.Kind.choices)
    rows = [row | {"kind": kinds[row["kind"]]} for row in page]
    context = {
        "campaign": campaign,
        "page": page,
        "rows": rows,
        "annotator": annotator,
        "section": "campaigns",
        "tab": "monitor",
    }
    return render(request, "annotation/monitor_remarks.html", context)


def as_json(campaign: Campaign, report: MonitorReport) -> dict[str, Any]:
    """Return the whole report as plain values."""
    return {
        "campaign": campaign.slug,
        "status": campaign.status,
        "as_of": report.as_of,
        "done": report.done,
        "total": report.total,
        "is_complete": report.is_complete,
        "per_hour": report.per_hour,
        "finish_at": report.finish_at,
        "hours": [asdict(hour) for hour in report.hours],
        "agreement": _agreement(report.agreement),
        "tested": report.tested,
        "annotators": [
            {name: value for name, value in asdict(one).items() if name != "pk"}
            for one in report.annotators
        ],
    }


def _agreement(so_far: AgreementSoFar) -> dict[str, Any]:
    figures = so_far.found.figures if so_far.found else {}
    return {
        "as_of": so_far.as_of,
        "n_units": so_far.n_units,
        **dict.fromkeys(("one_vs_rest", "alpha_z", "alpha_raw")),
        **{name: _figure(figure) for name, figure in figures.items()},
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "value": finite(figure.statistic),
        "interval": figure.interval and figure.interval._asdict(),
        "method": figure.method,
        "warnings": [each.message for each in figure.warnings],
    }
