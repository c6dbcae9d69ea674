"""The live monitor of a campaign: a page that updates automatically, its JSON, and comments.

Counts come from the database and are at most a moment old. Verdicts and agreement are from a
document that is recomputed at most every `AGREEMENT_SECONDS`.
"""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.access import campaign_for_reader, researcher_required, runs_campaign
from annotation.filters import FilterError, Filters
from annotation.models import Campaign, Item
from annotation.monitor import MonitorReport, flagged_judgments, monitor_report
from annotation.notifications.delivery import SIGNATURE, secret_of
from annotation.qualification import stopping
from annotation.quality import Verdict
from annotation.web.live import is_part, render_live
from annotation.web.parameters import NOTHING, Parameters, page_of, takes
from core.caching import ttl_cache
from core.messages import as_json as message_as_json
from dashboards.documents import results
from dashboards.home.attention import silence
from dashboards.quality.agreement import AgreementSoFar, Figure
from metaeval.messages import Message, message, plural, truncated

PER_PAGE = 50
AGREEMENT_SECONDS = 30
FIGURES = ("one_vs_rest", "alpha_z", "alpha_raw")


def agreement_so_far(campaign: Campaign) -> results.Result[AgreementSoFar]:
    """Return agreement on outputs, at most `AGREEMENT_SECONDS` old where workers keep up."""
    return results.latest("agreement", campaign, Filters(), every=AGREEMENT_SECONDS)


@researcher_required
@require_safe
@takes(NOTHING)
@never_cache
def monitor(request: HttpRequest, slug: str, fmt: str = "") -> HttpResponseBase:
    """Show the progress of a campaign; htmx requests the changing part alone."""
    campaign = campaign_for_reader(request, slug)
    report, so_far = _report(campaign), agreement_so_far(campaign)
    found = so_far.document or AgreementSoFar(0, {}, ())
    assessed = {each.annotator: each for each in found.people}
    if fmt:
        document = as_json(campaign, report, so_far)
        return JsonResponse(document, json_dumps_params={"ensure_ascii": False})
    context = {
        "campaign": campaign,
        "report": report,
        "annotators": [(one, assessed.get(one.label)) for one in report.annotators],
        "attention": list(_attention(campaign, report, found)),
        "too_fast": found.too_fast,
        "is_live": campaign.status == Campaign.Status.OPEN,
        "section": "campaigns",
        "tab": "monitor",
    }
    if runs_campaign(request.user, campaign) and not is_part(request):
        context |= _notifications(campaign)
    return render_live(request, "dashboards/monitor.html", context)


def _report(campaign: Campaign) -> MonitorReport:
    """Return the cached report, recomputed when annotators are added or excluded."""
    people = campaign.annotators.order_by().values_list("pk", "excluded_at")
    key = ("monitor", campaign.pk, campaign.status, frozenset(people))
    return ttl_cache(key, lambda: monitor_report(campaign))


def _attention(
    campaign: Campaign, report: MonitorReport, found: AgreementSoFar
) -> Iterator[tuple[Message, str]]:
    """Yield what needs a decision or a reminder now, each with the page where it is done.

    The page is empty where it is done in the table of annotators.
    """
    counted = [one for one in report.annotators if one.state != "excluded"]
    labels = {one.label for one in counted}
    if fast := [label for label in found.too_fast if label in labels]:
        yield (
            plural(
                "attention.fast",
                "{annotators} rates faster than anyone can read.",
                "{annotators} rate faster than anyone can read.",
                n=len(fast),
                annotators=truncated(fast),
            ),
            "",
        )
    failed = [each.annotator for each in found.people if each.verdict == Verdict.FAILS]
    if failing := [label for label in failed if label in labels]:
        yield (
            plural(
                "attention.failing",
                "{annotators} fails the control items.",
                "{annotators} fail the control items.",
                n=len(failing),
                annotators=truncated(failing),
            ),
            "",
        )
    alpha = found.figures.get("alpha_z")
    if alpha and alpha.interval and alpha.interval[0] <= 0:
        yield (
            message(
                "attention.no-agreement",
                "Agreement of the annotators cannot be distinguished from zero.",
            ),
            "quality",
        )
    if stopped := stopping.waiting(campaign).filter(decided_at=None).count():
        yield (
            plural(
                "attention.stopped",
                "{n} stopped annotator is waiting for a decision.",
                "{n} stopped annotators are waiting for a decision.",
                n=stopped,
            ),
            "access",
        )
    if campaign.status != Campaign.Status.OPEN or report.is_complete:
        return
    times = [one.last for one in report.annotators if one.last]
    if text := silence(max(times, default=campaign.opened_at)):
        yield text, "letters"
    new = [one.label for one in counted if one.state == "new"]
    if new and len(new) < len(counted):
        yield (
            plural(
                "attention.new",
                "{annotators} has not started.",
                "{annotators} have not started.",
                n=len(new),
                annotators=truncated(new),
            ),
            "letters",
        )


def _notifications(campaign: Campaign) -> dict[str, Any]:
    """Return recent notifications and the secret of the webhook, for admins only."""
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
    """Show the flags and comments of annotators."""
    campaign = campaign_for_reader(request, slug)
    annotator = request.GET.get("annotator", "")
    if annotator and not campaign.annotators.filter(label=annotator).exists():
        raise FilterError(
            message(
                "monitor.no-annotator",
                "annotator: this campaign has no annotator “{annotator}”.",
                annotator=annotator,
            )
        )
    found = flagged_judgments(campaign, annotator=annotator)
    page = page_of(request, found, PER_PAGE)
    kinds = dict(Item.Kind.choices)
    rows = [row | {"kind": kinds[row["kind"]]} for row in page]
    context = {
        "campaign": campaign,
        "page": page,
        "rows": rows,
        "annotator": annotator,
        "section": "campaigns",
        "tab": "remarks",
    }
    return render(request, "dashboards/monitor_remarks.html", context)


def as_json(
    campaign: Campaign, report: MonitorReport, agreement: results.Result[AgreementSoFar]
) -> dict[str, Any]:
    """Return the whole report as plain values."""
    people = agreement.document.people if agreement.document else ()
    assessed = {each.annotator: each for each in people}
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
        "agreement": _agreement(agreement),
        "tested": message_as_json(report.tested),
        "too_fast": agreement.document.too_fast if agreement.document else None,
        "annotators": [
            {name: value for name, value in asdict(one).items() if name != "pk"}
            | {"verdict": each and each.verdict, "alpha": each and each.alpha}
            for one in report.annotators
            for each in [assessed.get(one.label)]
        ],
    }


def _agreement(so_far: results.Result[AgreementSoFar]) -> dict[str, Any]:
    """Return agreement by statistic; None where it is not computed or no output has two ratings."""
    found = so_far.document.figures if so_far.document else {}
    return {
        "as_of": so_far.as_of,
        "is_fresh": so_far.is_fresh,
        "n_units": so_far.document and so_far.document.n_units,
        **{name: _figure(found[name]) if name in found else None for name in FIGURES},
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "value": figure.statistic,
        "interval": figure.interval and dict(zip(("low", "high"), figure.interval, strict=False)),
        "method": figure.method and message_as_json(figure.method),
        "warnings": [message_as_json(each.message) for each in figure.warnings],
    }
