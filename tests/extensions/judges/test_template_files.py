"""Templates from files: formats of replies, refusals, versions, and scores by them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from core.commands import RefusedCommandError
from extensions.judges import prompts, templates
from extensions.judges.scoring import reading
from extensions.judges.scoring.reading import UnusableError
from metaeval.messages import DataError
from metrics.models import JudgeTemplate, MetricRun, MetricSignature
from tests.extensions.judges.answers import scores
from tests.extensions.judges.server import Answer, serving
from tests.metrics.conftest import drain
from tests.refusals import tells
from tests.world import World

Start = Callable[..., MetricRun]
CLASSES = ["Nothing kept", "Some kept", "Some kept, readable", "Perfect"]
STARS = {"name": "stars", "kind": "stars", "user": "{source_lang}: {source_seg}\n{target_seg}"}
FILES: dict[str, dict[str, Any]] = {
    "stars": STARS,
    "classes": {"name": "classes", "kind": "classes", "user": "{output}?", "classes": CLASSES},
    "lines": {"name": "mqm", "kind": "lines", "system": "You annotate.", "user": "{target_seg}",
              "examples": [{"user": "Ein {Satz}", "assistant": "Critical:\nno-error"}]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "stars"),
    # What validate_stars of GEMBA (0fdcd8d) reads from each, but for the last two, from which it
    # reads nothing and 5.
    [("4", 4), ("Five stars", 5), ("★★★", 3), ("****", 4), ("3 stars: understandable", 3),
     ("Two stars\nmeaning is partly kept", 2), ("one", 1),
     ("★★★★☆ (four out of five)", 4), ("**4**", 4), ("4/5", 4), ("4 out of 5 stars", 4)],
)  # fmt: skip
def test_stars(answer: str, stars: int) -> None:
    assert reading.read(prompts.STARS, answer).score == stars


@pytest.mark.parametrize(
    "answer", ["", "0", "6 stars", "45", "3.5 stars", "-4", "3 or 4", "★★ five", "stars", "******"]
)
def test_what_is_no_star(answer: str) -> None:
    with pytest.raises(UnusableError):
        reading.read(prompts.STARS, answer)


@pytest.mark.parametrize(
    ("answer", "place"),
    [("Nothing kept", 0), ('Class: "perfect".', 3), ("some\nkept", 1), ("Some kept, readable", 2),
     ("Perfect or some kept", None), ("Imperfect", None), ("good", None), ("", None)],
)  # fmt: skip
def test_classes(answer: str, place: int | None) -> None:
    if place is None:
        with pytest.raises(UnusableError):
            reading.read(prompts.CLASSES, answer, CLASSES)
    else:
        assert reading.read(prompts.CLASSES, answer, CLASSES).score == place


def test_lines_and_json_of_errors_are_two_formats() -> None:
    lines = 'Critical:\nno-error\nMajor:\naccuracy/omission - "b"\nMinor:\nstyle - "c"'
    found = reading.read(prompts.LINES, lines)
    assert (found.score, found.errors) == (-6, reading.read(prompts.SPANS, lines).errors)
    assert [error.side for error in found.errors] == ["missing", "target"]
    with pytest.raises(UnusableError):
        reading.read(prompts.LINES, '{"errors": []}')


def test_the_list_form_of_a_score() -> None:
    assert reading.read(prompts.SCORE, "['85']").score == 85


def test_hashes_of_older_templates_stay() -> None:
    for template in prompts.BUILT_IN.values():
        assert list(template.content) == ["name", "version", "kind", "system", "user"]


def changed(**fields: Any) -> bytes:
    document = {**STARS, **fields}
    return json.dumps({name: value for name, value in document.items() if value != "-"}).encode()


@pytest.mark.parametrize(
    ("content", "field", "code"),
    [
        (b"no JSON", None, "judge.file-not-json"),
        (b"[1]", None, "judge.file-not-json"),
        (changed(reply="stars"), "reply", "judge.field-unknown"),
        (changed(user="-"), "user", "judge.field-missing"),
        (changed(user=3), "user", "judge.field-text"),
        (changed(name="My stars"), "name", "judge.field-name"),
        (changed(name="add"), "name", "judge.field-name"),
        (changed(kind="percent"), "kind", "judge.unknown-kind"),
        (changed(user="{source_seg}"), "user", "judge.placeholder-missing"),
        (changed(system="{target}"), "system", "judge.unknown-placeholder"),
        (changed(classes=["a", "b"]), "classes", "judge.classes"),
        (changed(kind="classes"), "classes", "judge.classes"),
        (changed(kind="classes", classes=["a", "A"]), "classes", "judge.classes"),
        (changed(classes="a, b"), "classes", "judge.field-list"),
        (changed(examples=["a"]), "examples", "judge.field-example"),
        (changed(system="x" * prompts.LONGEST), "user", "judge.template-too-long"),
    ],
)
def test_bad_files_are_refused_by_file_and_field(
    content: bytes, field: str | None, code: str
) -> None:
    with pytest.raises(DataError) as caught:
        templates.read("mine.json", content)
    found = caught.value.message
    assert found.parameters["file"] == "mine.json"
    if field is None:
        assert found.code == code
    else:
        assert (found.parameters["field"], found.parameters["problem"].code) == (field, code)


def test_a_file_comes_in_by_page_command_and_api(as_admin: Client, tmp_path: Path) -> None:
    def post(document: dict[str, Any]) -> Any:
        file = SimpleUploadedFile("mine.json", json.dumps(document).encode())
        return as_admin.post("/judges/templates/add/", {"from-file": "yes", "file": file})

    def send(document: dict[str, Any]) -> Any:
        return as_admin.post("/api/judge-templates/", document, "application/json")

    assert post(FILES["lines"]).status_code == 302
    kept = templates.get("mqm@1")
    assert (kept.kind, kept.user, len(kept.examples)) == ("lines", "{output}", 1)
    assert "no-error" in as_admin.get("/judges/templates/mqm/").text
    wrong = post(FILES["lines"] | {"kind": "percent"})
    assert wrong.status_code == 422
    assert tells(wrong.text, "judge.file-field")
    assert post({}).status_code == 422
    assert as_admin.post("/judges/templates/add/", {"from-file": "yes"}).status_code == 422
    again = post(FILES["lines"])
    assert (again.status_code, JudgeTemplate.objects.count()) == (422, 1)

    path = tmp_path / "mine.json"
    path.write_text(json.dumps(FILES["lines"] | {"system": "Annotate."}))
    call_command("add_judge_template", path)
    assert templates.get("mqm@2").examples == kept.examples
    for bad in (tmp_path / "none.json", path):
        with pytest.raises(RefusedCommandError):
            call_command("add_judge_template", bad)
    # A version that is written on the page keeps the examples.
    words = {"system": "", "user": "Annotate {output}."}
    assert as_admin.post("/judges/templates/mqm/", words).status_code == 302
    assert templates.get("mqm@3").examples == kept.examples

    made = send(FILES["classes"])
    assert (made.status_code, made.json()["version"]) == (201, 1)
    assert made.json()["classes"] == CLASSES
    assert send(FILES["classes"]).status_code == 400
    refused = send(FILES["classes"] | {"classes": []})
    assert refused.status_code == 400
    listed = as_admin.get("/api/judge-templates/").json()["results"]
    assert {"classes", "mqm", "pairwise"} <= {each["name"] for each in listed}
    for wrong in ([], [1], "text", FILES["stars"] | {"user": ["{output}"]}):
        assert send(wrong).status_code == 400


def test_what_a_database_cannot_store_is_replaced() -> None:
    assert templates.read("mine.json", changed(system="\ud800 \0"))["system"] == "? �"


@pytest.mark.parametrize(
    ("file", "reply", "score"),
    [("stars", "Four stars", 4), ("classes", "Some kept", 1),
     ("lines", 'Critical:\nno-error\nMajor:\nstyle - "x"\nMinor:\nno-error', -5)],
)  # fmt: skip
def test_a_judge_scores_by_a_file(
    world: World, judge: Start, file: str, reply: str, score: float
) -> None:
    key = templates.add(**templates.given(FILES[file], "mine.json")).key
    with serving(lambda asked, times: Answer(reply)) as server:
        run = drain(judge(server, template=key))
    assert (run.status, run.failed) == ("done", 0)
    assert set(scores(world).values()) == {score}
    signature = MetricSignature.objects.get(metric="judge-a").signature
    assert f"template:{key}" in signature
    assert "output:plain" in signature
    assert not any("response_format" in asked for asked in server.seen)
    if file == "lines":
        roles = [[each["role"] for each in asked["messages"]] for asked in server.seen]
        assert {tuple(each) for each in roles} == {("system", "user", "assistant", "user")}
        assert server.seen[0]["messages"][1]["content"] == "Ein {Satz}"
