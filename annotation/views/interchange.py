"""Import judgments, scores, campaigns of other tools and gold items; export judgments."""

from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_POST

from annotation.access import (
    admin_required,
    campaign_for_admin,
    campaign_for_reader,
    is_admin,
    researcher_required,
    signed_in,
    visible_test_sets,
)
from annotation.campaign_files import open_file, to_values
from annotation.campaign_files.storing import Wish
from annotation.campaigns.facts import n_removed, removed
from annotation.doors import GOLD, Look, look, sent_file
from annotation.exports import FORMATS
from annotation.exports.formats import FACTS, counted_facts
from annotation.exports.parquet import MissingPackageError
from annotation.filters.form import filter_choices
from annotation.forms.columns import CHANGED, ColumnsForm, SkipForm, is_changed
from annotation.forms.imports import (
    AppraiseForm,
    CampaignFileForm,
    GoldForm,
    PearmutForm,
    ToolForm,
)
from annotation.forms.preview import Heading, Preview, download
from annotation.forms.tables import (
    WORDS,
    DirectionsForm,
    HumanScoresForm,
    HumanScoresWords,
    JudgmentsForm,
    TablesForm,
    changed,
)
from annotation.imports import background, human_scores, sources
from annotation.imports.drafts import CampaignDraft
from annotation.imports.gold import (
    add_gold,
    added,
    delete_gold,
    read_gold,
    require_draft,
    uploaded,
)
from annotation.imports.judgments import Understood
from annotation.imports.store import launch
from annotation.models import Campaign, FileImport
from annotation.uploads import InputFile, Report, TestSetDraft, waiting
from annotation.uploads.tables.skipping import SKIP, kinds_of, skipped
from annotation.uploads.waiting import ExpiredError, Sent
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web import fresh_links
from annotation.web.errors import refuse
from annotation.web.parameters import (
    JUDGMENTS,
    SECRET,
    Parameters,
    read_filters,
    takes,
    wants_secret,
)
from core import languages
from core.messages import messages_of, sentences, translated
from core.text import key
from metaeval.messages import message


@dataclass
class Correction:
    """Forms for answers about tables, for the fields of columns, and for directions."""

    words: HumanScoresWords
    columns: ColumnsForm
    directions: DirectionsForm
    skip: SkipForm

    @property
    def forms(self) -> tuple[Form, ...]:
        """All of them."""
        return self.words, self.columns, self.directions, self.skip

    def is_valid(self) -> bool:
        """Validate all forms, so that every error is shown."""
        return not any(form.errors for form in self.forms)

    def is_changed(self) -> bool:
        """Return True if a choice differs from those of the preview."""
        return any(is_changed(form) for form in self.forms)


def correction_of(sent: Sent, reading: Understood, report: Report, data: Any) -> Correction | None:
    """Return the forms with the present reading of tables; None for campaigns of tools."""
    if sent.door not in WORDS:
        return None
    return Correction(
        WORDS[sent.door](data, initial={"name": reading.name} | dict(sent.words), prefix="words"),
        ColumnsForm(
            reading.columns,
            reading.wanted,
            reading.fields,
            data,
            repeatable=(human_scores.SCORE,) if sent.door == sources.HUMAN_SCORES else (),
            samples=reading.samples,
        ),
        DirectionsForm(reading.directions, data),
        SkipForm(report.counts, kinds_of(sent.words.get(SKIP, "")), data),
    )


def read_anew(
    token: str, sent: Sent, reading: Understood, correction: Correction, user_id: int
) -> str:
    """Keep the files with the new choices, and return their new token.

    Columns whose field did not change are not recorded: in tables of errors and of times the same
    column may have other fields. Of the fields that several columns may have, all are recorded if
    one is: another column is chosen in addition to the others, not instead of them.
    """
    columns = correction.columns
    chosen = {
        column: field
        for column, field in columns.chosen.items()
        if columns.is_renamed
        or field != reading.fields.get(column, "")
        or field in columns.repeatable
    }
    words = changed(
        sent,
        correction.words,
        chosen,
        correction.directions.stated,
        is_renamed=columns.is_renamed,
    )
    words = replace(words, words={**words.words, SKIP: ",".join(correction.skip.chosen)})
    kept = waiting.keep(words, user_id)
    waiting.forget(token, user_id)
    return kept


SHOWN = 200
FORMS = (JudgmentsForm, HumanScoresForm, AppraiseForm, PearmutForm)
EXPIRED = message(
    "import.expired", "This import has expired or was finished already. Send the files again."
)


@admin_required
def import_campaign(request: HttpRequest) -> HttpResponse:
    """Upload what was collected elsewhere; with `?check=token`, preview and confirm it."""
    if is_too_large(request):
        return refuse(request, 413, gettext("This import is too large"), too_large_sentence())
    if token := request.GET.get("check", ""):
        return _confirm(request, token)
    tool = request.POST.get("tool", "")
    forms: dict[str, ToolForm] = {
        form.tool: form(request.POST or None, request.FILES or None)
        if form.tool == tool
        else form()
        for form in FORMS
    }
    for form in forms.values():
        if isinstance(form, TablesForm):
            form.offer(visible_test_sets(request.user))
    if tool in forms and forms[tool].is_valid():
        kept = waiting.keep(forms[tool].sent(), signed_in(request).pk)
        return redirect(f"{reverse('campaign-import')}?check={kept}")
    context = {
        "forms": forms,
        "file_form": CampaignFileForm(),
        "section": "campaigns",
        "languages": languages.offered(),
    }
    status = 422 if tool in forms else 200
    return render(request, "annotation/import.html", context, status=status)


def _confirm(request: HttpRequest, token: str) -> HttpResponse:
    try:
        return _checked(
            request, token, waiting.recall(token, signed_in(request).pk, *sources.DOORS)
        )
    except ExpiredError:
        messages.error(request, translated(EXPIRED))
        return redirect("campaign-import")


def _checked(request: HttpRequest, token: str, sent: Sent) -> HttpResponse:
    """Show what was found in files, and store it or read it anew. Raises ExpiredError."""
    stated = sent.words.get(sources.UNMATCHED, "")
    if request.POST.get(sources.UNMATCHED, stated) != stated:
        return _decide(request, sent, token)
    user = signed_in(request)
    row = background.of_files(user, token, sent)
    if row is not None and row.state != row.State.CHECKED:
        return redirect(row)
    drafts: list[tuple[TestSetDraft, CampaignDraft]] = []
    if row is not None:
        found = background.shown(row)
    else:
        read, report = sources.check(sent, user)
        found, drafts = look(read, report), read.drafts
    reading, report = found.reading, found.report
    is_change = "change" in request.POST
    data = request.POST if request.method == "POST" else None
    correction = correction_of(sent, reading, report, data)
    if correction and request.method == "POST" and not is_change and correction.is_changed():
        messages.warning(request, CHANGED)
        is_change = True
    if correction and is_change and correction.is_valid():
        kept = read_anew(token, sent, reading, correction, user.pk)
        if row is not None:
            background.cancel(row)
        return redirect(f"{reverse('campaign-import')}?check={kept}")
    if request.method == "POST" and not is_change and not report.errors:
        if row is not None:
            return redirect(background.confirm(row))
        return _store(request, drafts, report, token)
    if "problems" in request.GET:
        return download(report)
    context = {
        "drafts": found.campaigns,
        "shown": _shown(found, correction),
        "has_unmatched": any(each.code == "appraise.unmatched" for each in report.problems),
        "decided": stated,
        "address": f"?{urlencode({'check': token})}&",
        "reading": reading,
        "correction": correction,
        "is_changed": is_change,
        "languages": languages.offered(),
        "section": "campaigns",
    }
    status = 422 if report.errors or is_change else 200
    return render(request, "annotation/import_preview.html", context, status=status)


def _decide(request: HttpRequest, sent: Sent, token: str) -> HttpResponse:
    """Record the choice for check items without a counterpart, and preview the result."""
    user = signed_in(request).pk
    try:
        decided = sources.decide(sent, request.POST[sources.UNMATCHED])
    except sources.ChoiceError as error:
        return refuse(request, 400, gettext("This cannot be chosen"), error.message)
    kept = waiting.keep(decided, user)
    if (row := background.find(signed_in(request), token)) is not None:
        background.cancel(row)
    waiting.forget(token, user)
    return redirect(f"{reverse('campaign-import')}?check={kept}")


def _shown(look: Look, correction: Correction | None) -> Preview:
    return Preview(
        look.report,
        correction.skip if correction else None,
        [("", correction.columns)] if correction and look.reading.columns else [],
        [Heading(label) for label in look.headings],
        look.first,
    )


def _store(
    request: HttpRequest,
    drafts: list[tuple[TestSetDraft, CampaignDraft]],
    report: Report,
    token: str,
) -> HttpResponse:
    try:
        launched = launch(drafts, user=request.user, skipped=skipped(report))
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)[:5]))
        return redirect("campaign-import")
    waiting.forget(token, signed_in(request).pk)
    for each in launched:
        fresh_links.keep_invitations(request, each.result.campaign, each.invitations)
    context = {"launched": launched, "section": "campaigns"}
    return render(request, "annotation/import_done.html", context)


@researcher_required
@takes(JUDGMENTS)
def export_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show every format in which the judgments are available."""
    campaign = campaign_for_reader(request, slug)
    filters = read_filters(request, campaign)
    has, n_judgments = counted_facts(campaign, filters)
    context = {
        "campaign": campaign,
        "filters": filters,
        "filter_choices": filter_choices(
            request.GET, [campaign], filters, has_scores=False, has_unit=False
        ),
        "section": "campaigns",
        "tab": "export",
        "formats": [
            (name, each, [FACTS[fact] for fact in each.without_place(campaign, has)])
            for name, each in FORMATS.items()
        ],
        "may_import": is_admin(request.user),
        "n_judgments": n_judgments,
        "removed": removed(n) if (n := n_removed(campaign)) else None,
    }
    return render(request, "annotation/export.html", context)


@researcher_required
@takes(JUDGMENTS)
def export_file(request: HttpRequest, slug: str, fmt: str) -> HttpResponseBase:
    """Send the judgments in one format, while the file is made."""
    campaign = campaign_for_reader(request, slug)
    if fmt not in FORMATS:
        raise Http404
    chosen, filters = FORMATS[fmt], read_filters(request, campaign)
    pieces = chosen.pieces(campaign, filters)
    try:
        first = next(pieces, b"")
    except MissingPackageError as error:
        return refuse(request, 501, gettext("This format is not available here"), error.message)
    name = chosen.file_name(campaign, filters)
    return StreamingHttpResponse(
        _chained(first, pieces),
        content_type=chosen.content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _chained(first: bytes, rest: Any) -> Any:
    yield first
    yield from rest


@researcher_required
@takes(Parameters(frozenset({SECRET})))
def campaign_file(request: HttpRequest, slug: str) -> JsonResponse:
    """Send the campaign as one file for another import, on request with its secret."""
    with_secret = wants_secret(request.GET)
    find = campaign_for_admin if with_secret else campaign_for_reader
    campaign = find(request, slug)
    name = f'attachment; filename="{campaign.slug}.campaign.json"'
    return JsonResponse(
        to_values(campaign, with_secret=with_secret),
        headers={"Content-Disposition": name},
        json_dumps_params={"ensure_ascii": False, "indent": 1},
    )


@admin_required
@require_POST
def open_from_file(request: HttpRequest) -> HttpResponse:
    """Store a campaign file as a draft with its annotators, or show all errors."""
    if is_too_large(request):
        return refuse(request, 413, gettext("This file is too large"), too_large_sentence())
    form, report, opened = CampaignFileForm(request.POST, request.FILES), Report(), None
    if form.is_valid():
        media = form.cleaned_data["recordings"]
        sent = [InputFile.sent(media)] if media else []
        wish = Wish(slug=form.cleaned_data["slug"], is_draft=True, media=sent)
        file = InputFile.sent(form.cleaned_data["campaign_file"])
        if background.is_large([file, *sent]):
            return redirect(_begun(request, sent_file(file, wish)))
        opened = open_file(file, report, wish, user=request.user)
    if opened is None:
        context = {"form": form, "report": report, "shown": report.errors[:SHOWN]}
        context |= {"section": "campaigns"}
        return render(request, "annotation/campaign_file.html", context, status=422)
    fresh_links.keep_invitations(request, opened.campaign, opened.invitations)
    return redirect("access", opened.campaign.slug)


def _begun(request: HttpRequest, sent: Sent, **choices: str) -> FileImport:
    """Let a worker store files that nobody confirms."""
    user = signed_in(request)
    return background.begin(user, waiting.keep(sent, user.pk), {**choices, "store": True})


@researcher_required
def gold_items(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the gold and practice items of a campaign, and add items to a draft."""
    campaign = campaign_for_admin(request, slug)
    if is_too_large(request):
        return refuse(request, 413, gettext("This table is too large"), too_large_sentence())
    is_sent = request.method == "POST"
    form = GoldForm(request.POST, request.FILES) if is_sent else GoldForm()
    report = Report()
    if is_sent and form.is_valid():
        try:
            require_draft(campaign)
            file = InputFile.sent(form.cleaned_data["table"])
            if background.is_large([file]):
                return redirect(_begun(request, Sent(GOLD, {"table": file}, {}), campaign=slug))
            items = read_gold(campaign, file, report)
            if not report.errors:
                number = add_gold(campaign=campaign, items=items)
                messages.success(request, translated(added(number)))
                return redirect("campaign-items", slug=campaign.slug)
        except ValidationError as error:
            form.add_error(None, error)
    context = {
        "campaign": campaign,
        "form": form,
        "report": report,
        "shown": report.errors[:SHOWN],
        "items": uploaded(campaign),
        "is_draft": campaign.status == Campaign.Status.DRAFT,
        "section": "campaigns",
        "tab": "items",
    }
    status = 422 if form.errors or report.errors else 200
    return render(request, "annotation/gold_items.html", context, status=status)


@researcher_required
@require_POST
def gold_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete the chosen items of a draft, or all of them."""
    campaign = campaign_for_admin(request, slug)
    chosen = [key(pk) for pk in request.POST.getlist("item")]
    pks = None if "all" in request.POST else chosen
    try:
        number = delete_gold(campaign=campaign, pks=pks)
        deleted = ngettext("Deleted %(n)s item.", "Deleted %(n)s items.", number)
        messages.success(request, deleted % {"n": f"{number:,}"})
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)))
    return redirect("campaign-items", slug=campaign.slug)
