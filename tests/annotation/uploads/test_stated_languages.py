"""Languages that tables or the stored test set state need not be entered."""

import json
from pathlib import Path

import pytest
from django.test import Client

from annotation.models import TestSet
from annotation.uploads.drafts import SOURCE_LANGUAGE, TARGET_LANGUAGE
from tests.files.doors import refuses, run
from tests.files.samples import XLIFF
from tests.refusals import tells
from tests.world import World

pytestmark = pytest.mark.django_db
ROW = {"segment": "1", "source": "One.", "reference": "Eins."}
MARKED = (
    '<dataset><doc id="d"><src lang="en"><seg id="1">One</seg></src>'
    '<ref lang="{}" translator="A"><seg id="1">Eins</seg></ref></doc></dataset>'
)
MEMORY = (
    '<tmx version="1.4"><header srclang="en"/><body><tu tuid="a"><tuv xml:lang="en"><seg>One</seg>'
    '</tuv><tuv xml:lang="de"><seg>Eins</seg></tuv></tu></body></tmx>'
)
# Every way in which a file states English and German.
STATING = {
    "pair.jsonl": json.dumps(ROW | {"lp": "en-de"}),
    "two.jsonl": json.dumps(ROW | {"src_lang": "English", "tgt_lang": "deu"}),
    "paragraphs.jsonl": json.dumps(
        {"doc_id": "en-de_#_news_#_d1", "src_text": "One.", "refs": {"refA": "Eins."}}
    ),
    "set.xml": MARKED.format("de"),
    "memory.tmx": MEMORY,
    "job.xlf": XLIFF,
}
# One of them, or another.
OTHERS = {
    "pair.jsonl": json.dumps(ROW | {"lp": "en-cs"}),
    "two.jsonl": json.dumps(ROW | {"src_lang": "English", "tgt_lang": "ces"}),
    "paragraphs.jsonl": STATING["paragraphs.jsonl"].replace("en-de", "en-cs"),
    "set.xml": MARKED.format("cs"),
    "memory.tmx": MEMORY.replace('"de"', '"cs"'),
    "job.xlf": XLIFF.replace('"de"', '"cs"'),
}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name",
    [
        each
        if each in ("pair.jsonl", "two.jsonl")
        else pytest.param(each, marks=pytest.mark.needs("extensions.formats"))
        for each in STATING
    ],
)
def test_a_file_states_them(tmp_path: Path, name: str) -> None:
    run("import_testset", "set", "--table", written(tmp_path, name, STATING[name]))
    assert TestSet.objects.get().direction == "en-de"
    # A file with others is named, whether the known ones are stored or entered.
    other = written(tmp_path, name, OTHERS[name])
    for words in (("set",), ("new", "--source-language=en", "--target-language=de")):
        if name == "set.xml":
            assert tells(
                run("import_testset", *words, "--table", other, "--dry-run"), "marked.language"
            )
        else:
            with refuses("pair.none", pair="en→de"):
                run("import_testset", *words, "--table", other)


def test_the_stored_test_set_states_them(tmp_path: Path) -> None:
    source, system = written(tmp_path, "s.txt", "One.\n"), written(tmp_path, "A.de", "Ein.\n")
    run("import_testset", "set", "--source-language=en", "--target-language=de", "--source", source)
    run("import_testset", "set", "--system", system)
    assert TestSet.objects.get().systems.get().name == "A"


@pytest.mark.parametrize(("text", "fields"), [
    (json.dumps(ROW), (SOURCE_LANGUAGE, TARGET_LANGUAGE)),
    (json.dumps(ROW | {"src_lang": "en"}), (TARGET_LANGUAGE,)),
    (json.dumps(ROW | {"tgt_lang": "de"}), (SOURCE_LANGUAGE,)),
])  # fmt: skip
def test_a_language_that_nothing_states_is_an_error_of_its_field(
    world: World, as_admin: Client, tmp_path: Path, text: str, fields: tuple[str, ...]
) -> None:
    path = written(tmp_path, "t.jsonl", text)
    with refuses("language.unstated", field=str(fields[0])):
        run("import_testset", "new", "--table", path)
    with path.open("rb") as table:
        page = as_admin.post("/testsets/upload/", {"name": "New", "tables": table}, follow=True)
    assert tells(page.content.decode(), "language.unstated")
    with path.open("rb") as table:
        answer = as_admin.post("/api/test-sets/", {"name": "New", "tables": table, "dry_run": "1"})
    errors = [each for each in answer.json()["problems"] if each["severity"] == "error"]
    assert [(each["code"], each["field"]) for each in errors] == [
        ("language.unstated", str(field)) for field in fields
    ]


def test_rows_of_several_pairs_ask_for_one(tmp_path: Path) -> None:
    rows = [ROW | {"lp": "en-de"}, ROW | {"lp": "en-de", "segment": "2"}, ROW | {"lp": "en-cs"}]
    path = written(tmp_path, "t.jsonl", "\n".join(map(json.dumps, rows)))
    with refuses("pair.several", field=str(TARGET_LANGUAGE)):
        run("import_testset", "set", "--table", path)
    # What was entered leaves one pair.
    run("import_testset", "set", "--target-language=cs", "--table", path)
    assert TestSet.objects.get().direction == "en-cs"
