"""The surroundings of an item: the document around it, its recording, and the work so far."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import get_template, render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.access import signed_in
from annotation.entry import welcome
from annotation.judging import returning
from annotation.judging.around import open_around
from annotation.judging.attachments import find_file
from annotation.models import Campaign
from annotation.views.judging.assignments import annotator_or_404
from annotation.views.judging.unsent import answered_here
from annotation.web.errors import wants_json
from annotation.web.ranges import answer


@never_cache
@vary_on_headers("Accept", "Cookie")
@require_GET
@answered_here
def around(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Show it, as a part of the item's page or on its own; that it was opened is stored."""
    found = open_around(user=signed_in(request), public_id=public_id)
    if found is None:
        raise Http404
    if wants_json(request):
        html = render_to_string("annotation/_around.html", {"around": found}, request)
        return JsonResponse({"html": html})
    return render(request, "annotation/around.html", {"around": found})


@never_cache
@require_safe
@answered_here
def own(request: HttpRequest, slug: str) -> JsonResponse:
    """Return the own screens as [address, first place, last place, 1 if rated], and the practice
    done so far as HTML, empty for none. No screens where nothing may be rated."""
    annotator = annotator_or_404(request, slug)
    is_open = annotator.campaign.status == Campaign.Status.OPEN
    if not is_open or welcome.next_step(annotator):
        return JsonResponse({"screens": [], "examples": ""})
    screens = [
        [reverse("item", args=[each.public_id]), each.first, each.last, int(each.is_done)]
        for each in returning.own_screens(annotator)
    ]
    examples = returning.examples(annotator)
    html = get_template("annotation/protocols/_examples.html").render(
        {"examples": examples}, request
    )
    return JsonResponse({"screens": screens, "examples": html if examples else ""})


@vary_on_headers("Cookie")
@require_safe
@login_required
def media(request: HttpRequest, public_id: UUID) -> HttpResponseBase:
    """Send it, or the part of it that a player asks for."""
    found = find_file(user=signed_in(request), public_id=public_id)
    if found is None:
        raise Http404
    path, content_type = found
    try:
        return answer(request, path, content_type, path.name)
    except FileNotFoundError:
        raise Http404 from None
