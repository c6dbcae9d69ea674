"""Pages of translations: the list, one translation, start."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import not_blinded, researcher_required, signed_in
from annotation.web.live import render_live
from training.jobs import presenting
from training.models import WARNINGS, TrainingJob, Translation, warnings_in
from training.translation import options
from training.translation.lengths import UNITS
from training.translation.requests import OF
from training.translation.systems import starting
from training.translation.systems.forms import TranslateForm
from training.views.work import WorkPages

TEXTS_SHOWN = 50
START, CHECK = "start", "check"


PAGES = WorkPages(
    rows=lambda user: not_blinded(Translation.objects.select_related("test_set"), user),
    ended=gettext_lazy("This translation had already ended."),
    tab="translations",
    cancelling=starting.cancel,
    resuming=starting.resume,
)
translation_list = PAGES.list()
translation_cancel, translation_resume = PAGES.cancel(), PAGES.resume()


@researcher_required
@require_GET
def translation_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one translation; htmx requests only what changes."""
    rows = Translation.objects.select_related("test_set", "job", "created_by", "system")
    row = get_object_or_404(not_blinded(rows, request.user), pk=pk)
    texts = row.texts.select_related("segment").order_by("segment__position")
    context = {
        "section": "server",
        "translation": row,
        "warnings": warnings_in(row.result),
        "result": presenting.show(
            {k: v for k, v in row.result.items() if k not in {*row.request, *WARNINGS}}
        ),
        "length_of": OF[row.request["of"]],
        "unit": UNITS[row.request["unit"]],
        "texts": texts[:TEXTS_SHOWN],
        "n_texts": texts.count(),
        "may_go_on": row.status in (row.Status.FAILED, row.Status.CANCELLED),
    }
    return render_live(request, "training/translation.html", context)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def translation_start(request: HttpRequest) -> HttpResponse:
    """Show the form, preview what would be translated, and start it."""
    user = signed_in(request)
    sent = request.POST if request.method == "POST" else None
    form = TranslateForm(user, sent, initial=request.GET.dict())
    if form.is_valid() and form.plan and sent and START in sent:
        rows = starting.start(form.plan, user=user, queue=form.cleaned_data["queue"])
        names = ", ".join(row.label for row in rows)
        messages.success(request, _("Started: %(names)s.") % {"names": names})
        return redirect(rows[0]) if len(rows) == 1 else redirect("translations")
    context = {
        "section": "server",
        "form": form,
        "plan": form.plan,
        "models": _models(),
    }
    status = 422 if form.errors else 200
    return render(request, "training/translate.html", context, status=status)


def _models() -> list[dict[str, Any]]:
    """Return the trainings that have a model, newest first."""
    rows = TrainingJob.objects.filter(kind=options.KIND, status=TrainingJob.Status.DONE)
    return [{"pk": row.pk, "name": row.name} for row in rows]
