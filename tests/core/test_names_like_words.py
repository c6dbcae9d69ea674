"""A Chinese page keeps the names that people gave, though the interface has words like them."""

import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils import translation
from django.utils.translation import gettext

from annotation.models import Campaign, Output, System
from metrics import registry
from metrics.base import MetricInfo
from metrics.runs import scoring, starting
from tests.dashboards.conftest import make_rated
from tests.house.pseudo_language import CHINESE, Visible
from tests.shared import SharedRows
from tests.world import World

# Systems, a metric and the campaign, by what they are called in the campaign of plain names.
WORDS = {
    "ʘstrong": "Quality", "ʘmiddling": "Systems", "ʘweak": "mean", "ʘmetric": "Score",
    "ʘcampaign": "Settings",
}  # fmt: skip
PAGES = ("", "results/", "report/", "correlations/", "significance/", "systems/", "monitor/",
         "quality/", "access/")  # fmt: skip


def make_named(slug: str, names: dict[str, str]) -> None:
    campaign = make_rated(slug)
    for given, name in names.items():
        System.objects.filter(campaigns=campaign, name=given.removeprefix("ʘ")).update(name=name)
    Campaign.objects.filter(pk=campaign.pk).update(name=names["ʘcampaign"])
    rows = Output.objects.filter(system__campaigns=campaign)
    lines = [f"system\tsegment\t{names['ʘmetric']}"]
    lines += [
        f"{row.system.name}\t{row.segment.key}\t{len(row.text) / 7:.3f}"
        for row in rows.select_related("system", "segment")
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "scores.tsv"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        call_command(
            "import_scores", campaign.test_set.slug, path, metric=[names["ʘmetric"]],
            stdout=StringIO(),
        )  # fmt: skip


def make_both() -> None:
    make_named("plain", {name: name for name in WORDS})
    make_named("words", WORDS)


@pytest.fixture(scope="module")
def rows(shared_rows: SharedRows[None]) -> Iterator[None]:
    with shared_rows(make_both):
        yield


def seen(client: Client, campaign: str, page: str) -> list[str]:
    """All texts of a page, in Chinese."""
    address = f"/campaigns/{campaign}/{page}"
    answer = client.get(address, follow=True)
    assert answer.status_code == 200, address
    assert f'<html lang="{CHINESE}"' in answer.text
    return Visible(answer.text).texts


@pytest.mark.usefixtures("kept_state", "rows")
def test_names_like_words_of_the_interface_stay_as_they_are(world: World, client: Client) -> None:
    client.force_login(world.admin)
    client.cookies["django_language"] = CHINESE
    with translation.override(CHINESE):
        assert [word for word in WORDS.values() if gettext(word) == word] == []
    n = dict.fromkeys(WORDS, 0)
    for page in PAGES:
        plain, named = ("\n".join(seen(client, slug, page)) for slug in ("plain", "words"))
        for given, word in WORDS.items():
            n[given] += plain.count(given)
            wanted = plain.count(given) + plain.count(word)
            assert named.count(word) == wanted, f"{page}: {word}"
    assert min(n.values()) >= len(PAGES) / 2, n


@pytest.mark.usefixtures("kept_state", "rows")
def test_a_metric_is_added_without_a_translation(
    world: World, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = MetricInfo(
        "toy", "Toy of ours", ("toy-output", "toy-source"), ("Letters out", "Letters in"),
        needs_source=True, needs_reference=False,
    )  # fmt: skip
    monkeypatch.setitem(registry.METRICS, "toy", (info, "tests.metrics.fakes:Counting"))
    (run,) = starting.start(
        test_set=Campaign.objects.get(slug="words").test_set, metrics=["toy"], enqueue=False
    ).runs
    scoring.drain(run.pk, worker="test")
    client.force_login(world.admin)
    client.cookies["django_language"] = CHINESE
    pages = {
        address: "\n".join(Visible(client.get(address).text).texts)
        for address in ("/metrics/toy/", "/campaigns/words/results/", run.get_absolute_url())
    }
    names = {
        address: {*re.findall("Toy of ours|Letters out", page)} for address, page in pages.items()
    }
    assert all(names.values()), names
    assert set.union(*names.values()) == {"Toy of ours", "Letters out"}, names


def test_a_refused_upload_has_codes_and_parameters_in_json(world: World, client: Client) -> None:
    client.force_login(world.admin)
    sent = {
        "slug": "Quality", "name": "Quality", "source_language": "zh", "target_language": "en",
        "source": SimpleUploadedFile("source.txt", "一\n二\n三\n".encode()),
        "references": SimpleUploadedFile("human.txt", b"one\ntwo\n"),
    }  # fmt: skip
    answers = []
    for language in ("en", CHINESE):
        for file in ("source", "references"):
            sent[file].seek(0)  # type: ignore[attr-defined]
        answer = client.post("/api/test-sets/", sent, headers={"accept-language": language})
        assert answer.status_code == 400
        answers.append(json.loads(answer.content))
    assert answers[0] == answers[1]
    (problem,) = [each for each in answers[0]["problems"] if each["file"] == "human.txt"]
    assert problem["code"] == "upload.lines"
    assert (problem["parameters"]["lines"], problem["parameters"]["segments"]) == (2, 3)
    assert problem["pattern"].format(**problem["parameters"]) == problem["text"]
