"""Check items that repeat no target of their task are one error, with two choices."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.campaigns import open_campaign
from annotation.models import Campaign, Item, Judgment, Output
from tests.annotation.views.test_views_interchange import IMPORT, file
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
from tests.extensions.formats.appraise.test_scores import plain
from tests.house.templates.seen import seen
from tests.refusals import refused
from tests.world import World

N_TASKS, TARGETS, CHECKS, ELSEWHERE = 5, 28, 72, 20
WILD = manifest(TASKS_TO_ANNOTATORS=[["eng", "deu", "uniform", 5, 5]])


def wild() -> list[dict[str, Any]]:
    """Five tasks of 100 items, as found in the wild: no check repeats a target of its task.

    A task has 28 targets and 72 checks, of which 20 repeat targets of the next task and 52 nothing.
    """
    lists = []
    for n in range(N_TASKS):
        targets = [item(1000 * n + k) for k in range(TARGETS)]
        others = [item(1000 * ((n + 1) % N_TASKS) + k, "CHK") for k in range(ELSEWHERE)]
        checks = [item(100_000 + 1000 * n + k, "CHK") for k in range(CHECKS - ELSEWHERE)]
        lists.append([*targets, *others, *checks])
    return tasks(*lists)


def test_one_error_says_it_all_and_how_to_go_on() -> None:
    (error,) = errors(wild(), WILD)
    assert (str(error.place), error.code) == ("batches.json, itemType", "appraise.unmatched")
    parameters = error.message.parameters
    first, *_, more = parameters["items"]
    assert (parameters["n"], more.parameters["n"]) == (360, 357)
    assert first.parameters == {"task": 1, "number": 29, "item_id": "1000"}
    assert parameters["decision"].code == "appraise.unmatched-choose"
    (single,) = errors(tasks([item(1), item(8, "CHK")]))
    assert single.message.parameters["n"] == 1


def test_as_targets_all_items_come_in(db: None) -> None:
    campaign = import_all(wild(), WILD, unmatched="targets").result.campaign
    assert campaign.items.count() == 500
    assert set(campaign.items.values_list("kind", flat=True)) == {"target"}
    assert Output.objects.count() == 400
    assert "360 check items" in (campaign.test_set.description)
    open_campaign(campaign=campaign)


def test_skipped_only_the_targets_come_in(db: None) -> None:
    campaign = import_all(wild(), WILD, unmatched="leave-out").result.campaign
    assert campaign.items.count() == N_TASKS * TARGETS
    assert campaign.test_set.segments.count() == Output.objects.count() == N_TASKS * TARGETS
    assert "360 check items" in (campaign.test_set.description)
    assert not import_all(wild(), WILD, unmatched="leave-out").result.is_new


def test_the_choice_is_a_warning() -> None:
    _, report = read(wild(), WILD, unmatched="leave-out")
    (warning,) = reported(report)
    assert (warning.severity, warning.code) == ("warning", "appraise.unmatched")
    parameters = warning.message.parameters
    assert (parameters["n"], parameters["decision"].code) == (360, "appraise.unmatched-skipped")


def test_checks_that_repeat_a_target_stay_what_they_are(db: None) -> None:
    batch = tasks([item(1), item(1, "CHK"), item(8, "CHK"), item(9)])
    for unmatched, kinds in (
        ("targets", ["target", "repeat", "target", "target"]),
        ("leave-out", ["target", "repeat", "target"]),
    ):
        drafts, report = read(batch, unmatched=unmatched)
        assert not report.errors
        assert [each.kind for each in drafts[0][1].items] == kinds
        assert drafts[0][1].items[1].partner == 0


def test_the_second_check_of_a_text_repeats_the_first() -> None:
    drafts, report = read(tasks([item(8, "CHK"), item(8, "CHK")]), unmatched="targets")
    assert not report.errors
    assert [(each.kind, each.partner) for each in drafts[0][1].items] == [
        ("target", None), ("repeat", 0),
    ]  # fmt: skip


def test_documents(db: None) -> None:
    batch = [*document("a", "sysA"), *document("b", "sysA", kind="CHK")]
    described = manifest(TASK_TYPE="Document")
    assert errors(tasks(batch), described)[0].message.parameters["n"] == 3
    drafts, _ = read(tasks(batch), described, unmatched="targets")
    assert [each.kind for each in drafts[0][1].items] == ["target", "target", "document"] * 2
    drafts, _ = read(tasks(batch), described, unmatched="leave-out")
    assert [each.segment for each in drafts[0][1].items] == ["a:0", "a:1", "a:0"]


SCORED = tasks([item(1), item(8, "CHK"), item(1, "CHK"), item(2)])
SCORES = (
    plain(1, 70) + plain(8, 33, kind="CHK", start=1020, end=1030)
    + plain(1, 60, kind="CHK", start=1040, end=1050) + plain(2, 20, start=1060, end=1070)
)  # fmt: skip


@pytest.mark.parametrize(
    ("unmatched", "stored"),
    [
        (
            "targets",
            [("1", "target", 70), ("8", "target", 33), ("1", "repeat", 60), ("2", "target", 20)],
        ),
        ("leave-out", [("1", "target", 70), ("1", "repeat", 60), ("2", "target", 20)]),
    ],
)
def test_scores_still_find_their_items(
    db: None, unmatched: str, stored: list[tuple[str, str, int]]
) -> None:
    import_all(SCORED, scores=SCORES, unmatched=unmatched)
    rows = Judgment.objects.order_by("pk").values_list(
        "assignment__item__segment__key", "assignment__item__kind", "score"
    )
    assert list(rows) == stored


def test_scores_of_skipped_items_are_counted() -> None:
    _, report = read(SCORED, scores=SCORES, unmatched="leave-out")
    warning = reported(report)[-1]
    assert (str(warning.place), warning.code) == ("scores.csv", "appraise.skipped-rows")
    assert warning.message.parameters == {"n": 1}


def test_a_judgment_of_a_skipped_item_does_not_become_one_to_its_twin(db: None) -> None:
    """Both tasks have the check; in the second it repeats nothing. u2 worked on the second."""
    batches = tasks([item(1), item(1, "CHK")], [item(2), item(3), item(1, "CHK")])
    described = manifest(TASKS_TO_ANNOTATORS=[["eng", "deu", "uniform", 2, 2]])
    scores = (
        plain(1, 70, user="u1") + plain(1, 71, kind="CHK", user="u1", start=1020, end=1030)
        + plain(2, 40, user="u2") + plain(3, 50, user="u2", start=1020, end=1030)
        + plain(1, 5, kind="CHK", user="u2", start=1040, end=1050)
    )  # fmt: skip
    import_all(batches, described, scores, unmatched="leave-out")
    rows = Judgment.objects.filter(assignment__item__kind=Item.Kind.REPEAT)
    assert list(rows.values_list("assignment__annotator__label", "score")) == [("u1", 71)]
    assert Judgment.objects.count() == 4


def test_other_sizes_than_appraise_takes_are_warnings(db: None) -> None:
    long = item(1, sourceText="Lang. " * 400, targetText="x" * 2_500)
    batches = tasks([long, *(item(n) for n in range(2, 100))])
    _, report = read(batches)
    assert not report.errors
    tasks_warning, texts_warning = report.warnings
    assert (tasks_warning.code, tasks_warning.message.parameters["n"]) == ("appraise.task-sizes", 1)
    (size,) = tasks_warning.message.parameters["tasks"]
    assert size.parameters == {"n": 99, "task": 1}
    parameters = texts_warning.message.parameters
    assert (texts_warning.code, parameters["n"]) == ("appraise.long-texts", 2)
    assert (parameters["limit"], parameters["longest"]) == (2_000, 2_500)
    campaign = import_all(batches).result.campaign
    assert campaign.items.count() == 99
    assert len(Output.objects.get(segment__key="1").text) == 2_500


def test_a_task_of_100_short_items_has_no_warnings() -> None:
    _, report = read(tasks([item(n) for n in range(100)]))
    assert not report.problems


def test_many_bad_items_without_a_target_are_one_warning() -> None:
    _, report = read(tasks([item(1), *(item(n, "BAD") for n in range(2, 40))]))
    (warning,) = reported(report)
    assert (warning.code, warning.message.parameters["n"]) == ("appraise.unmatched-bad", 38)


def test_the_command(db: None, tmp_path: Path) -> None:
    paths = write(tmp_path, wild(), WILD)
    with refused("command.errors", kind=CommandError, n=1):
        call_command("import_appraise", *paths)
    call_command("import_appraise", *paths, unmatched="leave-out", name="without")
    call_command("import_appraise", *paths, unmatched="targets", name="with")
    sizes = {row.slug: row.items.count() for row in Campaign.objects.all()}
    assert sizes == {"without": 140, "with": 500}


def sent(client: Client) -> str:
    data = {
        "tool": "appraise",
        "appraise-batches": file("batches.json", wild()),
        "appraise-manifest": file("manifest.json", WILD),
    }
    checked: Any = client.post(IMPORT, data)
    return str(checked.url)


@pytest.mark.parametrize(("unmatched", "items"), [("targets", 500), ("leave-out", 140)])
def test_the_page_offers_both_ways(
    world: World, as_admin: Client, unmatched: str, items: int
) -> None:
    address = sent(as_admin)
    page = as_admin.get(address)
    assert page.status_code == 422
    assert page.text.count("360 check items") == 1
    for name in ("targets", "leave-out"):
        assert f'<option value="{name}">' in page.text
    assert as_admin.post(address).status_code == 422
    decided: Any = as_admin.post(address, {"unmatched": unmatched})
    assert decided.status_code == 302
    preview = as_admin.get(decided.url)
    assert preview.status_code == 200
    assert f"<dd>{items}: " in seen(preview.text)
    assert f'<option value="{unmatched}" selected>' in preview.text
    as_admin.post(decided.url)
    assert Campaign.objects.get(slug="harbour2026").items.count() == items


def test_no_other_way_is_taken(world: World, as_admin: Client) -> None:
    answer = as_admin.post(sent(as_admin), {"unmatched": "everything"})
    assert answer.status_code == 400
    assert "everything" in answer.text
