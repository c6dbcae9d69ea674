"""The item page: one address that shows an item and takes its answer.

Scripts ask for JSON and get the next item's card with the answer; browsers without scripts get
pages and redirects. Both get the same status codes and sentences.
"""

from dataclasses import asdict, dataclass, replace
from uuid import UUID, uuid4

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from annotation import assignments, judgments
from annotation.access import signed_in
from annotation.assignments import ShownItem
from annotation.forms.judgments import JudgmentForm
from annotation.models import Assignment, Judgment
from annotation.views.assignments import not_open_page
from annotation.views.errors import wants_json
from annotation.views.unsent import SIGNED_OUT, kept_score, unsent_page


@dataclass(frozen=True)
class Answer:
    """The form as the page is to show it; `problem` says why an earlier submit was refused."""

    score: str
    submit_key: str
    revision: int
    started: str
    problem: str = ""
    is_unsent: bool = False


@never_cache
@vary_on_headers("Accept", "Cookie")
@require_http_methods(["GET", "HEAD", "POST"])
def item(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Show an item to its annotator, or take the answer."""
    if not request.user.is_authenticated:
        return _signed_out(request)
    try:
        return _take(request, public_id) if request.method == "POST" else _show(request, public_id)
    except judgments.NotOpenError as refusal:
        return _not_open(request, public_id, refusal.sentence)


def _signed_out(request: HttpRequest) -> HttpResponse:
    if wants_json(request):
        # The cookie may be gone with the session; the script asks once more with this one, and
        # then learns that it is signed out instead of that its form is out of date.
        get_token(request)
        return JsonResponse({"error": SIGNED_OUT, "sign_in": reverse("login")}, status=401)
    if request.method == "POST":
        return unsent_page(request, status=401, title="You are signed out", sentence=SIGNED_OUT)
    return redirect_to_login(request.get_full_path())


def _show(request: HttpRequest, public_id: UUID) -> HttpResponse:
    shown = _shown_or_404(request, public_id)
    judgments.refuse_unless_open(shown.campaign_status)
    answer = _fresh_answer(request, shown)
    if unsent := kept_score(request.GET.get("unsent", "")):
        started = _valid_start(request, public_id) or answer.started
        answer = replace(answer, score=unsent, started=started, is_unsent=True)
    return _reply(request, shown, answer)


def _take(request: HttpRequest, public_id: UUID) -> HttpResponse:
    form = JudgmentForm(request.POST, user_id=signed_in(request).pk, public_id=public_id)
    if not form.is_valid():
        return _ask_again(request, public_id, form)
    given = form.cleaned_data
    try:
        judgment = judgments.submit(
            user=signed_in(request),
            public_id=public_id,
            score=given["score"],
            submit_key=given["submit_key"],
            started_at=given["started"],
            seen=given["revision"],
        )
    except Assignment.DoesNotExist:
        raise Http404 from None
    except judgments.ConflictError as conflict:
        return _ask_to_confirm(request, public_id, form, conflict.sentence)
    return _go_on(request, judgment)


def _ask_again(request: HttpRequest, public_id: UUID, form: JudgmentForm) -> HttpResponse:
    """422: every part of the form that was right stays as it was sent."""
    shown = _shown_or_404(request, public_id)
    judgments.refuse_unless_open(shown.campaign_status)
    fresh = _fresh_answer(request, shown)
    answer = replace(
        fresh,
        score=(form.data.get("score") or "")[:20],
        submit_key=form.valid("submit_key") or fresh.submit_key,
        revision=form.cleaned_data.get("revision", fresh.revision),
        started=form.valid("started") or fresh.started,
        problem=form.problem,
    )
    return _reply(request, shown, answer, status=422)


def _ask_to_confirm(
    request: HttpRequest, public_id: UUID, form: JudgmentForm, sentence: str
) -> HttpResponse:
    """409: the form now knows what is stored, so that sending it once more changes that."""
    shown = _shown_or_404(request, public_id)
    answer = replace(
        _fresh_answer(request, shown),
        score=str(form.cleaned_data["score"]),
        started=form.data["started"],
        problem=sentence,
    )
    return _reply(request, shown, answer, status=409)


def _go_on(request: HttpRequest, judgment: Judgment) -> HttpResponse:
    annotator = judgment.assignment.annotator
    if not wants_json(request):
        return redirect("annotate", slug=annotator.campaign.slug)
    shown = assignments.next_item(annotator_id=annotator.pk)
    if shown is None:
        return JsonResponse({"next": reverse("annotate-done", args=[annotator.campaign.slug])})
    return _reply(request, shown, _fresh_answer(request, shown))


def _reply(
    request: HttpRequest, shown: ShownItem, answer: Answer, status: int = 200
) -> HttpResponse:
    context = {"item": shown, "answer": answer}
    if not wants_json(request):
        return render(request, "annotation/item.html", context, status=status)
    if answer.problem:
        form = {name: asdict(answer)[name] for name in ("submit_key", "revision", "started")}
        return JsonResponse({"error": answer.problem, "form": form}, status=status)
    card = render_to_string("annotation/_item.html", context, request=request)
    return JsonResponse({"next": reverse("item", args=[shown.public_id]), "html": card})


def _not_open(request: HttpRequest, public_id: UUID, sentence: str) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"error": sentence}, status=409)
    shown = _shown_or_404(request, public_id)
    return not_open_page(request, shown.campaign_slug, sentence)


def _shown_or_404(request: HttpRequest, public_id: UUID) -> ShownItem:
    shown = assignments.find_item(user=signed_in(request), public_id=public_id)
    if shown is None:
        raise Http404
    return shown


def _fresh_answer(request: HttpRequest, shown: ShownItem) -> Answer:
    return Answer(
        score="" if shown.score is None else str(shown.score),
        submit_key=str(uuid4()),
        revision=shown.revision,
        started=judgments.issue_start(user_id=signed_in(request).pk, public_id=shown.public_id),
    )


def _valid_start(request: HttpRequest, public_id: UUID) -> str:
    stamp = request.GET.get("started", "")
    try:
        judgments.read_start(stamp, user_id=signed_in(request).pk, public_id=public_id)
    except ValidationError:
        return ""
    return stamp
