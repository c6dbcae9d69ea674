"""Import judgments, scores, campaigns of other tools and gold items; export judgments."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.forms import BaseForm
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
from annotation.doors import GOLD, Look, check_gold, look, look_of_gold, sent_file
from annotation.exports.facts import FACTS, counted_facts
from annotation.exports.formats import declared
from annotation.exports.parquet import MissingPackageError
from annotation.filters.form import filter_choices
from annotation.forms.columns import ColumnsForm, SkipForm
from annotation.forms.imports import CampaignFileForm, GoldForm, ToolForm
from annotation.forms.preview import Heading, Preview
from annotation.forms.tables import (
    COLUMNS,
    DIRECTIONS,
    WORDS,
    DirectionsForm,
    HumanScoresForm,
    JudgmentsForm,
    TablesForm,
)
from annotation.imports import background, human_scores, sources
from annotation.imports.gold import (
    GoldItems,
    add_gold,
    added,
    delete_gold,
    require_draft,
    uploaded,
)
from annotation.imports.judgments.options import stated_columns
from annotation.imports.sources import Question, Reading, tools
from annotation.imports.store import launch
from annotation.models import Campaign, FileImport
from annotation.uploads import InputFile, Report, waiting
from annotation.uploads.tables.skipping import SKIP, kinds_of, skipped
from annotation.uploads.waiting import ExpiredError, Sent
from annotation.views.confirming import Confirmation
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

SHOWN = 200
EXPIRED = message(
    "import.expired", "This import has expired or was finished already. Send the files again."
)


@admin_required
def import_campaign(request: HttpRequest) -> HttpResponse:
    """Upload what was collected elsewhere; with `?check=token`, preview and confirm it."""
    if is_too_large(request):
        return refuse(request, 413, gettext("This import is too large"), too_large_sentence())
    if token := request.GET.get("check", ""):
        return Campaigns(request, token).respond()
    tool = request.POST.get("tool", "")
    kinds: list[type[ToolForm]] = [
        JudgmentsForm,
        HumanScoresForm,
        *(each.form for each in tools().values()),
    ]
    forms: dict[str, ToolForm] = {
        form.tool: form(request.POST or None, request.FILES or None)
        if form.tool == tool
        else form()
        for form in kinds
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


class Campaigns(Confirmation):
    """The preview of campaigns, of tables or of other tools."""

    expired = EXPIRED

    @property
    def doors(self) -> tuple[str, ...]:
        """Tables, and campaigns of all tools."""
        return (*sources.TABLES, *tools())

    @property
    def home(self) -> str:
        """The page with a form for each tool."""
        return reverse("campaign-import")

    def respond(self) -> HttpResponse:
        """Take the answer to the question of a tool first."""
        try:
            sent = waiting.recall(self.token, self.user.pk, *self.doors)
        except ExpiredError:
            return super().respond()
        question = _question(sent)
        stated = sent.words.get(question.word, "") if question else ""
        if not question or (answer := self.request.POST.get(question.word, stated)) == stated:
            return super().respond()
        try:
            anew = sources.decide(sent, question, answer)
        except sources.ChoiceError as error:
            return refuse(self.request, 400, gettext("This cannot be chosen"), error.message)
        return self.again(anew, background.find(self.user, self.token))

    def read(self, sent: Sent) -> tuple[Reading, Report]:
        """Check the files."""
        return sources.check(sent, self.user)

    def look(self, checked: tuple[Reading, Report]) -> Look:
        """Leave the rows out."""
        return look(*checked)

    def forms(self, sent: Sent, look: Look) -> Sequence[BaseForm]:
        """Return choices for tables; files of campaigns have encodings alone."""
        self.choices: dict[str, Any] = {}
        if sent.door not in WORDS:
            files = ColumnsForm((), (), {}, self.data, files=look.report.files.values())
            self.choices = {} if files.is_empty else {"columns": files}
            return tuple(self.choices.values())
        reading, data = look.reading, self.data
        initial = {"name": reading.name} | dict(sent.words)
        skips = kinds_of(sent.words.get(SKIP, ""))
        self.choices = {
            "words": WORDS[sent.door](data, initial=initial, prefix="words"),
            "columns": ColumnsForm(
                reading.columns,
                reading.wanted,
                reading.fields,
                data,
                repeatable=(human_scores.SCORE,) if sent.door == sources.HUMAN_SCORES else (),
                samples=reading.samples,
                titles=reading.titles,
                files=look.report.files.values(),
            ),
            "directions": DirectionsForm(reading.directions, data),
            "skip": SkipForm(look.report.counts, skips, data),
        }
        return tuple(self.choices.values())

    def chosen(self, sent: Sent) -> Sent:
        """Add the choices to the words; those for columns of other names are dropped."""
        if not self.choices:
            return sent
        columns = self.choices["columns"]
        if "words" not in self.choices:
            return replace(sent, words={**sent.words, COLUMNS: json.dumps(columns.for_files)})
        said = {} if columns.is_renamed else json.loads(sent.words.get(DIRECTIONS, "") or "{}")
        both = {
            COLUMNS: columns.stated(stated_columns(sent.words, Report())),
            DIRECTIONS: said | self.choices["directions"].stated,
        }
        form = self.choices["words"]
        words = form.words() | {SKIP: ",".join(self.choices["skip"].chosen)}
        if "name" not in form.changed_data and "name" not in sent.words:
            words.pop("name", None)  # a suggestion that nobody stated
        return replace(sent, words=words | {n: json.dumps(v) for n, v in both.items() if v})

    def store(self, checked: tuple[Reading, Report]) -> HttpResponse:
        """Store the campaigns, and show their personal links."""
        reading, report = checked
        launched = launch(reading.drafts, user=self.user, skipped=skipped(report))
        waiting.forget(self.token, self.user.pk)
        for each in launched:
            fresh_links.keep_invitations(self.request, each.result.campaign, each.invitations)
        context = {"launched": launched, "section": "campaigns"}
        return render(self.request, "annotation/import_done.html", context)

    def page(self, sent: Sent, look: Look) -> HttpResponse:
        """Show the campaigns and their first rows."""
        choices, question = self.choices, _question(sent)
        codes = {each.code for each in look.report.problems}
        context = {
            "drafts": look.campaigns,
            "shown": Preview(
                look.report,
                choices.get("skip"),
                [("", choices["columns"])] if choices and not choices["columns"].is_empty else [],
                [Heading(label) for label in look.headings],
                look.first,
            ),
            "question": question if question and question.code in codes else None,
            "decided": sent.words.get(question.word, "") if question else "",
            "address": f"?{urlencode({'check': self.token})}&",
            "reading": look.reading,
            "correction": "words" in choices and choices,
            "is_changed": self.is_changed,
            "languages": languages.offered(),
            "section": "campaigns",
        }
        return render(self.request, "annotation/import_preview.html", context)


def _question(sent: Sent) -> Question | None:
    tool = tools().get(sent.door)
    return tool.question if tool else None


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
            for name, each in declared().items()
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
    if fmt not in declared():
        raise Http404
    chosen, filters = declared()[fmt], read_filters(request, campaign)
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
    """Show the gold and practice items of a campaign, and take a table of items for a draft."""
    campaign = campaign_for_admin(request, slug)
    if is_too_large(request):
        return refuse(request, 413, gettext("This table is too large"), too_large_sentence())
    if token := request.GET.get("check", ""):
        return GoldTable(request, token, campaign).respond()
    is_sent = request.method == "POST"
    form = GoldForm(request.POST, request.FILES) if is_sent else GoldForm()
    if is_sent and form.is_valid():
        try:
            require_draft(campaign)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            sent = Sent(GOLD, {"table": InputFile.sent(form.cleaned_data["table"])}, {})
            kept = waiting.keep(sent, signed_in(request).pk)
            return redirect(f"{reverse('campaign-items', args=[slug])}?check={kept}")
    return _gold_page(request, campaign, status=422 if form.errors else 200, form=form)


def _gold_page(
    request: HttpRequest, campaign: Campaign, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {
        "campaign": campaign,
        "items": uploaded(campaign),
        "is_draft": campaign.status == Campaign.Status.DRAFT,
        "section": "campaigns",
        "tab": "items",
    }
    return render(request, "annotation/gold_items.html", context | more, status=status)


class GoldTable(Confirmation):
    """The preview of gold and practice items for a draft."""

    doors, expired = (GOLD,), EXPIRED

    def __init__(self, request: HttpRequest, token: str, campaign: Campaign) -> None:
        super().__init__(request, token)
        self.campaign = campaign

    @property
    def home(self) -> str:
        """The page of the campaign's items."""
        return reverse("campaign-items", args=[self.campaign.slug])

    def values(self, sent: Sent) -> dict[str, str]:
        """Return the campaign, which a worker has to know."""
        return {"campaign": self.campaign.slug}

    def read(self, sent: Sent) -> tuple[GoldItems, Report] | None:
        """Read the table; None if the campaign is no longer a draft."""
        try:
            return check_gold(self.campaign, sent)
        except ValidationError as error:
            messages.error(self.request, sentences(messages_of(error)))
            return None

    def look(self, checked: tuple[GoldItems, Report]) -> Look:
        """Show the first items."""
        return look_of_gold(*checked)

    def forms(self, sent: Sent, look: Look) -> Sequence[BaseForm]:
        """Return the choices of columns."""
        reading = look.reading
        self.columns = ColumnsForm(
            reading.columns,
            reading.wanted,
            reading.fields,
            self.data,
            samples=reading.samples,
            titles=reading.titles,
            files=look.report.files.values(),
        )
        return () if self.columns.is_empty else (self.columns,)

    def chosen(self, sent: Sent) -> Sent:
        """Add the choices to the words."""
        columns = self.columns.stated(stated_columns(sent.words, Report()))
        return replace(sent, words={COLUMNS: json.dumps(columns)})

    def store(self, checked: tuple[GoldItems, Report]) -> HttpResponse:
        """Add the items to the campaign."""
        number = add_gold(campaign=self.campaign, items=checked[0].items)
        waiting.forget(self.token, self.user.pk)
        messages.success(self.request, translated(added(number)))
        return redirect(self.home)

    def page(self, sent: Sent, look: Look) -> HttpResponse:
        """Show the table and its first items."""
        shown = Preview(
            look.report,
            tables=[] if self.columns.is_empty else [("", self.columns)],
            headings=[Heading(label) for label in look.headings],
            first=look.first,
        )
        address = f"?{urlencode({'check': self.token})}&"
        return _gold_page(
            self.request, self.campaign, shown=shown, address=address, is_changed=self.is_changed
        )


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
