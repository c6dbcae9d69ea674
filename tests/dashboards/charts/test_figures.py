"""Figures: drawn from one specification, nothing inline, escaped, legible in grey."""

import re
from collections.abc import Iterator
from html import unescape
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from dashboards.charts import files
from dashboards.charts.files import narrow
from dashboards.charts.style import figure
from dashboards.report.parts import drawings
from dashboards.significance import pairs
from tests.core.test_csp import INLINE
from tests.shared import SharedRows
from tests.world import make_scored_demo, make_user

DASHBOARDS = Path(pairs.__file__).parents[1]


def spec(label: str = "a") -> dict[str, Any]:
    return figure(
        "Title",
        "Two bars.",
        data={"values": [{"x": label, "y": 1}, {"x": "b", "y": 2}]},
        mark="bar",
        encoding={
            "x": {"field": "x", "type": "nominal"},
            "y": {"field": "y", "type": "quantitative"},
            "color": {"field": "y", "type": "quantitative"},
        },
    )


def scored() -> int:
    make_scored_demo("chrf", "ter")
    return Campaign.objects.get(slug="demo-zh-en-80").pk


@pytest.fixture(scope="module")
def demo(shared_rows: SharedRows[int]) -> Iterator[int]:
    with shared_rows(scored) as pk:
        yield pk


@pytest.fixture
def campaign(demo: int, db: None, client: Client) -> Campaign:
    client.force_login(make_user("reader", "researcher"))
    return Campaign.objects.get(pk=demo)


@pytest.mark.parametrize(
    ("fmt", "magic"), [("svg", b"<svg "), ("pdf", b"%PDF-"), ("png", b"\x89PNG")]
)
def test_files_are_what_they_are_called(fmt: str, magic: bytes) -> None:
    assert files.draw(spec(), fmt).startswith(magic)


def test_a_drawing_has_nothing_inline_and_escapes_texts() -> None:
    drawn = files.draw(spec("<script>alert(1)</script>"), "svg").decode()
    assert "<script" not in drawn
    assert "&lt;script" in drawn
    inside = drawn.replace("http://www.w3.org", "")
    assert [what for what, pattern in INLINE.items() if pattern.search(inside)] == []


# Names that are too long for a label, and a single character of two halves.
@pytest.mark.parametrize("name", ["港𝒳" * 60, "🔥" * 60, "🔥", "\u202e{n} %s" * 30, "a\\u" * 60])
def test_any_name_is_drawn(name: str) -> None:
    assert files.draw(spec(name), "svg")
    assert files.draw(narrow(spec(name)), "svg")
    assert drawings([spec(name)])


def test_it_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = files.draw(spec(), "svg")
    monkeypatch.setattr(files, "_convert", lambda *_: pytest.fail("drawn again"))
    assert files.draw(spec(), "svg") == first


@pytest.mark.parametrize(
    "panel",
    [
        {"hconcat": [spec(), spec()]},
        {"facet": {"field": "x"}, "columns": 4, "spec": {"width": 140, **spec()}},
        {"width": 420, **spec()},
    ],
    ids=["beside", "multiples", "wide"],
)
def test_on_a_phone_a_figure_is_as_narrow(panel: dict[str, Any]) -> None:
    wide = {**spec(), **panel}
    if "mark" not in panel:
        del wide["mark"], wide["encoding"]
    drawn = files.draw(files.Figure("bars", wide, "/bars").phone.spec, "svg")
    found = files.SIZE.search(drawn)
    assert found is not None
    assert float(found[1]) <= 332


def test_a_figure_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="'bars' has no description"):
        files.Figure("bars", {"title": "x"}, "/bars")


def test_steps_differ_in_lightness() -> None:
    """In grey, too, a smaller p is darker, and each step by a tenth of white or more."""
    greys = [
        sum(
            weight * int(colour[start : start + 2], 16) / 255
            for weight, start in ((0.299, 1), (0.587, 3), (0.114, 5))
        )
        for colour in pairs.COLOURS
    ]
    steps = [after - before for before, after in pairwise(greys)]
    assert min(steps) > 0.1


def test_another_drawing_has_another_address() -> None:
    one = files.Figure("bars", spec(), "/bars", "?scores=raw")
    newer = files.Figure("bars", {**spec(), "title": "Newer"}, "/bars", "?scores=raw")
    assert one.image.startswith("/bars.svg?scores=raw&drawn=")
    assert one.image == files.Figure("bars", spec(), "/bars", "?scores=raw").image
    assert newer.image != one.image


def test_names_of_figures_fit_templates() -> None:
    # That of preferences goes through its figures, whatever their names.
    rooms = {path.parent.name for path in DASHBOARDS.glob("*/figures.py")} - {"preferences"}
    modules = [pairs, *(import_module(f"dashboards.{room}.figures") for room in rooms)]
    tables = [value for each in modules for value in vars(each).values() if type(value) is dict]
    names = [name for table in tables for name in table if callable(table[name])]
    assert len(names) > 12
    assert all(name.isidentifier() for name in names)


def test_addresses(campaign: Campaign, client: Client) -> None:
    for page, name in (("correlations", "intervals"), ("significance", "heatmap")):
        for fmt, kind in (("svg", "image/svg+xml"), ("pdf", "application/pdf")):
            response = client.get(reverse(f"{page}-figure", args=[campaign.slug, name, fmt]))
            assert response["Content-Type"] == kind
            again = client.get(
                reverse(f"{page}-figure", args=[campaign.slug, name, fmt]),
                headers={"If-None-Match": response["ETag"]},
            )
            assert again.status_code == 304
    assert client.get(f"/campaigns/{campaign.slug}/correlations/figures/x.svg").status_code == 404
    address = f"/campaigns/{campaign.slug}/correlations/figures/intervals"
    assert client.get(f"{address}.exe").status_code == 404


def test_the_specification_holds_the_numbers_of_the_page(
    campaign: Campaign, client: Client
) -> None:
    address = f"/campaigns/{campaign.slug}/significance"
    query = "?statistic=pearson&correction=holm"
    document = client.get(f"{address}.json{query}").json()
    drawn = client.get(f"{address}/figures/heatmap.json{query}").json()
    pairs = {(v["metric"], v["other"]): v["pvalue"] for v in drawn["data"]["values"]}
    assert pairs == {(r["label"], r["other_label"]): r["pvalue"] for r in document["rows"]}
    assert "Holm" in drawn["description"]


def test_the_page_keeps_the_place_of_what_has_been_drawn(
    campaign: Campaign, client: Client
) -> None:
    address = f"/campaigns/{campaign.slug}/quality/"
    images = r'(?:srcset|src)="([^"]*figures/scores.svg[^"]*)"( width="\d+" height="\d+")?'
    # What has never been drawn is asked for by a script when the page stands.
    late = r'data-(?:phone|image)="([^"]*figures/scores.svg[^"]*)"'
    page = client.get(address).text
    first = re.findall(late, page)
    assert len(first) == 2
    without_scripts = re.findall(images, page)
    assert without_scripts == [(first[1], "")]
    widths = []
    for image in first:
        drawn = client.get(unescape(image))
        size = files.SIZE.search(drawn.content)
        assert size is not None
        widths.append(float(size[1]))
    assert widths[0] <= 332 < widths[1]  # that of a phone comes first
    found = re.findall(images, " ".join(client.get(address).text.split()))
    assert [bool(size) for _, size in found] == [True, True]
