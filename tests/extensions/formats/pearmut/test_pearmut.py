"""Pearmut's campaigns become drafts; problems are reported with their path."""

import json
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.campaigns import open_campaign
from annotation.imports.store import Launched, launch
from annotation.models import Campaign, Item, Output
from annotation.pool import claim
from annotation.protocols import Span
from annotation.uploads import Report
from annotation.uploads.problems import Problem
from extensions.formats import pearmut
from extensions.formats.appraise.spans import write_spans
from extensions.formats.exports.pearmut import campaign_json, write_span
from tests.annotation.tables.reading import as_file, found
from tests.planting import plant
from tests.refusals import refused


def item(item_id: str = "seg1", *models: str, **changes: Any) -> dict[str, Any]:
    names = models or ("modelA",)
    values = {
        "item_id": item_id,
        "src": f"Source of {item_id}.",
        "tgt": {name: f"{name} on {item_id}." for name in names},
    }
    return values | changes


def campaign(*data: Any, **info: Any) -> dict[str, Any]:
    """Task-based ESA over documents, with other settings in `info`."""
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


def errors(values: Any) -> list[Problem]:
    return read(values)[1].errors


def kinds(stored: Campaign) -> Counter[str]:
    return Counter(stored.items.values_list("kind", flat=True))


def test_tasks_become_batches_of_one_annotator_each(db: None) -> None:
    launched = import_all(campaign([[item("a"), item("b")], [item("c")]], [[item("a", "modelB")]]))
    stored = launched.result.campaign
    assert (stored.protocol, stored.status) == ("esa", Campaign.Status.DRAFT)
    assert stored.name == "wmt25_#_en-cs"
    rows = stored.items.order_by("pk").values_list("batch", "segment__key", "output__system__name")
    assert list(rows) == [
        ("1", "a", "modelA"), ("1", "b", "modelA"), ("1", "c", "modelA"), ("2", "a", "modelB"),
    ]  # fmt: skip
    assert len(launched.invitations) == 2
    open_campaign(campaign=stored)
    assert [a.assignments.count() for a in stored.annotators.order_by("pk")] == [3, 1]


def test_several_models_are_compared_on_one_screen(db: None) -> None:
    stored = import_all(campaign([[item("a", "m1", "m2", "m3")]], protocol="DA")).result.campaign
    assert (stored.protocol, stored.systems_per_screen) == ("side-by-side", 3)
    assert list(stored.items.values_list("screen", "place")) == [(1, 0), (1, 1), (1, 2)]


def test_documents_of_direct_assessment_stay_together(db: None) -> None:
    values = campaign([[item("a"), item("b")], [item("c")]], protocol="DA")
    stored = import_all(values).result.campaign
    assert stored.protocol == "document-da"
    assert list(stored.items.values_list("screen", "place")) == [(1, 0), (1, 1), (2, 0)]
    assert stored.test_set.segments.values("document").distinct().count() == 2


def test_shared_documents_are_dealt_to_the_users(db: None) -> None:
    values = campaign(*([item(f"d{n}")] for n in range(6)), assignment="single-stream", users=3)
    launched = import_all(values)
    stored = open_campaign(campaign=launched.result.campaign)
    assert [a.assignments.count() for a in stored.annotators.all()] == [2, 2, 2]


def test_rules_become_gold_and_practice(db: None) -> None:
    warned = {"warning": "The word <u>walked</u> is wrong.", "score": [70, 80], "error_spans": []}
    values = campaign(
        [[item("t", validation={"modelA": warned | {"allow_skip": True}})],
         [item("g", validation={"modelA": [{"score": [0, 20]}]})], [item("a")]]
    ) | {"data_welcome": [[item("w"), {"text": "Your language?", "form": "string"}]],
         "data_random": [[item("r", validation=[{"score": [90, 100]}])]]}  # fmt: skip
    drafts, report = read(values)
    assert found(report.problems) == [("pearmut.json", "pearmut.form-fields")]
    (launched,) = launch(drafts)
    stored = launched.result.campaign
    assert kinds(stored) == {"tutorial": 2, "gold": 2, "target": 1}
    practice = stored.items.get(segment__key="t")
    assert (practice.low, practice.high) == (70, 80)
    assert practice.feedback == "The word walked is wrong."
    assert practice.text == "modelA on t."
    assert Output.objects.count() == 1
    open_campaign(campaign=stored)
    order = stored.annotators.get().assignments.order_by("position")
    assert order.first().item.segment.key == "w"
    assert order.count() == 5


def test_a_reference_is_shown_where_there_is_no_source(db: None) -> None:
    values = item("a", ref="By hand.")
    del values["src"]
    stored = import_all(campaign([[values]], protocol="DA")).result.campaign
    assert stored.shown_text == Campaign.ShownText.REFERENCE
    assert stored.test_set.segments.get().references.get().text == "By hand."


ITEM = "data[0][0][0]"


@pytest.mark.parametrize(
    ("values", "path", "code"),
    [
        ([], "", "pearmut.campaigns"),
        ([campaign([[item()]]), 7], "[1]", "json.wrong-type"),
        ([campaign([[item()]])] * 2, "[1].campaign_id", "pearmut.same-name"),
        ([campaign([[item(tgt=None)]])], f"[0].{ITEM}.tgt", "json.wrong-type"),
        ({"info": {}, "data": []}, "campaign_id", "json.missing-key"),
        (campaign([[item()]]) | {"datas": []}, "datas", "pearmut.unknown-key"),
        (campaign(), "data", "pearmut.no-data"),
        (campaign(protocol="XYZ"), "info.protocol", "pearmut.protocol"),
        (campaign(assignment="free"), "info.assignment", "pearmut.assignment"),
        (campaign([[item()]], sliders=[1]), "info.sliders[0]", "json.wrong-type"),
        (campaign([[item()]], users="many"), "info.users", "pearmut.users"),
        (campaign([item()]), "data[0][0]", "json.wrong-type"),
        (campaign([[item()], ["x"]]), "data[0][1][0]", "json.wrong-type"),
        (campaign([[item(tgt=None)]]), f"{ITEM}.tgt", "json.wrong-type"),
        (campaign([[item(tgt={"m": 7})]]), f"{ITEM}.tgt.m", "json.wrong-type"),
        (campaign([[{"src": "x"}]]), f"{ITEM}.tgt", "json.missing-key"),
        (campaign([[item(src=["x"])]]), f"{ITEM}.src", "json.wrong-type"),
        (campaign([[item("a"), item("a", src="Other.")]]),
         "data[0][0][1].item_id", "pearmut.other-source"),
        (campaign([[item("a")], [item("a", tgt={"modelA": "Other."})]]),
         "data[0][1][0].tgt.modelA", "pearmut.other-output"),
        (campaign([[item(validation={"modelZ": {}})]]),
         f"{ITEM}.validation.modelZ", "pearmut.no-output-of-name"),
        (campaign([[item(validation={"modelA": {"score": [80, 70]}})]]),
         f"{ITEM}.validation.modelA.score", "pearmut.score-range"),
        ("{", "row 1", "json.invalid"),
    ],
)  # fmt: skip
def test_the_path_of_what_is_wrong(values: Any, path: str, code: str) -> None:
    place = f"pearmut.json, {path}" if path else "pearmut.json"
    assert found(errors(values)) == [(place, code)]


def contrastive(*documents: Any, **info: Any) -> dict[str, Any]:
    """A campaign as in WMT 2026, with Pearmut's defaults."""
    return {"campaign_id": "wmt26", "info": info, "data": list(documents)}


def test_models_of_a_contrastive_campaign_are_columns(db: None) -> None:
    """A document a screen, the models in one order in all its segments."""
    document = [item("a", "m1", "m2", "m3", instructions="<b>Formal</b> style."),
                item("b", "m3", "m1", "m2")]  # fmt: skip
    stored = import_all(contrastive(document, [item("c", "m1", "m2", "m3")])).result.campaign
    assert (stored.protocol, stored.systems_per_screen) == ("contrastive-esa", 3)
    rows = list(stored.items.order_by("pk").values_list(
        "screen", "place", "column", "n_columns", "segment__key", "output__system__name", "note"
    ))  # fmt: skip
    assert [row[:5] for row in rows] == [
        (1, 0, 0, 3, "a"), (1, 1, 1, 3, "a"), (1, 2, 2, 3, "a"),
        (1, 3, 0, 3, "b"), (1, 4, 1, 3, "b"), (1, 5, 2, 3, "b"),
        (2, 0, 0, 3, "c"), (2, 1, 1, 3, "c"), (2, 2, 2, 3, "c"),
    ]  # fmt: skip
    assert [row[5] for row in rows[:3]] == [row[5] for row in rows[3:6]]
    assert {row[5] for row in rows[:3]} == {"m1", "m2", "m3"}
    assert [row[6] for row in rows[2:4]] == ["Formal style.", ""]


def test_columns_cannot_be_told_from_the_file(db: None, settings: Any) -> None:
    """Two installations shuffle the same file in different ways, each always in the same way."""
    names = [f"m{n}" for n in range(6)]
    values = contrastive(*([item(f"s{n}", *names)] for n in range(6)))

    def columns(key: str) -> list[str]:
        settings.SECRET_KEY = key
        ((_, draft),), _ = read(values)
        return [row.system for row in draft.items]

    assert columns("here" * 10) == columns("here" * 10) != columns("there" * 10)


def test_columns_stay_where_they_are_not_shuffled(db: None) -> None:
    values = contrastive([item("a", "m3", "m1", "m2")], shuffle=False)
    stored = import_all(values).result.campaign
    names = stored.items.order_by("column").values_list("output__system__name", flat=True)
    assert list(names) == ["m3", "m1", "m2"]


def test_systems_are_drawn_for_each_screen(db: None) -> None:
    """As in Pearmut: after a cold start, with controls at random; notes of segments stay."""
    names = [f"m{n}" for n in range(7)]
    rule = {"good": {"warning": "Attention.", "score_greaterthan": "bad"}}
    values = contrastive(
        [item("a", *names, instructions="Formal."), item("b", *names)],
        assignment="dynamic", dynamic_models=3, dynamic_coldstart=20, data_random_prob=0.2, users=3,
    ) | {"data_random": [[item("check", "good", "bad", "fair", validation=rule)]]}  # fmt: skip
    stored = import_all(values).result.campaign
    assert (stored.assignment_mode, stored.systems_per_screen) == (Campaign.Mode.DYNAMIC, 3)
    assert (stored.cold_start, stored.exploration_percent, stored.check_percent) == (20, 0, 20)
    # The same file again changes nothing, opened or not.
    stored = open_campaign(campaign=stored)
    assert not import_all(values).result.is_new
    targets = stored.items.filter(kind=Item.Kind.TARGET)
    assert (targets.count(), set(targets.values_list("n_columns", flat=True))) == (14, {3})
    # Three screens of three are enough for seven outputs of the document.
    assert sum(targets.values_list("wanted", flat=True)) == 3
    for annotator in stored.annotators.all():
        claim(annotator)
        given = annotator.assignments.all()
        is_check = given[0].item.kind == Item.Kind.GOLD
        assert given.count() == (3 if is_check else 6)
        assert [row.inclusion for row in given] == (
            [None] * 3 if is_check else pytest.approx([3 / 7] * 6)
        )
    assert stored.test_set.segments.get(key="a").beside == {"instructions": "Formal."}
    assert stored.items.get(kind=Item.Kind.GOLD, text="good on check.").rules


@pytest.mark.parametrize(
    ("documents", "info"),
    [
        ([[item("a", "m1", "m2")]], {"dynamic_models": 2}),
        ([[item("a", "m1", "m2")], [item("b", "m1", "m3")]], {"dynamic_models": 2}),
    ],
)
def test_systems_that_cannot_be_drawn_are_dealt(documents: Any, info: Any) -> None:
    ((_, draft),), report = read(contrastive(*documents, assignment="dynamic", **info))
    assert draft.assignment_mode == Campaign.Mode.STATIC
    assert "pearmut.dealt" in [each.code for each in report.warnings]


def test_models_differ_within_no_document() -> None:
    document = [item("a", "m1", "m2"), item("b", "m1", "m3")]
    assert found(errors(contrastive(document))) == [
        ("pearmut.json, data[0][1].tgt", "pearmut.other-models")
    ]


def test_one_system_a_screen_where_one_is_drawn(db: None) -> None:
    values = contrastive([item("a", "m1", "m2"), item("b", "m1", "m2")], assignment="dynamic")
    stored = import_all(values).result.campaign
    assert sorted(Counter(stored.items.values_list("screen", flat=True)).values()) == [2, 2]
    assert set(stored.items.values_list("n_columns", flat=True)) == {1}


@pytest.mark.parametrize("tgt", [None, 7, [], {}])
def test_a_later_segment_without_outputs_is_named(tgt: object) -> None:
    problems = errors(contrastive([item("a", "m1", "m2"), item("b", tgt=tgt)]))
    assert "pearmut.json, data[0][1].tgt" in [str(each.place) for each in problems]


def test_a_check_of_several_texts_stays_on_one_screen(db: None) -> None:
    rule = {name: {"score_greaterthan": "bad"} for name in ("good", "fair")}
    rule["good"]["warning"] = "Attention."
    check = item("check", "good", "bad", "fair", validation=rule)
    documents = [[item(f"d{n}", "m1", "m2")] for n in range(6)]
    values = contrastive(*documents, users=2) | {"data_random": [[check]]}
    stored = open_campaign(campaign=import_all(values).result.campaign)
    for annotator in stored.annotators.all():
        order = annotator.assignments.order_by("position")
        screens = list(order.values_list("item__screen", flat=True))
        assert len([screen for screen, _ in groupby(screens)]) == 4
        assert order.filter(item__kind="gold").count() == 3
    above = {each.text: each.rules["above"] for each in stored.items.exclude(rules=None)}
    bad = stored.items.get(text="bad on check.")
    assert above == {f"{name} on check.": bad.place for name in ("fair", "good")}


def test_a_stored_campaign_has_its_tasks_by_user(db: None) -> None:
    values = contrastive() | {"token": "x", "data": {
        "anna": [[item("a", "m1", "m2")]], "bert": [[item("b", "m1", "m2")]],
    }}  # fmt: skip
    launched = import_all(values)
    assert len(launched.invitations) == 2
    assert launched.result.campaign.items.filter(batch="2", segment__key="b").count() == 2


@pytest.mark.parametrize(
    ("info", "key", "code"),
    [
        ({"special_tokens": "[missing]"}, "special_tokens", "json.wrong-type"),
        ({"special_tokens": [1]}, "special_tokens", "pearmut.tokens"),
        (
            {"assignment": "dynamic", "dynamic_models": "3"},
            "dynamic_models",
            "pearmut.dynamic-models",
        ),
        (
            {"assignment": "dynamic", "dynamic_coldstart": -1},
            "dynamic_coldstart",
            "pearmut.cold-start",
        ),
        (
            {"assignment": "dynamic", "data_random_prob": 20},
            "data_random_prob",
            "pearmut.probability",
        ),
    ],
)
def test_wrong_settings_of_a_contrastive_campaign(
    info: dict[str, Any], key: str, code: str
) -> None:
    problems = errors(contrastive([item("a", "m1", "m2")], **info))
    assert found(problems) == [(f"pearmut.json, info.{key}", code)]


@pytest.mark.parametrize(
    ("text", "points", "pearmut_1_1_5", "appraise"),
    [
        # By the rules of each program, as its source has them (Pearmut 1.1.6, Appraise 612e4b0).
        ("The dog walked outside.", (8, 14), [8, 13], [8, 13]),
        ("Die Brücke ist seit Montag gesperrt.\nDer Bus 😀 fährt nicht.", (47, 52), [48, 52],
         [48, 52]),
        ("Die Brücke ist seit Montag gesperrt.\nDer Bus 😀 fährt nicht.", (45, 46), [45, 46],
         [45, 46]),
        ("  So gut.", (5, 8), [5, 7], [3, 5]),  # Appraise trims
        ("Ja.", (0, 3), [0, 2], [0, 2]),
        ("Die Brücke ist seit Montag gesperrt.\nDer Bus 😀 fährt nicht.", (59, 60), [60, 60],
         ["missing", "missing"]),
    ],
)  # fmt: skip
def test_offsets_in_each_convention(
    text: str, points: tuple[int, int], pearmut_1_1_5: list[int], appraise: list[Any]
) -> None:
    span = Span("target", *points, "minor")
    (written,) = json.loads(write_spans([span], text))
    assert [written["start_i"], written["end_i"]] == appraise
    here = write_span(span, text)
    assert [here["start_i"], here["end_i"]] == pearmut_1_1_5


def test_a_campaign_of_ours_goes_out_and_comes_back(db: None) -> None:
    """Written from its items, it has the same columns here again."""
    texts = ["A.", "B."]
    campaign_here = plant("contrastive-esa", sources=texts, outputs=[texts, texts, texts])
    (written,) = campaign_json(campaign_here)
    again = import_all(json.loads(written)).result.campaign
    columns = ("screen", "place", "column", "n_columns", "segment__key", "output__system__name")
    before, after = (
        [row[1:] for row in each.items.order_by("pk").values_list(*columns)]
        for each in (campaign_here, again)
    )
    assert before == after


def test_the_command(db: None, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "esa.json"
    path.write_text(json.dumps(campaign([[item()]])), encoding="utf-8")
    options = {"source_language": "en", "target_language": "cs"}
    call_command("import_pearmut", str(path), **options)
    assert "wmt25__en-cs: 1 annotator, 1 system, 1 segment, 1 item" in capsys.readouterr().out
    path.write_text(json.dumps(campaign([[item(tgt=3)]])), encoding="utf-8")
    with refused("command.errors", kind=CommandError, n=1):
        call_command("import_pearmut", str(path), **options)
    assert Campaign.objects.count() == 1
