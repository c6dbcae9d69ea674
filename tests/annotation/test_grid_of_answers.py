"""Any segments × systems × answers: shown, answered, stored, exported, analysed; or refused."""

import json
import re
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation import protocols
from annotation.campaign_files import to_values
from annotation.exports.formats import declared
from annotation.exports.judgments import header_of, judgment_dicts
from annotation.exports.mtme import bundle
from annotation.filters import FilterError, Filters
from annotation.filters.chosen import read_judgments
from annotation.models import Assignment, Campaign, Item, Judgment
from annotation.protocols import Layout, composed
from annotation.protocols.base import Choice, Scale
from annotation.quality.current import _state, _stored, current_judgments
from annotation.quality.verdict import low_score
from tests.annotation.campaign_files.test_round_trip import run, smallest
from tests.annotation.campaigns.test_campaign_form import problems
from tests.annotation.views.test_views_campaigns import FORM, new_address
from tests.annotation.views.test_views_protocols import JSON, MINOR, OUTPUTS, SOURCES, address
from tests.planting import plant
from tests.world import World

MOOD = {"scales": [{"name": "Mood", "min": -2, "max": 2, "labels": {"-2": "bad", "2": "good"}}]}
USABLE = {"choices": [{"name": "Usable", "options": ["yes", "no, not at all"]}]}
GRAMMAR = MINOR | {"category": "fluency/grammar"}
# A preset, the campaign's own parts, the layout, and one answer with what is stored.
COMBINATIONS: dict[str, tuple[str, dict[str, Any], Layout, dict[str, str], dict[str, Any]]] = {
    "ESA of a document": (
        "esa", {"segments": "document"}, Layout.DOCUMENT,
        {"score": "70", "spans": json.dumps([MINOR])}, {"score": 70, "penalty": None},
    ),
    "MQM of a document": (
        "mqm", {"segments": "document"}, Layout.DOCUMENT,
        {"spans": json.dumps([GRAMMAR])}, {"score": None, "penalty": 1},
    ),
    "DA of a document by several systems": (
        "document-da", {"systems": "several"}, Layout.GRID, {"score": "0"}, {"score": 0},
    ),
    "side-by-side MQM": (
        "side-by-side-mqm", {}, Layout.TOGETHER,
        {"spans": json.dumps([GRAMMAR])}, {"score": None, "penalty": 1},
    ),
    "adequacy and fluency side by side": (
        "adequacy-fluency", {"systems": "several"}, Layout.TOGETHER,
        {"score": "2", "s1-score": "5"}, {"score": 2, "ratings": {"adequacy": 2, "fluency": 5}},
    ),
    "post-editing of several systems": (
        "post-editing", {"segments": "document", "systems": "several"}, Layout.GRID,
        {"text": "One two three."}, {"score": None, "post_edit": "One two three."},
    ),
    "a scale below zero with a choice": (
        "segment-da", MOOD | USABLE, Layout.SINGLE,
        {"score": "-2", "c0-choice": "no, not at all"},
        {"score": -2, "ratings": {"Mood": -2}, "choices": {"Usable": "no, not at all"}},
    ),
}  # fmt: skip
SPANS = r'name="([\d-]*spans)"'
HIDDEN = r'name="([\d-]*(?:submit_key|revision|started))" value="([^"]*)"'


def opened(client: Client, base: str, answers: Any) -> tuple[Campaign, list[Assignment]]:
    layout = composed.compose(protocols.get(base), answers).layout
    outputs = OUTPUTS if layout.has_systems else OUTPUTS[:1]
    campaign = plant(base, sources=SOURCES, outputs=outputs, answers=answers or None)
    client.force_login(User.objects.get(username="annotator-1"))
    return campaign, list(Assignment.objects.order_by("position"))


def filled(client: Client, row: Assignment, answer: dict[str, str]) -> dict[str, str]:
    """The form that submits a screen, every part of it with the same answer as far as it goes."""
    page = client.get(address(row)).text
    body = re.search(r'<form class="[^"]*rate.*?</form>', page, re.S)
    assert body
    hidden = dict(re.findall(HIDDEN, body.group(0)))
    prefixes = [name.removesuffix("submit_key") for name in hidden if name.endswith("submit_key")]
    given = {f"{prefix}{name}": v for prefix in prefixes for name, v in answer.items()}
    unmarked = {f"{prefix}spans" for prefix in prefixes} - set(re.findall(SPANS, body.group(0)))
    return hidden | {name: value for name, value in given.items() if name not in unmarked}


@pytest.mark.parametrize("name", COMBINATIONS)
@pytest.mark.django_db
def test_a_combination_is_shown_answered_stored_and_exported(client: Client, name: str) -> None:
    base, answers, layout, answer, stored = COMBINATIONS[name]
    campaign, rows = opened(client, base, answers)
    assert campaign.judging.layout == layout
    kinds = [row.item.kind for row in rows]
    has_whole = layout == Layout.DOCUMENT and campaign.judging.has_score
    assert kinds.count(Item.Kind.DOCUMENT) == has_whole
    for wrong in (dict.fromkeys(answer, ""), {"score": "1001"} if "score" in answer else {}):
        if wrong and "spans" not in wrong:
            reply = client.post(address(rows[0]), filled(client, rows[0], wrong), headers=JSON)
            assert reply.status_code == 422, reply.json()
    assert not Judgment.objects.exists()
    for row in rows:
        if Judgment.objects.filter(assignment=row).exists():
            continue
        data = filled(client, row, answer)
        assert client.post(address(row), data, headers=JSON).status_code == 200
        # Sent again it is one answer, and the page shows what is stored.
        assert client.post(address(row), data, headers=JSON).status_code == 200
        assert client.get(address(row)).status_code == 200
    found = Judgment.objects.exclude(assignment__item__kind=Item.Kind.DOCUMENT)
    assert found.count() == len(rows) - has_whole
    for judgment in found:
        assert {key: getattr(judgment, key) for key in stored} == stored
    assert set(Judgment.objects.values_list("revision", flat=True)) == {1}
    check_exports(campaign, stored)


def check_exports(campaign: Campaign, stored: dict[str, Any]) -> None:
    """One row a judgment with its columns, files of scores, and analyses in the scale's unit."""
    row = next(judgment_dicts(campaign))
    assert list(row) == list(header_of(campaign))
    assert (row["score"], row["protocol"]) == (stored["score"], campaign.protocol)
    for part, prefix in (("ratings", "scale_"), ("choices", "choice_")):
        for key, value in stored.get(part, {}).items():
            assert row[prefix + key] == value
    files = {path: "".join(lines) for path, lines in bundle(campaign)}
    own = [text for path, text in files.items() if path.endswith(f"{campaign.protocol}.seg.score")]
    own += [text for path, text in files.items() if re.search(r"-(adequacy|Mood)\.seg", path)]
    judged = read_judgments(campaign, Filters())[0]
    values = judged.score[judged.is_target]
    assert len(own) == 1
    numbers = {float(line.split("\t")[1]) for line in own[0].splitlines()}
    # What is exported is what is analysed. Post-edits differ by output.
    assert numbers == {float(value) for value in values}
    if stored["score"] is not None:
        assert numbers == {stored["score"]}
    has_spans = campaign.judging.spans is not None
    assert any(path.endswith(".seg.rating") for path in files) == has_spans
    for name in {"pearmut", "pearmut-log", "appraise-zip"} & declared().keys():
        is_empty = name == "appraise-zip" and stored["score"] is None and not has_spans
        with pytest.raises(FilterError) if is_empty else nullcontext():  # all would be scored 0
            assert b"".join(declared()[name].pieces(campaign))


@pytest.mark.parametrize(
    ("base", "values", "path", "code"),
    [
        ("esa", {"segments": "both"}, "segments", "no-option"),
        ("esa", {"systems": 3}, "systems", "no-option"),
        (
            "esa", {"systems": "several", "spans": {"sides": ["target", "source"]}},
            "spans.sides", "source-errors",
        ),
        ("mqm", {"spans": None}, "", "empty"),
        ("mqm", {"spans": None} | USABLE, "", "no-score"),
        ("post-editing", {"text": ""}, "", "empty"),
        ("esa", {"choices": [{"name": "A", "options": ["x"]}]}, "choices[0].options", "options"),
        (
            "esa", {"choices": [{"name": "A", "options": ["x", "x"]}]},
            "choices[0].options", "options",
        ),
        ("esa", {"choices": [{"name": "A", "options": 5}]}, "choices[0].options", "options"),
        (
            "esa", MOOD | {"choices": [{"name": "mood", "options": ["x", "y"]}]},
            "choices", "same-name",
        ),
        ("esa", {"scales": [{"name": "A", "min": -1001}]}, "scales[0].min", "no-whole-number"),
        (
            "esa", {"scales": [{"name": "A", "min": -2, "labels": {"-3": "x"}}]},
            "scales[0].labels", "label-value",
        ),
    ],
)  # fmt: skip
def test_impossible_answers_are_refused(base: str, values: Any, path: str, code: str) -> None:
    problems = composed.check(protocols.get(base), values)
    assert (path, f"protocol.{code}") in [(place, each.code) for place, each in problems]


def test_every_cell_of_the_grid_is_a_preset_away() -> None:
    """Beside several systems an omission is a token; the question names one text or each."""
    for name, protocol in protocols.PROTOCOLS.items():
        for segments in ("one", "document"):
            for systems in ("one", "several"):
                values = {"segments": segments, "systems": systems}
                assert not composed.check(protocol, values), name
                found = composed.compose(protocol, values)
                assert found.layout == Layout.of(
                    has_documents=segments == "document", has_systems=systems == "several"
                )
                assert ("the translation" in found.question.lower()) == (systems == "one"), name
    several = composed.compose(protocols.get("esa"), {"systems": "several"})
    assert several.spans
    assert (several.spans.sides, several.spans.tokens) == (("target",), ("[missing]",))


def test_a_file_brings_a_grid_and_takes_it_again(db: None, tmp_path: Any) -> None:
    values = smallest()
    for segment in values["texts"]["segments"]:
        segment["document"] = "one"
    values["texts"]["systems"].append({"name": "Y", "outputs": {"a": "Hi.", "b": "Bye."}})
    values["task"] = {
        "preset": "document", "answers": {"systems": "several"} | MOOD | USABLE,
        "systems_per_screen": 2,
    }  # fmt: skip
    run(tmp_path, values)
    campaign = Campaign.objects.get()
    assert campaign.judging.layout == Layout.GRID
    # One screen with two segments by two systems.
    assert set(campaign.items.filter(kind="target").values_list("screen", flat=True)) == {0}
    assert campaign.items.filter(kind="target").count() == 4
    again = json.loads(json.dumps(to_values(campaign)))
    assert again["task"]["answers"] == values["task"]["answers"]
    again["texts"] |= {"slug": "again", "name": "Again"}
    again["task"] |= {"slug": "again", "name": "Again"}
    run(tmp_path, again)
    other = Campaign.objects.get(slug="again")
    assert other.judging == campaign.judging
    assert other.question == campaign.question
    assert "each text" in campaign.question or "every text" in campaign.question.lower()


@pytest.mark.parametrize(
    ("scale", "low"),
    [(Scale(), 20), (Scale("a", 1, 5), 1), (Scale("a", -2, 2), -2), (Scale("a", 0, 6), 1)],
)  # fmt: skip
def test_a_trap_is_passed_in_the_lowest_fifth_of_a_scale(scale: Scale, low: int) -> None:
    assert low_score(scale) == low


@pytest.mark.django_db
def test_scores_below_zero_are_kept_up_to_date(client: Client) -> None:
    """The numbers that prove kept judgments current hold for negative scores too."""
    campaign, rows = opened(client, "segment-da", MOOD)
    for row, score in zip(rows, ("-2", "0", "1"), strict=True):
        client.post(address(row), filled(client, row, {"score": score}), headers=JSON)
    table = current_judgments(campaign)
    assert _state(table) == _stored(campaign)
    assert current_judgments(campaign) is table
    raw = read_judgments(campaign, Filters())[0].score
    assert sorted(raw.tolist()) == [-2, 0, 1]
    z = [row["z_targets"] for row in judgment_dicts(campaign)]
    assert z == pytest.approx((np.array([-2, 0, 1]) + 1 / 3) / np.std([-2, 0, 1], ddof=1))


@pytest.mark.django_db
def test_the_document_as_a_whole_takes_scores_alone(client: Client) -> None:
    _, rows = opened(client, "esa", {"segments": "document"})
    whole = rows[-1]
    data = filled(client, whole, {"score": "40"}) | {"3-spans": json.dumps([MINOR])}
    reply = client.post(address(whole), data, headers=JSON)
    assert (reply.status_code, Judgment.objects.count()) == (422, 0)


def test_an_admin_composes_and_tries(world: World, as_admin: Client) -> None:
    rows = FORM | {
        "protocol": "esa", "shown_text": "source", "traps_per_annotator": "0", "question": "",
        "answers-segments": "document", "answers-systems": "several",
        "answers-choice-0-name": "Usable", "answers-choice-0-options": "yes; no",
    }  # fmt: skip
    world.test_set.segments.update(document="")
    refused = as_admin.post(new_address(world), rows).text
    assert "needs documents" in problems(refused)["protocol"][0]
    world.test_set.segments.update(document="one")
    as_admin.post(new_address(world), rows)
    campaign = Campaign.objects.get(name="Harbour, 80%")
    assert campaign.judging.layout == Layout.GRID
    assert campaign.judging.choices == (Choice("Usable", ("yes", "no")),)
    assert campaign.question.startswith("Every text should have {percent}")
    assert "Read all texts, one segment" in campaign.instructions
    tried = as_admin.get(reverse("campaign-preview", args=[campaign.slug])).text
    assert 'data-layout="grid"' in tried
    assert "Usable" in tried
    edit = as_admin.get(reverse("campaign-answers", args=[campaign.slug])).text
    for part in ('"document" selected', '"several" selected', 'value="yes; no"'):
        assert part in edit
    assert not re.search(r'<textarea[^>]*name="question"[^>]*>\s*Every', edit)
