"""The page on which campaign admins write instructions and consent in each language."""

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.access import campaign_for_admin, researcher_required, signed_in
from annotation.forms.campaign.instructions import InstructionsForm, language_name, stored_texts
from annotation.interface import is_known
from annotation.judging import instructions
from annotation.judging.instructions import OWN, Prose
from annotation.models import Campaign
from core.messages import invalid

TEXTS = ("instructions", "consent")


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def instructions_page(request: HttpRequest, slug: str) -> HttpResponse:
    """List the languages; edit, preview, save or delete the texts in one of them."""
    campaign = campaign_for_admin(request, slug)
    language = request.GET.get("language", OWN)
    if language != OWN and not is_known(language):
        raise Http404
    if request.method != "POST":
        form = InstructionsForm(initial=stored_texts(campaign, language))
        return _page(request, campaign, language, form)
    if request.POST.get("do") == "delete":
        return _delete(request, campaign, language)
    return _take(request, campaign, language)


def _take(request: HttpRequest, campaign: Campaign, language: str) -> HttpResponse:
    needs_own = language != OWN and not campaign.consent.strip()
    initial = {"language": language, "needs_own_consent": needs_own}
    form = InstructionsForm(request.POST, initial=initial)
    do = request.POST.get("do")
    if do not in ("save", "preview"):
        form.add_error(
            None,
            invalid(
                "instructions.no-action", "Nothing was changed. Choose Save, Preview or Delete."
            ),
        )
    if not form.is_valid() or do == "preview":
        return _page(request, campaign, language, form)
    texts = {name: form.cleaned_data[name] for name in TEXTS}
    instructions.save(campaign=campaign, actor=signed_in(request), language=language, **texts)
    messages.success(request, _("Saved: %(language)s.") % {"language": language_name(language)})
    return _back(campaign, language)


def _delete(request: HttpRequest, campaign: Campaign, language: str) -> HttpResponse:
    actor = signed_in(request)
    if instructions.delete(campaign=campaign, actor=actor, language=language):
        text = _("Deleted: %(language)s.")
        messages.success(request, text % {"language": language_name(language)})
    return _back(campaign, OWN)


def _back(campaign: Campaign, language: str) -> HttpResponse:
    address = reverse("campaign-instructions", args=[campaign.slug])
    return redirect(f"{address}?language={language}" if language else address)


def _page(
    request: HttpRequest, campaign: Campaign, language: str, form: InstructionsForm
) -> HttpResponse:
    stored = set(campaign.translations.values_list("language", flat=True))
    codes = [OWN, *(code for code, _name in settings.LANGUAGES)]
    context = {
        "campaign": campaign,
        "section": "campaigns",
        "tab": "instructions",
        "form": form,
        "language": language,
        "name": language_name(language),
        "languages": [(code, language_name(code), code in stored) for code in codes],
        "can_delete": language in stored,
        "previews": _previews(form, language),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/instructions.html", context, status=status)


def _previews(form: InstructionsForm, language: str) -> list[tuple[str, Prose]]:
    """Return the submitted or stored texts as annotators see them."""
    texts = [(name, str(form[name].value() or "")) for name in TEXTS]
    return [
        (str(form[name].label), instructions.prose(text, text if language else None, language))
        for name, text in texts
        if text.strip()
    ]
