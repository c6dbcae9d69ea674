"""Make and revoke tokens for programs, on the page of the own account."""

from django.contrib import messages
from django.contrib.auth.forms import PasswordChangeForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.access import researcher_required, signed_in
from annotation.accounts import tokens
from annotation.forms.access import TokenForm
from annotation.views.people.accounts import described, show_own


@researcher_required
@require_POST
def token_make(request: HttpRequest) -> HttpResponse:
    """Make a token and show it, once."""
    user = signed_in(request)
    password_form = described(PasswordChangeForm(user)) if user.has_usable_password() else None
    form = TokenForm(request.POST, user=user)
    if not form.is_valid():
        return show_own(request, password_form, form)
    return show_own(request, password_form, token=tokens.make(user=user, **form.cleaned_data))


@researcher_required
@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke one's own token."""
    if tokens.revoke(user=signed_in(request), pk=pk):
        messages.success(request, _("The token has been revoked. Programs can no longer use it."))
    return redirect("own-account")
