"""The encoding of campaigns of other tools is chosen as that of tables."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Segment
from tests.extensions.formats.appraise.batches import item, manifest, tasks
from tests.extensions.formats.pearmut.test_pearmut import campaign
from tests.extensions.formats.pearmut.test_pearmut import item as pearmut_item
from tests.files.doors import RefusedError, refuses, run
from tests.refusals import tells

pytestmark = pytest.mark.django_db


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
