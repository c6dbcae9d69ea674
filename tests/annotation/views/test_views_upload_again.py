"""Going back from a preview and from errors loses nothing; files are read again as one says."""

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotation.models import Output, Segment, TestSet
from annotation.uploads import waiting
from tests.refusals import tells
from tests.world import World

ODD = (
    "sid,seg_note,lähde,ref,Online-B,hyp\n"
    "s1,x,Er sagt &quot;ja&quot;,He says yes,He says &quot;yes&quot;,Yes\n"
    "s2,y,Es regnet,It rains,Rain,Rains\n"
)
WORDS = {
    "name": "Odd names",
    "source_language": "german",
    "target_language": "en - English",
    "description": "From a colleague",
    "ratio": "80%",
}


def sent(name: str, content: str) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content.encode())


def send(client: Client, **changes: Any) -> Any:
    return client.post(reverse("testset-upload"), WORDS | changes, follow=True)


def token(page: Any) -> str:
    found = re.search(r"change=([^\"]+)", page.text)
    assert found
    return unquote(found[1])


def kept_token(page: Any) -> str:
    found = re.search(r'name="kept" value="([^"]+)"', page.text)
    assert found
    return unquote(found[1])


def choose(client: Client, page: Any, *fields: str, **more: str) -> Any:
    data = {f"table0-{number}": field for number, field in enumerate(fields)}
    address = page.redirect_chain[-1][0]
    return client.post(address, data | {"change": "1"} | more, follow=True)


CHOICE = ("segment", "", "source", "reference", "system:Online-B", "system:hyp")


def test_columns_nobody_could_guess_are_chosen_on_the_page(world: World, as_admin: Client) -> None:
    page = send(as_admin, tables=[sent("odd.csv", ODD)])
    assert page.status_code == 422
    assert '<option value="system:Online-B">' in page.text
    assert tells(page.text, "column.outputs-of", system="Online-B")
    assert '<option value="segment" selected>' in page.text
    assert "Er sagt &amp;quot;ja&amp;quot;" in page.text, "what the first row holds"
    page = choose(as_admin, page, *CHOICE)
    assert page.status_code == 200
    assert '<option value="system:hyp" selected>' in page.text
    as_admin.post(page.redirect_chain[-1][0])
    test_set = TestSet.objects.get(name="Odd names")
    assert (test_set.source_language, test_set.target_language) == ("de", "en")
    systems = {(s.name, str(s.length_ratio)) for s in test_set.systems.all()}
    assert systems == {("Online-B", "0.80"), ("hyp", "0.80")}
    assert Segment.objects.get(test_set=test_set, key="s2").source == "Es regnet"


def test_languages_that_nothing_states_are_entered_on_the_preview(
    world: World, as_admin: Client
) -> None:
    page = send(as_admin, tables=[sent("odd.csv", ODD)], source_language="", target_language="")
    assert page.status_code == 422
    assert tells(page.text, "language.unstated")
    page = choose(as_admin, page, *CHOICE, source_language="Deutsch")
    assert page.status_code == 422
    assert 'name="source_language"' not in page.text
    page = choose(as_admin, page, *CHOICE, target_language="en")
    assert page.status_code == 200
    as_admin.post(page.redirect_chain[-1][0])
    test_set = TestSet.objects.get(name="Odd names")
    assert (test_set.source_language, test_set.target_language) == ("de", "en")


def test_two_columns_for_one_field_are_refused_where_they_are(
    world: World, as_admin: Client
) -> None:
    page = send(as_admin, tables=[sent("odd.csv", ODD)])
    address = page.redirect_chain[-1][0]
    data = {f"table0-{n}": field for n, field in enumerate(("source", "", "source", "", "", ""))}
    page = as_admin.post(address, data | {"change": "1"})
    assert page.status_code == 422
    assert tells(page.text, "columns.meaning-taken", column="sid")


def test_entities_are_decoded_on_the_page_and_exactly_that_is_stored(
    world: World, as_admin: Client
) -> None:
    page = send(as_admin, tables=[sent("odd.csv", ODD)])
    page = choose(as_admin, page, *CHOICE)
    assert tells(page.text, "texts.entities", n=1)
    page = choose(as_admin, page, *CHOICE, decode="on")
    assert tells(page.text, "upload.decoded", n=2)
    as_admin.post(page.redirect_chain[-1][0], {"decode": "on"})
    assert Output.objects.filter(text='He says "yes"').exists()


def test_back_from_the_preview_everything_is_there(world: World, as_admin: Client) -> None:
    page = send(as_admin, tables=[sent("odd.csv", ODD)])
    page = choose(as_admin, page, *CHOICE)
    form = as_admin.get(reverse("testset-upload"), {"change": token(page)})
    for word in WORDS.values():
        assert word in form.text
    assert re.search(r'name="kept_files" value="0"[^>]* checked', form.text)
    assert "Table: odd.csv, " in form.text
    again = send(as_admin, kept=kept_token(form), kept_files=["0"], name="Other name")
    assert again.status_code == 200, "the files and the meaning of their columns are kept"
    as_admin.post(again.redirect_chain[-1][0])
    assert TestSet.objects.get(name="Other name").segments.count() == 2


def test_a_refused_form_keeps_its_files(world: World, as_admin: Client) -> None:
    source, output = sent("s.txt", "Eins\nZwei\n"), sent("o.txt", "One\nTwo\n")
    page = send(as_admin, source_language="Klingonese", source=source, systems=[output])
    assert page.status_code == 422
    assert tells(page.text, "language.unknown-near", name="Klingonese")
    assert "Source: s.txt" in page.text
    page = send(as_admin, kept=kept_token(page), kept_files=["0", "1"])
    assert page.status_code == 200
    assert "Eins" in page.text


def test_files_that_are_unticked_or_replaced_do_not_count(world: World, as_admin: Client) -> None:
    files = {
        "source": sent("s.txt", "Eins\nZwei\n"),
        "systems": [sent("a.txt", "One\nTwo\n"), sent("b.txt", "On\nTw\n")],
    }
    form = as_admin.get(reverse("testset-upload"), {"change": token(send(as_admin, **files))})
    page = send(
        as_admin, kept=kept_token(form), kept_files=["0", "1"],
        source=sent("s2.txt", "Drei\nVier\n"), systems=[sent("a.txt", "Three\nFour\n")],
    )  # fmt: skip
    as_admin.post(page.redirect_chain[-1][0])
    test_set = TestSet.objects.get(name="Odd names")
    assert list(test_set.segments.values_list("source", flat=True)) == ["Drei", "Vier"]
    outputs = Output.objects.filter(segment__test_set=test_set).order_by("segment__position")
    assert [(o.system.name, o.text) for o in outputs] == [("a", "Three"), ("a", "Four")]


def test_what_waits_is_its_senders_alone(world: World, as_admin: Client) -> None:
    page = send(as_admin, tables=[sent("odd.csv", ODD)])
    other = Client()
    world.outsider.groups.set(world.admin.groups.all())
    other.force_login(world.outsider)
    answer = other.get(reverse("testset-upload"), {"change": token(page)})
    assert "expired" in answer.text
    assert "odd.csv" not in answer.text
    answer = other.post(reverse("testset-upload"), WORDS | {"kept": token(page)})
    assert answer.status_code == 422
    assert "odd.csv" not in answer.text


@pytest.mark.parametrize(
    "name",
    [
        "testset-upload",
        "campaign-import",
        pytest.param("corpus-upload", marks=pytest.mark.needs("training")),
    ],
)
def test_names_of_languages_are_offered(world: World, as_admin: Client, name: str) -> None:
    page = as_admin.get(reverse(name)).text
    assert 'list="known-languages"' in page
    assert page.count('<datalist id="known-languages">') == 1
    assert '<option value="German">Deutsch, de</option>' in page


def test_old_files_are_removed_with_what_was_found_in_them(
    world: World, as_admin: Client, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    send(as_admin, tables=[sent("odd.csv", ODD)])
    folder = tmp_path / "uploads"
    (first,) = folder.iterdir()
    os.utime(first / waiting.VALUES, (0, 0))
    (folder / "earlier.json").touch()
    (folder / "half").mkdir()
    for name in ("earlier.json", "half"):
        os.utime(folder / name, (0, 0))
    send(as_admin, source_language="Klingonese", tables=[sent("new.csv", ODD)])
    (kept,) = folder.iterdir()
    assert (kept / "0").read_text() == ODD
