"""Batches and manifests of Appraise come in as they are; wrong ones are named to the key."""

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
from annotation.imports.launch import launch
from annotation.models import Assignment, Campaign, Item, Output, Segment, TestSet
from tests.annotation.appraise import (
    as_file,
    document,
    errors,
    import_all,
    item,
    manifest,
    read,
    said,
    tasks,
    write,
)

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
    assert said(report) == [
        "3 ratings of whole documents are left out: this protocol rates segments"
    ]
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
    found = campaign.items.get(kind=Item.Kind.TUTORIAL)
    assert (found.low, found.high, found.feedback) == (70, 100, "All right: move to 90%.")
    assert found.text == "tutorial says 1000."
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
    ("wrong", "message"),
    [
        (without(item(8), "targetText"),
         "@ (itemID 8), targetText: the key “targetText” is missing"),
        (item(8, sourceText=7),
         "@ (itemID 8), sourceText: “sourceText” is a number, not text"),
        (item(8, "NEW"), "@ (itemID 8), itemType: unknown itemType “NEW”; "
         "known are TGT, BAD, REF, CHK"),
        (item(1, sourceText="Another."), "@ (itemID 1), sourceText: the source "
         "differs from that of task 1, item 1 (itemID 1), which is the same segment"),
        (item(1, targetText="Another."), "@ (itemID 1), targetText: the text of "
         "“sysA” differs from that of task 1, item 1 (itemID 1), which is the same segment"),
        (item(5), "@ (itemID 5), targetID: this text is there already "
         "(task 2, item 1 (itemID 5)); a repeat is a CHK"),
        (item(8, isCompleteDocument="no"), "@ (itemID 8), isCompleteDocument: "
         "“isCompleteDocument” is text, not true or false"),
        (item(8, sourceText="a\x00b"), "@ (itemID 8), sourceText: the text "
         "contains U+0000 (NUL) at 2"),
        (item(8, targetID=" "), "@ (itemID 8), targetID: “targetID” is empty"),
        ("text", "@: an item is an object, not text"),
    ],
)  # fmt: skip
def test_a_wrong_item_is_named(db: None, wrong: Any, message: str) -> None:
    described = manifest(TASKS_TO_ANNOTATORS=[["eng", "deu", "uniform", 2, 2]])
    batches = tasks([item(1)], [item(5), item(6), wrong])
    assert errors(batches, described) == [message.replace("@", "batches.json, task 2, item 3")]


def test_every_problem_is_listed_at_once() -> None:
    broken = without(without(item(8), "targetText"), "itemType")
    described = manifest(TASK_TYPE="Documents", REDUNDANCY="one")
    assert len(errors(tasks([broken, without(item(9), "sourceID")]), described)) == 5


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        ("[{]", "batches.json, row 1: this is no JSON"),
        (b"[\xff]", "batches.json, row 1: Byte 0xFF (byte 2 of the file) is not UTF-8"),
        ({"items": []}, "batches.json: a list of tasks is expected, not an object"),
        ([], "batches.json: there is no task"),
        (tasks([item(1)], [item(2)]), "the file has 2 tasks, but the manifest announces 1"),
        ([{"task": {}}], "batches.json, task 1, items: the key “items” is missing"),
        ([7], "batches.json, task 1: a task is an object, not a number"),
        ("[NaN]", "this JSON cannot be used: NaN is no number in JSON"),
        ("[" * 100_000, "this JSON cannot be used"),
    ],
)
def test_a_wrong_file_is_named(batches: Any, message: str) -> None:
    assert message in errors(batches)[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"REDUNDANCY": 0}, "manifest.json, REDUNDANCY: “REDUNDANCY” is 0, not from 1 to 50"),
        ({"REDUNDANCY": True}, "“REDUNDANCY” is true or false, not a number"),
        ({"TASK_TYPE": "MultiModal"}, "there is no protocol for “MultiModal” here"),
        ({"TASK_TYPE": "Pairwise", "TASK_OPTIONS": "ESA"}, "no protocol for “Pairwise esa”"),
        ({"TASKS_TO_ANNOTATORS": []}, "there is no language pair"),
        ({"TASKS_TO_ANNOTATORS": [["eng", "deu", 1, 1]]}, "row 1: a row is [source, target"),
        ({"TASKS_TO_ANNOTATORS": [["eng", "xx-1", "uniform", 1, 1]]}, "row 1: "),
        ({"TASKS_TO_ANNOTATORS": [["eng", "deu", "random", 1, 1]]}, "only “uniform” is known"),
        ({"TASKS_TO_ANNOTATORS": [["eng", "deu", "uniform", 3, 4]]},
         "4 tasks with 1 ratings each cannot be shared evenly among 3 annotators"),
    ],
)  # fmt: skip
def test_a_wrong_manifest_is_named(changes: dict[str, Any], message: str) -> None:
    found = errors(tasks([item(1)]), manifest(**changes))
    assert len(found) == 1
    assert message in found[0]
    assert found[0].startswith("manifest.json")


def test_a_byte_order_mark_is_left_out(db: None) -> None:
    text = b"\xef\xbb\xbf" + json.dumps(tasks([item(1)])).encode()
    assert import_all(text).result.n_items == 1
    assert as_file("x", b"{}").size == 2


def test_the_command_stores_all_or_nothing(db: None, tmp_path: Path, capsys: Any) -> None:
    paths = write(tmp_path, tasks([item(1), without(item(8), "targetText")]), manifest())
    with pytest.raises(CommandError, match="1 error; nothing was stored"):
        call_command("import_appraise", *paths)
    assert "task 1, item 2 (itemID 8), targetText" in capsys.readouterr().err
    assert not TestSet.objects.exists()
    paths = write(tmp_path, tasks([item(1)]), manifest())
    call_command("import_appraise", *paths, dry_run=True)
    assert not TestSet.objects.exists()
    call_command("import_appraise", *paths)
    held = "1 annotator, 1 system, 1 segment, 1 item"
    assert f"harbour2026: {held}: imported.\n  A1: /a/" in capsys.readouterr().out


def test_another_campaign_of_the_same_name_is_refused(db: None) -> None:
    import_all(tasks(PLAIN))
    drafts, _ = read(tasks([*PLAIN, item(3, system="sysB")]))
    with pytest.raises(ValidationError):
        launch(drafts)
    assert Item.objects.count() == len(PLAIN)
