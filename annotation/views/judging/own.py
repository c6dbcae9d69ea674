"""What the item page shows of an annotator's own work beside the item."""

from django.http import HttpRequest, JsonResponse
from django.template.loader import get_template
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.entry import welcome
from annotation.judging import returning
from annotation.models import Campaign
from annotation.views.judging.assignments import annotator_or_404
from annotation.views.judging.signed_out import answered_here


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
