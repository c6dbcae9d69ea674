"""Pearmut's log: judgments of an imported campaign, with resets, forms and invalid entries."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.demo.load import simulate_campaign
from annotation.exports.judgments import span_dicts
from annotation.imports.store import launch
from annotation.models import Campaign, Judgment, Output
from annotation.uploads import Report
from extensions.formats import pearmut
from extensions.formats.exports.pearmut import campaign_json, log_lines
from tests.annotation.tables.reading import as_file, found
from tests.extensions.formats.pearmut.test_answers import example
from tests.extensions.formats.pearmut.test_pearmut import campaign, item
from tests.world import make_campaign, make_test_set


def texts_only(values: dict[str, Any]) -> dict[str, Any]:
    """The same without the document whose source is an image."""
    return values | {"data": values["data"][:1]}


def read(values: Any, log: Any, name: str = "log.json") -> tuple[Any, Report]:
    report = Report()
    drafts = pearmut.read(
        as_file("pearmut.json", values), report, source_language="en", target_language="de",
        logs=[as_file(name, log)],
    )  # fmt: skip
    return drafts, report


def answer(user: str = "u", score: int = 70, item_i: Any = 0, **more: Any) -> dict[str, Any]:
    shown = item("a", "m1")
    given = {"m1": {"score": score, "error_spans": [], "textfield": None}}
    return {
        "user_id": user, "item_i": item_i, "item": [shown], "annotation": [given], "actions": [],
    } | more  # fmt: skip


def test_a_download_comes_in_as_the_judgments_that_count(db: None) -> None:
    drafts, report = read(texts_only(example("cesa-dynamic.json")), example("annotations.json"))
    assert not report.errors, report.errors
    (launched,) = launch(drafts)
    stored = launched.result.campaign
    assert stored.status == Campaign.Status.CLOSED
    rows = Judgment.objects.filter(assignment__item__kind="target")
    given: dict[str, list[int]] = {}
    for system, score in rows.order_by("pk").values_list(
        "assignment__item__output__system__name", "score"
    ):
        given.setdefault(system, []).append(score)
    # As the README of the examples says: what is left after the reset.
    assert given == {"sysA": [90, 95], "sysB": [30, 25], "sysC": [45, 70]}
    assert sum(each.active_ms for each in rows) == pytest.approx(120_000, abs=6)
    # Two of them marked “offen” and what is missing; code points, the end excluded.
    marked = {(span["system"], span["text"]) for span in span_dicts(stored)}
    assert ("sysB", "offen") in marked
    assert ("sysC", "[missing]") in marked
    counts = {each.code: each.message.parameters.get("n") for each in report.problems}
    assert (counts["pearmut.voided"], counts["pearmut.form-answers"]) == (1, 1)
    # Once more it changes nothing.
    drafts, _ = read(texts_only(example("cesa-dynamic.json")), example("annotations.json"))
    (again,) = launch(drafts)
    assert not again.result.is_new


def test_a_campaign_of_ours_and_its_answers_come_back_together(db: None) -> None:
    """Traps are in no file of another tool, so their answers are not either."""
    here = make_campaign(make_test_set(segments=6), protocol="segment-da", traps_per_annotator=2)
    outputs = Output.objects.filter(system__campaigns=here)
    simulate_campaign(campaign=here, adequacy={each.pk: 50.0 + each.pk % 9 for each in outputs})
    assert Judgment.objects.filter(assignment__item__kind="trap").exists()
    (written,), log = campaign_json(here), "".join(log_lines(here))
    drafts, report = read(json.loads(written) | {"campaign_id": "again"}, log, "log.jsonl")
    assert not report.errors, report.errors
    (launched,) = launch(drafts)
    assert scores(launched.result.campaign) == scores(here)


def scores(stored: Campaign) -> list[tuple[Any, ...]]:
    """Who gave which output what, of outputs alone."""
    rows = Judgment.objects.filter(
        assignment__annotator__campaign=stored, assignment__item__kind="target"
    )
    fields = ("annotator__label", "item__segment__key", "item__output__system__name")
    return sorted(rows.values_list(*(f"assignment__{each}" for each in fields), "score"))


def test_lines_resubmissions_and_resets_of_one_item(db: None) -> None:
    entries = [
        answer(score=10), answer(score=20), answer("v", 30), answer("v", 40, item_i=1),
        {"user_id": "v", "annotation": "__RESET__", "item_i": 1},
    ]  # fmt: skip
    lines = "\n".join(json.dumps(each) for each in entries)
    values = campaign([[item("a", "m1")]])
    drafts, report = read(values, lines, "log.jsonl")
    assert not report.errors, report.errors
    launch(drafts)
    rows = Judgment.objects.order_by("assignment__annotator__label", "revision")
    names = ("assignment__annotator__label", "revision", "is_current", "score")
    assert list(rows.values_list(*names)) == [
        ("u", 1, False, 10), ("u", 2, True, 20), ("v", 1, True, 30),
    ]  # fmt: skip


def test_sliders_and_post_edits_of_a_log(db: None) -> None:
    values = example("sliders-textfield.json")
    shown = values["data"][0][0] | {"item_id": "s2", "validation": None}
    del shown["validation"]
    values["data"] = [[shown]]
    given = {"sysA": {"score": None, "error_spans": [], "textfield": "Guten Tag.",
                      "sliders": {"Fluency": 5, "Adequacy": 80}}}  # fmt: skip
    drafts, report = read(values, {values["campaign_id"]: [
        answer(item=[shown], annotation=[given])]})  # fmt: skip
    assert not report.errors, report.errors
    launch(drafts)
    stored = Judgment.objects.get()
    assert (stored.score, stored.ratings) == (5, {"Fluency": 5, "Adequacy": 80})
    # One of three tokens was changed.
    assert (stored.post_edit, stored.hter) == ("Guten Tag.", pytest.approx(100 / 3))


@pytest.mark.parametrize(
    ("entry", "path", "code"),
    [
        ({"annotation": []}, "", "pearmut.entry-keys"),
        (answer(score=101), ".annotation[0].m1", "judgments.score-outside"),
        (answer(item=[]), "", "pearmut.entry-lists"),
        (answer(item=[item("z", "m1")]), ".annotation[0].m1", "pearmut.no-segment"),
        (answer("u" * 81), ".user_id", "pearmut.long-user-id"),
        (answer(annotation=7), ".annotation", "json.wrong-type"),
        (
            answer(annotation=[{"m1": {"score": 5, "error_spans": [{"start_i": -1, "end_i": 2}]}}]),
            ".annotation[0].m1.error_spans[0]",
            "pearmut.offsets",
        ),
        (
            answer(annotation=[{"m1": {"score": 5, "error_spans": 7}}]),
            ".annotation[0].m1.error_spans",
            "json.wrong-type",
        ),
        (answer("half \ud83d"), ".user_id", "pearmut.character"),
    ],
)
def test_invalid_entries_are_named(entry: dict[str, Any], path: str, code: str) -> None:
    drafts, report = read(campaign([[item("a", "m1")]]), json.dumps(entry), "log.jsonl")
    assert not drafts
    assert (f"log.jsonl, line 1{path}", code) in found(report.errors)


def test_a_log_that_is_nested_deeply_or_has_impossible_times_is_no_fault_of_ours() -> None:
    values = campaign([[item("a", "m1")]])
    for log in ("[" * 100_000, '{"a":' * 100_000, "NaN"):
        drafts, report = read(values, log, "log.jsonl")
        assert not drafts
        assert found(report.errors)[0] == ("log.jsonl, line 1", "pearmut.not-json")
    whole, report = read("[" * 100_000, "{}")
    assert not whole
    assert report.errors[0].code == "json.unusable"
    times = [{"time": time} for time in (1e300, -1, "x", 10.0, 20.0)]
    drafts, report = read(values, json.dumps(answer(actions=[*times, 7])), "log.jsonl")
    assert not report.errors
    assert drafts[0][1].judgments[0].active_ms == 10_000


def test_scores_of_systems_that_were_not_shown_are_counted(db: None) -> None:
    given = {"m1": {"score": 50}, "ghost": {"score": 1}}
    drafts, report = read(
        campaign([[item("a", "m1")]]), json.dumps(answer(annotation=[given])), "log.jsonl"
    )
    assert len(drafts[0][1].judgments) == 1
    counts = {each.code: each.message.parameters.get("n") for each in report.problems}
    assert counts["pearmut.not-shown"] == 1


def test_the_command_refuses_a_log_of_another_campaign(db: None, tmp_path: Path) -> None:
    paths = [tmp_path / "campaign.json", tmp_path / "log.json"]
    paths[0].write_text(json.dumps(campaign([[item("a", "m1")]])), encoding="utf-8")
    paths[1].write_text(json.dumps({"other": []}), encoding="utf-8")
    with pytest.raises(CommandError):
        call_command(
            "import_pearmut", str(paths[0]), "--log", str(paths[1]),
            "--source-language", "en", "--target-language", "de",
        )  # fmt: skip
    assert not Campaign.objects.exists()


def test_empty_answers_of_skipped_items_are_counted_and_refuse_nothing(db: None) -> None:
    """Who skips a tutorial leaves scores of null, in a real log twenty of them."""
    empty = [{"m1": {"score": None, "error_spans": [], "textfield": None}}]
    log = [answer("u", annotation=empty, item_i=f"welcome_{n}") for n in range(20)]
    log += [answer("v", annotation=empty), answer("u"), answer("w", annotation=[{"m1": None}])]
    drafts, report = read(campaign([[item("a", "m1")]]), "\n".join(map(json.dumps, log)))
    assert not report.errors, report.errors
    assert [(each.annotator, each.score) for each in drafts[0][1].judgments] == [("u", 70)]
    (warning,) = [each for each in report.warnings if each.code == "pearmut.unanswered"]
    assert warning.message.parameters["n"] == 22


def test_a_score_of_null_with_errors_is_no_empty_answer(db: None) -> None:
    marked = [{"start_i": 0, "end_i": 0, "severity": "minor", "category": ""}]
    given = [{"m1": {"score": None, "error_spans": marked, "textfield": None}}]
    _, report = read(campaign([[item("a", "m1")]]), json.dumps(answer(annotation=given)))
    assert "judgments.score-missing" in [error.code for error in report.errors]


def several(files: dict[str, Any], logs: dict[str, Any]) -> tuple[Any, Report]:
    report = Report()
    first, *parts = [as_file(name, values) for name, values in files.items()]
    drafts = pearmut.read(
        first, report, source_language="en", target_language="de", parts=parts,
        logs=[as_file(name, "\n".join(map(json.dumps, lines))) for name, lines in logs.items()],
    )  # fmt: skip
    return drafts, report


def test_several_files_of_one_campaign_are_its_parts(db: None) -> None:
    own = {"campaign_id": "wave"}
    files = {"1.json": campaign([[item("a", "m1")]]) | own,
             "2.json": campaign([[item("b", "m1")]]) | own}  # fmt: skip
    logs = {"monday.jsonl": [answer("u")],
            "tuesday.jsonl": [answer("v", item=[item("b", "m1")])]}  # fmt: skip
    drafts, report = several(files, logs)
    assert not report.errors, report.errors
    ((test_set, draft),) = drafts
    assert [each.key for each in test_set.segments] == ["a", "b"]
    assert [(j.annotator, draft.items[j.item].segment) for j in draft.judgments] == [
        ("u", "a"), ("v", "b"),
    ]  # fmt: skip
    other = files["2.json"] | {"info": files["2.json"]["info"] | {"users": 7}}
    _, report = several(files | {"2.json": other}, {})
    assert [error.code for error in report.errors] == ["pearmut.other-settings"]


def test_the_log_of_each_of_several_campaigns_is_called_as_it_is(db: None) -> None:
    files = {name: campaign([[item(name, "m1")]]) | {"campaign_id": name} for name in "ab"}
    logs = {f"{name}.jsonl": [answer(name, item=[item(name, "m1")])] for name in "ab"}
    drafts, report = several(files, logs)
    assert not report.errors, report.errors
    assert [[each.annotator for each in draft.judgments] for _, draft in drafts] == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ('<iframe src="https://elsewhere.example/x"></iframe>', "media.tag"),
        ('<video src="https://elsewhere.example/x.mp4"></video>', "media.elsewhere"),
    ],
)
def test_what_cannot_be_shown_is_named_once_for_all_items(db: None, source: str, code: str) -> None:
    items = [item(str(n), "m1") | {"src": source}
             for n in range(300)]  # fmt: skip
    _, report = several({"p.json": campaign([[each] for each in items])}, {})
    report.gather()
    (error,) = report.errors
    assert error.code == code
    assert error.more is not None
    assert error.more.parameters["n"] == 300
    assert len(error.more.parameters["places"]) == 4


def test_repeated_ids_are_named_once(db: None) -> None:
    items = [item("same", "m1") | {"src": f"Source {n}."} for n in range(100)]
    _, report = several({"p.json": campaign([[each] for each in items])}, {})
    report.gather()
    (error,) = report.errors
    assert (error.code, error.more and error.more.parameters["n"]) == ("pearmut.other-source", 99)
