"""Deciding about an annotator on the page: exclude, include, give the items to others."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotation.access import campaign_for_admin, researcher_required
from annotation.models import Annotator
from annotation.quality.exclusions import exclude_annotator, include_annotator, reassign_items

VERBS: dict[str, Callable[..., Any]] = {
    "exclude": exclude_annotator,
    "include": include_annotator,
    "reassign": reassign_items,
}


@researcher_required
@require_POST
def decide(request: HttpRequest, slug: str, pk: int, verb: str) -> HttpResponse:
    """Carry out one decision, with its reason, and return to the quality page."""
    if verb not in VERBS:
        raise Http404
    campaign = campaign_for_admin(request, slug)
    annotator = get_object_or_404(Annotator, campaign=campaign, pk=pk)
    reason = request.POST.get("reason", "")
    try:
        result = VERBS[verb](annotator=annotator, actor=request.user, reason=reason)
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
