"""Imports by a worker: progress, problems, and what was stored; cancelling one."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import is_site_admin, researcher_required, signed_in
from annotation.forms.preview import Preview, download
from annotation.imports import background
from annotation.models import Campaign, FileImport, TestSet
from annotation.web import fresh_links
from annotation.web.live import is_part, render_live
from metaeval.messages import from_json


@researcher_required
@require_http_methods(["GET", "HEAD"])
def file_import(request: HttpRequest, pk: int) -> HttpResponse:
    """Show an import; once its files are checked, go on to their preview."""
    row = get_object_or_404(imports_for(request.user), pk=pk)
    is_own, door = row.created_by_id == signed_in(request).pk, background.door_named(row.door)
    if row.state == row.State.CHECKED and is_own and door.has_preview:
        preview = background.preview_of(row)
        if is_part(request):
            return HttpResponse(headers={"HX-Redirect": preview, "Vary": "HX-Request"})
        return redirect(preview)
    report = background.report_of(row)
    if "problems" in request.GET:
        return download(report)
    context = {
        "row": row,
        "shown": Preview(report),
        "address": "?",
        "page": door.page(row),
        "section": "campaigns",
        **_stored(request, row, is_own=is_own),
    }
    return render_live(request, "annotation/file_import.html", context)


@researcher_required
@require_POST
def file_import_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel an import that has not ended."""
    row = get_object_or_404(imports_for(request.user), pk=pk)
    if not background.cancel(row):
        messages.error(request, _("This import has already ended."))
    return redirect(row)


def imports_for(user: Any) -> QuerySet[FileImport]:
    """Return a user's own imports; all imports for site admins."""
    # An extension that was removed leaves rows of its kinds.
    rows = FileImport.objects.filter(door__in=settings.IMPORT_DOORS).select_related("created_by")
    return rows if is_site_admin(user) else rows.filter(created_by=user)


def _stored(request: HttpRequest, row: FileImport, *, is_own: bool) -> dict[str, Any]:
    """Return what an import stored, as far as it is still there.

    The person whose files they were gets the personal links as after any other step.
    """
    links = row.stored.get("links", {}) if is_own else {}
    results = {each["slug"]: each for each in row.stored.get("results", [])}
    found = Campaign.objects.filter(slug__in=results).select_related("test_set").order_by("name")
    launched = []
    for campaign in found:
        fresh_links.keep_sealed(request, campaign, links.get(campaign.slug, []))
        result = results[campaign.slug]
        contents = [from_json(each) for each in result["contents"]]
        stored = {"result": {**result, "campaign": campaign, "contents": contents}}
        launched.append({**stored, "invitations": fresh_links.shown(request, campaign)})
    if links:
        del row.stored["links"]  # they are in the session now
        row.save(update_fields=["stored"])
    sets = TestSet.objects.filter(slug__in=row.stored.get("test_sets", []))
    return {
        "launched": launched if row.state == row.State.STORED else [],
        "sentences": [from_json(each) for each in row.stored.get("sentences", [])],
        "test_sets": sets.exclude(pk__in=[campaign.test_set_id for campaign in found]),
    }
