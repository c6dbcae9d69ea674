"""What annotators think of suggestions by AI: asked once, after a trial's last item."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from annotation.judging.progress import progress
from annotation.models import Annotator
from annotation.prefill.trial import is_trial
from annotation.views.judging.assignments import annotator_or_404

CHOICES = range(1, 6)


@never_cache
@require_POST
@login_required
def attitude(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the first answer of somebody who is done."""
    annotator = annotator_or_404(request, slug)
    if not is_trial(annotator.campaign):
        raise Http404
    how_far = progress(annotator)
    given = request.POST.get("attitude", "")
    is_known = given in {str(choice) for choice in CHOICES}
    if is_known and how_far.done and how_far.done == how_far.total:
        own = Annotator.objects.filter(pk=annotator.pk, attitude=None)
        own.update(attitude=int(given))
    return redirect("annotate-done", slug=slug)
