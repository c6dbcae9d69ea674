"""Changing a draft: the form that made it, with what was set."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import campaign_for_admin, researcher_required
from annotation.campaigns.imported import has_imported_items
from annotation.forms.campaign.editing import IMPORTED, DraftForm
from annotation.models import Campaign

OPENED = "Only drafts are changed: people would be rating by two rules. Copy it instead."


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def campaign_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a draft; one that was opened, or whose items were imported, says why it stays."""
    campaign = campaign_for_admin(request, slug)
    is_draft = campaign.status == Campaign.Status.DRAFT
    if not is_draft or has_imported_items(campaign):
        messages.error(request, IMPORTED if is_draft else OPENED)
        return redirect("campaign-setup", slug)
    name, form = campaign.name, DraftForm(request.POST or None, campaign=campaign)
    if request.method == "POST" and form.is_valid():
        try:
            form.change()
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, "The draft is changed.")
            return redirect("campaign-setup", slug)
    context = {
        "section": "campaigns",
        "form": form,
        "test_set": campaign.test_set,
        "edited": name,
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/campaign_new.html", context, status=status)
