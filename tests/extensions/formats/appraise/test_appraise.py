"""Batches and manifests of Appraise are imported; problems are reported with their key."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from annotation.campaigns import open_campaign
from annotation.campaigns.shares import deal
from annotation.imports.store import launch
from annotation.models import Assignment, Campaign, Item, Output, Segment, TestSet
from tests.annotation.tables.reading import as_file, found
from tests.extensions.formats.appraise.batches import (
    document,
    errors,
    import_all,
    item,
    manifest,
    read,
    reported,
    tasks,
    write,
)
from tests.refusals import refused

PLAIN = [
    item(1), item(2), item(1, system="sysB"),
    item(1, "BAD"), item(2, "CHK"), item(1, "REF", "sysB"),
]  # fmt: skip


def test_a_plain_task_becomes_a_draft_campaign(db: None) -> None:
    campaign = import_all(tasks(PLAIN)).result.campaign
    assert (campaign.status, campaign.protocol) == (Campaign.Status.DRAFT, "segment-da")
    assert campaign.shown_text == Campaign.ShownText.SOURCE
    assert campaign.annotators.count() == 1
    test_set = campaign.test_set
    assert (test_set.source_language, test_set.target_language) == ("en", "de")
    assert list(test_set.segments.values_list("key", "source")) == [
        ("1", "Source 1."), ("2", "Source 2."),
    ]  # fmt: skip
    assert Output.objects.get(system__name="sysB").text == "sysB says 1."
    kinds = list(campaign.items.order_by("pk").values_list("kind", "batch", "text"))
    assert [kind for kind, _, _ in kinds] == [
        "target",
        "target",
        "target",
        "bad_ref",
        "repeat",
        "ref",
    ]
    assert {batch for _, batch, _ in kinds} == {"1"}
    assert [text for _, _, text in kinds][3:] == ["sysA says 1 broken.", "", "sysB says 1 by hand."]


def test_controls_keep_their_partner(db: None) -> None:
    campaign = import_all(tasks(PLAIN)).result.campaign
    for control in campaign.items.exclude(kind=Item.Kind.TARGET):
        partner = control.partner
        assert partner is not None
        assert partner.output is not None
        assert partner.segment == control.segment
        assert partner.output.system.name == ("sysB" if control.kind == "ref" else "sysA")


def test_tasks_of_any_size(db: None) -> None:
    """Appraise imports nothing of a task of 99 items, and says “Done”."""
    launched = import_all(tasks([item(n) for n in range(99)]))
    assert launched.result.campaign.items.count() == 99


def test_segments_and_outputs_shared_by_tasks_are_stored_once(db: None) -> None:
    described = manifest(TASKS_TO_ANNOTATORS=[["eng", "deu", "uniform", 2, 2]])
    import_all(tasks([item(1), item(2)], [item(2), item(3)]), described)
    assert Segment.objects.count() == Output.objects.count() == 3
    assert Item.objects.count() == 4


def test_opening_gives_whole_tasks_in_their_order(db: None) -> None:
    described = manifest(REDUNDANCY=2, TASKS_TO_ANNOTATORS=[["eng", "deu", "uniform", 3, 3]])
    lists = [[item(n * 10 + k) for k in range(3)] for n in range(3)]
    launched = import_all(tasks(*lists), described)
    campaign = open_campaign(campaign=launched.result.campaign)
    assert campaign.status == Campaign.Status.OPEN
    assert len(launched.invitations) == 3
    assert campaign.items.count() == 9
    orders = {}
    for annotator in campaign.annotators.all():
        given = annotator.assignments.order_by("position").select_related("item")
        orders[annotator.label] = [a.item.segment.key for a in given]
    assert orders["A1"] == ["0", "1", "2", "10", "11", "12"]
    assert Counter(Assignment.objects.values_list("item", flat=True)).most_common()[-1][1] == 2


@pytest.mark.parametrize(
    ("n_tasks", "people", "per"), [(5, 5, 1), (18, 36, 2), (4, 3, 3), (7, 2, 1)]
)
def test_every_task_goes_to_as_many_annotators_as_asked(
    n_tasks: int, people: int, per: int
) -> None:
    shares = deal([str(n) for n in range(n_tasks)], people, per)
    assert Counter(task for share in shares for task in share) == {
        str(n): per for n in range(n_tasks)
    }
    assert all(len(set(share)) == len(share) for share in shares)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_document_tasks_have_screens_and_ratings_of_the_whole(db: None) -> None:
    items = [
        *document("news.1", "sysA"),
        *document("news.2", "sysA"),
        *document("news.1", "sysA", kind="BAD", suffix="#sysA#bad1"),
    ]
    campaign = import_all(tasks(items), manifest(TASK_TYPE="Document")).result.campaign
    assert campaign.protocol == "document-da"
    assert campaign.test_set.segments.count() == 4
    assert set(campaign.test_set.segments.values_list("document", flat=True)) == {
        "news.1",
        "news.2",
    }
    rows = list(campaign.items.order_by("pk").values_list("screen", "place", "kind"))
    assert rows[:3] == [(1, 0, "target"), (1, 1, "target"), (1, 2, "document")]
    assert rows[6:] == [(3, 0, "bad_ref"), (3, 1, "bad_ref"), (3, 2, "document")]
    whole, copy = campaign.items.filter(kind="document", segment__document="news.1")
    assert whole.system is not None
    assert whole.output is None
    assert (copy.system, copy.partner) == (None, whole)


def test_running_item_numbers_still_find_the_partner(db: None) -> None:
    """Real error span batches number items through: a degraded copy has other itemIDs."""
    items = [
        *document("news.1", "sysA", first_id=7, suffix="#sysA"),
        *document("news.1", "sysA", first_id=40, kind="BAD", suffix="#sysA#bad2"),
        *document("news.1", "sysB", first_id=60, suffix="#sysB"),
    ]
    described = manifest(TASK_TYPE="Document", TASK_OPTIONS="ESA")
    drafts, report = read(tasks(items), described)
    (warning,) = reported(report)
    assert (warning.code, warning.message.parameters) == ("appraise.document-ratings", {"n": 3})
    (launched,) = launch(drafts)
    campaign = launched.result.campaign
    assert campaign.protocol == "esa"
    assert campaign.test_set.segments.count() == 2
    bad = campaign.items.filter(kind=Item.Kind.BAD_REF).order_by("pk")
    assert [control.partner.segment for control in bad if control.partner] == [
        control.segment for control in bad
    ]
    assert len(bad) == 2


def test_a_duplicated_document_is_a_repeat(db: None) -> None:
    items = [*document("d", "sysA"), *document("d", "sysA", suffix="#duplicate1")]
    described = manifest(TASK_TYPE="Document", TASK_OPTIONS="MQM")
    campaign = import_all(tasks(items), described).result.campaign
    assert list(campaign.items.order_by("pk").values_list("kind", flat=True)) == [
        "target", "target", "repeat", "repeat",
    ]  # fmt: skip


def test_tutorials_become_practice_with_feedback(db: None) -> None:
    tutorial = {"instruction": "All <u>right</u>: move to 90%.", "score_target": 90}
    practice = item(1000, system="tutorial", mqm={"tutorial": tutorial, "payload": []})
    campaign = import_all(
        tasks([practice, item(1)]), manifest(TASK_TYPE="DirectESA")
    ).result.campaign
    practised = campaign.items.get(kind=Item.Kind.TUTORIAL)
    assert (practised.low, practised.high) == (70, 100)
    assert practised.feedback == "All right: move to 90%."
    assert practised.text == "tutorial says 1000."
    assert not campaign.systems.filter(name="tutorial").exists()


def test_pairwise_items_share_a_screen(db: None) -> None:
    def pair(item_id: int, *systems: str) -> dict[str, Any]:
        values = item(item_id)
        targets = [{"targetID": s, "targetText": values["targetText"] + s} for s in systems]
        del values["targetID"], values["targetText"]
        return values | {"targets": targets}

    batches = tasks([pair(1, "sysA", "sysB"), pair(2, "sysC"), pair(1, "sysA", "sysC")])
    campaign = import_all(batches, manifest(TASK_TYPE="Pairwise")).result.campaign
    assert campaign.protocol == "side-by-side"
    rows = campaign.items.order_by("pk").values_list(
        "screen", "place", "kind", "output__system__name"
    )
    assert list(rows) == [
        (1, 0, "target", "sysA"), (1, 1, "target", "sysB"), (2, 0, "target", "sysC"),
        (3, 0, "repeat", "sysA"), (3, 1, "target", "sysC"),
    ]  # fmt: skip
    open_campaign(campaign=campaign)
    assert Assignment.objects.count() == 5


def test_several_language_pairs_take_their_tasks_in_order(db: None) -> None:
    pairs = [["eng", "deu", "uniform", 1, 1], ["eng", "ces", "uniform", 1, 1]]
    drafts, report = read(tasks([item(1)], [item(2)]), manifest(TASKS_TO_ANNOTATORS=pairs))
    assert not report.errors
    launch(drafts)
    assert sorted(TestSet.objects.values_list("slug", "target_language")) == [
        ("harbour2026-en-cs", "cs"), ("harbour2026-en-de", "de"),
    ]  # fmt: skip


def test_the_same_again_changes_nothing(db: None) -> None:
    import_all(tasks(PLAIN))
    assert not import_all(tasks(PLAIN)).result.is_new
    assert (Campaign.objects.count(), Item.objects.count()) == (1, len(PLAIN))
    assert User.objects.count() == 1


def without(values: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != key}


@pytest.mark.parametrize(
    ("wrong", "item_id", "key", "code"),
    [
        (without(item(8), "targetText"), 8, "targetText", "json.missing-key"),
        (item(8, sourceText=7), 8, "sourceText", "json.wrong-type"),
        (item(8, "NEW"), 8, "itemType", "appraise.item-type"),
        (item(1, sourceText="Another."), 1, "sourceText", "appraise.other-source"),
        (item(1, targetText="Another."), 1, "targetText", "appraise.other-output"),
        (item(8, isCompleteDocument="no"), 8, "isCompleteDocument", "json.wrong-type"),
        (item(8, sourceText="a\x00b"), 8, "sourceText", "appraise.character"),
        (item(8, targetID=" "), 8, "targetID", "json.empty"),
        ("text", None, "", "json.wrong-type"),
    ],
)
def test_a_wrong_item_is_named(
    db: None, wrong: Any, item_id: int | None, key: str, code: str
) -> None:
    described = manifest(TASKS_TO_ANNOTATORS=[["eng", "deu", "uniform", 2, 2]])
    batches = tasks([item(1)], [item(5), item(6), wrong])
    place = "batches.json, task 2, item 3" + (f" (itemID {item_id}), {key}" if item_id else "")
    assert found(errors(batches, described)) == [(place, code)]


def test_a_target_shown_again_is_a_repeat(db: None) -> None:
    """As in Appraise's own example of documents, whose tasks are filled up with documents."""
    drafts, report = read(tasks([item(5), item(6), item(5)]), manifest())
    assert not report.errors
    assert {each.message.code for each in report.warnings} >= {"appraise.same-text"}
    assert [(each.kind, each.partner) for each in drafts[0][1].items] == [
        ("target", None), ("target", None), ("repeat", 0),
    ]  # fmt: skip


def test_a_manifest_without_a_task_type_is_direct_in_either_order_of_the_files(db: None) -> None:
    described = without(manifest(), "TASK_TYPE")
    expected = read(tasks(PLAIN), manifest(TASK_TYPE="Direct"))[0]
    for order in ((tasks(PLAIN), described), (described, tasks(PLAIN))):
        drafts, report = read(*order)
        assert not report.errors
        assert [each.items for _, each in drafts] == [each.items for _, each in expected]
        assert {each.message.code for each in report.notes} >= {"appraise.no-task-type"}


def test_ratings_of_named_entities_are_refused() -> None:
    described = manifest(TASK_OPTIONS="NamedEntitiesEvaluation")
    assert found(errors(tasks(PLAIN), described)) == [
        ("manifest.json, TASK_OPTIONS", "appraise.other-task")
    ]


def test_every_system_joined_in_one_target_has_its_text(db: None) -> None:
    joined = item(2, targetID="sysA+sysB")
    ((test_set, campaign),), report = read(tasks([item(1, targetID="sysA"), joined]), manifest())
    assert "appraise.joined-systems" in {each.message.code for each in report.warnings}
    assert {each.name: dict(each.outputs) for each in test_set.systems} == {
        "sysA": {"1": "sysA says 1.", "2": "sysA says 2."}, "sysB": {"2": "sysA says 2."},
    }  # fmt: skip
    assert [(each.segment, each.system) for each in campaign.items] == [
        ("1", "sysA"), ("2", "sysA"), ("2", "sysB"),
    ]  # fmt: skip


def test_a_sign_in_the_name_of_a_system_joins_nothing(db: None) -> None:
    ((test_set, _),), report = read(tasks([item(1, system="C++"), item(2, system="D+E")]))
    assert sorted(each.name for each in test_set.systems) == ["C++", "D+E"]
    assert "appraise.joined-systems" not in {each.message.code for each in report.warnings}


def test_documents_of_joined_systems_stay_together(db: None) -> None:
    def name(system: str) -> str:
        return f"d#{system}"

    batch = [*document(name("A"), "A", 0), *document(name("B+C"), "B+C", 10)]
    batch += document(name("C"), "C", 20, suffix="#duplicate1")
    ((test_set, campaign),), _ = read(tasks(batch), manifest(TASK_TYPE="Document"))
    assert {each.document for each in test_set.segments} == {"d"}
    screens: dict[int | None, set[str | None]] = {}
    for each in campaign.items:
        screens.setdefault(each.screen, set()).add(each.system)
    assert [*screens.values()] == [{"A"}, {"B"}, {"C"}, {"C"}]


def test_every_problem_is_listed_at_once() -> None:
    broken = without(without(item(8), "targetText"), "itemType")
    described = manifest(TASK_TYPE="Documents", REDUNDANCY="one")
    assert len(errors(tasks([broken, without(item(9), "sourceID")]), described)) == 5


@pytest.mark.parametrize(
    ("batches", "place", "code"),
    [
        ("[{]", "batches.json, row 1", "json.invalid"),
        (b"[\xff]", "batches.json, row 1", "file.encoding-unclear"),
        ({"items": []}, "batches.json", "appraise.not-tasks"),
        ([], "batches.json", "appraise.no-tasks"),
        (tasks([item(1)], [item(2)]), "batches.json", "appraise.number-of-tasks"),
        ([{"task": {}}], "batches.json, task 1, items", "json.missing-key"),
        ([7], "batches.json, task 1", "json.wrong-type"),
        ("[NaN]", "batches.json", "json.unusable"),
        ("[" * 100_000, "batches.json", "json.unusable"),
    ],
)
def test_a_wrong_file_is_named(batches: Any, place: str, code: str) -> None:
    assert found(errors(batches))[0] == (place, code)


def row(number: int) -> str:
    return f"TASKS_TO_ANNOTATORS, row {number}"


@pytest.mark.parametrize(
    ("changes", "key", "code"),
    [
        ({"REDUNDANCY": 0}, "REDUNDANCY", "json.range"),
        ({"REDUNDANCY": True}, "REDUNDANCY", "json.wrong-type"),
        ({"TASK_TYPE": "MultiModal"}, "TASK_TYPE", "appraise.task-type"),
        ({"TASK_TYPE": "Pairwise", "TASK_OPTIONS": "ESA"}, "TASK_TYPE", "appraise.task-type"),
        ({"TASKS_TO_ANNOTATORS": []}, "TASKS_TO_ANNOTATORS", "appraise.no-pairs"),
        ({"TASKS_TO_ANNOTATORS": [["eng", "deu", 1, 1]]}, row(1), "appraise.row-shape"),
        ({"TASKS_TO_ANNOTATORS": [["eng", "xx-1", "uniform", 1, 1]]}, row(1), "language.code"),
        ({"TASKS_TO_ANNOTATORS": [["eng", "deu", "random", 1, 1]]}, row(1), "appraise.assignment"),
        ({"TASKS_TO_ANNOTATORS": [["eng", "deu", "uniform", 3, 4]]}, row(1), "appraise.uneven"),
    ],
)
def test_a_wrong_manifest_is_named(changes: dict[str, Any], key: str, code: str) -> None:
    assert found(errors(tasks([item(1)]), manifest(**changes))) == [(f"manifest.json, {key}", code)]


def test_a_byte_order_mark_is_removed(db: None) -> None:
    text = b"\xef\xbb\xbf" + json.dumps(tasks([item(1)])).encode()
    assert import_all(text).result.n_items == 1
    assert as_file("x", b"{}").size == 2


def test_the_command_stores_all_or_nothing(db: None, tmp_path: Path, capsys: Any) -> None:
    paths = write(tmp_path, tasks([item(1), without(item(8), "targetText")]), manifest())
    with refused("command.errors", kind=CommandError, n=1):
        call_command("import_appraise", *paths)
    assert "task 1, item 2 (itemID 8), targetText" in capsys.readouterr().err
    assert not TestSet.objects.exists()
    paths = write(tmp_path, tasks([item(1)]), manifest())
    call_command("import_appraise", *paths, dry_run=True)
    assert not TestSet.objects.exists()
    call_command("import_appraise", *paths)
    held = "1 annotator, 1 system, 1 segment, 1 item"
    output = capsys.readouterr().out
    assert f"harbour2026: {held}: imported." in output
    assert "\n  A1: /a/" in output


def test_another_campaign_of_the_same_name_is_refused(db: None) -> None:
    import_all(tasks(PLAIN))
    drafts, _ = read(tasks([*PLAIN, item(3, system="sysB")]))
    with pytest.raises(ValidationError):
        launch(drafts)
    assert Item.objects.count() == len(PLAIN)
