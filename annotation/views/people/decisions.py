"""Decide about annotators: exclude, include, reassign their items, and end a stop."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_admin, researcher_required, signed_in
from annotation.models import Annotator, Stop
from annotation.qualification import stopping
from annotation.quality.exclusions import exclude_annotator, include_annotator, reassign_items
from core.messages import messages_of, sentences, translated
from metaeval.messages import Message, message, plural

EXCLUSIONS: dict[str, Callable[..., Any]] = {
    "exclude": exclude_annotator,
    "include": include_annotator,
    "reassign": reassign_items,
}


@researcher_required
@require_POST
def decide_exclusion(request: HttpRequest, slug: str, pk: int, verb: str) -> HttpResponse:
    """Execute a decision with its reason, and return to the monitor."""
    if verb not in EXCLUSIONS:
        raise Http404
    campaign = campaign_for_admin(request, slug)
    annotator = get_object_or_404(Annotator, campaign=campaign, pk=pk)
    reason = request.POST.get("reason", "")
    try:
        result = EXCLUSIONS[verb](annotator=annotator, actor=request.user, reason=reason)
        messages.success(request, sentences(_done(verb, annotator.label, result)))
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)))
    return redirect("monitor", slug=slug)


def _done(verb: str, label: str, result: Any) -> list[Message]:
    if verb == "exclude":
        return [
            message(
                "exclusion.excluded",
                "{annotator} is excluded. The judgments are kept, and no analysis uses them.",
                annotator=label,
            )
        ]
    if verb == "include":
        return [
            message(
                "exclusion.included",
                "{annotator} is included. The judgments are used again.",
                annotator=label,
            )
        ]
    given = plural(
        "exclusion.reassigned",
        "Reassigned {n} screen of {annotator}.",
        "Reassigned {n} screens of {annotator}.",
        n=result.given,
        annotator=label,
    )
    left = plural(
        "exclusion.not-reassigned",
        "{n} screen could not be reassigned, because all other annotators have seen it.",
        "{n} screens could not be reassigned, because all other annotators have seen them.",
        n=result.left,
    )
    return [given, left] if result.left else [given]


ALREADY_DECIDED = message("stop.already-decided", "This has already been decided.")
CHOICES = {"on": True, "end": False}


@researcher_required
@require_POST
def decide_stop(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Let a stopped annotator continue or not, with a reply; the first admin's decision counts."""
    campaign = campaign_for_admin(request, slug)
    get_object_or_404(Stop, pk=pk, annotator__campaign=campaign)
    do = request.POST.get("do", "")
    back = redirect(f"{reverse('access', args=[slug])}#stops")
    if do not in CHOICES:
        messages.error(
            request, _("Nothing was changed. Choose whether the annotator can continue.")
        )
        return back
    person = stopping.decide(
        campaign=campaign,
        pk=pk,
        actor=signed_in(request),
        may_go_on=CHOICES[do],
        reply=request.POST.get("reply", ""),
    )
    if person is None:
        messages.error(request, translated(ALREADY_DECIDED))
    elif CHOICES[do]:
        text = _("%(annotator)s can continue.")
        messages.success(request, text % {"annotator": person.label})
    else:
        text = _("%(annotator)s cannot rate any more items. All judgments are kept.")
        messages.success(request, text % {"annotator": person.label})
    return back
