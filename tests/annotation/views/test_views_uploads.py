"""Uploading on the page: check, look, confirm; wrong files change nothing."""

import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Output, Reference, Segment, System, TestSet
from annotation.uploads import waiting
from tests.refusals import has, tells
from tests.world import World, make_test_set

SOURCE = "Das Haus ist rot.\nDer Hund schläft.\nEs regnet.\n"
REFERENCE = "The house is red.\nThe dog sleeps.\nIt is raining.\n"
OUTPUT = "House is red.\nDog sleeps.\nRaining.\n"


def sent(name: str, content: str | bytes) -> SimpleUploadedFile:
    data = content.encode() if isinstance(content, str) else content
    return SimpleUploadedFile(name, data)


def form(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Weather",
        "source_language": "de",
        "target_language": "en",
        "source": sent("source.txt", SOURCE),
        "references": [sent("reference.txt", REFERENCE)],
        "systems": [sent("strong@0.8.txt", OUTPUT), sent("weak@0.5.txt", OUTPUT)],
    } | changes


def send(client: Client, **changes: Any) -> Any:
    return client.post(reverse("testset-upload"), form(**changes), follow=True)


def confirm(client: Client, response: Any) -> Any:
    return client.post(response.redirect_chain[-1][0], follow=True)


def test_check_then_store(world: World, as_admin: Client) -> None:
    before = TestSet.objects.count()
    preview = send(as_admin)
    assert preview.status_code == 200
    assert 'data-store="campaign"' in preview.text
    assert "Das Haus ist rot." in preview.text
    assert TestSet.objects.count() == before
    page = confirm(as_admin, preview)
    assert "Created “Weather”. Segments: 3, systems: 2, outputs: 6." in page.text
    test_set = TestSet.objects.get(slug="weather")
    ratios = {system.name: str(system.length_ratio) for system in test_set.systems.all()}
    assert ratios == {"strong": "0.80", "weak": "0.50"}
    assert list(test_set.segments.values_list("source", flat=True)) == SOURCE.splitlines()
    texts = Reference.objects.filter(segment__test_set=test_set).order_by("segment__position")
    assert [row.text for row in texts] == REFERENCE.splitlines()


def test_the_same_again_changes_nothing(world: World, as_admin: Client) -> None:
    confirm(as_admin, send(as_admin))
    counts = [model.objects.count() for model in (TestSet, Segment, System, Output)]
    preview = send(as_admin)
    assert 'data-store="nothing"' in preview.text
    assert "nothing changed" in confirm(as_admin, preview).text
    assert [model.objects.count() for model in (TestSet, Segment, System, Output)] == counts


def test_a_system_is_added_to_a_stored_test_set(world: World, as_admin: Client) -> None:
    confirm(as_admin, send(as_admin))
    only = {"source": "", "references": [], "systems": [sent("third.txt", OUTPUT)]}
    page = confirm(as_admin, send(as_admin, **only))
    assert tells(page.text, "import.added", name="Weather", systems=1, outputs=3)


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "a")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"systems": [sent("s.txt", "one\ntwo\n")]}, ["s.txt", "2", "3"]),
        ({"source": sent("source.txt", zipped())}, ["source.txt", "ZIP archive"]),
        ({"source": sent("source.txt", SOURCE.encode("cp437"))},
         ["source.txt", "row 2", "not UTF-8"]),
        ({"source": sent("source.txt", "a\n\nc\n")}, ["source.txt", "row 2", "empty"]),
        ({"source": sent("source.txt", "a\nb\x00b\nc\n")}, ["source.txt", "row 2"]),
        ({"systems": [sent("s.txt", OUTPUT), sent("s.out", OUTPUT)]}, ["s.txt", "s.out"]),
        ({"source": sent("empty.txt", "")}, ["empty.txt"]),
    ],
)  # fmt: skip
def test_wrong_files_are_named_and_change_nothing(
    world: World, as_admin: Client, changes: dict[str, Any], words: list[str]
) -> None:
    before = TestSet.objects.count()
    page = send(as_admin, **changes)
    assert page.status_code == 422
    assert 'id="errors"' in page.text
    for word in words:
        assert word in page.text
    assert "problems" in page.text
    listing = as_admin.get(f"{page.redirect_chain[-1][0]}&problems")
    assert listing.text.startswith("error\t")
    confirm(as_admin, page)
    assert TestSet.objects.count() == before


def test_problems_of_a_refused_upload_as_json(world: World, as_admin: Client) -> None:
    page = send(as_admin, systems=[sent("s.txt", "one\ntwo\n")])
    address, _ = page.redirect_chain[-1]
    answer = as_admin.get(address, headers={"Accept": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["n_errors"] == 1
    (problem,) = [each for each in answer.json()["problems"] if each["severity"] == "error"]
    text = "Lines in this file: 2. Segments in source.txt: 3. The numbers must be equal."
    assert problem == {
        "severity": "error", "file": "s.txt", "row": None, "field": "", "code": "upload.lines",
        "text": text,
        "pattern": "Lines in this file: {lines}. Segments in {within}: {segments}. The numbers "
        "must be equal.",
        "parameters": {"lines": 2, "segments": 3, "within": "source.txt"}, "more": None,
    }  # fmt: skip


@pytest.mark.parametrize(("encoding", "severity"), [("utf-16", "note"), ("cp1252", "warning")])
def test_other_encodings_are_read_and_said(
    world: World, as_admin: Client, encoding: str, severity: str
) -> None:
    page = send(as_admin, source=sent("source.txt", SOURCE.encode(encoding)))
    assert page.status_code == 200
    listing = as_admin.get(f"{page.redirect_chain[-1][0]}&problems").text
    assert f"{severity}\tsource.txt" in listing
    confirm(as_admin, page)
    assert (
        list(Segment.objects.filter(test_set__name="Weather").values_list("source", flat=True))
        == SOURCE.splitlines()
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source_language": "xx-klingon"}, "language.unknown"),
        ({"ratio": "most"}, "ratio.syntax"),
        ({"name": ""}, "This field is required"),
        ({"source": "", "references": [], "systems": []}, "upload.no-source-or-table"),
    ],
)
def test_wrong_forms(world: World, as_admin: Client, changes: dict[str, Any], message: str) -> None:
    page = send(as_admin, **changes)
    assert page.status_code == 422
    assert has(page.text, message)


def test_too_large_is_refused(world: World, as_admin: Client) -> None:
    page = as_admin.post(
        reverse("testset-upload"), b"", content_type="text/plain", CONTENT_LENGTH=200 * 1024**2
    )
    assert page.status_code == 413
    assert "larger than 100.0" in page.text


def test_stored_texts_never_change(world: World, as_admin: Client) -> None:
    confirm(as_admin, send(as_admin))
    changed = sent("source.txt", SOURCE.replace("rot", "blau"))
    page = send(as_admin, source=changed)
    assert page.status_code == 422
    assert tells(page.text, "stored.source")


def test_a_preview_is_its_senders_and_is_used_once(world: World, as_admin: Client) -> None:
    preview = send(as_admin)
    address = preview.redirect_chain[-1][0]
    other = Client()
    world.outsider.groups.set(world.admin.groups.all())
    other.force_login(world.outsider)
    assert "expired" in other.post(address, follow=True).text
    assert not TestSet.objects.filter(slug="weather").exists()
    as_admin.post(address)
    assert tells(as_admin.post(address, follow=True).text, "upload.expired")
    assert TestSet.objects.filter(slug="weather").count() == 1


def test_markup_in_texts_is_shown_not_run(world: World, as_admin: Client) -> None:
    nasty = sent("s.txt", "<script>alert(1)</script>\n=1+1\n&amp;\n")
    page = send(as_admin, systems=[nasty])
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert" in page.text
    page = confirm(as_admin, page)
    assert "<script>alert" not in page.text


@pytest.mark.parametrize(
    "row",
    [
        {"source": "a\ud800b", "system:x": "y"},
        {"source": "ab", "system:\ud800": "y"},
        {"segment": "\ud800", "source": "ab", "system:x": "y\udfff"},
    ],
)
def test_lone_surrogates_are_refused_in_words(
    world: World, as_admin: Client, row: dict[str, str]
) -> None:
    table = [sent("t.jsonl", json.dumps(row) + "\n")]
    page = send(as_admin, source="", references=[], systems=[], tables=table)
    assert page.status_code == 422
    assert "t.jsonl, row 1" in page.text
    assert "U+D800" in page.text


@pytest.mark.parametrize(
    "names", [("测试一", "测试二"), ("News A", "News-A"), ("Upload", "upload")]
)
def test_another_name_is_another_test_set(
    world: World, as_admin: Client, names: tuple[str, str]
) -> None:
    for name in names:
        source = sent("source.txt", f"{name} eins\nzwei\ndrei\n")
        confirm(as_admin, send(as_admin, name=name, source=source))
    for name in names:
        first = TestSet.objects.get(name=name).segments.first()
        assert first is not None
        assert first.source == f"{name} eins"


def test_an_unreadable_source_is_the_only_error(world: World, as_admin: Client) -> None:
    page = send(as_admin, source=sent("source.txt", zipped()))
    assert 'data-n="1"' in page.text


def test_old_previews_are_removed(
    world: World, as_admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = send(as_admin).redirect_chain[-1][0]
    monkeypatch.setattr(waiting, "MAX_AGE", -1)
    send(as_admin)
    assert "expired" in as_admin.get(address, follow=True).text


def test_roles(world: World, client: Client) -> None:
    client.force_login(world.researcher)
    assert client.get(reverse("testsets")).status_code == 200
    assert client.get(reverse("testset", args=["harbour"])).status_code == 200
    assert client.get(reverse("testset-upload")).status_code == 403
    client.force_login(world.annotators[0])
    for name, args in (("testsets", []), ("testset", ["harbour"]), ("testset-upload", [])):
        assert client.get(reverse(name, args=args)).status_code == 403


def test_pages_cost_the_same_for_many_segments(
    world: World, as_researcher: Client, django_assert_max_num_queries: Any
) -> None:
    make_test_set("large", segments=60, systems=("a", "b", "c", "d"))
    with django_assert_max_num_queries(13):
        page = as_researcher.get(reverse("testset", args=["large"]))
    assert "Page 1 of 3" in page.text
