"""Pearmut's campaigns become drafts; what is wrong is named by its path."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.campaigns import open_campaign
from annotation.imports import pearmut
from annotation.imports.launch import Launched, launch
from annotation.models import Campaign, Output
from annotation.uploads import Report
from tests.annotation.appraise import as_file


def item(item_id: str = "seg1", *models: str, **changes: Any) -> dict[str, Any]:
    names = models or ("modelA",)
    values = {
        "item_id": item_id,
        "src": f"Source of {item_id}.",
        "tgt": {name: f"{name} on {item_id}." for name in names},
    }
    return values | changes


def campaign(*data: Any, **info: Any) -> dict[str, Any]:
    """Task-based ESA over documents, unless told otherwise."""
    known = {"assignment": "task-based", "protocol": "ESA"} | info
    return {"campaign_id": "wmt25_#_en-cs", "info": known, "data": list(data)}


def read(values: Any) -> tuple[Any, Report]:
    report = Report()
    file = as_file("pearmut.json", values)
    return pearmut.read(file, report, source_language="en", target_language="cs"), report


def import_all(values: Any) -> Launched:
    drafts, report = read(values)
    assert not report.errors, [str(problem) for problem in report.errors]
    (launched,) = launch(drafts)
    return launched


def errors(values: Any) -> list[str]:
    return [str(problem) for problem in read(values)[1].errors]


def kinds(found: Campaign) -> Counter[str]:
    return Counter(found.items.values_list("kind", flat=True))


def test_tasks_become_batches_of_one_annotator_each(db: None) -> None:
    launched = import_all(campaign([[item("a"), item("b")], [item("c")]], [[item("a", "modelB")]]))
    found = launched.result.campaign
    assert (found.protocol, found.status) == ("esa", Campaign.Status.DRAFT)
    assert found.name == "wmt25_#_en-cs"
    rows = found.items.order_by("pk").values_list("batch", "segment__key", "output__system__name")
    assert list(rows) == [
        ("1", "a", "modelA"), ("1", "b", "modelA"), ("1", "c", "modelA"), ("2", "a", "modelB"),
    ]  # fmt: skip
    assert len(launched.invitations) == 2
    open_campaign(campaign=found)
    assert [a.assignments.count() for a in found.annotators.order_by("pk")] == [3, 1]


def test_several_models_are_compared_on_one_screen(db: None) -> None:
    found = import_all(campaign([[item("a", "m1", "m2", "m3")]], protocol="DA")).result.campaign
    assert (found.protocol, found.systems_per_screen) == ("side-by-side", 3)
    assert list(found.items.values_list("screen", "place")) == [(1, 0), (1, 1), (1, 2)]


def test_documents_of_direct_assessment_stay_together(db: None) -> None:
    values = campaign([[item("a"), item("b")], [item("c")]], protocol="DA")
    found = import_all(values).result.campaign
    assert found.protocol == "document-da"
    assert list(found.items.values_list("screen", "place")) == [(1, 0), (1, 1), (2, 0)]
    assert found.test_set.segments.values("document").distinct().count() == 2


def test_shared_documents_are_dealt_to_the_users(db: None) -> None:
    values = campaign(*([item(f"d{n}")] for n in range(6)), assignment="single-stream", users=3)
    launched = import_all(values)
    found = open_campaign(campaign=launched.result.campaign)
    assert [a.assignments.count() for a in found.annotators.all()] == [2, 2, 2]


def test_rules_become_gold_and_practice(db: None) -> None:
    warned = {"warning": "The word <u>walked</u> is wrong.", "score": [70, 80], "error_spans": []}
    values = campaign(
        [[item("t", validation={"modelA": warned | {"allow_skip": True}})],
         [item("g", validation={"modelA": [{"score": [0, 20]}]})], [item("a")]]
    ) | {"data_welcome": [[item("w"), {"text": "Your language?", "form": "string"}]],
         "data_random": [[item("r", validation=[{"score": [90, 100]}])]]}  # fmt: skip
    drafts, report = read(values)
    assert sorted(str(problem) for problem in report.problems) == [
        "pearmut.json: 1 fields of forms are left out",
        "pearmut.json: 1 rules about error spans are left out",
    ]
    (launched,) = launch(drafts)
    found = launched.result.campaign
    assert kinds(found) == {"tutorial": 2, "gold": 2, "target": 1}
    practice = found.items.get(segment__key="t")
    assert (practice.low, practice.high) == (70, 80)
    assert practice.feedback == "The word walked is wrong."
    assert practice.text == "modelA on t."
    assert Output.objects.count() == 1
    open_campaign(campaign=found)
    order = found.annotators.get().assignments.order_by("position")
    assert order.first().item.segment.key == "w"
    assert order.count() == 5


def test_a_reference_is_shown_where_there_is_no_source(db: None) -> None:
    values = item("a", ref="By hand.")
    del values["src"]
    found = import_all(campaign([[values]], protocol="DA")).result.campaign
    assert found.shown_text == Campaign.ShownText.REFERENCE
    assert found.test_set.segments.get().references.get().text == "By hand."


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "the file: an object is expected, not a list"),
        ({"info": {}, "data": []}, "campaign_id: the key “campaign_id” is missing"),
        (campaign([[item()]]) | {"datas": []}, "datas: “datas” is not known here"),
        (campaign(), "data: there is nothing to rate"),
        (campaign(protocol="XYZ"), "info.protocol: 'XYZ' is no protocol known here"),
        (campaign(assignment="free"), "info.assignment: “free” is not known here"),
        (campaign([[item()]], sliders=[]), "info.sliders: custom sliders have no protocol here"),
        (campaign([[item()]], users="many"), "info.users: the number of users"),
        (campaign([item()]), "data[0][0]: a list is expected, not an object"),
        (campaign([[item()], ["x"]]), "data[0][1][0]: an object is expected, not text"),
        (campaign([[item(tgt=None)]]), "data[0][0][0].tgt: an object is expected, not null"),
        (campaign([[item(tgt={"m": 7})]]), "data[0][0][0].tgt.m: text is expected, not a number"),
        (campaign([[{"src": "x"}]]), "data[0][0][0].tgt: the key “tgt” is missing"),
        (campaign([[item(src=["x"])]]), "data[0][0][0].src: text is expected, not a list"),
        (campaign([[item("a"), item("a", src="Other.")]]),
         "data[0][0][1].item_id: “a” has another source elsewhere"),
        (campaign([[item("a")], [item("a", tgt={"modelA": "Other."})]]),
         "data[0][1][0].tgt.modelA: “modelA” has another output for “a” elsewhere"),
        (campaign([[item(validation={"modelZ": {}})]]),
         "data[0][0][0].validation.modelZ: there is no output of this name"),
        (campaign([[item(validation={"modelA": {"score": [80, 70]}})]]),
         "data[0][0][0].validation.score: two whole numbers from 0 to 100, in order"),
        ("{", "row 1: this is no JSON"),
    ],
)  # fmt: skip
def test_the_path_of_what_is_wrong(values: Any, message: str) -> None:
    found = errors(values)
    assert len(found) == 1
    assert message in found[0]
    assert found[0].startswith("pearmut.json, ")


def test_the_command(db: None, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "esa.json"
    path.write_text(json.dumps(campaign([[item()]])), encoding="utf-8")
    options = {"source_language": "en", "target_language": "cs"}
    call_command("import_pearmut", str(path), **options)
    assert "wmt25__en-cs: 1 item" in capsys.readouterr().out
    path.write_text(json.dumps(campaign([[item(tgt=3)]])), encoding="utf-8")
    with pytest.raises(CommandError, match="1 error; nothing was stored"):
        call_command("import_pearmut", str(path), **options)
    assert Campaign.objects.count() == 1
