"""Pearmut's campaigns become drafts; what is wrong is named by its path."""

import json
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.campaigns import open_campaign
from annotation.exports.pearmut import campaign_json, write_span
from annotation.imports import pearmut
from annotation.imports.appraise.spans import write_spans
from annotation.imports.launch import Launched, launch
from annotation.models import Campaign, Item, Output
from annotation.pool import claim
from annotation.protocols import Span
from annotation.uploads import Report
from tests.annotation.appraise import as_file
from tests.planting import plant


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
        "pearmut.json: 1 fields of forms: kept in the file and exported again, without effect here",
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
        ([], "the file: a campaign, or a list of 1 to 100, is expected"),
        ([campaign([[item()]]), 7], "[1].the file: an object is expected, not a number"),
        ([campaign([[item()]])] * 2, "[1].campaign_id: “wmt25_#_en-cs” is there already"),
        ([campaign([[item(tgt=None)]])], "[0].data[0][0][0].tgt: an object is expected, not null"),
        ({"info": {}, "data": []}, "campaign_id: the key “campaign_id” is missing"),
        (campaign([[item()]]) | {"datas": []}, "datas: “datas” is not known here"),
        (campaign(), "data: there is nothing to rate"),
        (campaign(protocol="XYZ"), "info.protocol: 'XYZ' is no protocol known here"),
        (campaign(assignment="free"), "info.assignment: “free” is not known here"),
        (campaign([[item()]], sliders=[1]), "info.sliders[0]: an object is expected"),
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
         "data[0][0][0].validation.modelA.score: two whole numbers from 0 to 100, in order"),
        ("{", "row 1: this is no JSON"),
    ],
)  # fmt: skip
def test_the_path_of_what_is_wrong(values: Any, message: str) -> None:
    found = errors(values)
    assert len(found) == 1
    assert message in found[0]
    assert found[0].startswith("pearmut.json, ")


def contrastive(*documents: Any, **info: Any) -> dict[str, Any]:
    """As the campaigns of WMT 2026 are: what is not said is as usual there."""
    return {"campaign_id": "wmt26", "info": info, "data": list(documents)}


def test_models_of_a_contrastive_campaign_are_columns(db: None) -> None:
    """A document a screen, the models in one order in all its segments."""
    document = [item("a", "m1", "m2", "m3", instructions="<b>Formal</b> style."),
                item("b", "m3", "m1", "m2")]  # fmt: skip
    found = import_all(contrastive(document, [item("c", "m1", "m2", "m3")])).result.campaign
    assert (found.protocol, found.systems_per_screen) == ("contrastive-esa", 3)
    rows = list(found.items.order_by("pk").values_list(
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
    found = import_all(values).result.campaign
    names = found.items.order_by("column").values_list("output__system__name", flat=True)
    assert list(names) == ["m3", "m1", "m2"]


def test_systems_are_drawn_for_each_screen(db: None) -> None:
    """As there: so many, after a cold start; checks by chance. What is said of a segment stays."""
    names = [f"m{n}" for n in range(7)]
    rule = {"good": {"warning": "Attention.", "score_greaterthan": "bad"}}
    values = contrastive(
        [item("a", *names, instructions="Formal."), item("b", *names)],
        assignment="dynamic", dynamic_models=3, dynamic_coldstart=20, data_random_prob=0.2, users=3,
    ) | {"data_random": [[item("check", "good", "bad", "fair", validation=rule)]]}  # fmt: skip
    found = import_all(values).result.campaign
    assert (found.assignment_mode, found.systems_per_screen) == (Campaign.Mode.DYNAMIC, 3)
    assert (found.cold_start, found.exploration_percent, found.check_percent) == (20, 0, 20)
    # The same file again changes nothing, opened or not.
    found = open_campaign(campaign=found)
    assert not import_all(values).result.is_new
    targets = found.items.filter(kind=Item.Kind.TARGET)
    assert (targets.count(), set(targets.values_list("n_columns", flat=True))) == (14, {3})
    # Three screens of three are enough for seven outputs of the document.
    assert sum(targets.values_list("wanted", flat=True)) == 3
    for annotator in found.annotators.all():
        claim(annotator)
        given = annotator.assignments.all()
        is_check = given[0].item.kind == Item.Kind.GOLD
        assert given.count() == (3 if is_check else 6)
        assert [row.inclusion for row in given] == (
            [None] * 3 if is_check else pytest.approx([3 / 7] * 6)
        )
    assert found.test_set.segments.get(key="a").beside == {"instructions": "Formal."}
    assert found.items.get(kind=Item.Kind.GOLD, text="good on check.").rules


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
    assert any("systems are dealt to screens and not drawn" in str(w) for w in report.warnings)


def test_models_differ_within_no_document() -> None:
    document = [item("a", "m1", "m2"), item("b", "m1", "m3")]
    (found,) = errors(contrastive(document))
    assert "data[0][1].tgt: the models are others than" in found


def test_one_system_a_screen_where_one_is_drawn(db: None) -> None:
    values = contrastive([item("a", "m1", "m2"), item("b", "m1", "m2")], assignment="dynamic")
    found = import_all(values).result.campaign
    assert sorted(Counter(found.items.values_list("screen", flat=True)).values()) == [2, 2]
    assert set(found.items.values_list("n_columns", flat=True)) == {1}


@pytest.mark.parametrize("tgt", [None, 7, [], {}])
def test_a_later_segment_without_outputs_is_named(tgt: object) -> None:
    found = errors(contrastive([item("a", "m1", "m2"), item("b", tgt=tgt)]))
    assert any("data[0][1].tgt: " in each for each in found)


def test_a_check_of_several_texts_stays_on_one_screen(db: None) -> None:
    rule = {name: {"score_greaterthan": "bad"} for name in ("good", "fair")}
    rule["good"]["warning"] = "Attention."
    check = item("check", "good", "bad", "fair", validation=rule)
    documents = [[item(f"d{n}", "m1", "m2")] for n in range(6)]
    values = contrastive(*documents, users=2) | {"data_random": [[check]]}
    found = open_campaign(campaign=import_all(values).result.campaign)
    for annotator in found.annotators.all():
        order = annotator.assignments.order_by("position")
        screens = list(order.values_list("item__screen", flat=True))
        assert len([screen for screen, _ in groupby(screens)]) == 4
        assert order.filter(item__kind="gold").count() == 3
    above = {each.text: each.rules["above"] for each in found.items.exclude(rules=None)}
    bad = found.items.get(text="bad on check.")
    assert above == {f"{name} on check.": bad.place for name in ("fair", "good")}


def test_a_stored_campaign_has_its_tasks_by_user(db: None) -> None:
    values = contrastive() | {"token": "x", "data": {
        "anna": [[item("a", "m1", "m2")]], "bert": [[item("b", "m1", "m2")]],
    }}  # fmt: skip
    launched = import_all(values)
    assert len(launched.invitations) == 2
    assert launched.result.campaign.items.filter(batch="2", segment__key="b").count() == 2


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"special_tokens": "[missing]"}, "info.special_tokens: a list is expected, not text"),
        ({"special_tokens": [1]}, "info.special_tokens: at most 20 texts are expected"),
        ({"assignment": "dynamic", "dynamic_models": "3"}, "info.dynamic_models: a whole number"),
        ({"assignment": "dynamic", "dynamic_coldstart": -1}, "info.dynamic_coldstart: a whole"),
        ({"assignment": "dynamic", "data_random_prob": 20}, "info.data_random_prob: a number from"),
    ],
)
def test_wrong_settings_of_a_contrastive_campaign(info: dict[str, Any], message: str) -> None:
    (found,) = errors(contrastive([item("a", "m1", "m2")], **info))
    assert message in found


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
    with pytest.raises(CommandError, match="1 error; nothing was stored"):
        call_command("import_pearmut", str(path), **options)
    assert Campaign.objects.count() == 1
