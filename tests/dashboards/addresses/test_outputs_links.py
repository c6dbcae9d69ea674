"""No page of ours leads to an address that refuses what the page sends there."""

from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import Resolver404, resolve

from annotation.models import Campaign

NEEDS = {"extensions.studies", "extensions.comparison", "extensions.layers"}

pytestmark = pytest.mark.usefixtures("kept_state")
ATTRIBUTES = ("href", "src", "data-points", "data-heatmap", "data-explore", "hx-get", "action")
PAGES = (
    *(f"/campaigns/rated/{name}/" for name in (
        "results", "quality", "export", "whatif", "samplesize", "correlations",
        "significance", "layers", "scatter", "systems", "report", "bundle",
    )),
    *(f"/studies/port/{name}" for name in ("", "layers/", "quality/", "systems/")),
)  # fmt: skip
PLAIN = (
    "/campaigns/rated/setup/", "/campaigns/rated/monitor/", "/campaigns/rated/remarks/",
    "/campaigns/rated/power/", "/power/", "/runs/", "/training/", "/preferences/", "/studies/",
    "/testsets/rated-set/preferences/", "/compare/",
)  # fmt: skip


class Links(HTMLParser):
    """Every address in a page, and for a form that gets one the names that it sends."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._form: list[str] | None = None
        self._action = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form" and values.get("method", "get").lower() == "get":
            self._form, self._action = [], values.get("action", "")
        elif tag != "form":
            self.found += [values[name] for name in ATTRIBUTES if values.get(name)]
        if self._form is not None and tag in ("input", "select", "textarea", "button"):
            self._form += [values["name"]] if values.get("name") else []

    def handle_endtag(self, tag: str) -> None:
        if tag == "form" and self._form is not None:
            query = "&".join(f"{name}=" for name in dict.fromkeys(self._form))
            self.found.append(f"{self._action}?{query}")
            self._form = None


def refused(page: str, text: str) -> Iterator[str]:
    parser = Links()
    parser.feed(text)
    for link in parser.found:
        address = urlsplit(urljoin(page, link))
        try:
            match = resolve(address.path)
        except Resolver404:
            continue
        if known := getattr(match.func, "takes", None):
            strangers = set(QueryDict(address.query)) - known(**match.kwargs).names
            yield from (f"{page}: {link} sends {name}" for name in strangers)


def test_every_link_and_form_sends_what_is_taken(campaign: Campaign, as_researcher: Client) -> None:
    output = campaign.systems.order_by("pk")[0].outputs.order_by("pk")[0].pk
    asked = [*(f"{page}?without=S2&traps=out" for page in PAGES), *PLAIN]
    asked += [
        "/campaigns/rated/significance/?row=chrf&without=S2",
        "/campaigns/rated/significance/?pairs=table&correction=holm",
        f"/campaigns/rated/scatter/?output={output}&without=S2",
        "/compare/?campaign=rated&without=S2&of=r_system",
        "/compare/?study=port&without=S2",
        "/studies/port/?metric=chrf&statistic=spa",
    ]
    wrong = []
    for address in asked:
        answer = as_researcher.get(address)
        assert answer.status_code == 200, address
        wrong += list(refused(address, answer.text))
    assert wrong == []


def test_the_reading_of_links_finds_what_is_wrong(db: None) -> None:
    page = (
        '<a href="/campaigns/x/quality.json?metric=chrf">'
        '<form method="get" action="/runs/"><input name="colour"></form>'
    )
    assert sorted(refused("/", page)) == [
        "/: /campaigns/x/quality.json?metric=chrf sends metric",
        "/: /runs/?colour= sends colour",
    ]
