"""Compress what goes to a browser, and name the sources that its pages may load."""

from collections.abc import Callable

from csp.constants import HEADER
from csp.middleware import CheckableLazyObject, CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

# Types that are text and are sent at once. Streams (exports) and recordings stay as they are.
COMPRESSED = frozenset({"text/html", "application/json", "image/svg+xml", "text/javascript"})
LEAST_BYTES = 1_024


class CompressionMiddleware(GZipMiddleware):
    """Compress short-lived text with gzip, and hide its exact length.

    Django adds random bytes to each compressed answer and masks CSRF tokens anew in each page, so
    an attacker cannot guess secrets from lengths (the BREACH attack).
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Compress a whole answer of a type that is worth it."""
        if response.status_code == 304:  # has the header Vary of the answer that it stands for
            patch_vary_headers(response, ["Accept-Encoding"])
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        is_text = not response.streaming and kind in COMPRESSED and response.status_code == 200
        if not is_text or len(response.content) < LEAST_BYTES:  # type: ignore[attr-defined]
            return response
        return super().process_response(request, response)


class PolicyMiddleware(CSPMiddleware):
    """The package's middleware; it builds the site's own policy once, not for every answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        super().__init__(get_response)
        self.usual = build_policy()
        # Where the settings have more than a policy for every address, the package decides.
        is_usual = set(settings.CONTENT_SECURITY_POLICY) == {"DIRECTIVES"}
        self.is_usual = is_usual and not hasattr(settings, "CONTENT_SECURITY_POLICY_REPORT_ONLY")

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Set the header; a view or template that asked for another policy gets that."""
        asked = [*vars(response), *vars(request)]
        if not self.is_usual or any(name.startswith("_csp") for name in asked) or settings.DEBUG:
            return super().process_response(request, response)
        if HEADER not in response:
            response[HEADER] = self.usual
        request.csp_nonce = CheckableLazyObject(self._csp_nonce_post_response)  # type: ignore[attr-defined]
        return response
