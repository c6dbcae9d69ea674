"""Pages travel compressed; what is small, streamed or no text travels as it is."""

import gzip

import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import Client

from config.compression import CompressionMiddleware
from tests.world import World

LONG = b"text " * 1_000


def travel(response: HttpResponseBase) -> HttpResponseBase:
    request = HttpRequest()
    request.META["HTTP_ACCEPT_ENCODING"] = "gzip, deflate, br"
    return CompressionMiddleware(lambda _request: response)(request)


def test_a_page_travels_as_a_fraction_of_itself(as_admin: Client, world: World) -> None:
    plain = as_admin.get("/testsets/harbour/")
    packed = as_admin.get("/testsets/harbour/", headers={"accept-encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert len(packed.content) < len(plain.content) / 3
    assert b"</html>" in gzip.decompress(packed.content)


def test_an_unchanged_page_varies_as_the_page_does(as_admin: Client, world: World) -> None:
    address = f"/campaigns/{world.campaign.slug}/results/"
    page = as_admin.get(address)
    unchanged = as_admin.get(address, headers={"If-None-Match": page.headers["ETag"]})
    assert unchanged.status_code == 304
    varied = [set(each.headers["Vary"].split(", ")) for each in (page, unchanged)]
    assert varied[0] == varied[1]


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/json", "image/svg+xml"])
def test_text_is_compressed(kind: str) -> None:
    response = travel(HttpResponse(LONG, content_type=kind))
    assert isinstance(response, HttpResponse)
    assert gzip.decompress(response.content) == LONG


@pytest.mark.parametrize(
    "response",
    [
        HttpResponse(LONG[:1_000], content_type="text/html"),
        HttpResponse(LONG, content_type="audio/wav"),
        HttpResponse(LONG, content_type="text/html", status=206),
        StreamingHttpResponse([LONG], content_type="text/html"),
    ],
)
def test_the_rest_is_not(response: HttpResponseBase) -> None:
    assert "Content-Encoding" not in travel(response).headers
