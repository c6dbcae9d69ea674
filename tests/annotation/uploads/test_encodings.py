"""Legacy encodings at every door: the preview names the one that was taken, and offers others."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Segment
from annotation.uploads import InputFile
from tests.annotation.appraise import item, manifest, tasks
from tests.annotation.imports.test_imports_pearmut import campaign
from tests.annotation.imports.test_imports_pearmut import item as pearmut_item
from tests.files.doors import RefusedError, of_talks, refuses, run
from tests.files.test_rules import DOORS, ROWS, separated
from tests.refusals import tells

pytestmark = pytest.mark.django_db
CZECH = ["Příliš žluťoučký kůň", "úpěl ďábelské ódy"]


@pytest.mark.parametrize("door", DOORS)
def test_a_czech_file_of_excel_says_what_it_says_in_utf_8(door: str) -> None:
    of_talks(2)
    rows = [row | {"document": text} for row, text in zip(ROWS[door], CZECH, strict=True)]
    text = separated(rows).replace("ü", "ö")
    wanted, _ = DOORS[door](InputFile.holding("t.csv", text.encode()), frozenset())
    file = InputFile.holding("t.csv", text.encode("cp1250"))
    found, report = DOORS[door](file, frozenset())
    assert found == wanted
    (warning,) = [each for each in report.warnings if each.code == "file.encoding-guessed"]
    assert warning.message.parameters["encoding"] == "Windows-1250"
    assert next(iter(report.files["t.csv"].encodings)) == "Windows-1250"


@pytest.mark.parametrize("door", DOORS)
def test_an_unclear_encoding_is_chosen(door: str) -> None:
    of_talks(2)
    rows = [row | {"document": "č"} for row in ROWS[door]]
    text = separated(rows).replace("ü", "u").replace("Ü", "U").replace("ß", "s")
    wanted, _ = DOORS[door](InputFile.holding("t.csv", text.encode()), frozenset())
    file = InputFile.holding("t.csv", text.encode("cp1250"))
    _, report = DOORS[door](file, frozenset())
    assert [error.code for error in report.errors] == ["file.encoding-unclear"]
    assert "Windows-1250" in report.files["t.csv"].encodings
    for columns in ({"(encoding)": "cp1250"}, {"(encoding) t.csv": "Windows-1250"}):
        found, report = DOORS[door](file, frozenset(), columns)
        assert (found, report.errors) == (wanted, [])


def campaigns_of_tools(word: str) -> dict[str, tuple[dict[str, str], dict[str, str]]]:
    """Return the files of a campaign of each tool by role, with the fields of its form."""
    batches = tasks([item(1, sourceText=word)])
    names = {"source_language": "cs", "target_language": "en"}
    of = partial(json.dumps, ensure_ascii=False)
    return {
        "appraise": ({"batches": of(batches), "manifest": of(manifest())}, {}),
        "pearmut": ({"campaign": of(campaign([[pearmut_item(src=word)]]))}, names),
    }


@pytest.mark.parametrize("tool", ["appraise", "pearmut"])
def test_the_encoding_of_a_campaign_of_a_tool_is_chosen_on_its_preview(
    as_admin: Client, tool: str
) -> None:
    files, words = campaigns_of_tools("č")[tool]
    sent: dict[str, Any] = {f"{tool}-{name}": word for name, word in words.items()}
    sent |= {
        f"{tool}-{role}": SimpleUploadedFile(f"{role}.json", text.encode("cp1250"))
        for role, text in files.items()
    }
    checked = as_admin.post("/campaigns/import/", {"tool": tool, **sent})
    page = as_admin.get(checked.url)
    assert tells(page.text, "file.encoding-unclear")
    assert page.status_code == 422
    (field,) = re.findall(r'name="(column-encoding\d)"', page.text)
    chosen = as_admin.post(checked.url, {field: "Windows-1250", "change": "1"})
    assert as_admin.get(chosen.url).status_code == 200
    as_admin.post(chosen.url, {field: "Windows-1250"})
    assert Segment.objects.filter(source="č").count() == 1


@pytest.mark.parametrize("tool", ["appraise", "pearmut"])
def test_commands_read_campaigns_of_tools_in_the_encoding_that_is_stated(
    tmp_path: Path, tool: str
) -> None:
    files, words = campaigns_of_tools("č")[tool]
    for role, text in files.items():
        (tmp_path / f"{role}.json").write_bytes(text.encode("cp1250"))
    command = f"import_{tool}", *(tmp_path / f"{role}.json" for role in files)
    with refuses("file.encoding-unclear"):
        run(*command, **words)
    with pytest.raises(RefusedError):
        run(*command, column=["src=source"], **words)
    run(*command, column=["(encoding)=Windows-1250"], **words)
    assert Segment.objects.filter(source="č").count() == 1
