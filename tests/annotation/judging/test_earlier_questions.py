"""Campaigns of earlier versions: their questions reach annotators in each language, unchanged."""

import json
import re

import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation
from django.utils.translation import gettext

from annotation.campaign_files import to_values
from annotation.exports.judgments import judgment_dicts
from annotation.models import Annotator, Assignment, Campaign, Item
from annotation.presets.filling import EARLIER_SAME, OTHER, made_here
from annotation.protocols.earlier import EARLIER
from annotation.protocols.questions import OTHERS, QUESTIONS, question_about
from tests.annotation.views.test_views_judgments import JSON, address, form
from tests.planting import plant

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]
ASKED = (
    "How much do you agree that the black text expresses {percent} of the main information in the "
    "gray text?"
)
# Words of the languages, so that a question is not merely another English one.
COLOURS = {"de": "grauen Text", "cs": "šed", "ar": "الرمادي", "zh-hans": "灰"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_annotator_reads_the_question_in_their_language(
    db: None, client: Client, language: str
) -> None:
    campaign = plant("segment-da", question=ASKED, length_ratio="0.80")
    client.force_login(Annotator.objects.get().user)
    row = Assignment.objects.order_by("position").first()
    assert row is not None
    page = client.get(address(row), headers={"accept-language": language}).text
    shown, *_ = re.findall('class="question"[^>]*>([^<]*)', page)
    assert COLOURS[language] in shown
    assert "80" in shown
    assert "in-colours" in page
    # What was asked stays as it is, in judgments and campaign files.
    headers = {**JSON, "accept-language": language}
    assert client.post(address(row), form(client, row), headers=headers).status_code == 200
    campaign.refresh_from_db()
    assert campaign.question == ASKED
    with translation.override(language):
        (first,) = judgment_dicts(campaign)
        stored = json.dumps([first, to_values(campaign)], default=str, ensure_ascii=False)
    assert ASKED in stored
    assert shown not in stored


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_earlier_text_has_a_translation_of_its_own(language: str) -> None:
    with translation.override(language):
        for text in (*EARLIER, EARLIER_SAME):
            shown = gettext(text)
            assert shown != text
            assert ("{percent}" in shown) == ("{percent}" in text)


def test_earlier_questions_speak_of_what_is_heard_or_seen() -> None:
    about = {kind: question_about(ASKED, kind) for kind in OTHERS}
    assert about["reference"] == ASKED
    for kind in ("audio", "video", "image"):
        assert about[kind] in EARLIER
        assert OTHERS[kind] in about[kind]


def test_no_question_of_today_is_listed_as_an_earlier_one() -> None:
    today = {each for pairs in QUESTIONS.values() for pair in pairs for each in pair}
    assert not today & {*EARLIER}


def test_practice_items_of_earlier_versions_are_still_known_as_made_here(db: None) -> None:
    campaign = plant("segment-da", status=Campaign.Status.DRAFT)
    segment = campaign.test_set.segments.first()
    for feedback in (EARLIER_SAME, OTHER, "By hand."):
        Item.objects.create(
            campaign=campaign, kind=Item.Kind.TUTORIAL, segment=segment, text="x", feedback=feedback
        )
    assert {each.feedback for each in made_here(campaign)} == {EARLIER_SAME, OTHER}
