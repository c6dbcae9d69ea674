"""Pages that update automatically: htmx requests only the part that changes."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers


def render_live(request: HttpRequest, page: str, context: dict[str, Any]) -> HttpResponse:
    """Render a page such as `metrics/run.html`, or for htmx its part `metrics/_run.html`."""
    folder, _, name = page.rpartition("/")
    response = render(request, f"{folder}/_{name}" if is_part(request) else page, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def is_part(request: HttpRequest) -> bool:
    """Return whether the request comes from htmx."""
    return bool(request.headers.get("HX-Request"))
