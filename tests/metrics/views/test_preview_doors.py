"""Every preview of an import: a choice that was changed is shown before anything is stored."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Campaign, Output, Prefill, Segment, TestSet
from metrics.models import MetricImport
from tests.metrics.spans.test_suggesting import drafted
from tests.world import World

STORED = (TestSet, Segment, Output, Campaign, MetricImport, Prefill)
TEMPLATES = Path(__file__).parents[3] / "templates"
ODD = "segment\tsource\tsystem:MT\tnote\n1\tEins &quot;x&quot;\tOne &quot;x&quot;\ta\n"
JUDGED = "annotator\tsegment\tsystem\tscore\tother\nR1\t1\tstrong\t80\t10\n"
SPANS = "system\tsegment\tstart\tend\tseverity\nstrong\t1\t0\t7\tmajor\n"
SCORES = "seg\tMT\tCOMET\n1\tstrong\t0.5\n2\tstrong\t0.6\n"


def file(text: str, name: str = "own.tsv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


@dataclass(frozen=True)
class Door:
    """What is sent to an address, and the choice that is changed on the preview of it."""

    address: str
    sent: Callable[[], dict[str, Any]]
    change: dict[str, str]


DOORS = {
    "texts: entities": Door(
        "/testsets/upload/",
        lambda: {"name": "Odd", "source_language": "de", "target_language": "en",
                 "tables": [file(ODD)]},
        {"decode": "on"},
    ),
    "texts: columns": Door(
        "/testsets/upload/",
        lambda: {"name": "Odd", "source_language": "de", "target_language": "en",
                 "tables": [file(ODD)]},
        {"table0-3": "reference"},
    ),
    "judgments: columns": Door(
        "/campaigns/import/",
        lambda: {"tool": "judgments", "judgments-tables": [file(JUDGED)],
                 "judgments-test_set": "harbour", "judgments-name": "Own"},
        {"column-3": "", "column-4": "score"},
    ),
    "judgments: words": Door(
        "/campaigns/import/",
        lambda: {"tool": "judgments", "judgments-tables": [file(JUDGED)],
                 "judgments-test_set": "harbour", "judgments-name": "Own"},
        {"words-annotator": "R9"},
    ),
    "scores": Door(
        "/testsets/harbour/scores/", lambda: {"tables": file(SCORES)}, {"name-0": "Other"}
    ),
    "spans: name": Door(
        "/testsets/harbour/spans/",
        lambda: {"name": "Marker", "ends": "excluded", "tables": file(SPANS)},
        {"name": "Other"},
    ),
    "spans: ends": Door(
        "/testsets/harbour/spans/",
        lambda: {"name": "Marker", "ends": "excluded", "tables": file(SPANS)},
        {"ends": "included"},
    ),
    "suggestions": Door(
        "/campaigns/harbour-80/suggestions/",
        lambda: {"what": "suggested", "ends": "excluded", "tables": file(SPANS)},
        {"ends": "included"},
    ),
}  # fmt: skip


@dataclass
class Form:
    """The values of a preview's form as they stand, and its buttons by role."""

    values: dict[str, Any] = field(default_factory=dict)
    buttons: dict[str, dict[str, str]] = field(default_factory=dict)


class Reader(HTMLParser):
    """Reads the form with choices of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.form = Form()
        self.is_in, self.select = False, ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.is_in = self.is_in or (tag == "form" and "data-choices" in given)
        if not self.is_in:
            return
        values, name = self.form.values, given.get("name", "")
        if tag == "button":
            role = next(role for role in ("data-store", "data-read") if role in given)
            self.form.buttons[role] = {name: given.get("value", "")} if name else {}
        elif tag == "select":
            self.select = name
        elif tag == "option":
            if self.select not in values or "selected" in given:
                values[self.select] = given["value"]
        elif tag == "input" and given.get("type") in ("checkbox", "radio"):
            if "checked" in given:
                values[name] = given.get("value", "on")
        elif tag == "input" and name in ("title", "key"):
            values[name] = [*values.get(name, []), given["value"]]
        elif tag == "input" and name:
            values[name] = given.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        self.is_in = self.is_in and tag != "form"


def form_of(page: Any) -> Form:
    reader = Reader()
    reader.feed(page.text)
    return reader.form


def stored() -> list[int]:
    return [model.objects.count() for model in STORED]


@pytest.mark.parametrize("name", DOORS)
def test_a_changed_choice_is_shown_before_it_is_stored(
    world: World, as_admin: Client, name: str
) -> None:
    door, campaign = DOORS[name], drafted(world)
    TestSet.objects.filter(pk=campaign.test_set_id).update(created_by=world.admin)
    before = stored()
    page = as_admin.post(door.address, door.sent(), follow=True)
    form = form_of(page)
    assert set(form.buttons) == {"data-store", "data-read"}
    assert {key: form.values.get(key) for key in door.change} != door.change
    changed = form.values | door.change
    page = as_admin.post(
        page.redirect_chain[-1][0], changed | form.buttons["data-store"], follow=True
    )
    assert stored() == before
    shown = form_of(page)
    assert {key: shown.values[key] for key in door.change} == door.change
    address = page.redirect_chain[-1][0] if page.redirect_chain else page.request["PATH_INFO"]
    if not page.redirect_chain:
        address += f"?{page.request['QUERY_STRING']}"
    as_admin.post(address, shown.values | shown.buttons["data-store"], follow=True)
    assert stored() != before


@pytest.mark.parametrize("name", DOORS)
def test_unchanged_choices_are_stored_at_once(world: World, as_admin: Client, name: str) -> None:
    door, campaign = DOORS[name], drafted(world)
    TestSet.objects.filter(pk=campaign.test_set_id).update(created_by=world.admin)
    before = stored()
    page = as_admin.post(door.address, door.sent(), follow=True)
    form = form_of(page)
    as_admin.post(page.redirect_chain[-1][0], form.values | form.buttons["data-store"], follow=True)
    assert stored() != before


def test_no_preview_has_choices_beside_the_form_that_stores() -> None:
    """A template that says that nothing is stored yet asks in one form, or asks nothing."""
    previews = [
        path for path in TEMPLATES.rglob("*.html")
        if "Nothing is stored yet" in path.read_text(encoding="utf-8")
    ]  # fmt: skip
    assert previews
    for path in previews:
        text = path.read_text(encoding="utf-8")
        asks = "_columns.html" in text or "<select" in text or "_span_files.html" in text
        assert not asks or "js/choices.js" in text, path
