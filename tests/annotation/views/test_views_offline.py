"""The service worker: its headers, and the files that it names."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from annotation import protocols
from annotation.views.judging.offline import FILES, MODULES
from tests.annotation.views.test_views_judgments import modules
from tests.browser.planting import plant

ALL_LAYOUTS = [f"protocols/{name}.js" for name in ("single", "document", "together", "grid")]


def test_a_browser_gets_a_script_that_depends_on_nobody(client: Client, db: None) -> None:
    response = client.get("/offline.js")
    assert response["Content-Type"] == "text/javascript; charset=utf-8"
    assert response["Cache-Control"] == "no-cache"
    assert response["Service-Worker-Allowed"] == "/"
    assert "Vary" not in response or "Cookie" not in response["Vary"]
    assert not response.cookies


def test_every_module_of_a_screen_is_named() -> None:
    needed = modules("annotate.js", "protocols/marking.js", *ALL_LAYOUTS, is_later=True)
    # Fetched when somebody asks to see the differences.
    assert {*needed, "differences"} == {name.rpartition("/")[2] for name in MODULES}


@pytest.mark.parametrize("name", protocols.PROTOCOLS)
def test_every_file_of_a_page_is_named(name: str, client: Client, db: None) -> None:
    outputs = [("One.", "Two."), ("Three.", "Four.")]
    campaign = plant(name, outputs=outputs)
    client.force_login(campaign.annotators.get().user)
    page = client.get(f"/annotate/{campaign.slug}/", follow=True).text
    loaded = set(re.findall(r'(?:href|src)="/static/([^"]+)"', page))
    assert "js/annotate.js" in loaded
    assert loaded <= set(FILES)


def test_the_worker_changes_with_its_files(client: Client, db: None, monkeypatch: Any) -> None:
    before = client.get("/offline.js").text
    assert json.dumps([f"/static/{name}" for name in FILES]) in before
    monkeypatch.setattr("annotation.views.judging.offline.FILES", FILES[1:])
    name = re.compile(r"touchstone-files-\w{12}")
    assert name.findall(before) != name.findall(client.get("/offline.js").text)
