"""Pages of parallel corpora: the list, upload with a preview, one corpus."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import researcher_required, signed_in
from annotation.models import listed
from annotation.uploads import waiting
from annotation.uploads.waiting import ExpiredError, Sent
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web.errors import refuse
from core import languages
from core.messages import messages_of, sentences
from metaeval.messages import Message
from training.forms import CorpusForm
from training.models import ParallelCorpus
from training.parallel import corpora
from training.parallel.reading import Cleaning, Row, clean, reason_of

DOOR = "corpus"
SAMPLE = 20
Pairs = list[tuple[str, str]]


@researcher_required
@require_GET
def corpus_list(request: HttpRequest) -> HttpResponse:
    """Show all corpora with their sizes."""
    rows = listed(ParallelCorpus.objects.all()).annotate(n_jobs=Count("jobs"))
    context = {"section": "server", "tab": "corpora", "corpora": rows}
    return render(request, "training/corpora.html", context)


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def corpus_upload(request: HttpRequest) -> HttpResponse:
    """Upload files; with `?check=token`, preview what remains after cleaning and confirm it."""
    if is_too_large(request):
        return refuse(request, 413, _("This upload is too large"), too_large_sentence())
    if token := request.GET.get("check", ""):
        return _confirm(request, token)
    form = CorpusForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        token = _keep(form, signed_in(request).pk)
        return redirect(f"{reverse('corpus-upload')}?check={token}")
    context = {"section": "server", "form": form, "languages": languages.offered()}
    return render(
        request, "training/corpus_upload.html", context, status=422 if form.errors else 200
    )


def _keep(form: CorpusForm, user_id: int) -> str:
    described = ("name", "source_language", "target_language")
    values = {key: form.cleaned_data[key] for key in described}
    rows = [[row.place, row.source, row.target] for row in form.rows]
    return waiting.keep(Sent(DOOR, {}, values | {"rows": rows}), user_id)


def _confirm(request: HttpRequest, token: str) -> HttpResponse:
    user = signed_in(request)
    try:
        draft = dict(waiting.recall(token, user.pk, DOOR).words)
    except ExpiredError:
        messages.error(
            request, _("This upload has expired or was already completed. Send the files again.")
        )
        return redirect("corpus-upload")
    draft["rows"] = [Row(*row) for row in draft["rows"]]
    if request.method == "POST":
        return _store(request, draft, token)
    pairs, report = clean(draft["rows"])
    context = _page(draft, pairs, report) | {"draft": draft, "too_little": corpora.TOO_LITTLE}
    status = 200 if pairs else 422
    return render(request, "training/corpus_preview.html", context, status=status)


def _store(request: HttpRequest, draft: dict[str, Any], token: str) -> HttpResponse:
    user = signed_in(request)
    try:
        corpus = corpora.add(**draft, user=user)
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)))
        return redirect("corpus-upload")
    waiting.forget(token, user.pk)
    notice = ngettext(
        "Stored %(name)s with %(n)s pair.", "Stored %(name)s with %(n)s pairs.", corpus.n_pairs
    )
    messages.success(request, notice % {"name": corpus.name, "n": f"{corpus.n_pairs:,}"})
    return redirect(corpus)


def _page(draft: dict[str, Any], pairs: Pairs, report: Cleaning) -> dict[str, Any]:
    return {
        "section": "server",
        "report": report.as_json(),
        "reasons": _reasons(report.as_json()),
        "sample": pairs[:SAMPLE],
        "source": _attributes(draft["source_language"]),
        "target": _attributes(draft["target_language"]),
    }


def _reasons(report: dict[str, Any]) -> list[tuple[Message, int, list[str]]]:
    """Return why pairs were excluded: reason, how many, the first places."""
    return [
        (reason_of(reason), count, report["examples"][reason])
        for reason, count in report["left_out"].items()
    ]


def _attributes(code: str) -> dict[str, str]:
    """Return `lang` and `dir` of texts in a language."""
    return {"lang": code, "dir": languages.direction(code)}


@researcher_required
@require_GET
def corpus_detail(request: HttpRequest, name: str) -> HttpResponse:
    """Show one corpus: its report, its first pairs, the jobs that used it."""
    corpus = get_object_or_404(ParallelCorpus.objects.select_related("created_by"), name=name)
    context = {
        "section": "server",
        "corpus": corpus,
        "report": corpus.report,
        "reasons": _reasons(corpus.report),
        "sample": corpora.first_pairs(corpus, SAMPLE),
        "source": _attributes(corpus.source_language),
        "target": _attributes(corpus.target_language),
        "jobs": corpus.jobs.all()[:SAMPLE],
    }
    return render(request, "training/corpus.html", context)
