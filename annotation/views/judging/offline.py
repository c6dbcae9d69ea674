"""The service worker, which shows an annotator's page without a connection."""

import json
from hashlib import sha256

from django.http import HttpRequest, HttpResponse
from django.template.loader import get_template
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe

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
