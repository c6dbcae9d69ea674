"""Pages outside campaigns: the start page, signing in with a brake on guessing, the glossary."""

from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from annotation.access import is_researcher, is_site_admin, researcher_required, signed_in
from annotation.entry.accounts import SessionStore
from annotation.entry.sign_ins import second_step
from annotation.entry.throttle import Attempt, attempt_sign_in, remember_device, take_back
from annotation.glossary import GROUPS
from annotation.models import Annotator, Campaign
from annotation.web.errors import refuse_guessing


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Send researchers to the campaigns, or a demo's study; show everyone else their tasks."""
    tasks = list(
        Annotator.objects.filter(user=signed_in(request))
        .exclude(campaign__status=Campaign.Status.DRAFT)
        .select_related("campaign")
        .annotate(
            assigned=Count(
                "assignments",
                filter=Q(assignments__released_at=None)
                | Q(assignments__completed_at__isnull=False),
            ),
            completed=Count("assignments__completed_at"),
        )
        .order_by("campaign__name")
    )
    if is_researcher(request.user) and not tasks:
        return redirect(settings.DEMO or "campaigns")
    return render(request, "annotation/home.html", {"tasks": tasks})


@researcher_required
@require_GET
def glossary(request: HttpRequest) -> HttpResponse:
    """Show every term that researchers' pages use."""
    return render(request, "glossary.html", {"groups": GROUPS.items()})


class SignIn(LoginView):
    """The sign-in page; who guesses has to wait longer and longer."""

    redirect_authenticated_user = True
    attempt = Attempt()

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Check the password, unless too many were wrong. A form with a gap is no attempt."""
        username = request.POST.get("username", "")
        if username.strip() and request.POST.get("password"):
            self.attempt = attempt_sign_in(request, username)
            if self.attempt.blocked_until:
                return refuse_guessing(request, self.attempt.blocked_until)
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Sign in, perhaps after a second step, and know this browser next time.

        Sessions that have ended are deleted then.
        """
        take_back(self.attempt)
        SessionStore.clear_expired()
        if step := second_step(self.request, form.get_user(), self.get_success_url()):
            return step
        response = super().form_valid(form)
        remember_device(self.request, response, self.attempt.account)
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Answer a failed sign-in with status 422."""
        response = super().form_invalid(form)
        response.status_code = 422
        return response


def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Send those who would enter Django's admin to the one sign-in page that there is.

    It takes superusers alone; site admins find accounts on our own pages.
    """
    if is_site_admin(request.user):
        return redirect("accounts")
    if request.user.is_authenticated:
        raise PermissionDenied
    target = request.GET.get("next", "") or reverse("admin:index")
    return redirect(f"{reverse('login')}?{urlencode({'next': target})}")
