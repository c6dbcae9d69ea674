"""Instructions in several languages: who writes them, and what each annotator reads."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation

from annotation.campaigns import add_annotators, open_campaign
from annotation.judging import instructions
from annotation.models import Annotator, Assignment, AuditEntry, Campaign, Instructions
from tests.refusals import has, tells
from tests.world import World

MAX_QUERIES = 12
ATTACK = "**Read** <script>alert(1)</script> [x](javascript:alert(1))"


def page(campaign: Campaign, language: str = "") -> str:
    address = reverse("campaign-instructions", args=[campaign.slug])
    return f"{address}?language={language}" if language else address


def item_address(world: World) -> str:
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    Annotator.objects.update(consented_at=timezone.now())
    item = Assignment.objects.filter(annotator__user=world.annotators[0]).earliest("position")
    return reverse("item", args=[item.public_id])


def shown(text: str) -> tuple[str, str, str]:
    """The language, the direction and the inside of the instructions on an item page."""
    found = re.search(r'<div class="prose" lang="(.*?)" dir="(.*?)">(.*?)</div>', text, re.S)
    assert found, text
    return found.group(1), found.group(2), found.group(3).strip()


@pytest.fixture
def instructed(world: World) -> World:
    Campaign.objects.filter(pk=world.campaign.pk).update(
        instructions="# Read\nboth *texts*", consent="I agree."
    )
    for language, text in (("ar", "اقرأ **النصين**"), ("zh-hans", "请阅读两段文本")):
        Instructions.objects.create(campaign=world.campaign, language=language, instructions=text)
    world.campaign.refresh_from_db()
    return world


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ("", "auto", "<h3>Read</h3>\n<p>both <em>texts</em></p>")),
        ("de", ("", "auto", "<h3>Read</h3>\n<p>both <em>texts</em></p>")),
        ("ar", ("ar", "rtl", "<p>اقرأ <strong>النصين</strong></p>")),
        ("zh-hans", ("zh-hans", "ltr", "<p>请阅读两段文本</p>")),
    ],
)
def test_an_annotator_reads_their_language(
    instructed: World, client: Client, language: str, expected: tuple[str, str, str]
) -> None:
    client.force_login(instructed.annotators[0])
    client.cookies["django_language"] = language
    assert shown(client.get(item_address(instructed)).text) == expected


def test_a_change_is_seen_at_once(instructed: World, client: Client) -> None:
    address = item_address(instructed)
    client.force_login(instructed.annotators[0])
    client.cookies["django_language"] = "ar"
    assert "النصين" in client.get(address).text
    Instructions.objects.filter(language="ar").update(instructions="نص جديد")
    assert shown(client.get(address).text)[2] == "<p>نص جديد</p>"


def test_instructions_cost_no_query(instructed: World, client: Client) -> None:
    address = item_address(instructed)
    client.force_login(instructed.annotators[0])
    client.cookies["django_language"] = "ar"
    costs = []
    for language in ("ar", "none"):
        Instructions.objects.filter(language="ar").update(language=language)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200
        costs.append(len(queries))
    assert costs[0] == costs[1] <= MAX_QUERIES


def test_a_campaign_without_instructions_shows_none(world: World, client: Client) -> None:
    client.force_login(world.annotators[0])
    assert 'class="prose"' not in client.get(item_address(world)).text


def test_attacks_of_an_admin_reach_no_annotator(instructed: World, client: Client) -> None:
    Campaign.objects.filter(pk=instructed.campaign.pk).update(instructions=ATTACK)
    client.force_login(instructed.annotators[0])
    inside = shown(client.get(item_address(instructed)).text)[2]
    assert inside.startswith("<p><strong>Read</strong> &lt;script&gt;alert(1)")
    assert "<script" not in inside
    assert "href" not in inside


def test_consent_is_read_in_the_active_language(instructed: World) -> None:
    Instructions.objects.filter(language="ar").update(consent="أوافق.")
    with translation.override("ar"):
        assert str(instructions.read(instructed.campaign, "consent")) == "<p>أوافق.</p>\n"
    with translation.override("cs"):
        consent = instructions.read(instructed.campaign, "consent")
    assert (str(consent), consent.language, consent.direction) == ("<p>I agree.</p>\n", "", "auto")


def test_an_admin_adds_edits_and_deletes_a_language(instructed: World, as_admin: Client) -> None:
    sent = {"instructions": "Lies *beide* Texte.", "consent": "Ich stimme zu.", "do": "save"}
    response = as_admin.post(page(instructed.campaign, "de"), sent, follow=True)
    assert "Saved: Deutsch." in response.text
    assert "<p>Lies <em>beide</em> Texte.</p>" in response.text
    as_admin.post(page(instructed.campaign, "de"), sent | {"consent": ""})
    row = instructed.campaign.translations.get(language="de")
    assert (row.instructions, row.consent) == ("Lies *beide* Texte.", "")
    as_admin.post(page(instructed.campaign, "de"), {"do": "delete"})
    assert not instructed.campaign.translations.filter(language="de").exists()
    assert instructed.campaign.translations.count() == 2
    assert list(AuditEntry.objects.order_by("pk").values_list("action", "details")) == [
        ("texts saved", {"language": "de"}),
        ("texts saved", {"language": "de"}),
        ("texts deleted", {"language": "de"}),
    ]


def test_an_admin_edits_the_campaigns_own_text(instructed: World, as_admin: Client) -> None:
    as_admin.post(
        page(instructed.campaign), {"instructions": "New", "consent": "Yes", "do": "save"}
    )
    instructed.campaign.refresh_from_db()
    assert (instructed.campaign.instructions, instructed.campaign.consent) == ("New", "Yes")


def test_a_preview_stores_nothing(instructed: World, as_admin: Client) -> None:
    sent = {"instructions": f"# Neu\n{ATTACK}", "consent": "", "do": "preview"}
    response = as_admin.post(page(instructed.campaign, "de"), sent)
    assert "<h3>Neu</h3>" in response.text
    assert "<script>alert" not in response.text
    assert not instructed.campaign.translations.filter(language="de").exists()
    assert AuditEntry.objects.count() == 0


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"instructions": " ", "consent": ""}, "instructions.empty"),
        ({"instructions": "x" * 50_001, "consent": ""}, "at most 50000 characters"),
    ],
)
def test_wrong_texts_are_refused(
    instructed: World, as_admin: Client, sent: dict[str, str], sentence: str
) -> None:
    response = as_admin.post(page(instructed.campaign, "de"), sent | {"do": "save"})
    assert response.status_code == 422
    assert has(response.text, sentence)
    assert not instructed.campaign.translations.filter(language="de").exists()


def test_a_form_that_says_nothing_changes_nothing(instructed: World, as_admin: Client) -> None:
    response = as_admin.post(page(instructed.campaign), {})
    assert response.status_code == 422
    assert tells(response.text, "instructions.no-action")
    instructed.campaign.refresh_from_db()
    assert instructed.campaign.consent == "I agree."


def test_consent_is_translated_only_where_there_is_one(instructed: World, as_admin: Client) -> None:
    """The campaign's own text decides whether annotators are asked."""
    Campaign.objects.filter(pk=instructed.campaign.pk).update(consent="")
    sent = {"instructions": "", "consent": "Ich stimme zu.", "do": "save"}
    response = as_admin.post(page(instructed.campaign, "de"), sent)
    assert response.status_code == 422
    assert tells(response.text, "instructions.needs-own")
    assert not instructed.campaign.translations.filter(language="de").exists()


def test_an_unknown_language_is_not_found(instructed: World, as_admin: Client) -> None:
    assert as_admin.get(page(instructed.campaign, "tlh")).status_code == 404
    assert as_admin.post(page(instructed.campaign, "xx"), {"do": "save"}).status_code == 404


def test_others_may_not_write(instructed: World, client: Client) -> None:
    for person in (instructed.researcher, instructed.annotators[0]):
        client.force_login(person)
        assert client.get(page(instructed.campaign)).status_code in (403, 404)
        response = client.post(page(instructed.campaign), {"instructions": "x", "do": "save"})
        assert response.status_code in (403, 404)
    instructed.campaign.refresh_from_db()
    assert instructed.campaign.instructions.startswith("# Read")
