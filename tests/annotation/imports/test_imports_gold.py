"""Gold and practice items by upload: all of a table or nothing, and only of a draft."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.imports.gold import add_gold, delete_gold, read_gold
from annotation.models import Campaign, Item
from annotation.uploads import Report
from tests.annotation.tables.reading import as_file, found
from tests.refusals import refused
from tests.world import World

HEAD = "kind\tsegment\ttext\tlow\thigh\tfeedback\n"
GOLD = "gold\t1\tThe harbour was loud.\t0\t20\t\n"
PRACTICE = "tutorial\t2\tThe harbour was quiet.\t80\t100\tAll is there.\n"


def read(
    campaign: Campaign, text: Any, name: str = "gold.tsv"
) -> tuple[list[Item], list[tuple[str, str]]]:
    """Return the items, and place and code of each error."""
    report = Report()
    items = read_gold(campaign, as_file(name, text), report).items
    return items, found(report.errors)


def test_rows_become_items(world: World) -> None:
    items, errors = read(world.campaign, HEAD + GOLD + PRACTICE)
    assert errors == []
    assert add_gold(campaign=world.campaign, items=items) == 2
    rows = Item.objects.order_by("pk").values_list(
        "kind", "segment__key", "low", "high", "feedback"
    )
    assert list(rows) == [("gold", "1", 0, 20, ""), ("tutorial", "2", 80, 100, "All is there.")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gold.csv", 'kind,segment,text,low,high\ngold,1,"A, b",0,20\n'),
        ("gold.jsonl", '{"kind":"gold","segment":1,"text":"A, b","low":0,"high":20}\n'),
    ],
)
def test_other_formats(world: World, name: str, text: str) -> None:
    (item,), errors = read(world.campaign, text, name)
    assert errors == []
    assert (item.text, item.low, item.high, item.segment.key) == ("A, b", 0, 20, "1")


def test_a_segment_may_be_named_by_its_source(world: World) -> None:
    segment = world.test_set.segments.get(key="3")
    text = f"kind\tsource\ttext\tlow\thigh\ngold\t{segment.source}\tx\t0\t5\n"
    (item,), errors = read(world.campaign, text)
    assert (errors, item.segment) == ([], segment)
    (item,), errors = read(world.campaign, text.replace("source", "Quelltext"))
    assert (errors, item.segment) == ([], segment)


@pytest.mark.parametrize(
    ("rows", "place", "code"),
    [
        ("gold\t9\tx\t0\t20\t\n", "row 2, segment", "segment.unknown"),
        ("trap\t1\tx\t0\t20\t\n", "row 2, kind", "gold.unknown-kind"),
        ("gold\t1\t\t0\t20\t\n", "row 2, text", "gold.empty"),
        ("gold\t1\tx\t30\t20\t\n", "row 2, low", "gold.range-reversed"),
        ("gold\t1\tx\t0\t101\t\n", "row 2, high", "gold.score-outside"),
        ("gold\t1\tx\t-1\t20\t\n", "row 2, low", "gold.score-outside"),
        ("gold\t1\tx\t\t20\t\n", "row 2, low", "gold.range-missing"),
        (GOLD * 2, "row 3, text", "gold.item-twice"),
        ("gold\t1\n", "row 2", "table.cells"),
    ],
)
def test_what_is_wrong_is_named(world: World, rows: str, place: str, code: str) -> None:
    _, errors = read(world.campaign, HEAD + rows)
    assert errors == [(f"gold.tsv, {place}", code)]


def test_wrong_columns_are_named(world: World) -> None:
    _, errors = read(world.campaign, "kind\tsegmnt\ntutorial\t1\n")
    assert errors == [
        ("gold.tsv, row 1", "gold.column-missing"),
        ("gold.tsv, row 1", "gold.no-segment-column"),
        ("gold.tsv, row 1", "gold.unknown-columns"),
    ]


def test_a_protocol_without_scores_takes_no_range(world: World) -> None:
    world.campaign.protocol = "mqm"
    assert read(world.campaign, HEAD + GOLD)[1] == [("gold.tsv, row 2, low", "gold.no-range")]


def test_only_a_draft_changes(world: World) -> None:
    items, _ = read(world.campaign, HEAD + GOLD)
    add_gold(campaign=world.campaign, items=items)
    Campaign.objects.update(status=Campaign.Status.OPEN)
    with refused("campaign.not-draft"):
        add_gold(campaign=world.campaign, items=read(world.campaign, HEAD + PRACTICE)[0])
    with refused("campaign.not-draft"):
        delete_gold(campaign=world.campaign)
    assert Item.objects.count() == 1


def test_the_page_adds_all_or_nothing_and_deletes(world: World, as_admin: Client) -> None:
    address = reverse("campaign-items", args=[world.campaign.slug])
    wrong = as_admin.post(
        address, {"table": upload(HEAD + GOLD + "gold\t9\tx\t0\t5\t\n")}, follow=True
    )
    assert wrong.status_code == 422
    assert "row 3, segment" in wrong.text
    assert as_admin.post(address, {}).status_code == 422
    preview = as_admin.post(address, {"table": upload(HEAD + GOLD + PRACTICE)})["Location"]
    assert "All is there." in as_admin.get(preview).text
    assert not Item.objects.exists()
    page = as_admin.post(preview, as_shown(as_admin.get(preview)), follow=True)
    assert "All is there." in page.text
    assert Item.objects.count() == 2
    delete = reverse("campaign-items-delete", args=[world.campaign.slug])
    as_admin.post(delete, {"item": Item.objects.first().pk})
    assert Item.objects.count() == 1
    as_admin.post(delete, {"all": "1"})
    assert not Item.objects.exists()


def test_columns_of_other_names_are_chosen_in_the_preview(world: World, as_admin: Client) -> None:
    address = reverse("campaign-items", args=[world.campaign.slug])
    table = (HEAD + GOLD).replace("text", "what they read")
    preview = as_admin.post(address, {"table": upload(table)})["Location"]
    shown = as_admin.get(preview)
    assert shown.status_code == 422
    chosen = as_shown(shown) | {"column-2": "text", "change": "1"}
    again = as_admin.post(preview, chosen)["Location"]
    as_admin.post(again, as_shown(as_admin.get(again)))
    assert [item.text for item in Item.objects.all()] == ["The harbour was loud."]


def as_shown(page: Any) -> dict[str, str]:
    """Return the choices of columns as the page has them."""
    ((_, form),) = page.context["shown"].tables
    values = {f"column-{name}": field.initial for name, field in form.fields.items()}
    return {name: value for name, value in values.items() if value}


def upload(text: str) -> Any:
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile("gold.tsv", text.encode())


def test_only_admins_see_gold(world: World, as_researcher: Client) -> None:
    assert (
        as_researcher.get(reverse("campaign-items", args=[world.campaign.slug])).status_code == 403
    )
