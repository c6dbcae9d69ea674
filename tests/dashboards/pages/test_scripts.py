"""The fold “For a script” of a result page reads exactly the page's numbers."""

import csv
import io
import re
from html import unescape
from typing import Any

import httpx
import pytest
from django.test import Client
from touchstone_client import Touchstone

from annotation.accounts import tokens
from tests.world import World, make_scored_demo, make_world

RAW = "?scores=raw&without=S3"
PAGES = {"correlations": RAW, "significance": RAW, "systems": RAW, "quality": "?without=S3"}


@pytest.fixture
def world(db: None) -> World:
    make_scored_demo("chrf", "bleu")
    return make_world()


def over(client: Client) -> httpx.BaseTransport:
    """The test's own server for the client of programs."""

    def answer(request: httpx.Request) -> httpx.Response:
        address = request.url.raw_path.decode()
        response: Any = client.get(address, headers=dict(request.headers.items()))
        content = b"".join(response) if response.streaming else response.content
        headers = {"Retry-After": response.headers.get("Retry-After", "0")}
        return httpx.Response(response.status_code, content=content, headers=headers)

    return httpx.MockTransport(answer)


@pytest.mark.parametrize(("page", "choices"), PAGES.items())
def test_the_lines_on_the_page_give_its_numbers(
    world: World, as_researcher: Client, page: str, choices: str
) -> None:
    token = tokens.make(user=world.researcher, name="fold", scopes=["read"], days=1)
    address = f"/campaigns/demo-zh-en-80/{page}/"
    shown = as_researcher.get(address + choices)
    assert shown.status_code == 200, shown.content[:300]
    blocks = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", shown.text, re.S)
    python, curl = map(unescape, blocks)
    lines = [line for line in python.splitlines() if line]
    assert len(lines) <= 5
    names: dict[str, Any] = {
        "token": token,
        "Touchstone": lambda url, token: Touchstone(url, token, transport=over(Client())),
    }
    exec("\n".join(lines[1:-1]), names)  # noqa: S102
    expected = as_researcher.get(f"{address.removesuffix('/')}.csv{choices}")
    text = b"".join(expected).decode() if expected.streaming else expected.content.decode()
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert len(names["table"]) == len(rows) > 0
    assert list(names["table"][0]) == list(rows[0])
    assert re.search(r'"http://testserver(/[^"]+\.csv[^"]*)"', curl)[1] in python
    names["touchstone"].session.http.close()


def test_pages_of_files_have_no_lines(world: World, as_researcher: Client) -> None:
    for page in ("report", "bundle"):
        assert (
            "touchstone_client" not in as_researcher.get(f"/campaigns/demo-zh-en-80/{page}/").text
        )
