"""Attachments of segments: for their annotator alone, in ranges, and logged when played."""

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext

from annotation.access import ADMIN, ANNOTATOR
from annotation.campaign_files import open_file, to_values
from annotation.campaign_files.storing import Wish
from annotation.exports.judgments import judgment_dicts
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Disagreement,
    Judgment,
    Playback,
    Segment,
)
from annotation.protocols import DEFAULT, get
from annotation.protocols.questions import OTHERS, QUESTIONS, question_about
from annotation.uploads import InputFile, Report
from annotation.uploads.media.storage import store_file
from tests.annotation.uploads.test_media import wav
from tests.annotation.views.test_views_judgments import JSON, address, form
from tests.planting import plant
from tests.world import make_user

SOUND = wav(0.25)
BESIDE = {
    "start": 1.5, "end": 4, "transcript": "0:02 Guten Morgen.\nGute <b>Nacht</b>.",
    "glossary": "Morgen = morning", "register": "formal", "instructions": "Keep it short.",
}  # fmt: skip


@pytest.fixture(autouse=True)
def storage(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def with_sound(campaign: Campaign, **more: Any) -> list[Assignment]:
    kept = store_file(InputFile.holding("system-a.wav", SOUND))
    beside = {"file": kept.sha256, "kind": "audio", "type": "audio/wav"} | BESIDE | more
    Segment.objects.filter(test_set=campaign.test_set, position=0).update(beside=beside)
    return list(Assignment.objects.filter(annotator__campaign=campaign).order_by("position"))


def media(row: Assignment) -> str:
    return reverse("item-media", args=[row.public_id])


@pytest.mark.parametrize("protocol", ["esa", "document-da", "side-by-side", "contrastive-esa"])
def test_every_layout_shows_it_once_a_segment(db: None, client: Client, protocol: str) -> None:
    rows = with_sound(plant(protocol, outputs=[("One.", "Two."), ("1.", "2.")]), is_source=True)
    client.force_login(Annotator.objects.get().user)
    page = client.get(address(rows[0])).text
    # The planted document has both systems one below the other.
    assert page.count("<audio") == (2 if protocol == "document-da" else 1)
    assert f'src="{media(rows[0])}#t=1.5,4"' in page
    assert 'data-seek="2.000"' in page
    assert "Gute &lt;b&gt;Nacht&lt;/b&gt;." in page
    for words in ("Morgen = morning", "formal", "Keep it short."):
        assert words in page
    # The words of a source that is heard are shown on demand alone, and the file has no name.
    assert "源文一。" not in page
    assert "system-a" not in page
    assert store_file(InputFile.holding("x", SOUND)).sha256 not in page


def test_questions_speak_of_what_is_heard_or_seen(db: None, client: Client) -> None:
    rows = with_sound(plant(DEFAULT, outputs=[("One.", "Two.")]), is_source=True)
    Campaign.objects.update(question=get(DEFAULT).question)
    client.force_login(Annotator.objects.get().user)
    asked = {
        code: re.findall('class="question"[^>]*>([^<]*)', client.get(
            address(row), headers={"accept-language": code}
        ).text)[0]
        for row, code in ((rows[0], "en"), (rows[0], "de"), (rows[1], "cs"))
    }  # fmt: skip
    assert asked == {
        "en": "How accurately does the translation express the meaning of the recording?",
        "de": "Wie genau gibt die Übersetzung die Bedeutung der Aufnahme wieder?",
        "cs": "Jak přesně vyjadřuje překlad význam zdrojového textu?",
    }
    usual = [each for pairs in QUESTIONS.values() for pair in pairs for each in pair]
    usual = [each for each in usual if "gray text" in each or "source" in each]
    for code, _ in settings.LANGUAGES[1:]:
        with translation.override(code):
            asked = {gettext(question_about(each, kind)) for each in usual for kind in OTHERS}
        # A reference is not asked about in the study's words, which have the gray text for it.
        assert len(asked) == 4 * len(usual) == 24
        assert not any("text" in each and "the" in each.split() for each in asked)
    assert question_about("Is the source any good?", "audio") == "Is the source any good?"


def test_reviewers_hear_it_too(db: None, client: Client) -> None:
    rows = with_sound(plant("esa", outputs=[("One.", "Two.")]), is_source=True)
    found = Disagreement.objects.create(item=rows[0].item, gap=50, n_answers=2)
    client.force_login(make_user("boss", ADMIN))
    campaign = Campaign.objects.get()
    page = client.get(reverse("adjudicate", args=[campaign.slug, found.pk])).text
    (sound,) = re.findall('<audio[^>]* src="([^"#]*)', page)
    assert b"".join(client.get(sound).streaming_content) == SOUND  # type: ignore[attr-defined]


def test_it_is_had_by_its_annotator_while_it_may_be_rated(db: None, client: Client) -> None:
    campaign = plant("esa", outputs=[("One.", "Two.")])
    first, second = with_sound(campaign)
    assert client.get(media(first)).status_code == 302
    client.force_login(make_user("stranger", ANNOTATOR))
    assert client.get(media(first)).status_code == 404
    client.force_login(Annotator.objects.get(campaign=campaign).user)
    assert client.get(media(second)).status_code == 404
    response = client.get(media(first))
    assert b"".join(response.streaming_content) == SOUND  # type: ignore[attr-defined]
    told = {name: response[name] for name in ("Content-Type", "Content-Disposition")}
    assert told == {"Content-Type": "audio/wav", "Content-Disposition": "inline"}
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "private" in response["Cache-Control"]
    assert "media-src 'self'" in response["Content-Security-Policy"]
    Campaign.objects.filter(pk=campaign.pk).update(shown_text="reference")
    assert client.get(media(first)).status_code == 404
    assert "<audio" not in client.get(address(first)).text
    Campaign.objects.filter(pk=campaign.pk).update(shown_text="source", status="closed")
    assert client.get(media(first)).status_code == 404


LAST = len(SOUND) - 1


# RFC 9110, section 14: what is asked for, and what comes.
PARTS: list[tuple[dict[str, str], int, tuple[int, int] | None]] = [
    ({"range": "bytes=0-0"}, 206, (0, 0)),
    ({"range": "bytes=100-199"}, 206, (100, 199)),
    ({"range": "bytes=100-"}, 206, (100, LAST)),
    ({"range": "bytes=-10"}, 206, (LAST - 9, LAST)),
    ({"range": f"bytes=-{LAST + 100}"}, 206, (0, LAST)),
    ({"range": f"bytes=5-{LAST + 100}"}, 206, (5, LAST)),
    ({"range": f"bytes={LAST + 1}-"}, 416, None),
    ({"range": "bytes=-0"}, 416, None),
    ({"range": "bytes=9-5"}, 200, (0, LAST)),
    ({"range": "bytes=0-1,5-6"}, 200, (0, LAST)),
    ({"range": "lines=0-1"}, 200, (0, LAST)),
    ({"range": "bytes=0-9", "if-range": '"other"'}, 200, (0, LAST)),
    ({"range": "bytes=0-9", "if-range": "ETAG"}, 206, (0, 9)),
    ({"if-none-match": "ETAG"}, 304, None),
]


def test_parts(db: None, client: Client) -> None:
    row = with_sound(plant("esa", outputs=[("One.", "Two.")]))[0]
    client.force_login(Annotator.objects.get().user)
    head = client.head(media(row))
    assert head["Content-Length"] == str(len(SOUND))
    for headers, status, part in PARTS:
        sent = {name: value.replace("ETAG", head["ETag"]) for name, value in headers.items()}
        response = client.get(media(row), headers=sent)
        told = ""
        if part:
            start, end = part
            body = b"".join(response.streaming_content)  # type: ignore[attr-defined]
            assert body == SOUND[start : end + 1], headers
            assert response["Content-Length"] == str(len(body))
            told = f"bytes {start}-{end}/{LAST + 1}" if status == 206 else ""
        told = f"bytes */{LAST + 1}" if status == 416 else told
        assert (response.status_code, response.headers.get("Content-Range", "")) == (status, told)


def test_playing_is_stored_with_the_judgment(db: None, client: Client) -> None:
    campaign = plant("segment-da", outputs=[("One.", "Two.")])
    first, second = with_sound(campaign)
    client.force_login(Annotator.objects.get().user)
    events = [[120, "play", 1.5], [900, "seek", 2.25], [2400, "pause", 3.001], [2500, "play", 3]]
    for row, playing in ((first, json.dumps(events)), (second, '[[1, "sing", 2]]')):
        response = client.post(address(row), form(client, row, playing=playing), headers=JSON)
        assert response.status_code == 200
    # Nonsense is no report, and never a reason to lose an answer.
    assert Judgment.objects.count() == 2
    assert Playback.objects.get().events == events
    assert [each["plays"] for each in judgment_dicts(campaign)] == [2, 0]


def zipped(**files: bytes) -> InputFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(f"assets/{name}.wav", data)
    return InputFile.holding("assets.zip", buffer.getvalue())


def test_a_campaign_file_comes_back_with_its_recordings(db: None) -> None:
    segment = {"id": "a", "source": "", "media": "assets/a.wav", "media_start": 1, "register": "du"}
    values = {
        "touchstone": 1,
        "texts": {
            "name": "Talks", "source_language": "de", "target_language": "en",
            "segments": [segment | {"transcript": "Guten Morgen."}],
            "systems": [{"name": "X", "outputs": {"a": "Good day."}}],
        },
        "task": {"preset": "esa", "shown_text": "source"},
        "people": 1,
    }  # fmt: skip

    def opened(values: Any, *files: InputFile, slug: str = "") -> tuple[Any, list[str]]:
        report, file = Report(), InputFile.holding("c.json", json.dumps(values).encode())
        found = open_file(file, report, Wish(slug=slug, is_draft=True, media=files))
        return found, [(str(each.place), each.code) for each in report.errors]

    assert opened(values)[1] == [("c.json, texts.segments[0].media", "media.missing")]
    found, errors = opened(values, zipped(a=SOUND))
    assert errors == []
    written = to_values(found.campaign)
    (own,) = written["texts"]["segments"]
    assert own == segment | {
        "document": "", "references": {}, "transcript": "Guten Morgen.",
        "media": store_file(InputFile.holding("x", SOUND)).sha256,
    }  # fmt: skip
    # The same server still has the file.
    assert opened(written, slug="again")[1] == []
