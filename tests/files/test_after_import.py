"""Check what an import is called, what it says it stored, and where it leads."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from tests.files import doors
from tests.files.test_rules import ROWS, Row, lines
from tests.refusals import tells
from tests.world import World

pytestmark = pytest.mark.django_db


def names(path: Path, rows: list[Row], **options: str) -> list[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(lines(rows), encoding="utf-8")
    doors.judge(path, **options)
    return list(Campaign.objects.order_by("pk").values_list("name", flat=True))


def test_a_campaign_is_called_as_the_person_says(tmp_path: Path) -> None:
    rows = [row | {"campaign": "Wave 1"} for row in ROWS["judgments"]]
    assert names(tmp_path / "pilot.jsonl", rows, name="Mine") == ["Mine"]


def test_a_campaign_is_called_as_its_column_says(tmp_path: Path) -> None:
    rows = [row | {"campaign": "Wave 1"} for row in ROWS["judgments"]]
    assert names(tmp_path / "judgments.jsonl", rows) == ["Wave 1"]


@pytest.mark.parametrize(
    ("path", "options", "name"),
    [
        ("wmt24 pilot.jsonl", {}, "wmt24 pilot"),
        ("Pier/judgments.jsonl", {}, "Pier"),
        ("Pier/ratings (2).jsonl", {"study": "harbour"}, "harbour"),
        ("data/scores.jsonl", {}, "scores en-de"),
    ],
)
def test_a_file_called_judgments_does_not_name_a_campaign(
    tmp_path: Path, path: str, options: dict[str, str], name: str
) -> None:
    assert names(tmp_path / path, ROWS["judgments"], **options) == [name]


def test_a_stored_test_set_names_a_campaign_with_its_pair(tmp_path: Path) -> None:
    test_set = doors.of_talks(2)
    rows = [{"segment": "1", "system": "Nemo", "annotator": "R", "score": "80"}]
    path = tmp_path / "data" / "judgments.jsonl"
    assert names(path, rows, test_set="talks", pair="") == [f"{test_set.name} zh-en"]


def test_the_preview_suggests_the_name_and_the_page_after_it_leads_on(
    world: World, as_admin: Client, tmp_path: Path
) -> None:
    path = tmp_path / "judgments.jsonl"
    bad = ROWS["judgments"][0] | {"annotator": "S", "score": "101"}
    path.write_text(lines([*ROWS["judgments"], bad]))
    with path.open("rb") as file:
        sent = {"tool": "judgments", "judgments-tables": file, "judgments-study": "pier",
                "judgments-source_language": "de", "judgments-target_language": "en",
                "skip": ["score"]}  # fmt: skip
        page = as_admin.post("/campaigns/import/", sent, follow=True)
    assert page.context["correction"]["words"]["name"].value() == "pier"
    assert page.context["shown"].errors == []
    form = page.context["correction"]
    values = {field.html_name: field.value() or "" for each in form.values() for field in each}
    page = as_admin.post(page.redirect_chain[-1][0], values)
    campaign = Campaign.objects.get(slug="pier")
    for view, key in (("results", "pier"), ("quality", "pier"),
                      ("run-start", campaign.test_set.slug),
                      ("metric-scores", campaign.test_set.slug)):  # fmt: skip
        assert f'href="{reverse(view, args=[key])}"' in page.text
    setup = reverse("campaign-setup", args=["pier"])
    for address in (setup, campaign.test_set.get_absolute_url()):
        assert tells(as_admin.get(address).text, "skip.rows", n=1)


def test_every_scoring_page_says_how_scores_come_in(world: World, as_admin: Client) -> None:
    own, every = reverse("metric-scores", args=["harbour"]), reverse("metric-scores-sets")
    pages = {
        reverse("run-start", args=["harbour"]): own,
        f"{reverse('runs')}?testset=harbour": own,
        reverse("runs"): every,
        reverse("metrics"): every,
        reverse("metric-add"): every,
    }
    for page, address in pages.items():
        text = as_admin.get(page).text
        assert f'href="{address}"' in text, page
        assert "manage.py import_scores" in text, page
