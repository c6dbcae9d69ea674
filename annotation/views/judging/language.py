"""The choice of the interface language in the head of annotators' pages."""

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from annotation import interface


@require_POST
def choose_language(request: HttpRequest) -> HttpResponseBase:
    """Keep the language in a cookie and with the account; go back to where the person was."""
    language = request.POST.get("language", "")
    if request.user.is_authenticated and interface.is_known(language):
        interface.remember(user=request.user, language=language)
    return set_language(request)
