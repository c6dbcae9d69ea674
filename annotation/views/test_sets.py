"""Changes on the page of a test set: who may add to it, its owner, its human systems."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotation import test_sets
from annotation.access import (
    admin_required,
    may_share_test_set,
    signed_in,
    site_admin_required,
    test_set_for_reader,
)
from annotation.forms.access import AccountForm
from annotation.models import System, TestSet, TestSetShare
from annotation.views.uploads import show_test_set
from annotation.web.password import ask_password
from core.messages import translated
from metaeval.messages import message

NOT_YOURS = message(
    "test-set.not-yours",
    "You may read this test set. Only its owner and site admins decide who may change it.",
)


@admin_required
@require_POST
def share_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Let one more account add to a test set."""
    test_set = _for_sharing(request, slug)
    return ask_password(request) or _change(request, test_set, "share_form", test_sets.share)


@admin_required
@require_POST
def share_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Stop sharing a test set with an account."""
    test_set = _for_sharing(request, slug)
    rows = TestSetShare.objects.select_related("user", "test_set")
    shared = get_object_or_404(rows, test_set=test_set, pk=pk)
    if asked := ask_password(request):
        return asked
    test_sets.unshare(shared=shared, actor=signed_in(request))
    return redirect(test_set)


@site_admin_required
@require_POST
def owner_set(request: HttpRequest, slug: str) -> HttpResponse:
    """Give a test set another owner."""
    test_set = test_set_for_reader(request, slug)
    return ask_password(request) or _change(request, test_set, "owner_form", test_sets.set_owner)


def _for_sharing(request: HttpRequest, slug: str) -> TestSet:
    test_set = test_set_for_reader(request, slug)
    if not may_share_test_set(request.user, test_set):
        raise PermissionDenied(NOT_YOURS)
    return test_set


def _change(
    request: HttpRequest, test_set: TestSet, name: str, verb: Callable[..., None]
) -> HttpResponse:
    form = AccountForm(request.POST, auto_id=f"{name}_%s")
    if form.is_valid():
        try:
            account = form.cleaned_data["username"]
            verb(test_set=test_set, username=account, actor=signed_in(request))
            allowed = message(
                "test-set.shared", "{account} may now change this test set.", account=account
            )
            messages.success(request, translated(allowed))
            return redirect(test_set)
        except ValidationError as error:
            form.add_error(None, error)
    changed: dict[str, Any] = {name: form}
    return show_test_set(request, test_set, status=422, **changed)


@admin_required
@require_POST
def human_set(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Mark a system as a human translation (`is_human` is 1) or as MT."""
    test_set = test_set_for_reader(request, slug)
    system = get_object_or_404(System.objects.select_related("test_set"), test_set=test_set, pk=pk)
    if not may_share_test_set(request.user, system.test_set):
        raise PermissionDenied(test_sets.NOT_YOURS)
    is_human = request.POST.get("is_human") == "1"
    if test_sets.set_human(system=system, is_human=is_human, actor=signed_in(request)):
        marked = (
            gettext("%(system)s was marked as a human translation.")
            if is_human
            else gettext("%(system)s was marked as an MT system.")
        )
        messages.success(request, marked % {"system": system.name})
    return redirect(system.test_set)
