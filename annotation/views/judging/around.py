"""The document around a segment."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from annotation.access import signed_in
from annotation.judging.around import open_around
from annotation.views.judging.signed_out import answered_here
from annotation.web.errors import wants_json


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
