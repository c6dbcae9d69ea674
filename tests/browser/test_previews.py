"""The preview of every import: the same parts in all doors, and readable on a phone."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import FileImport, TestSet
from tests.browser.axe import violations
from tests.browser.conftest import Visitor
from tests.world import make_world

# Address, the fields of the form with their values, the name of the file, and its rows.
DOORS: dict[str, tuple[str, dict[str, str], str, str, str]] = {
    "test set": (
        "/testsets/upload/",
        {"Name": "Harbour 2025", "Source language": "de", "Target language": "en"},
        "Tables",
        "set.csv",
        "segment,source,reference,system:online-A,notes\n1,Der Hafen ist ruhig.,The harbour is "
        "quiet.,The port is calm.,x\n2,Die Boote liegen still.,The boats lie still.,Boats are "
        "silent.,y\n3,,Empty.,Nothing.,z\n4,Möwen schreien.,Gulls cry.\n",
    ),
    "judgments": (
        "/campaigns/import/",
        {"Source language": "de", "Target language": "en"},
        "Tables",
        "ratings.csv",
        "rater,seg_id,system,score,translation,mood\nR1,1,A,80,The harbour.,x\nR1,2,A,,Gulls.,y\n"
        "R2,1,A,101,The harbour.,x\nR2,2,A,70,Gulls.,y\n",
    ),
    "human scores": (
        "/campaigns/import/",
        {"Source language": "de", "Target language": "en"},
        "Tables",
        "da.tsv",
        "seg_id\tsystem\tda\tmqm\n1\tA\t0.5\t-1\n2\tA\t-0.2\t-5\n1\tB\tx\t0\n",
    ),
    "metric scores": (
        "/testsets/harbour/scores/",
        {},
        "Files with scores",
        "comet.csv",
        "seg,system,COMET,TER,note\n1,strong,0.5,0.2,a\n2,strong,0.7,0.4,b\n99,strong,0.1,0.2,c\n",
    ),
    "spans": (
        "/testsets/harbour/spans/",
        {"Name of the metric": "Marker"},
        "Files with spans",
        "spans.csv",
        "system,segment,start,end,severity,note\nstrong,1,0,3,major,a\nstrong,99,0,3,minor,b\n",
    ),
}
SIZES = [(1280, 800), (360, 740)]
# Widths, and rows beyond which a worker reads a file.
READERS = [(1280, 800, 20_000), (360, 740, 20_000), (1280, 800, 1)]


def look(page: Page, name: str) -> None:
    """Keep a picture where the environment names a folder for it."""
    if folder := os.environ.get("TOUCHSTONE_LOOK"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_an_import_by_a_worker_shows_how_far_it_is(
    visitor: Callable[..., Visitor], width: int, height: int
) -> None:
    world = make_world()
    row = FileImport.objects.create(
        door="judgments", name="ratings-of-all-harbours-2025.tsv", created_by=world.admin,
        status="running", stage="reading", done=60_000, total=200_001,
    )  # fmt: skip
    someone = visitor(width, height)
    someone.enter("admin")
    page = someone.open("/campaigns/import/")
    page.get_by_role("link", name=row.name).click()
    expect(page.get_by_text("60,000 of 200,001 rows")).to_be_visible()
    look(page, f"running-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    FileImport.objects.filter(pk=row.pk).update(done=120_000)
    expect(page.get_by_text("120,000 of 200,001 rows")).to_be_visible()
    page.get_by_role("button", name="Cancel the import").click()
    expect(page.get_by_text("Nothing was stored.")).to_be_visible()
    look(page, f"cancelled-{width}")
    assert violations(page) == []


@pytest.mark.parametrize(("width", "height", "rows"), READERS)
@pytest.mark.parametrize("door", DOORS)
def test_a_file_is_understood_in_one_look(
    visitor: Callable[..., Visitor],
    tmp_path: Path,
    settings: Any,
    door: str,
    width: int,
    height: int,
    rows: int,
) -> None:
    settings.IMPORT_IN_REQUEST_ROWS = rows
    world = make_world()
    TestSet.objects.update(created_by=world.admin)
    address, fields, label, name, content = DOORS[door]
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    someone = visitor(width, height)
    someone.enter("admin")
    page = someone.open(address)
    titles = {"judgments": "A table of judgments", "human scores": "Published human scores"}
    if door in titles:
        page.get_by_role("heading", name=titles[door]).click()
    form = page.get_by_role("form", name=titles[door]) if door in titles else page.locator("main")
    for field, value in fields.items():
        form.get_by_label(field, exact=True).fill(value)
    form.get_by_label(label, exact=True).set_input_files(path)
    form.get_by_role("button", name="Check the files").click()
    problems = page.get_by_role("alert")
    expect(problems).to_contain_text("nothing can be stored")
    files = page.get_by_role("region", name="Files", exact=True)
    expect(files.get_by_role("row").nth(1)).to_contain_text(name)
    expect(files).to_contain_text("UTF-8")
    look(page, f"{door}-{width}-refused")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    for box in page.locator("[name=skip]").all():
        box.check()
    if door == "spans":
        page.get_by_label("The end offset is").select_option("excluded")
    page.get_by_role("button", name="Read again").click()
    expect(page.get_by_role("region", name="The first rows")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator("[data-store]")).to_be_visible()
    look(page, f"{door}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    page.locator("[data-store]").click()
    expect(page.locator("[data-store]")).to_have_count(0)
