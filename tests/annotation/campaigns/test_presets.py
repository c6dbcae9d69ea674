"""Presets: what they propose for a test set, and the instructions and practice that they bring."""

from decimal import Decimal

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation import protocols
from annotation.models import Campaign, Item, Segment, TestSet
from annotation.presets import PRESETS, fitting, offered, propose
from annotation.presets.filling import practice, standard_text
from tests.world import World, make_test_set


def new_campaign(client: Client, test_set: TestSet, preset: str = "") -> Campaign:
    """What somebody gets who chooses a preset and nothing else."""
    address = f"{reverse('campaign-new')}?testset={test_set.slug}&preset={preset}"
    form = client.get(address).context["form"]
    sent = {name: form[name].value() for name in form.fields}
    sent = {name: value for name, value in sent.items() if value is not None and value is not False}
    answer = client.post(address, sent)
    assert answer.status_code == 302, answer.context["form"].errors
    return Campaign.objects.latest("pk")


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_makes_a_draft_of_its_kind(db: None, as_admin: Client, name: str) -> None:
    ratio = "0.80" if name == "length" else "1"
    test_set = make_test_set("texts", segments=6, ratio=ratio)
    Segment.objects.update(document="one")
    campaign = new_campaign(as_admin, test_set, name)
    preset = PRESETS[name]
    assert campaign.protocol == preset.protocol
    assert campaign.annotators_per_item == preset.people
    assert campaign.shown_text == ("reference" if name == "length" else "source")
    assert "100%" not in campaign.question_text
    assert ("80%" in campaign.question_text) == (name == "length")
    languages = set(campaign.translations.values_list("language", flat=True))
    assert languages | {"en"} == {code for code, _ in settings.LANGUAGES}
    wanted = 2 * preset.judging.has_score  # no score: nothing that practice could tell
    assert campaign.items.filter(kind=Item.Kind.TUTORIAL).count() == wanted


def test_two_campaigns_over_one_test_set_are_told_apart_by_name(db: None, as_admin: Client) -> None:
    test_set = make_test_set("texts", segments=6, ratio="1")
    names = [new_campaign(as_admin, test_set, name).name for name in ("da", "esa", "mqm")]
    first = f"{test_set.name}, full length"
    assert names == [first, f"{first} (2)", f"{first} (3)"]


def test_at_full_length_the_question_is_the_ordinary_one() -> None:
    for name in protocols.PROTOCOLS:
        protocol = protocols.get(name)
        assert "{percent}" not in protocol.ask(Decimal(1)), name
        assert "{percent}" in protocol.ask(Decimal("0.5")), name


def test_questions_and_feedback_are_translated() -> None:
    for code, _ in settings.LANGUAGES:
        with translation.override(code):
            for name in protocols.PROTOCOLS:
                for ratio in (Decimal(1), Decimal("0.5")):
                    question = protocols.get(name).ask(ratio)
                    assert (translation.gettext(question) == question) == (code == "en"), name


def test_standard_texts_name_what_is_compared_the_length_and_the_scale(world: World) -> None:
    campaign = world.campaign
    instructions = standard_text(campaign, "en")
    assert "The reference is a translation" in instructions
    assert "the gray text is the reference" in instructions
    assert "about 80% as long" in instructions
    assert "**66**: most of it is kept" in instructions
    campaign.length_ratio, campaign.shown_text = Decimal(1), "source"
    campaign.question = campaign.judging.ask(campaign.length_ratio)
    instructions = standard_text(campaign, "en")
    assert "The source is the original" in instructions
    assert "gray" not in instructions
    assert "%" not in instructions
    campaign.protocol = "mqm"
    assert "scale" not in standard_text(campaign, "en")
    texts = {standard_text(campaign, code) for code, _ in settings.LANGUAGES}
    assert len(texts) == len(settings.LANGUAGES)


def test_practice_is_right_by_construction(world: World) -> None:
    same, other = practice(world.campaign)
    own = {row.segment_id: row.text for row in _references(world.test_set)}
    assert same.text == own[same.segment_id]
    assert (same.low, same.high) == (70, 100)
    assert other.text == same.text != own[other.segment_id]
    assert (other.low, other.high) == (0, 20)


def test_practice_on_a_scale_of_five_points_is_in_its_unit(world: World) -> None:
    world.campaign.protocol = "adequacy-fluency"
    # From 70% of the way from 1 to 5, and up to 20% of it.
    assert [(item.low, item.high) for item in practice(world.campaign)] == [(4, 5), (1, 1)]


def _references(test_set: TestSet) -> list[object]:
    return [row for segment in test_set.segments.all() for row in segment.references.all()]


def test_presets_say_what_a_test_set_lacks(db: None) -> None:
    test_set = make_test_set("bare", systems=("only",), ratio="1")
    lacks = {fit.preset.name: fit.lacks for fit in offered(test_set)}
    assert [name for name, why in lacks.items() if not why] == [
        "da",
        "esa",
        "mqm",
        "adequacy-fluency",
        "post-editing",
    ]
    assert lacks["length"].code == "preset.needs-short"
    assert fitting(test_set, "document").name == "da"
    assert fitting(make_test_set("short"), "").name == "length"


def test_controls_fit_the_size(db: None) -> None:
    small = propose(PRESETS["esa"], make_test_set("small", ratio="1"))
    assert small[0]["traps_per_annotator"] == 0
    assert small[1].code == "preset.too-small"
    large, warning = propose(PRESETS["esa"], make_test_set("large", segments=60, ratio="1"))
    # A tenth of 120 outputs; ten bad references decide.
    assert (large["traps_per_annotator"], large["bad_references_per_annotator"]) == (12, 10)
    assert warning is None
