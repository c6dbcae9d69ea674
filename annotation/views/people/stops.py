"""Deciding whether somebody who was stopped goes on."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_admin, researcher_required, signed_in
from annotation.models import Stop
from annotation.qualification import stopping

VERBS = {"on": True, "end": False}


@researcher_required
@require_POST
def decide(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Let the annotator go on or not, with a word to them; of two admins the first decides."""
    campaign = campaign_for_admin(request, slug)
    get_object_or_404(Stop, pk=pk, annotator__campaign=campaign)
    do = request.POST.get("do", "")
    back = redirect(f"{reverse('access', args=[slug])}#stops")
    if do not in VERBS:
        messages.error(request, "Nothing was changed: choose whether the person goes on.")
        return back
    person = stopping.decide(
        campaign=campaign,
        pk=pk,
        actor=signed_in(request),
        may_go_on=VERBS[do],
        reply=request.POST.get("reply", ""),
    )
    if person is None:
        messages.error(request, "This was decided already.")
    elif VERBS[do]:
        messages.success(request, f"{person.label} can go on.")
    else:
        messages.success(request, f"{person.label} rates nothing more. All judgments stay.")
    return back
