"""Sign in by password, with a brake on guessing."""

from urllib.parse import urlencode

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotation.access import is_site_admin
from annotation.entry.devices import remember_device
from annotation.entry.sessions import SessionStore
from annotation.entry.throttle import Attempt, attempt_sign_in, take_back
from annotation.web.errors import refuse_guessing


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
        """Sign in, and know this browser next time. Sessions that have ended are deleted then."""
        take_back(self.attempt)
        SessionStore.clear_expired()
        response = super().form_valid(form)
        remember_device(self.request, response, self.attempt.account)
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """A page with an error is no success."""
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
