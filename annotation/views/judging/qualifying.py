"""The comprehension test, and the page of an annotator who was stopped or excluded."""

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.entry import welcome
from annotation.entry.welcome import NotOpenError, refuse_unless_open
from annotation.forms.welcome import TestForm
from annotation.judging import instructions
from annotation.judging.progress import progress
from annotation.models import Annotator
from annotation.qualification import stopping, testing
from annotation.views.judging.assignments import annotator_or_404, not_open_page
from core.messages import messages_of, translated


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def comprehension(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask the questions, and take an attempt."""
    annotator = annotator_or_404(request, slug)
    try:
        refuse_unless_open(annotator.campaign.status)
    except NotOpenError as refusal:
        return not_open_page(request, slug, refusal.message)
    here = request.path
    if welcome.next_step(annotator) != here:
        return redirect("annotate", slug=slug)
    sitting = testing.sitting(annotator)
    form = TestForm(request.POST or None, questions=sitting.questions)
    if request.method == "POST" and not request.POST:
        form = TestForm({}, questions=sitting.questions)
    if form.is_valid():
        number = form.cleaned_data["number"]
        made = testing.take(annotator=annotator, number=number, given=form.given())
        failed = made is not None and not made.is_passed and sitting.n_left != 1
        return redirect(here) if failed else redirect("annotate", slug=slug)
    context = {
        "campaign": annotator.campaign,
        "instructions": instructions.read(annotator.campaign, "instructions"),
        "sitting": sitting,
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/comprehension.html", context, status=status)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def stopped(request: HttpRequest, slug: str) -> HttpResponse:
    """Say that the work is stopped or has ended; take one message, and tell what was decided."""
    annotator = annotator_or_404(request, slug)
    if not welcome.is_barred(annotator):
        return redirect("annotate", slug=slug)
    problem, message = "", request.POST.get("message", "")
    if request.method == "POST":
        try:
            stopping.write(annotator=annotator, message=message)
            return redirect("annotate-stopped", slug=slug)
        except ValidationError as error:
            problem = translated(messages_of(error)[0])
    context = _context(annotator) | {"problem": problem, "message": message}
    return render(request, "annotation/stopped.html", context, status=422 if problem else 200)


def _context(annotator: Annotator) -> dict[str, object]:
    """Return the context, which does not reveal which or how many items were control items."""
    stop = stopping.last_stop(annotator)
    return {
        "campaign": annotator.campaign.title,
        "slug": annotator.campaign.slug,
        "written": stop.message if stop else "",
        "written_at": stop.written_at if stop else None,
        "is_ended": annotator.excluded_at is not None or bool(stop and stop.may_go_on is False),
        "reason": stop.reason if stop else "",
        "reply": stop.reply if stop else "",
        "most": stopping.MAX_MESSAGE,
        "progress": progress(annotator),
    }
