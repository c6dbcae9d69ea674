"""Light or dark, text size and motion: kept by the browser, and nothing that nobody knows."""

import pytest
from django.test import Client

from tests.house.templates.seen import seen


def test_a_choice_stands_on_every_page(as_researcher: Client) -> None:
    sent = {"theme": "dark", "text": "larger", "motion": "reduced"}
    assert as_researcher.post("/appearance/", sent)["Location"] == "/account/"
    page = seen(as_researcher.get("/campaigns/").text)
    assert 'dir="ltr" data-theme="dark" data-text="larger" data-motion="reduced">' in page
    as_researcher.post("/appearance/", {"theme": ""})
    assert 'dir="ltr">' in as_researcher.get("/campaigns/").text


@pytest.mark.parametrize("value", ["purple", 'dark" onload="x', "....", "a.b.c.d", "dark;x"])
def test_what_a_cookie_holds_is_not_believed(client: Client, db: None, value: str) -> None:
    client.cookies["appearance"] = value
    page = client.get("/login/")
    assert page.status_code == 200
    assert 'dir="ltr">' in page.text
