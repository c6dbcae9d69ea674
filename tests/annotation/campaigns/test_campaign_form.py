"""The campaign form: protocols, modes, controls, people; each fault beside its field."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation import protocols
from annotation.forms.campaign.fields import FIELDS
from annotation.forms.campaign.form import CampaignForm
from annotation.models import Campaign, Reference, Segment
from annotation.presets.filling import standard_text
from annotation.templatetags.annotating import TOKENS
from tests.annotation.views.test_views_campaigns import FORM, new_address
from tests.refusals import has, tells
from tests.world import World

SOURCE = {"shown_text": "source"}
WHOLE = {
    "protocol": "side-by-side",
    "systems_per_screen": "3",
    "assignment_mode": "pool",
    "items_per_annotator": "100",
    "max_same_source": "2",
    "claim_minutes": "45",
    "bad_references_per_annotator": "10",
    "repeats_per_annotator": "9",
    "references_per_annotator": "8",
    "control_spacing": "4",
    "consent": "I agree.",
    "asks_background": "on",
    "edit_minutes": "30",
    "time_cap_seconds": "300",
    "is_private": "on",
    "notify_email": "someone@example.org",
    "notify_webhook": "https://example.org/done",
    "z_pool": "all",
} | SOURCE


def problems(page: str) -> dict[str, list[str]]:
    """Return the error sentences of a page by field."""
    found = re.findall(r'id="id_(\w+?)_errors">(.*?)</ul>', page, flags=re.S)
    return {name: re.findall(r"<li>(.*?)</li>", items) for name, items in found}


def test_everything_that_can_be_set_is_stored(world: World, as_admin: Client) -> None:
    as_admin.post(new_address(world), FORM | WHOLE)
    campaign = Campaign.objects.get(name="Harbour, 80%")
    response = as_admin.get(reverse("campaign-setup", args=[campaign.slug]))
    for name, value in WHOLE.items():
        stored = getattr(campaign, name)
        assert stored is True if value == "on" else str(stored) == value, name
    for words in ("3 systems per screen", "Open pool", "10 bad references", "9 repeats",
                  "at least 4 screens apart", "for 30 minutes", "300 seconds per screen",
                  "members only", "consent, background"):  # fmt: skip
        assert words in response.text


def test_what_is_left_out_takes_its_default(world: World, as_admin: Client) -> None:
    as_admin.post(new_address(world), FORM | {"question": ""})
    campaign = Campaign.objects.get(name="Harbour, 80%")
    fresh = Campaign()
    for name in FIELDS:
        if name not in FORM and name not in ("systems", "practice"):
            assert getattr(campaign, name) == getattr(fresh, name), name


@pytest.mark.parametrize("name", list(protocols.PROTOCOLS))
def test_the_question_follows_the_protocol(world: World, as_admin: Client, name: str) -> None:
    Segment.objects.update(document="one")
    form = FORM | SOURCE | {"protocol": name, "question": " "}
    assert as_admin.post(new_address(world), form).status_code == 302
    assert Campaign.objects.get(protocol=name, study="harbour").question == (
        protocols.get(name).length_question
    )
    page = as_admin.get(new_address(world)).text
    assert str(protocols.get(name).description) in page


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        (
            {"protocol": "document-da"},
            "protocol",
            "layout.needs-documents",
        ),
        ({"protocol": "side-by-side", "systems": ["weak"]}, "systems", "layout.needs-systems"),
        ({"protocol": "esa"}, "shown_text", "design.omissions"),
        ({"protocol": "mqm"}, "shown_text", "design.omissions"),
        ({"protocol": "guess"}, "protocol", "Select a valid choice"),
        (
            {"references_per_annotator": "2"},
            "references_per_annotator",
            "design.references-shown",
        ),
        ({"systems_per_screen": "1"}, "systems_per_screen", "greater than or equal to 2"),
        ({"systems_per_screen": "11"}, "systems_per_screen", "less than or equal to 10"),
        ({"claim_minutes": "0"}, "claim_minutes", "greater than or equal to 1"),
        ({"time_cap_seconds": "5"}, "time_cap_seconds", "greater than or equal to 10"),
        ({"notify_email": "nobody"}, "notify_email", "valid email"),
        ({"notify_webhook": "javascript:alert(1)"}, "notify_webhook", "valid URL"),
        ({"seed": str(2**63)}, "seed", "less than or equal to"),
        ({"control_spacing": "-1"}, "control_spacing", "greater than or equal to 0"),
        ({"assignment_mode": "chance"}, "assignment_mode", "Select a valid choice"),
        ({"bad_references_per_annotator": "99999"}, "bad_references_per_annotator", "to 10000"),
    ],
)
def test_errors_stand_beside_their_field(
    world: World, as_admin: Client, change: dict[str, object], field: str, message: str
) -> None:
    response = as_admin.post(new_address(world), FORM | change)
    assert response.status_code == 422
    found = problems(response.text)
    assert list(found) == [field]
    assert has(" ".join(found[field]), message)
    assert Campaign.objects.count() == 1


def test_references_that_are_missing(world: World, as_admin: Client) -> None:
    Reference.objects.first().delete()
    found = problems(as_admin.post(new_address(world), FORM).text)
    assert tells(found["shown_text"][0], "design.unreferenced", n=1)
    Reference.objects.all().delete()
    form = FORM | SOURCE | {"references_per_annotator": "1"}
    found = problems(as_admin.post(new_address(world), form).text)
    assert found == {"references_per_annotator": ["The test set has no references. Set this to 0."]}


def test_folded_fields_open_where_there_is_an_error(world: World, as_admin: Client) -> None:
    page = as_admin.post(new_address(world), FORM | {"time_cap_seconds": "5"}).text
    assert re.findall(r'<details data-group="(\w+)" open', page) == ["rules"]
    assert re.findall(r"<details open><summary>(.*?)</summary>", page) == ["Paid time"]
    assert " open>" not in as_admin.get(new_address(world)).text


def test_defaults_fit_the_test_set(world: World) -> None:
    """Eight outputs get no sixty traps."""
    form = CampaignForm(test_set=world.test_set)
    assert form.initial["traps_per_annotator"] == 0
    assert form.initial["control_spacing"] == 0
    assert sorted(FIELDS) == sorted(form.fields)  # every field is on the page, once


def test_a_campaign_of_each_protocol_opens(world: World, as_admin: Client) -> None:
    Segment.objects.update(document="one")
    people = {"users": [user.pk for user in world.annotators]}
    for name in protocols.PROTOCOLS:
        form = FORM | SOURCE | {"protocol": name, "name": name, "traps_per_annotator": "1"}
        as_admin.post(new_address(world), form)
        campaign = Campaign.objects.get(name=name)
        as_admin.post(reverse("people-add", args=[campaign.slug]), people)
        as_admin.post(reverse("campaign-open", args=[campaign.slug]))
        campaign.refresh_from_db()
        assert campaign.status == Campaign.Status.OPEN, name


def test_what_is_missing_of_a_recording_is_marked_behind_the_output(
    world: World, as_admin: Client
) -> None:
    heard = {"file": "0" * 64, "kind": "audio", "type": "audio/wav", "is_source": True}
    form = FORM | SOURCE | {"protocol": "esa", "answers": "", "question": ""}
    drawn = as_admin.post(reverse("campaign-draw", args=[world.test_set.slug]), form).json()
    assert TOKENS["[missing]"] not in drawn["html"]
    Segment.objects.filter(position=0).update(beside=heard)
    drawn = as_admin.post(reverse("campaign-draw", args=[world.test_set.slug]), form).json()
    assert TOKENS["[missing]"] in drawn["html"]
    assert as_admin.post(new_address(world), form).status_code == 302
    campaign = Campaign.objects.get(protocol="esa", study="harbour")
    assert campaign.judging.spans is not None
    assert campaign.judging.spans.tokens == ("[missing]",)
    # Some sources are texts, so the instructions have both cases, in every language.
    assert "The source is the original" in campaign.instructions
    assert tells(campaign.instructions, "length-of.source")
    for text in campaign.translations.values_list("instructions", flat=True):
        assert "**p**" in text
    Segment.objects.update(beside=heard)
    campaign.protocol = "segment-da"
    assert "The source is the original" not in standard_text(campaign, "en")
    assert "missing" not in standard_text(campaign, "en")
