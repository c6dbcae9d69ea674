"""Compress pages, figures and JSON on their way to a browser."""

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
