"""An annotator's pages without a connection: the service worker, and the screens kept ahead."""

import json
from hashlib import sha256
from threading import Lock
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import get_template
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.entry import welcome
from annotation.judging.upcoming import screens_ahead
from annotation.models import Campaign
from annotation.views.judging.assignments import annotator_or_404
from annotation.views.judging.cards import drawn_ahead
from annotation.views.judging.unsent import answered_here

# Every module that a screen of any protocol comes to load.
MODULES = (
    *("ahead", "annotate", "around", "beside", "clock", "differences", "graphemes", "later"),
    *("marks", "outbox", "own", "pages", "player", "refused", "send", "sheet", "slider"),
    *("span-editor", "span-list", "spans", "store", "taxonomy", "visits"),
    *(f"protocols/{name}" for name in ("cells", "document", "grid", "load", "marking", "single")),
    "protocols/together",
)
FILES = ("icon.svg", "css/base.css", "css/annotate.css", *(f"js/{name}.js" for name in MODULES))


@require_safe
def worker(_request: HttpRequest) -> HttpResponse:
    """Return the service worker: it names the files of this version, and nothing of a person."""
    files = json.dumps([static(name) for name in FILES])
    version = sha256(files.encode()).hexdigest()[:12]
    # Without the request: nothing here depends on who asks.
    script = get_template("annotation/offline.js").render({"files": files, "version": version})
    response = HttpResponse(script, content_type="text/javascript; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    response["Service-Worker-Allowed"] = reverse("home")
    return response


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
    pages = drawn_ahead(request, found)
    paths = [reverse("item", args=[screen.public_id]) for screen in found]
    return JsonResponse(
        {"screens": [{"path": path, "html": html} for path, html in zip(paths, pages, strict=True)]}
    )


def _uuid(raw: str) -> UUID | None:
    try:
        return UUID(raw)
    except ValueError:
        return None
