"""Which systems of a test set are human translations, changed on its page."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotation.access import admin_required, may_share_test_set, signed_in
from annotation.human_systems import NOT_YOURS, set_human
from annotation.models import System


@admin_required
@require_POST
def human_set(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Mark a system as a human translation (`is_human` is 1) or as MT."""
    rows = System.objects.select_related("test_set")
    system = get_object_or_404(rows, test_set__slug=slug, pk=pk)
    if not may_share_test_set(request.user, system.test_set):
        raise PermissionDenied(NOT_YOURS)
    is_human = request.POST.get("is_human") == "1"
    if set_human(system=system, is_human=is_human, actor=signed_in(request)):
        name = system.name
        if is_human:
            messages.success(request, f"{name} was marked as a human translation.")
        else:
            messages.success(request, f"{name} was marked as an MT system.")
    return redirect(system.test_set)
