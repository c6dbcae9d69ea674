"""Pages of translations: the list, one of them, asking for one."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import researcher_required, signed_in
from annotation.web.live import render_live
from annotation.web.paging import page_of
from annotation.web.parameters import Parameters, takes
from training.jobs import presenting
from training.models import TrainingJob, Translation
from training.translation import options
from training.translation.systems import starting
from training.translation.systems.forms import TranslateForm

PER_PAGE = 50
TEXTS_SHOWN = 50
START, CHECK = "start", "check"


@researcher_required
@require_GET
@takes(Parameters(frozenset({"page"})))
def translation_list(request: HttpRequest) -> HttpResponse:
    """All translations, newest first; htmx asks for the table alone."""
    page = page_of(request, Translation.objects.select_related("test_set"), PER_PAGE)
    context = {
        "section": "training",
        "tab": "translations",
        "page": page,
        "is_live": any(row.is_active for row in page),
    }
    return render_live(request, "training/translations.html", context)


@researcher_required
@require_GET
def translation_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One translation; htmx asks for what changes alone."""
    rows = Translation.objects.select_related("test_set", "job", "created_by", "system")
    row = get_object_or_404(rows, pk=pk)
    texts = row.texts.select_related("segment").order_by("segment__position")
    context = {
        "section": "training",
        "translation": row,
        "result": presenting.show(row.result),
        "texts": texts[:TEXTS_SHOWN],
        "n_texts": texts.count(),
        "may_go_on": row.status in (row.Status.FAILED, row.Status.CANCELLED),
    }
    return render_live(request, "training/translation.html", context)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def translation_start(request: HttpRequest) -> HttpResponse:
    """Say what is to be translated; look at what would be done; confirm it."""
    user = signed_in(request)
    sent = request.POST if request.method == "POST" else None
    form = TranslateForm(user, sent, initial=request.GET.dict())
    if form.is_valid() and form.plan and sent and START in sent:
        rows = starting.start(form.plan, user=user, queue=form.cleaned_data["queue"])
        messages.success(request, f"Asked for: {', '.join(row.label for row in rows)}.")
        return redirect(rows[0]) if len(rows) == 1 else redirect("translations")
    context = {
        "section": "training",
        "form": form,
        "plan": form.plan,
        "models": _models(),
    }
    status = 422 if form.errors else 200
    return render(request, "training/translate.html", context, status=status)


def _models() -> list[dict[str, Any]]:
    """The trainings that have a model, newest first."""
    rows = TrainingJob.objects.filter(kind=options.KIND, status=TrainingJob.Status.DONE)
    return [{"pk": row.pk, "name": row.name} for row in rows]


@researcher_required
@require_POST
def translation_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel; what was translated is kept, and no system is stored."""
    row = get_object_or_404(Translation, pk=pk)
    if starting.cancel(row):
        messages.success(request, f"{row.label} is cancelled.")
    else:
        messages.info(request, "This translation had already ended.")
    return redirect(row)


@researcher_required
@require_POST
def translation_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on with a translation that ended early, from what is there."""
    row = get_object_or_404(Translation, pk=pk)
    try:
        starting.resume(row)
        messages.success(request, f"{row.label} goes on as soon as a worker is free.")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect(row)
