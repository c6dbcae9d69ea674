"""Personal data: the rule of a campaign, its audit as a file, and one person exported or erased."""

import json
from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import (
    campaign_for_admin,
    researcher_required,
    signed_in,
    site_admin_required,
)
from annotation.accounts import managing, personal
from annotation.forms.access import DataRuleForm
from annotation.models import AuditEntry, Campaign, DataRule
from annotation.web.parameters import NOTHING, takes
from annotation.web.password import ask_password
from core.messages import as_json, invalid, messages_of
from metaeval.messages import Message


@researcher_required
@require_http_methods(["GET", "HEAD", "POST"])
def data_rule(request: HttpRequest, slug: str) -> HttpResponse:
    """Show and change what happens with personal data of a campaign."""
    campaign = campaign_for_admin(request, slug)
    rule = DataRule.objects.filter(campaign=campaign).first() or DataRule(campaign=campaign)
    form = DataRuleForm(request.POST or None, instance=rule, label_suffix="")
    if request.method == "POST" and form.is_valid():
        if form.has_changed():
            form.save()
            _note_rule(campaign, signed_in(request), form.cleaned_data)
        messages.success(request, _("The rule for personal data has been saved."))
        return redirect("access", slug=slug)
    context = {"campaign": campaign, "section": "campaigns", "tab": "access", "form": form}
    status = 422 if form.errors else 200
    return render(request, "annotation/data_rule.html", context, status=status)


def _note_rule(campaign: Campaign, actor: User, values: dict[str, Any]) -> None:
    details = {name: value for name, value in values.items() if value is not None}
    AuditEntry.objects.create(campaign=campaign, actor=actor, action="data rule", details=details)


@researcher_required
@require_safe
@takes(NOTHING)
def audit_file(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Return the decisions about a campaign as JSON Lines, the oldest first."""
    campaign = campaign_for_admin(request, slug)
    rows = campaign.audit.select_related("actor", "annotator").order_by("pk")
    return _lines(map(_decision, rows.iterator(chunk_size=2_000)), f"{campaign.slug}-audit.jsonl")


def _decision(entry: AuditEntry) -> dict[str, Any]:
    reason = entry.reason
    return {
        "id": entry.pk,
        "at": entry.created_at,
        "actor": entry.actor.get_username() if entry.actor else None,
        "action": entry.action,
        "annotator": entry.annotator.label if entry.annotator else None,
        "reason": as_json(reason) if isinstance(reason, Message) else reason,
        "details": entry.details,
    }


def _lines(rows: Iterator[dict[str, Any]], name: str) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        (f"{json.dumps(row, cls=DjangoJSONEncoder, ensure_ascii=False)}\n" for row in rows),
        content_type="application/jsonl; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )


@site_admin_required
@require_POST
def account_export(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Return all that is stored about an account as JSON Lines, and record the export."""
    user = get_object_or_404(User, pk=pk)
    if asked := ask_password(request):
        return asked
    managing.note(signed_in(request), user, managing.Action.EXPORTED)
    return _lines(personal.rows_about(user), f"account-{user.pk}.jsonl")


@site_admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def account_erase(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what erasing a person's data would do; do it once the user name is typed."""
    actor, user = signed_in(request), get_object_or_404(User, pk=pk)
    managing.check_may_change(actor, user)
    errors: list[Message] = []
    typed = request.POST.get("typed", "")
    if request.method == "POST":
        if asked := ask_password(request):
            return asked
        try:
            if typed.strip() != user.get_username():
                raise invalid("account.type-name", "Type the user name exactly as it is shown.")
            personal.erase(actor=actor, user=user)
        except ValidationError as error:
            errors = messages_of(error)
        else:
            messages.success(request, _("The personal data has been erased."))
            return redirect("account", pk)
    context = {
        "account": user, "parts": personal.parts_of(user), "errors": errors, "typed": typed
    }  # fmt: skip
    return render(request, "accounts/erase.html", context, status=422 if errors else 200)
