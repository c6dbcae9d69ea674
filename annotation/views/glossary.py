"""The glossary as a page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.access import researcher_required
from annotation.glossary import GROUPS


@researcher_required
@require_GET
def glossary(request: HttpRequest) -> HttpResponse:
    """Every term that researchers' pages use."""
    return render(request, "glossary.html", {"groups": GROUPS.items()})
