"""Sign in by password, with a brake on guessing."""

from urllib.parse import urlencode

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotation.entry.throttle import SECONDS, SENTENCE, TITLE, count_failure, is_blocked
from annotation.views.errors import refuse


class SignIn(LoginView):
    """The sign-in page; after too many failures an address has to wait."""

    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Check the password, unless too many were wrong."""
        if is_blocked(request, "login"):
            response = refuse(request, 429, TITLE, SENTENCE)
            response["Retry-After"] = str(SECONDS)
            return response
        return super().post(request, *args, **kwargs)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Count the failure; a page with an error is no success."""
        count_failure(self.request, "login")
        response = super().form_invalid(form)
        response.status_code = 422
        return response


def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """Send those who would enter Django's admin to the one sign-in page that there is."""
    if request.user.is_authenticated:
        raise PermissionDenied
    target = request.GET.get("next", "") or reverse("admin:index")
    return redirect(f"{reverse('login')}?{urlencode({'next': target})}")
