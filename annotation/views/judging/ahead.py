"""The screens that a browser keeps for the time without a connection."""

from threading import Lock
from typing import Any
from uuid import UUID

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.entry import welcome
from annotation.judging.screens import ShownScreen
from annotation.judging.upcoming import screens_ahead
from annotation.models import Campaign
from annotation.views.judging.assignments import annotator_or_404
from annotation.views.judging.cards import drawn, fresh_cards
from annotation.views.judging.signed_out import answered_here

# One thread of a process fetches; the others take answers, for which somebody waits.
fetching = Lock()


@never_cache
@require_safe
@answered_here
def ahead(request: HttpRequest, slug: str) -> JsonResponse:
    """Return the next screens as they would be shown, after the item `after` if it is open.

    `later` asks the browser to come back in a moment.
    """
    if not fetching.acquire(blocking=False):
        return JsonResponse({"screens": [], "later": True})
    try:
        return _fetched(request, slug)
    finally:
        fetching.release()


def _fetched(request: HttpRequest, slug: str) -> JsonResponse:
    """Return the next screens; None if nothing may be rated, as the page learns when it submits."""
    annotator = annotator_or_404(request, slug)
    is_open = annotator.campaign.status == Campaign.Status.OPEN
    if not is_open or welcome.next_step(annotator):
        return JsonResponse({"screens": []})
    found = screens_ahead(annotator=annotator, after=_uuid(request.GET.get("after", "")))
    return JsonResponse({"screens": [_drawn(request, screen) for screen in found]})


def _drawn(request: HttpRequest, screen: ShownScreen) -> dict[str, Any]:
    html = drawn(request, screen, fresh_cards(request, screen))
    return {"path": reverse("item", args=[screen.public_id]), "html": html}


def _uuid(raw: str) -> UUID | None:
    try:
        return UUID(raw)
    except ValueError:
        return None
