"""End one's own sign-ins in other browsers, on the page of the own account."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.access import signed_in
from annotation.entry import sign_ins


@login_required
@require_POST
def sign_in_end(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """End one sign-in in another browser, or all of them."""
    rows = sign_ins.others(request, signed_in(request))
    (rows if pk is None else rows.filter(pk=pk)).delete()
    messages.success(request, _("Other browsers have been signed out."))
    return redirect("own-account")
