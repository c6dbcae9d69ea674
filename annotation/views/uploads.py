"""Stage 1 on the page: upload files, check the preview, confirm; and stored test sets."""

from decimal import Decimal

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Count, Prefetch
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from annotation.access import (
    admin_required,
    is_site_admin,
    may_change_test_set,
    may_share_test_set,
    researcher_required,
    signed_in,
    test_set_for_reader,
    test_sets_with_media,
    visible_campaigns,
    visible_projects,
    visible_test_sets,
)
from annotation.doors import SEGMENT, SOURCE
from annotation.forms.access import AccountForm
from annotation.forms.columns import CHANGED, PairForm, SkipForm, Understanding
from annotation.forms.preview import Heading, Preview, download
from annotation.forms.uploads import DOOR, UploadForm, read_again
from annotation.imports import background
from annotation.models import Output, Project, Segment, System, TestSet, listed
from annotation.test_sets import sizes
from annotation.uploads import Checked, OutdatedError, check_pairs, store_all, waiting
from annotation.uploads.files import size_of
from annotation.uploads.media.attachments import TEXTS
from annotation.uploads.media.storage import path_of
from annotation.uploads.previews import Look, look_of
from annotation.uploads.tables.skipping import SKIP
from annotation.uploads.waiting import ExpiredError, Sent
from annotation.web.errors import refuse, wants_json
from annotation.web.parameters import Parameters, page_of, takes
from annotation.web.ranges import answer
from core import languages
from core.messages import messages_of, sentences, translated
from metaeval.messages import Message, message

EXPIRED = message(
    "upload.expired", "This upload has expired or was finished already. Send the files again."
)
OUTDATED = message(
    "upload.outdated", "The stored test set changed after this preview. Check the files again."
)
PER_PAGE, LISTED = 20, 50
DOCUMENT = message("first.document", "Document")
# Multipart framing and the other fields.
FRAMING_BYTES = 1024 * 1024


@admin_required
def upload(request: HttpRequest) -> HttpResponse:
    """Upload files; with `?check=token`, preview and confirm the result."""
    if is_too_large(request):
        return refuse(request, 413, gettext("This upload is too large"), too_large_sentence())
    if token := request.GET.get("check", ""):
        return _confirm(request, token)
    try:
        earlier = _earlier(request)
    except ExpiredError:
        messages.error(request, translated(EXPIRED))
        earlier = None
    form = UploadForm(request.POST or None, request.FILES or None, earlier=earlier)
    if earlier is None:
        form.initial["project"] = request.GET.get("project", "")
    if request.method == "POST" and form.is_valid():
        return _preview_of(waiting.keep(form.sent(), signed_in(request).pk))
    return _form(request, form)


def _earlier(request: HttpRequest) -> Sent | None:
    """Return what the person sent before a preview or a refused form."""
    token = request.POST.get("kept", "") or request.GET.get("change", "")
    return waiting.recall(token, signed_in(request).pk, DOOR) if token else None


def _form(request: HttpRequest, form: UploadForm) -> HttpResponse:
    token = request.GET.get("change", "") if form.earlier else ""
    form.fields["project"].offer(visible_projects(request.user))  # type: ignore[attr-defined]
    if form.is_bound:
        # Browsers do not send files again, so they are kept here.
        sent = form.sent()
        token = waiting.keep(sent, signed_in(request).pk) if sent.files else ""
        form.offer(sent)
        form.data = data = request.POST.copy()
        data.setlist("kept_files", form.initial["kept_files"])
    context = {
        "form": form, "kept": token, "section": "testsets", "languages": languages.offered(),
    }  # fmt: skip
    status = 422 if form.errors else 200
    return render(request, "annotation/upload.html", context, status=status)


def _preview_of(token: str) -> HttpResponse:
    return redirect(f"{reverse('testset-upload')}?check={token}")


def too_large_sentence() -> Message:
    """Return why an upload is refused unread."""
    return message(
        "request.too-large",
        "This upload is larger than {limit}. Nothing was stored. Send fewer or smaller files.",
        limit=size_of(settings.MAX_UPLOAD_BYTES),
    )


def is_too_large(request: HttpRequest) -> bool:
    """Return True if the announced length is too large; such a body is never read."""
    announced = str(request.META.get("CONTENT_LENGTH") or "0")
    return announced.isdigit() and int(announced) > settings.MAX_UPLOAD_BYTES + FRAMING_BYTES


def _confirm(request: HttpRequest, token: str) -> HttpResponse:
    try:
        sent = waiting.recall(token, signed_in(request).pk, DOOR)
        return _checked(request, token, sent)
    except ExpiredError:
        messages.error(request, translated(EXPIRED))
        return redirect("testset-upload")


def _checked(request: HttpRequest, token: str, sent: Sent) -> HttpResponse:
    """Show what was found in files, and store it or read it anew. Raises ExpiredError."""
    user, change = signed_in(request), f"{reverse('testset-upload')}?change={token}"
    row = background.of_files(user, token, sent)
    if row is not None and row.state != row.State.CHECKED:
        return redirect(row)
    found: list[Checked] = []
    if row is None:
        submission = read_again(sent)
        if submission is None:
            return redirect(change)
        found = check_pairs(submission, user=user)
    look: Look = background.shown(row) if row else look_of(found)
    data = request.POST if request.method == "POST" else None
    understanding = Understanding(
        look.meanings,
        sent,
        SkipForm(look.report.counts, sent.words.get(SKIP) or (), data),
        PairForm(look.pairs, sent.words, data),
        data,
    )
    if data is not None and ("read" in data or understanding.is_changed()):
        if "read" not in data:
            messages.warning(request, CHANGED)
        if not understanding.is_valid():
            return _preview(request, token, sent, look, understanding)
        anew = understanding.as_sent()
        if read_again(anew) is None:
            return redirect(change)
        kept = waiting.keep(anew, user.pk)
        if row is not None:
            background.cancel(row)
        return _preview_of(kept)
    if data is not None and look.report.errors:
        # The stored test set, or who may add to it, changed after the preview.
        return _preview(request, token, sent, look, understanding)
    if data is not None and row is not None:
        return redirect(background.confirm(row, {**row.choices, "seen": look.seen}))
    if data is not None:
        if data.get("seen", look.seen) != look.seen:
            messages.error(request, translated(OUTDATED))
            return redirect(change)
        return _store(request, found, token, change)
    if wants_json(request):
        report = look.report
        problems = [problem.as_json() for problem in report.problems]
        status = 422 if report.errors else 200
        return JsonResponse({"n_errors": len(report.errors), "problems": problems}, status=status)
    if "problems" in request.GET:
        return download(look.report)
    return _preview(request, token, sent, look, understanding)


def _preview(
    request: HttpRequest, token: str, sent: Sent, look: Look, understanding: Understanding
) -> HttpResponse:
    context = {
        "token": token,
        "look": look,
        "name": sent.words["name"],
        "parts": look.parts,
        "has_entities": any(each.preview.entities for each in look.parts),
        "decodes": sent.words.get("decode"),
        "shown": _shown(look, understanding),
        "address": f"?{urlencode({'check': token})}&",
        "understanding": understanding,
        "is_changed": understanding.decode.is_bound,
        "section": "testsets",
    }
    is_refused = look.report.errors or any(form.errors for form in understanding.tables)
    status = 422 if is_refused else 200
    return render(request, "annotation/upload_preview.html", context, status=status)


def _shown(look: Look, understanding: Understanding) -> Preview:
    part = look.parts[0]
    segments, target = part.preview.first, part.head["target_language"]
    references = sorted({name for each in segments for name, _ in each["references"]})
    has_documents = any(each["document"] for each in segments)
    headings = [Heading(SEGMENT), *[Heading(DOCUMENT)] * has_documents]
    headings.append(Heading(SOURCE, part.head["source_language"]))
    headings += [
        Heading(message("first.reference", "Reference {name}", name=n), target) for n in references
    ]
    labels = [label for label, _ in segments[0]["outputs"]] if segments else []
    headings += [Heading(label, target) for label in labels]
    rows = [
        [
            each["key"],
            *[each["document"]] * has_documents,
            each["source"],
            *(dict(each["references"]).get(name) for name in references),
            *(text for _, text in each["outputs"]),
        ]
        for each in segments
    ]
    return Preview(look.report, understanding.skip, understanding.named(), headings, rows)


def _store(request: HttpRequest, found: list[Checked], token: str, change: str) -> HttpResponse:
    try:
        results = store_all(found, request.user)
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)[:5]))
        return redirect(change)
    except OutdatedError:
        messages.error(request, translated(OUTDATED))
        return redirect(change)
    waiting.forget(token, signed_in(request).pk)
    for each in results:
        messages.success(request, translated(each.sentence))
    result = results[0]
    if len(results) > 1:
        return redirect("testsets")
    if result.changes.creates and result.changes.systems_added:
        return redirect(f"{reverse('campaign-new')}?testset={result.test_set.slug}")
    return redirect(result.test_set)


def _attributes(code: str) -> dict[str, str]:
    """Return the `lang` and `dir` of texts in a language."""
    return {"lang": code, "dir": languages.direction(code)}


@researcher_required
@takes(Parameters(frozenset({"page"})))
def testset_list(request: HttpRequest) -> HttpResponse:
    """List test sets with their sizes."""
    rows = listed(visible_test_sets(request.user)).order_by("name")
    page = page_of(request, rows.annotate(**sizes()), LISTED)
    context = {"page": page, "section": "testsets"}
    return render(request, "annotation/testsets.html", context)


@researcher_required
def testset_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a test set: its systems by length, and its segments with all outputs."""
    return show_test_set(request, test_set_for_reader(request, slug))


@vary_on_headers("Cookie")
@require_safe
@researcher_required
def segment_media(request: HttpRequest, slug: str, position: int) -> HttpResponseBase:
    """Send the recording or picture of a segment, also to reviewers; `position` counts from 0."""
    rows = Segment.objects.filter(test_set__in=test_sets_with_media(request.user))
    segment = get_object_or_404(rows, test_set__slug=slug, position=position)
    stored = segment.beside or {}
    if "file" not in stored:
        raise Http404
    try:
        return answer(request, path_of(stored["file"]), stored["type"], stored["file"])
    except FileNotFoundError:
        raise Http404 from None


def _project_of(request: HttpRequest, test_set: TestSet) -> Project | None:
    """Return the project of a test set, if the user may read it."""
    if test_set.project_id is None:
        return None
    return visible_projects(request.user).filter(test_sets=test_set).first()


def show_test_set(
    request: HttpRequest, test_set: TestSet, *, status: int = 200, **changed: object
) -> HttpResponse:
    """Show a test set, with the forms of a refused step in `changed`."""
    outputs = Output.objects.select_related("system").order_by(
        "-system__length_ratio", "system__name"
    )
    segments = (
        Segment.objects.filter(test_set=test_set)
        .prefetch_related("references", Prefetch("outputs", outputs))
        .order_by("position")
    )
    systems = System.objects.filter(test_set=test_set).annotate(n_outputs=Count("outputs"))
    context = {
        "test_set": test_set,
        "project": _project_of(request, test_set),
        "page": Paginator(segments, PER_PAGE).get_page(request.GET.get("page")),
        "systems": systems.order_by("-length_ratio", "name"),
        "campaigns": visible_campaigns(request.user).filter(test_set=test_set),
        "source": _attributes(test_set.source_language),
        "target": _attributes(test_set.target_language),
        "full": Decimal(1),
        "texts_beside": TEXTS,
        "section": "testsets",
        "shares": test_set.shares.select_related("user").order_by("user__username"),
        "may_change": may_change_test_set(request.user, test_set),
        "may_share": may_share_test_set(request.user, test_set),
        "is_site_admin": is_site_admin(request.user),
        "share_form": AccountForm(auto_id="share_form_%s"),
        "owner_form": AccountForm(auto_id="owner_form_%s"),
    }
    return render(request, "annotation/testset.html", context | changed, status=status)
