"""What was decided, as annotators see it beside their own answers."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.adjudication.corrections import corrections
from annotation.views.judging.assignments import annotator_or_404


@never_cache
@require_safe
@login_required
def own_corrections(request: HttpRequest, slug: str) -> HttpResponse:
    """404 where the campaign shows nothing."""
    annotator = annotator_or_404(request, slug)
    if not annotator.campaign.shows_corrections:
        raise Http404
    context = {
        "campaign": annotator.campaign.name,
        "slug": slug,
        "corrections": corrections(annotator),
        "has_spans": annotator.campaign.judging.spans is not None,
    }
    return render(request, "annotation/corrections.html", context)
