"""The recording or picture of a segment, for its annotator alone."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.access import signed_in
from annotation.judging.attachments import find_file
from annotation.web.ranges import answer


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
