"""Every key of Pearmut's campaigns (1.1.6) is read, has no effect, or is refused; all are kept."""

import json
import re
import uuid
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.campaigns import open_campaign
from annotation.imports.store import launch
from annotation.judging.rules import kept_rules
from annotation.judging.screens import Feedback
from annotation.models import Campaign, Item, Judgment
from annotation.protocols.base import Scale
from annotation.qualification.codes import check_codes
from annotation.quality.columns import read_columns
from annotation.quality.verdict import check
from annotation.uploads import Report
from extensions.formats import pearmut
from extensions.formats.exports.pearmut import campaign_json
from tests.annotation.tables.reading import as_file, found
from tests.extensions.formats.pearmut.test_pearmut import campaign, errors, import_all, item, read

UNUSED = "pearmut.unused-settings"
CASES = [
    ({"show_alignment": True, "template": "x"}, "info", UNUSED,
     {"settings": ["show_alignment", "template"], "reason": "pearmut.reason-design"}),
    ({"show_model_names": True}, "info", UNUSED,
     {"settings": ["show_model_names"], "reason": "pearmut.reason-names"}),
    ({"seed": 3, "docs_per_user": 2}, "info", UNUSED,
     {"settings": ["seed", "docs_per_user"], "reason": "pearmut.reason-assignment"}),
    ({"dynamic_coldstart": 5, "dynamic_warmup": 1}, "info", UNUSED,
     {"settings": ["dynamic_coldstart", "dynamic_warmup"], "reason": "pearmut.reason-assignment"}),
    ({"validation_threshold": 0.5}, "info", UNUSED,
     {"settings": ["validation_threshold"], "reason": "pearmut.reason-controls"}),
    ({"data_random_prob": 0.2}, "info", UNUSED,
     {"settings": ["data_random_prob"], "reason": "pearmut.reason-controls"}),
    ({"instructions_goodbye": "<b>Thanks</b>"}, "info.instructions_goodbye", "pearmut.html", {}),
    ({"assets": {"source": "a", "destination": "b"}}, "info", UNUSED,
     {"settings": ["assets"], "reason": "pearmut.reason-media"}),
    ({"newest": 1}, "info", "pearmut.unknown-settings", {"settings": ["newest"]}),
    ({"instructions": "<b>Read</b>, ${USER_ID}."}, "info.instructions", "pearmut.placeholders",
     {"placeholders": ["${USER_ID}"]}),
    ({"instructions": "<b>Read</b>."}, "info.instructions", "pearmut.html", {}),
    ({"special_tokens": ["[missing]", "[instructions fault]"]}, "", "pearmut.special-tokens",
     {"n": 1}),
    ({"protocol": "MQM", "mqm_categories": "input"}, "", "pearmut.free-categories", {"n": 1}),
]  # fmt: skip
ITEMS: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"src_text": "so happy", "condition": 1}, "pearmut.unused-key", {"key": "condition"}),
    ({"skippable": True}, "pearmut.skippable", {}),
    ({"tgt": {"modelA": "<img src='assets/a.png' />"}}, "pearmut.media-outputs", {}),
    ({"validation": {"modelA": {"score_greaterthan": "modelB"}},
      "tgt": {"modelA": "x", "modelB": "y"}}, "pearmut.rule-off-screen", {}),
    ({"validation": {"modelA": {"error_spans": [{"severity": "odd"}]}}},
     "pearmut.rule-severity", {}),
]  # fmt: skip
ITEM = "data[0][0][0]"
REFUSED = [
    ({"users": ["a", "a"]}, {}, "info.users[1]", "pearmut.user-id"),
    ({"users": [{"token_pass": "x"}]}, {}, "info.users[0]", "pearmut.user-id"),
    ({"users": [{"user_id": "a", "token_fail": 7}]}, {}, "info.users[0].token_fail",
     "pearmut.code"),
    ({"validation_threshold": -1}, {}, "info.validation_threshold", "pearmut.threshold"),
    ({}, {"instructions": {"a": 1}}, f"{ITEM}.instructions", "json.wrong-type"),
    ({}, {"validation": {"modelA": {"score_greaterthan": "z"}}},
     f"{ITEM}.validation.modelA.score_greaterthan", "pearmut.no-output-of-name"),
    ({}, {"validation": {"modelA": {"error_spans": [{"start_i": [3, 1]}]}}},
     f"{ITEM}.validation.modelA.error_spans[0].start_i", "pearmut.rule-offset"),
    ({}, {"tgt": {"modelA": "half \ud83d"}}, f"{ITEM}.tgt.modelA", "json.character"),
    ({}, {"tgt": {"modelA": "\0"}}, f"{ITEM}.tgt.modelA", "json.character"),
]  # fmt: skip


@pytest.mark.parametrize(("info", "path", "code", "parameters"), CASES)
def test_settings_without_effect_have_a_warning(
    info: Any, path: str, code: str, parameters: dict[str, Any]
) -> None:
    _, report = read(campaign([[item()]], **info))
    assert not report.errors, report.errors
    place = f"pearmut.json, {path}" if path else "pearmut.json"
    (warning,) = (each for each in report.warnings if found([each]) == [(place, code)])
    given = warning.message.parameters
    given |= {"reason": given["reason"].code} if "reason" in given else {}
    assert given == parameters


@pytest.mark.parametrize(("changes", "code", "parameters"), ITEMS)
def test_values_of_items_without_effect_have_a_warning(
    changes: Any, code: str, parameters: dict[str, Any]
) -> None:
    _, report = read(campaign([[item(**changes)]]))
    assert not report.errors, report.errors
    (warning,) = (each for each in report.warnings if each.code == code and parameters.items()
                  <= each.message.parameters.items())  # fmt: skip
    assert warning.message.parameters["n"] == 1


@pytest.mark.parametrize(("info", "changes", "path", "code"), REFUSED)
def test_what_is_wrong_is_refused(info: Any, changes: Any, path: str, code: str) -> None:
    problems = errors(campaign([[item(**changes)]], **info))
    assert (f"pearmut.json, {path}", code) in found(problems)


def test_a_list_of_campaigns_with_every_key_goes_out_as_it_came(db: None) -> None:
    whole = campaign([[item(src_text="x", **ITEMS[3][0])]], users=1, **{
        name: value for info, *_ in CASES[:9] for name, value in info.items()
    }) | {"data_goodbye": [[{"text": "Clear?", "form": "number"}]], "token": "t"}  # fmt: skip
    plain = campaign([[item("b")]]) | {"campaign_id": "other"}
    drafts, report = read([whole, plain])
    assert not report.errors, report.errors
    launch(drafts)
    out = [json.loads("".join(campaign_json(each))) for each in Campaign.objects.order_by("pk")]
    assert out == [whole, plain]
    # The lines of a log do not name their campaign.
    report = Report()
    assert not pearmut.read(
        as_file("c.json", [whole, plain]), report, source_language="en", target_language="de",
        logs=[as_file("log.jsonl", "{}\n{}")],
    )  # fmt: skip
    assert "pearmut.log-of-several" in [each.code for each in report.errors]


CODES = [
    {"user_id": "ann", "token_pass": "OK-ann", "token_fail": "KO-ann"},
    "bob",
    {"user_id": "cy", "token_pass": "OK-cy"},
]


def test_codes_for_the_end_are_told_by_the_checks(db: None, client: Client) -> None:
    checks = [item(f"check{n}", validation={"modelA": {"score": [80, 100]}}) for n in (1, 2)]
    tasks = [[[item("a")], checks], [[item("b")], checks], [[item("c")], checks]]
    values = campaign(*tasks, users=CODES, validation_threshold=0.5)
    made = import_all(values).result.campaign
    ann, bob, cy = open_campaign(campaign=made).annotators.order_by("pk")
    assert ann.codes == {"passed": "OK-ann", "failed": "KO-ann", "most": 0.5}
    assert (bob.codes, cy.codes["passed"], len(cy.codes["failed"])) == (None, "OK-cy", 16)
    told = {}
    for person, n_wrong in ((ann, 1), (cy, 2), (bob, 0)):
        rows = person.assignments.order_by("item__kind", "pk")
        client.force_login(person.user)
        done = reverse("annotate-done", args=[made.slug])
        assert client.get(done).status_code == 302
        for n, row in enumerate(rows):
            Judgment.objects.create(
                assignment=row, score=10 if row.item.kind == "gold" and n < n_wrong else 90,
                submit_key=uuid.uuid4(), submitted_at=timezone.now(),
            )  # fmt: skip
        rows.update(completed_at=timezone.now())
        told[person] = re.findall('<code class="code">([^<]*)', client.get(done).text)
    # One of two wrong is half of them, which is still allowed.
    assert told == {ann: ["OK-ann"], cy: [cy.codes["failed"]], bob: []}
    # Later judgments do not change the shown codes.
    Judgment.objects.update(score=0)
    client.force_login(ann.user)
    assert "OK-ann" in client.get(done).text
    said = {
        v.line: (v.verdict, v.label) for v in check_codes(made, f"OK-ann\nKO-ann\n{told[cy][0]}")
    }
    assert said == {
        "OK-ann": ("valid", ann.label),
        "KO-ann": ("failed checks", ann.label),
        told[cy][0]: ("failed checks", cy.label),
    }
    assert json.loads("".join(campaign_json(made))) == values


def test_codes_of_a_stored_campaign_follow_its_users(db: None) -> None:
    values = campaign(users=CODES)
    values["data"] = {"cy": [[item("c")]], "ann": [[item("a")]]}
    made = import_all(values).result.campaign
    people = made.annotators.order_by("pk")
    assert [each.codes["passed"] for each in people] == ["OK-cy", "OK-ann"]


def test_rules_about_errors_and_between_outputs_are_checks_here(db: None) -> None:
    """The example’s tutorial asks for “Die Katze” as major, its check for two outputs above one."""
    folder = settings.DATA_DIR / "protocols"
    values = json.loads((folder / "cesa-dynamic.json").read_text(encoding="utf-8"))
    (given,) = json.loads((folder / "annotations.json").read_text(encoding="utf-8")).values()
    # Not the document whose source is an image.
    values["data"] = values["data"][:1]
    shown = values["data_welcome"][1]
    right, missed = ({"start_i": 0, "end_i": end, "severity": "major"} for end in (8, 2))
    for user, span in (("ann1", right), ("ann3", missed)):
        marked = {"t": {"score": 30, "error_spans": [span]}}
        given.append(
            {"user_id": user, "item_i": "welcome_1", "item": shown, "annotation": [marked]}
        )
    check_entry = next(each for each in given if each.get("item_i") == "random_0")
    again = json.loads(json.dumps(check_entry)) | {"user_id": "ann3"}
    again["annotation"][0]["3rd translation"]["score"] = 10
    given.append(again)
    report = Report()
    drafts = pearmut.read(
        as_file("c.json", values), report, source_language="en", target_language="de",
        logs=[as_file("log.json", {values["campaign_id"]: given})],
    )  # fmt: skip
    assert not report.errors, report.errors
    stored = launch(drafts)[0].result.campaign
    rules = [each.rules for each in stored.items.filter(kind=Item.Kind.TUTORIAL) if each.rules]
    assert rules == [{"errors": [[0, 4, 9, 10, "major"]]}]
    practice = Judgment.objects.filter(assignment__item__kind=Item.Kind.TUTORIAL)
    kept = kept_rules(practice)
    by_person = {each.assignment.annotator.label: kept[each.pk] for each in practice}
    assert by_person == {"ann1": True, "ann3": False}
    row = {"item__gold": None, "given": 30, "item__low": 10, "item__high": 40, "item__feedback": ""}
    assert not Feedback.on(row, stored.judging, is_kept=False).is_right
    columns = read_columns(stored)
    people = dict(stored.annotators.values_list("label", "pk"))
    passed = {
        name: check(columns.select(columns.annotator == people[name]), scale=Scale()).gold
        for name in ("ann1", "ann3")
    }
    assert {name: rate and (rate.passed, rate.n) for name, rate in passed.items()} == {
        "ann1": (2, 2), "ann3": (1, 2),
    }  # fmt: skip
