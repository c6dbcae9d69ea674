"""Every format says what a campaign has that it cannot carry."""

import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.exports.facts import FACTS, facts_of
from annotation.exports.formats import declared
from tests.files.campaigns import EVERY_MARK, make
from tests.files.test_round_trip import empty
from tests.house.templates.seen import seen
from tests.world import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("name", "mark", "fact"),
    [
        ("esa", "commented", "comments"),
        ("esa", "flagged", "flags"),
        ("esa", "revised", "revisions"),
        ("esa", "excluded", "exclusions"),
        ("esa", "simulated", "simulated"),
        ("esa", "clocked", "clocks"),
        ("esa", "opened", "openings"),
        ("esa", "played", "plays"),
        ("esa", "noted", "notes"),
        ("esa", "noted", "batches"),
        ("esa", "drawn", "draws"),
        ("esa", "sampled", "sample"),
        ("esa", "conditions", "conditions"),
        ("esa", "conditions", "suggestions"),
        ("esa", "controls", "gold"),
        ("esa", "checks", "controls"),
        ("esa", "unrated", "unrated"),
    ],
)
def test_a_fact_is_there_where_the_campaign_has_it(name: str, mark: str, fact: str) -> None:
    without = set(facts_of(make(name)))
    assert fact not in without
    empty()
    assert fact in facts_of(make(name, mark))


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("document-da", {"scores", "documents", "screens"}),
        ("contrastive-esa", {"scores", "errors", "tokens", "screens"}),
        ("mqm", {"errors", "categories", "source-errors"}),
        ("adequacy-fluency", {"scores", "scales"}),
        ("own choices", {"scores", "scales", "choices", "errors", "source-errors"}),
        ("own errors", {"errors", "categories", "source-errors", "severities", "tokens"}),
        ("post-editing", {"post-edits"}),
    ],
)
def test_facts_of_protocols(name: str, facts: set[str]) -> None:
    assert set(facts_of(make(name))) == facts | {"texts", "settings", "times"}


def test_domains_come_out_of_one_format_alone() -> None:
    campaign = make("esa")
    campaign.test_set.segments.filter(position=0).update(domain="news")
    has = facts_of(campaign)
    formats = declared().items()
    carry = [name for name, each in formats if "domains" not in each.without_place(campaign, has)]
    assert ("domains" in has, carry) == (True, ["mtme"])


@pytest.mark.needs("extensions.formats")
def test_every_fact_is_carried_by_some_format_and_named_where_it_is_not(client: Client) -> None:
    known = set(FACTS)
    assert set().union(*(each.carries for each in declared().values())) == known
    campaign = make("own choices", *EVERY_MARK)
    client.force_login(make_user("reader", "researcher"))
    page = seen(client.get(reverse("export", args=[campaign.slug])).text)
    has = facts_of(campaign)
    for name, each in declared().items():
        row = page.partition(f'data-format="{name}"')[2].partition("</tr>")[0]
        cell = re.sub(r'^"\d+">|<[^>]*>', "; ", row.rpartition("data-missing=")[2])
        named = set(cell.split("; "))
        missing = set(each.without_place(campaign, has))
        assert {fact for fact in has if str(FACTS[fact]) in named} == missing


def test_the_command_says_it_beside_the_file(tmp_path: Path, capsys: Any) -> None:
    campaign = make("esa", "commented")
    path, said = tmp_path / "out.csv", StringIO()
    call_command("export_judgments", campaign.slug, format="spans", output=path, stderr=said)
    assert "comments" in said.getvalue()
    assert path.read_text(encoding="utf-8").startswith("campaign,")
