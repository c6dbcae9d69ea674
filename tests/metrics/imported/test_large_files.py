"""Large files of scores and spans: a worker checks and stores them."""

from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.imports import background
from annotation.models import FileImport, TestSet
from core.work import working
from metrics.models import MetricImport, SegmentSpans
from tests.metrics.imported.test_views import ADDRESS, filled, send
from tests.refusals import tells
from tests.world import World

API, JOBS, SPANS = "/api/imports/metric-scores/", "/api/imports/files/", "/testsets/harbour/spans/"
TABLE = "system\tsegment\tstart\tend\tseverity\nstrong\t1\t0\t4\tminor\nweak\t1\t0\t4\tmajor\n"


@pytest.fixture(autouse=True)
def everything_is_large(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR, settings.IMPORT_IN_REQUEST_ROWS = tmp_path, 1


@pytest.fixture
def as_owner(world: World, as_admin: Client) -> Client:
    TestSet.objects.filter(pk=world.test_set.pk).update(created_by=world.admin)
    return as_admin


def checked(client: Client, address: str) -> str:
    """Let the worker check files, and return the address of their preview."""
    job = client.get(address)["Location"]
    working.drain(background.file_imports)
    preview: str = client.get(job)["Location"]
    return preview


def is_nothing_kept(settings: Any) -> bool:
    return list((settings.VAR_DIR / "uploads").iterdir()) == []


def test_scores_are_stored_as_they_were_previewed(
    world: World, as_owner: Client, settings: Any
) -> None:
    preview = checked(as_owner, send(as_owner))
    page = unescape(as_owner.get(preview).text)
    assert "Import 2 metrics" in page
    # Another choice is checked anew.
    preview = checked(
        as_owner, as_owner.post(preview, filled(page, **{"name-0": "Comet 22"}))["Location"]
    )
    page = unescape(as_owner.get(preview).text)
    assert filled(page)["name-0"] == "Comet 22"
    changed = filled(page, **{"better-1": "higher", "import": "1"})
    preview = checked(as_owner, as_owner.post(preview, changed)["Location"])
    assert not MetricImport.objects.exists()
    page = unescape(as_owner.get(preview).text)
    changed = filled(page, **{"better-1": "lower"})
    preview = checked(as_owner, as_owner.post(preview, changed)["Location"])
    page = unescape(as_owner.get(preview).text)
    job = as_owner.post(preview, filled(page, **{"import": "1"}))["Location"]
    working.drain(background.file_imports)
    done = as_owner.get(job).text
    assert "Imported 2 metrics: 3 scores" in done
    assert ADDRESS in done
    assert set(MetricImport.objects.values_list("metric", flat=True)) == {
        "imported-comet-22",
        "imported-ter-lower",
    }
    assert is_nothing_kept(settings)


def test_scores_that_changed_after_the_preview_are_refused(
    world: World, as_owner: Client, settings: Any
) -> None:
    preview = checked(as_owner, send(as_owner))
    page = unescape(as_owner.get(preview).text)
    job = as_owner.post(preview, filled(page, **{"import": "1"}))["Location"]
    settings.IMPORT_IN_REQUEST_ROWS = 100
    other = send(as_owner, "segment\tsystem\tCOMET\n1\tstrong\t0.25\n")
    small = unescape(as_owner.get(other).text)
    as_owner.post(other, filled(small, **{"import": "1"}))
    assert MetricImport.objects.count() == 1
    working.drain(background.file_imports)
    assert FileImport.objects.get().state == "refused"
    assert tells(as_owner.get(job).text, "imports.outdated")
    assert MetricImport.objects.count() == 1


def test_scores_of_a_program_are_stored_by_a_worker(
    world: World, as_owner: Client, settings: Any
) -> None:
    def post(**data: Any) -> Any:
        text = "segment\tsystem\tCOMET\n1\tstrong\t0.5\n2\tstrong\t0.25\n"
        files = [SimpleUploadedFile("scores.tsv", text.encode())]
        return as_owner.post(API, {"test_set": "harbour", "files": files, **data})

    begun = post(note="From a colleague.")
    assert begun.status_code == 202
    assert post(note="From a colleague.")["Location"] == begun["Location"]
    dry = post(dry_run="true")["Location"]
    working.drain(background.file_imports)
    stored = as_owner.get(begun["Location"]).json()
    row = MetricImport.objects.get()
    assert (stored["state"], stored["stored"]["imports"]) == ("stored", [row.pk])
    assert row.provenance == "From a colleague."
    assert as_owner.get(dry).json()["state"] == "checked"
    assert as_owner.delete(dry).json()["state"] == "cancelled"
    assert is_nothing_kept(settings)


def test_spans_are_stored_as_they_were_previewed(
    world: World, as_owner: Client, settings: Any
) -> None:
    file = SimpleUploadedFile("spans.tsv", TABLE.encode())
    sent = as_owner.post(SPANS, {"tables": file, "name": "finder", "ends": ""})["Location"]
    preview = checked(as_owner, sent)
    page = as_owner.get(preview)
    assert page.status_code == 422
    forms = [page.context["form"], page.context["shown"].tables[0][1]]
    fields = [(form.add_prefix(n), form[n].value() or "") for form in forms for n in form.fields]
    chosen = dict(fields) | {"ends": "excluded"}
    anew = as_owner.post(preview, chosen)["Location"]
    preview = checked(as_owner, anew)
    assert as_owner.get(preview).context["form"].initial["ends"] == "excluded"
    job = as_owner.post(preview, chosen | {"import": "1"})["Location"]
    assert not SegmentSpans.objects.exists()
    working.drain(background.file_imports)
    assert "Imported 2 spans." in as_owner.get(job).text
    assert SegmentSpans.objects.count() == 2
    assert is_nothing_kept(settings)


def test_spans_and_test_sets_of_a_program_are_stored_by_a_worker(
    world: World, as_owner: Client, settings: Any
) -> None:
    spans = {"test_set": "harbour", "name": "finder", "ends": "excluded"}
    table = SimpleUploadedFile("spans.tsv", TABLE.encode())
    spans_job = as_owner.post("/api/imports/metric-spans/", {**spans, "tables": table})
    words = {"name": "Quay", "source_language": "de", "target_language": "en"}
    texts = SimpleUploadedFile("quay.tsv", b"segment\tsource\n1\tEins\n2\tZwei\n")
    set_job = as_owner.post("/api/test-sets/", {**words, "tables": texts})
    assert (spans_job.status_code, set_job.status_code) == (202, 202)
    working.drain(background.file_imports)
    states = [as_owner.get(each["Location"]).json() for each in (spans_job, set_job)]
    assert [each["state"] for each in states] == ["stored", "stored"], states
    assert SegmentSpans.objects.count() == 2
    assert TestSet.objects.get(slug="quay").segments.count() == 2
    assert is_nothing_kept(settings)
