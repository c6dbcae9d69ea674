"""Pages of accounts: the own account, all accounts for site admins, and links to set a password."""

from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import (
    ANNOTATOR,
    is_researcher,
    is_site_admin,
    signed_in,
    site_admin_required,
)
from annotation.accounts import managing
from annotation.entry import sign_ins, throttle
from annotation.forms.access import AccountMailForm, InviteForm, RolesForm, TokenForm
from annotation.models import AccountLink
from annotation.notifications import letters as mails
from annotation.web.appearance import choices
from annotation.web.errors import refuse, refuse_guessing
from annotation.web.parameters import Parameters, page_of, takes
from annotation.web.password import ask_password
from core.messages import invalid, messages_of, sentences
from metaeval.messages import message

PER_PAGE = 50
BACKEND = "django.contrib.auth.backends.ModelBackend"
DEAD_TITLE = _("This link does not work")
DEAD = message(
    "accounts.dead-link",
    "This link no longer works: it was used, was replaced or has expired. Ask "
    "a site admin for another.",
)
# Annotators read the name of their role in their language.
ROLE_NAMES = {ANNOTATOR: _("annotator")}
PASSWORDS = ("password", "new_password1", "new_password2", "old_password")


@site_admin_required
@require_http_methods(["GET", "HEAD", "POST"])
@takes(Parameters(frozenset({"page", "q"})))
def account_list(request: HttpRequest) -> HttpResponse:
    """List all accounts, with a form for a new one."""
    form = InviteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return ask_password(request) or _invite(request, form)
    asked = request.GET.get("q", "").strip()
    rows = managing.managed()
    page = page_of(request, rows.filter(username__icontains=asked) if asked else rows, PER_PAGE)
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "form": form, "page": page, "q": asked, "query": query.urlencode(),
        "missing": mails.missing(),
    }  # fmt: skip
    return render(request, "accounts/accounts.html", context, status=422 if form.errors else 200)


def _invite(request: HttpRequest, form: InviteForm) -> HttpResponse:
    """Create the account, and show its link or mail it."""
    given, actor = form.cleaned_data, signed_in(request)
    user, token = managing.invite(
        actor=actor, username=given["username"], email=given["email"], roles=given["roles"]
    )
    if "mail" not in request.POST or mails.missing():
        return _link_page(request, user, token)
    _mail(request, user, given["email"], uuid4())
    return redirect("account", user.pk)


def _mail(request: HttpRequest, user: User, address: str, sheet: UUID) -> None:
    site = request.build_absolute_uri("/").rstrip("/")
    actor = signed_in(request)
    asked = mails.ask_account(user=user, actor=actor, sheet=sheet, address=address, site=site)
    if asked:
        text = gettext("An e-mail is being sent to %(address)s.")
        messages.success(request, text % {"address": address})
    else:
        messages.info(request, _("No e-mail was sent, because one is already being sent."))


def _link_page(request: HttpRequest, user: User, token: str) -> HttpResponse:
    """Show the link, once: only its hash is stored."""
    address = request.build_absolute_uri(reverse("account-link", args=[token]))
    expires = AccountLink.objects.get(user=user).expires_at
    context = {"account": user, "address": address, "expires": expires}
    response = render(request, "accounts/link.html", context)
    response["Cache-Control"] = "no-store"
    return response


@site_admin_required
@require_GET
def account_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one account and its actions."""
    return _detail(request, get_object_or_404(User, pk=pk))


def _detail(request: HttpRequest, user: User) -> HttpResponse:
    roles = {group.name for group in user.groups.all()}
    context = {
        "account": user,
        "form": RolesForm(initial={"roles": sorted(roles)}, label_suffix=""),
        "link": AccountLink.objects.filter(user=user).first(),
        "is_self": user == request.user,
        "missing": mails.missing(),
        "mail_form": AccountMailForm(initial={"address": user.email, "sheet": uuid4()}),
        "letters": user.letters.order_by("-pk")[:5],
        "parts": user.annotators.count(),
        "sign_ins": sign_ins.present(user),
    }
    return render(request, "accounts/account.html", context)


@site_admin_required
@require_POST
def account_change(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    """Change roles, make or mail a link, sign out, deactivate or activate an account."""
    actor, user = signed_in(request), get_object_or_404(User, pk=pk)
    if verb != "sign-out" and (asked := ask_password(request)):
        return asked
    try:
        if verb == "link":
            return _link_page(request, user, managing.reset(actor=actor, user=user))
        if verb == "mail":
            _mail_link(request, user)
            return redirect("account", pk)
        if verb == "roles":
            form = RolesForm(request.POST)
            roles = form.cleaned_data["roles"] if form.is_valid() else []
            if form.errors:
                raise invalid("account.no-role", "This role does not exist.")
            managing.set_roles(actor=actor, user=user, roles=roles)
        elif verb == "sign-out":
            managing.sign_out(actor=actor, user=user)
        else:
            managing.set_active(actor=actor, user=user, is_active=verb == "activate")
        text = gettext("The account %(name)s has been changed.")
        messages.success(request, text % {"name": user.get_username()})
    except ValidationError as error:
        messages.error(request, sentences(messages_of(error)))
    return redirect("account", pk)


def _mail_link(request: HttpRequest, user: User) -> None:
    """Mail a link and store the address. Raises ValidationError."""
    managing.check_may_link(signed_in(request), user)
    form = AccountMailForm(request.POST)
    if problem := mails.missing():
        raise ValidationError([problem])
    if not form.is_valid():
        raise invalid("account.no-address", "This is not an e-mail address.")
    address = form.cleaned_data["address"]
    User.objects.filter(pk=user.pk).update(email=address)
    _mail(request, user, address, form.cleaned_data["sheet"])


@never_cache
@sensitive_post_parameters(*PASSWORDS)
@require_http_methods(["GET", "HEAD", "POST"])
def account_link(request: HttpRequest, token: str) -> HttpResponse:
    """Set the password of the account that a link is for, and sign in."""
    with transaction.atomic():
        link = managing.find_link(token, lock=request.method == "POST")
        if link is None:
            return _dead(request)
        form = described(SetPasswordForm(link.user, request.POST or None))
        if request.method == "POST" and form.is_valid():
            user = managing.enter(link, form.cleaned_data["new_password1"])
            logout(request)
            if step := sign_ins.second_step(request, user, reverse("home")):
                return step
            login(request, user, backend=BACKEND)
            return redirect("home")
    context = {"form": form, "account": link.user}
    return render(request, "accounts/enter.html", context, status=422 if form.errors else 200)


def _dead(request: HttpRequest) -> HttpResponse:
    if until := throttle.attempt_link(request).blocked_until:
        return refuse_guessing(request, until)
    return refuse(request, 404, DEAD_TITLE, DEAD)


@login_required
@sensitive_post_parameters(*PASSWORDS)
@require_http_methods(["GET", "HEAD", "POST"])
def own_account(request: HttpRequest) -> HttpResponse:
    """Show one's own account: roles, password, appearance of pages."""
    user = signed_in(request)
    form: Any = None
    if user.has_usable_password():
        form = described(PasswordChangeForm(user, request.POST or None))
    if request.method == "POST" and form is not None and form.is_valid():
        form.save()
        update_session_auth_hash(request, form.user)
        sign_ins.others(request, user).delete()
        messages.success(
            request, _("Your password has been changed. Other browsers have been signed out.")
        )
        return redirect("own-account")
    return show_own(request, form)


def show_own(
    request: HttpRequest, form: Any, token_form: TokenForm | None = None, token: str = ""
) -> HttpResponse:
    """Show one's own account, with a refused form or, once, a new token."""
    user = signed_in(request)
    has_tokens = is_researcher(user)
    context = {
        "form": form,
        "held": [ROLE_NAMES.get(group.name, group.name) for group in user.groups.all()],
        "is_site_admin": is_site_admin(user),
        "choices": choices(request),
        "has_tokens": has_tokens,
        "tokens": user.api_tokens.filter(revoked_at=None) if has_tokens else (),
        "token_form": token_form or TokenForm(user=user),
        "token": token,
        "sign_ins": sign_ins.present(user),
        "sign_in": request.session.get(sign_ins.KEY),
    }
    status = 422 if any(each is not None and each.errors for each in (form, token_form)) else 200
    response = render(request, "accounts/own.html", context, status=status)
    if token:
        response["Cache-Control"] = "no-store"
    return response


def described(form: Any) -> Any:
    """Change Django's form: no colons, and one sentence instead of a list."""
    form.label_suffix = ""
    form.fields["new_password1"].help_text = _(
        "Use at least 12 characters; a few unrelated words are easiest to "
        "remember. Common passwords and your own name are not accepted."
    )
    return form


@login_required
@require_POST
def sign_in_end(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """End one sign-in in another browser, or all of them."""
    if asked := ask_password(request):
        return asked
    rows = sign_ins.others(request, signed_in(request))
    (rows if pk is None else rows.filter(pk=pk)).delete()
    messages.success(request, _("Other browsers have been signed out."))
    return redirect("own-account")
