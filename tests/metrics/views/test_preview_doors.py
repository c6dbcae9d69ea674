"""Every preview of an import: a choice that was changed is shown before anything is stored."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Campaign, Output, Prefill, Segment, TestSet
from metrics.models import MetricImport
from tests.metrics.spans.test_suggesting import drafted
from tests.refusals import tells
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
    as_admin.post(at(page), shown.values | shown.buttons["data-store"], follow=True)
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


@pytest.mark.parametrize("name", DOORS)
def test_links_of_a_preview_with_errors_work(world: World, as_admin: Client, name: str) -> None:
    door, campaign = DOORS[name], drafted(world)
    TestSet.objects.filter(pk=campaign.test_set_id).update(created_by=world.admin)
    sent = door.sent()
    tables = next(key for key in sent if key.endswith("tables"))
    broken = file("a\tb\n1\t2\n")
    sent[tables] = [broken] if isinstance(sent[tables], list) else broken
    page = as_admin.post(door.address, sent, follow=True)
    (link,) = re.findall(r'href="([^"]*problems)"', page.text)
    path = page.redirect_chain[-1][0].partition("?")[0]
    assert as_admin.get(path + unescape(link)).text.startswith("error\t")


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


# A table without names of columns, the fields of its columns, and what must be chosen as well.
NAMELESS: dict[str, tuple[str, tuple[str, ...]]] = {
    "texts: columns": ("1\tEins\tOne\n2\tZwei\tTwo\n", ("segment", "source", "system:column 3")),
    "judgments: columns": (
        "R1\t1\tstrong\t80\nR2\t1\tstrong\t60\n", ("annotator", "segment", "system", "score"),
    ),
    "scores": (
        "1\tstrong\tCOMET\t0.5\n2\tstrong\tCOMET\t0.6\n", ("segment", "system", "metric", "score"),
    ),
    "spans: name": (
        "strong\t1\t0\t7\tmajor\n", ("system", "segment", "span_start", "span_end", "severity"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMELESS)
def test_the_first_row_is_declared_data_in_every_door(
    world: World, as_admin: Client, name: str
) -> None:
    text, fields = NAMELESS[name]
    door, campaign = DOORS[name], drafted(world)
    TestSet.objects.filter(pk=campaign.test_set_id).update(created_by=world.admin)
    before = stored()
    sent = door.sent()
    tables = next(key for key in sent if key.endswith("tables"))
    sent[tables] = [file(text)] if isinstance(sent[tables], list) else file(text)
    page = as_admin.post(door.address, sent, follow=True)
    assert tells(page.text, "columns.none-known")
    prefix = "table0" if name.startswith("texts") else "column"
    choices = {f"{prefix}-{number}": field for number, field in enumerate(fields)}
    for chosen in ({f"{prefix}-headless": "on"}, choices, {f"{prefix}-headless": None}):
        page, form = again(as_admin, page, chosen)
    assert form.values.get(f"{prefix}-headless") is None
    assert tells(page.text, "columns.none-known")
    for chosen in ({f"{prefix}-headless": "on"}, choices):
        page, form = again(as_admin, page, chosen)
    as_admin.post(at(page), form.values | form.buttons["data-store"], follow=True)
    assert stored() != before


def at(page: Any) -> str:
    """The address of a page."""
    return page.request["PATH_INFO"] + f"?{page.request['QUERY_STRING']}"


def again(client: Client, page: Any, chosen: dict[str, str | None]) -> tuple[Any, Form]:
    """Read files again with choices; return the page and its form."""
    form = form_of(page)
    values = {k: v for k, v in (form.values | chosen).items() if v is not None}
    page = client.post(at(page), values | form.buttons["data-read"], follow=True)
    return page, form_of(page)
