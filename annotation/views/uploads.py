"""Stage 1 on the page: upload files, check the preview, confirm; and stored test sets."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Func, IntegerField, OuterRef, Prefetch, Subquery
from django.forms import BaseForm
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
from annotation.forms.columns import PairForm, SkipForm, Understanding
from annotation.forms.preview import Heading, Preview
from annotation.forms.uploads import DOOR, UploadForm, read_again
from annotation.models import FileImport, Output, Project, Segment, System, TestSet, listed
from annotation.test_sets import sizes
from annotation.uploads import Checked, OutdatedError, check_pairs, store_all, waiting
from annotation.uploads.files import size_of
from annotation.uploads.media.attachments import TEXTS
from annotation.uploads.media.storage import path_of
from annotation.uploads.previews import Look, look_of
from annotation.uploads.tables.skipping import SKIP
from annotation.uploads.waiting import ExpiredError, Sent
from annotation.views.confirming import Confirmation
from annotation.web.errors import refuse, wants_json
from annotation.web.parameters import Parameters, page_of, takes
from annotation.web.ranges import answer
from core import languages
from core.messages import translated
from metaeval.messages import Message, message

EXPIRED = message(
    "upload.expired", "This upload has expired or was finished already. Send the files again."
)
OUTDATED = message(
    "upload.outdated", "The stored test set changed after this preview. Check the files again."
)
PER_PAGE = 20
DOCUMENT = message("first.document", "Document")
# Multipart framing and the other fields.
FRAMING_BYTES = 1024 * 1024


@admin_required
def upload(request: HttpRequest) -> HttpResponse:
    """Upload files; with `?check=token`, preview and confirm the result."""
    if is_too_large(request):
        return refuse(request, 413, gettext("This upload is too large"), too_large_sentence())
    if token := request.GET.get("check", ""):
        return Upload(request, token).respond()
    try:
        earlier = _earlier(request)
    except ExpiredError:
        messages.error(request, translated(EXPIRED))
        earlier = None
    form = UploadForm(request.POST or None, request.FILES or None, earlier=earlier)
    if earlier is None:
        form.initial["project"] = request.GET.get("project", "")
    if request.method == "POST" and form.is_valid():
        kept = waiting.keep(form.sent(), signed_in(request).pk)
        return redirect(f"{request.path}?check={kept}")
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


class Upload(Confirmation):
    """The preview of test sets."""

    doors, expired, outdated = (DOOR,), EXPIRED, OUTDATED

    @property
    def home(self) -> str:
        """The form."""
        return reverse("testset-upload")

    @property
    def back(self) -> str:
        """The form, filled in with what was sent."""
        return f"{self.home}?change={self.token}"

    def read(self, sent: Sent) -> list[Checked] | None:
        """Check the files of every test set."""
        submission = read_again(sent, self.user)
        return None if submission is None else check_pairs(submission, user=self.user)

    def look(self, checked: list[Checked]) -> Look:
        """Leave the texts out."""
        return look_of(checked)

    def forms(self, sent: Sent, look: Look) -> Sequence[BaseForm]:
        """Return choices for columns, entities, rows and the language pair."""
        self.understanding = Understanding(
            look.meanings,
            sent,
            SkipForm(look.report.counts, sent.words.get(SKIP) or (), self.data),
            PairForm(look.pairs, sent.words, self.data),
            self.data,
            look.report.files.values(),
        )
        return self.understanding.forms

    def chosen(self, sent: Sent) -> Sent:
        """Add the choices to the words."""
        return self.understanding.as_sent()

    def confirmed(self, row: FileImport, look: Look) -> dict[str, Any]:
        """Add what storing changes."""
        return {**row.choices, "seen": look.seen}

    def store(self, checked: list[Checked]) -> HttpResponse:
        """Store all test sets, and go on to a campaign."""
        seen = look_of(checked).seen
        if self.request.POST.get("seen", seen) != seen:
            raise OutdatedError
        results = store_all(checked, self.user)
        waiting.forget(self.token, self.user.pk)
        for each in results:
            messages.success(self.request, translated(each.sentence))
        result = results[0]
        if len(results) > 1:
            return redirect("testsets")
        if result.changes.creates and result.changes.systems_added:
            return redirect(f"{reverse('campaign-new')}?testset={result.test_set.slug}")
        return redirect(result.test_set)

    def page(self, sent: Sent, look: Look) -> HttpResponse:
        """Show counts, systems and the first segments; or, for programs, the problems."""
        if wants_json(self.request):
            problems = [problem.as_json() for problem in look.report.problems]
            return JsonResponse({"n_errors": len(look.report.errors), "problems": problems})
        context = {
            "token": self.token,
            "look": look,
            "name": sent.words["name"],
            "parts": look.parts,
            "has_entities": any(each.preview.entities for each in look.parts),
            "decodes": sent.words.get("decode"),
            "shown": _shown(look, self.understanding),
            "address": f"?{urlencode({'check': self.token})}&",
            "understanding": self.understanding,
            "is_changed": self.is_changed,
            "section": "testsets",
        }
        return render(self.request, "annotation/upload_preview.html", context)


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


def _attributes(code: str) -> dict[str, str]:
    """Return the `lang` and `dir` of texts in a language."""
    return {"lang": code, "dir": languages.direction(code)}


@researcher_required
@takes(Parameters(frozenset({"page"})))
def testset_list(request: HttpRequest) -> HttpResponse:
    """List test sets with their sizes."""
    rows = listed(visible_test_sets(request.user)).order_by("name")
    page = page_of(request, rows.annotate(**sizes()), PER_PAGE)
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
    # Counted in an index of each system's outputs; grouped, every row would be joined.
    own = Output.objects.filter(system=OuterRef("pk")).order_by()
    n = Func(function="COUNT", template="%(function)s(*)", output_field=IntegerField())
    systems = System.objects.filter(test_set=test_set).annotate(
        n_outputs=Subquery(own.annotate(n=n).values("n"))
    )
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
