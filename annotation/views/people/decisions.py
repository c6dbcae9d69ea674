"""Deciding about annotators: exclude, include, give their items to others, and end a stop."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_admin, researcher_required, signed_in
from annotation.models import Annotator, Stop
from annotation.qualification import stopping
from annotation.quality.exclusions import exclude_annotator, include_annotator, reassign_items

EXCLUSIONS: dict[str, Callable[..., Any]] = {
    "exclude": exclude_annotator,
    "include": include_annotator,
    "reassign": reassign_items,
}


@researcher_required
@require_POST
def decide_exclusion(request: HttpRequest, slug: str, pk: int, verb: str) -> HttpResponse:
    """Carry out one decision, with its reason, and return to the quality page."""
    if verb not in EXCLUSIONS:
        raise Http404
    campaign = campaign_for_admin(request, slug)
    annotator = get_object_or_404(Annotator, campaign=campaign, pk=pk)
    reason = request.POST.get("reason", "")
    try:
        result = EXCLUSIONS[verb](annotator=annotator, actor=request.user, reason=reason)
        messages.success(request, _sentence(verb, annotator.label, result))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("quality", slug=slug)


def _sentence(verb: str, label: str, result: Any) -> str:
    if verb == "exclude":
        return f"{label} is excluded: the judgments stay, and no analysis counts them."
    if verb == "include":
        return f"{label} is included: the judgments count again."
    left = f" For {result.left:,} nobody is left who has not seen them." if result.left else ""
    return f"{result.given:,} of {label}’s screens go to others.{left}"


CHOICES = {"on": True, "end": False}


@researcher_required
@require_POST
def decide_stop(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Let the annotator go on or not, with a word to them; of two admins the first decides."""
    campaign = campaign_for_admin(request, slug)
    get_object_or_404(Stop, pk=pk, annotator__campaign=campaign)
    do = request.POST.get("do", "")
    back = redirect(f"{reverse('access', args=[slug])}#stops")
    if do not in CHOICES:
        messages.error(request, "Nothing was changed: choose whether the person goes on.")
        return back
    person = stopping.decide(
        campaign=campaign,
        pk=pk,
        actor=signed_in(request),
        may_go_on=CHOICES[do],
        reply=request.POST.get("reply", ""),
    )
    if person is None:
        messages.error(request, "This was decided already.")
    elif CHOICES[do]:
        messages.success(request, f"{person.label} can go on.")
    else:
        messages.success(request, f"{person.label} rates nothing more. All judgments stay.")
    return back
