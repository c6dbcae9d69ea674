"""A campaign is a draft from its first change, and is never overwritten unseen."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import AccessLink, Campaign, Item
from annotation.presets.filling import standard_text
from tests.annotation.views.test_views_campaigns import FORM, new_address
from tests.world import World

ADDRESS = "/campaigns/harbour-80-percent/edit/"
TASK = FORM | {"shown_text": "source", "question": "", "traps_per_annotator": "0", "practice": "on"}
SCALES = {"scales": [{"name": "Adequacy", "min": 0, "max": 6, "step": 1}]}


def typed(client: Client, address: str, **changes: Any) -> tuple[int, dict[str, Any]]:
    """What the page's script sends, and what it gets."""
    answer = client.post(address, TASK | changes, headers={"Accept": "application/json"})
    return answer.status_code, answer.json()


@pytest.fixture
def draft(world: World, as_admin: Client) -> Campaign:
    status, _ = typed(as_admin, new_address(world))
    assert status == 200
    return Campaign.objects.get(slug="harbour-80-percent")


def test_the_first_change_makes_a_draft_and_the_second_changes_it(
    world: World, as_admin: Client
) -> None:
    as_admin.get(new_address(world))
    assert Campaign.objects.count() == 1  # looking stores nothing
    status, answer = typed(as_admin, new_address(world), key="k1")
    assert (status, answer["errors"], answer["address"]) == (200, {}, ADDRESS)
    assert "data-layout" in answer["html"]
    assert set(answer["groups"]) == {"judged", "checked", "rules"}
    # The answer was lost, and the page sends the change again.
    status, again = typed(as_admin, new_address(world), key="k1")
    assert (status, again["address"]) == (200, ADDRESS)
    assert Campaign.objects.count() == 2
    status, later = typed(as_admin, ADDRESS, version=answer["version"], annotators_per_item="2")
    assert (status, later["errors"]) == (200, {})
    assert Campaign.objects.get(study="harbour", protocol="segment-da").annotators_per_item == 2
    listed = as_admin.get(reverse("campaigns")).text
    assert "Harbour, 80%" in listed


def test_what_cannot_be_stored_changes_nothing_and_is_named(
    as_admin: Client, draft: Campaign
) -> None:
    status, answer = typed(as_admin, ADDRESS, name="", protocol="esa", traps_per_annotator="50")
    assert (status, list(answer["errors"])) == (422, ["name"])
    assert answer["html"]  # drawn nevertheless
    status, answer = typed(as_admin, ADDRESS, traps_per_annotator="50")
    assert (status, list(answer["errors"])) == (422, ["traps_per_annotator"])
    draft.refresh_from_db()
    assert (draft.name, draft.protocol) == (FORM["name"], "segment-da")


def test_two_tabs_do_not_overwrite_each_other_unseen(as_admin: Client, draft: Campaign) -> None:
    version = as_admin.get(ADDRESS).context["form"].version
    status, one = typed(as_admin, ADDRESS, version=version, annotators_per_item="2")
    assert status == 200
    # Sent again, because its answer was lost: it is stored already.
    assert typed(as_admin, ADDRESS, version=version, annotators_per_item="2")[0] == 200
    # What is refused shows the page no other version: its next change is still of the old one.
    status, refused = typed(as_admin, ADDRESS, version=version, name="")
    assert (status, refused["version"]) == (422, version)
    status, other = typed(as_admin, ADDRESS, version=version, annotators_per_item="5")
    assert (status, other["version"]) == (409, one["version"])
    page = as_admin.post(ADDRESS, TASK | {"version": version, "annotators_per_item": "5"})
    assert page.status_code == 409
    assert f'name="version" value="{one["version"]}"' in page.text
    assert 'name="annotators_per_item" value="5"' in page.text  # what was typed is there
    draft.refresh_from_db()
    assert draft.annotators_per_item == 2
    assert typed(as_admin, ADDRESS, version=other["version"], annotators_per_item="5")[0] == 200
    draft.refresh_from_db()
    assert draft.annotators_per_item == 5


def test_an_open_campaign_refuses_what_an_old_page_sends(as_admin: Client, draft: Campaign) -> None:
    Campaign.objects.update(status=Campaign.Status.OPEN)
    status, answer = typed(as_admin, ADDRESS)
    assert (status, list(answer["errors"])) == (422, ["__all__"])


def test_standard_texts_and_practice_follow_the_task(as_admin: Client, draft: Campaign) -> None:
    assert draft.instructions == standard_text(draft, "en")
    assert as_admin.get(ADDRESS).context["form"]["instructions"].value() == ""
    made = list(draft.items.filter(kind=Item.Kind.TUTORIAL).values_list("pk", flat=True))
    assert len(made) == 2
    typed(as_admin, ADDRESS, annotators_per_item="2")
    assert list(draft.items.values_list("pk", flat=True)) == made  # nothing that they depend on
    typed(as_admin, ADDRESS, protocol="adequacy-fluency")
    draft.refresh_from_db()
    assert draft.instructions == standard_text(draft, "en")
    german = draft.translations.get(language="de")
    assert german.instructions == standard_text(draft, "de")
    assert sorted(draft.items.values_list("low", "high")) == [(1, 1), (4, 5)]
    # A translation by hand stays; the standard ones say nothing about a custom text.
    draft.translations.filter(language="cs").update(instructions="Vlastní text")
    typed(as_admin, ADDRESS, protocol="adequacy-fluency", instructions="My own.", practice="")
    draft.refresh_from_db()
    assert draft.instructions == "My own."
    assert list(draft.translations.values_list("instructions", flat=True)) == ["Vlastní text"]
    assert not draft.items.exists()
    typed(as_admin, ADDRESS, protocol="esa")
    draft.refresh_from_db()
    assert draft.instructions == standard_text(draft, "en")
    assert draft.translations.count() == 4


def test_a_preset_sets_the_task_and_leaves_what_was_typed(
    as_admin: Client, world: World, draft: Campaign
) -> None:
    sent = TASK | {"preset": "esa", "name": "Pier", "consent": "I agree.", "systems": ["weak"]}
    answers = {"answers": json.dumps(SCALES)}
    assert as_admin.post(ADDRESS, sent | answers).headers["Location"] == "/campaigns/pier/edit/"
    draft.refresh_from_db()
    assert (draft.protocol, draft.name, draft.consent) == ("esa", "Pier", "I agree.")
    assert draft.answers is None
    # Without scripts, a preset on the page of a new campaign makes the draft as well.
    response = as_admin.post(new_address(world), TASK | {"preset": "mqm", "name": "Second"})
    assert Campaign.objects.get(name="Second").protocol == "mqm"
    assert response.headers["Location"] == "/campaigns/second/edit/"


def test_custom_answers_are_composed_on_a_page_of_their_own(
    as_admin: Client, world: World, draft: Campaign
) -> None:
    way = as_admin.post(ADDRESS, TASK | {"then": "answers", "name": "Pier", "hourly_rate": "12.5"})
    page, task = way.headers["Location"], "/campaigns/pier/edit/"
    assert page == f"{task}answers/"
    form = as_admin.get(page).context["form"]
    carried = {field.name: field.value() for field in form.carried}
    sent = {n: v for n, v in carried.items() if v is not None and v is not False}
    sent |= {"version": form.version, "answers-scale-0-name": "Adequacy"}
    wrong = as_admin.post(page, sent | {"answers-scale-0-max": "many"})
    assert wrong.status_code == 422
    assert 'value="many"' in wrong.text
    back = as_admin.post(page, sent | {"answers-scale-0-max": "6"})
    assert back.status_code == 302, back.context["form"].errors
    assert back.headers["Location"] == task
    draft.refresh_from_db()
    assert draft.answers == SCALES
    assert (draft.name, str(draft.hourly_rate)) == ("Pier", "12.50")
    # The task page sends them along, and as nonsense they are refused.
    assert json.loads(as_admin.get(task).context["form"].answers_text) == SCALES
    assert typed(as_admin, task, name="Pier", answers=json.dumps(SCALES))[0] == 200
    for nonsense in ("[1]", "{", '"x"', '{"scales": 1}'):
        status, answer = typed(as_admin, task, name="Pier", answers=nonsense)
        assert (status, list(answer["errors"])) == (422, ["answers"]), nonsense
    draft.refresh_from_db()
    assert draft.answers == SCALES


def test_the_button_leads_to_what_is_missing(as_admin: Client, draft: Campaign) -> None:
    access = reverse("access", args=[draft.slug])
    setup = reverse("campaign-setup", args=[draft.slug])
    assert as_admin.post(ADDRESS, TASK).headers["Location"] == access
    pool = TASK | {"assignment_mode": "pool"}
    assert as_admin.post(ADDRESS, pool).headers["Location"] == access
    AccessLink.objects.create(campaign=draft, token_hash="x")
    assert as_admin.post(ADDRESS, pool).headers["Location"] == setup
    assert as_admin.post(ADDRESS, TASK).headers["Location"] == access
