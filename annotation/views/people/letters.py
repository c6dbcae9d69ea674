"""Mail to the annotators of a campaign: their addresses, letters with links, and their status."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import campaign_for_admin, researcher_required, signed_in
from annotation.campaigns import Invitation, takes_annotators
from annotation.entry import places
from annotation.forms.access import ExpiryField
from annotation.forms.mail import AddressesForm, LetterForm
from annotation.interface import is_known
from annotation.models import Annotator, Campaign, Letter
from annotation.notifications import letters as mails
from annotation.web import fresh_links
from annotation.web.live import is_part, render_live
from annotation.web.parameters import Parameters, takes
from core.messages import messages_of, sentences

Status = Letter.Status


class CampaignLetterForm(LetterForm):
    """A letter to annotators of one campaign."""

    expires_at = ExpiryField()

    def __init__(self, data: Any, campaign: Campaign, language: str) -> None:
        words = mails.personal_words(campaign, language)
        first = {"subject": words.subject, "text": words.text}
        super().__init__(data, initial=first, label_suffix="")
        self.fields["people"].queryset = mails.reachable(campaign)  # type: ignore[attr-defined]


@researcher_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@takes(Parameters(frozenset({"language"})))
def letters(request: HttpRequest, slug: str) -> HttpResponse:
    """Choose annotators, preview and send a letter; or renew links to send them in another way."""
    campaign = campaign_for_admin(request, slug)
    language = request.GET.get("language", "")
    language = language if is_known(language) else mails.language_for(campaign)
    form = CampaignLetterForm(request.POST or None, campaign, language)
    do = request.POST.get("do", "")
    if do == "links" and not {"people", "expires_at"} & set(form.errors):
        return _make_links(request, campaign, form.cleaned_data)
    if do == "send" and form.is_valid() and not mails.missing():
        return _send(request, campaign, form.cleaned_data)
    return _page(request, campaign, language=language, form=form)


def _send(request: HttpRequest, campaign: Campaign, given: dict[str, Any]) -> HttpResponse:
    asked = mails.ask_personal(
        campaign=campaign,
        actor=signed_in(request),
        sheet=given["sheet"],
        people=given["people"],
        words=mails.Words(given["subject"], given["text"]),
        site=request.build_absolute_uri("/").rstrip("/"),
        expires_at=given["expires_at"],
    )
    if asked:
        text = ngettext("Sending %(n)s e-mail.", "Sending %(n)s e-mails.", asked)
        messages.success(request, text % {"n": f"{asked:,}"})
    else:
        messages.info(
            request, _("No e-mail was sent, because these annotators are already being sent one.")
        )
    lacking = sum(not each.user.email for each in given["people"] if each.user)
    if lacking:
        text = ngettext(
            "%(n)s annotator has no address and gets no e-mail.",
            "%(n)s annotators have no address and get no e-mail.",
            lacking,
        )
        messages.warning(request, text % {"n": f"{lacking:,}"})
    return redirect("letters", slug=campaign.slug)


def _make_links(request: HttpRequest, campaign: Campaign, given: dict[str, Any]) -> HttpResponse:
    """Renew the links of the chosen annotators, and show them for copying and as CSV."""
    made: list[Invitation] = []
    try:
        until = given["expires_at"]
        made.extend(places.renew(annotator=each, expires_at=until) for each in given["people"])
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)))
    fresh_links.keep_invitations(request, campaign, made)
    return redirect("access", slug=campaign.slug)


@researcher_required
@require_POST
def addresses_set(request: HttpRequest, slug: str) -> HttpResponse:
    """Store the addresses of annotators."""
    campaign = campaign_for_admin(request, slug)
    form = AddressesForm(request.POST, mails.reachable(campaign))
    if not form.is_valid():
        return _page(request, campaign, addresses_form=form)
    changed = places.set_addresses(campaign, form.chosen)
    text = ngettext("Changed %(n)s address.", "Changed %(n)s addresses.", changed)
    messages.success(request, text % {"n": f"{changed:,}"})
    return redirect("letters", slug=slug)


def _page(request: HttpRequest, campaign: Campaign, **changed: Any) -> HttpResponse:
    language = changed.get("language") or mails.language_for(campaign)
    form = changed.get("form") or CampaignLetterForm(None, campaign, language)
    letters = list(mails.sent(campaign)[:1_000])
    context: dict[str, Any] = {
        "campaign": campaign,
        "section": "campaigns",
        "tab": "letters",
        "language": language,
        "letters": letters,
        "counts": _counts(letters),
        "is_live": any(row.is_active for row in letters),
        "is_stuck": mails.is_stuck(letters),
    }
    if not is_part(request):
        people = list(mails.reachable(campaign))
        asked = request.POST.getlist("people") if form.is_bound else None
        context |= {
            "form": form,
            "people": [(each, _is_chosen(each, asked)) for each in people],
            "n_without": sum(not each.user.email for each in people if each.user),
            "addresses_form": changed.get("addresses_form") or AddressesForm(None, people),
            "missing": mails.missing(),
            "takes_annotators": takes_annotators(campaign),
            "preview": _preview(request, form),
        }
    response = render_live(request, "annotation/letters.html", context)
    has_errors = any(getattr(each, "errors", None) for each in changed.values())
    response.status_code = 422 if has_errors else 200
    return response


def _is_chosen(person: Annotator, asked: list[str] | None) -> bool:
    """Return whether an annotator is chosen; by default with an address and without a letter."""
    if asked is not None:
        return str(person.pk) in asked
    has_address = person.user is not None and bool(person.user.email)
    return has_address and person.letter_status in (None, Status.FAILED)  # type: ignore[attr-defined]


def _preview(request: HttpRequest, form: LetterForm) -> str:
    """Return the text as it will arrive, with a link that does not work."""
    if not form.is_bound or not form.is_valid():
        return ""
    return str(form.cleaned_data["text"]).replace(
        Letter.LINK, request.build_absolute_uri("/a/") + "…/"
    )


def _counts(letters: list[Letter]) -> dict[str, int]:
    """Count sent, pending and failed letters, by the newest letter of each annotator."""
    newest = {row.annotator_id: row.status for row in reversed(letters)}
    found = list(newest.values())
    return {
        "sent": found.count(Status.DONE),
        "waiting": sum(status in Letter.ACTIVE for status in found),
        "failed": found.count(Status.FAILED),
    }
