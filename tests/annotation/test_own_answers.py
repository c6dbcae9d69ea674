"""A campaign's own scales, error taxonomy and post-editing: composed, asked, stored, analysed."""

import json
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation import protocols
from annotation.access import RESEARCHER
from annotation.exports.judgments import header_of, judgment_dicts, judgment_rows
from annotation.exports.mtme import scores
from annotation.filters import FilterError, Filters
from annotation.filters.chosen import read_judgments
from annotation.forms.campaign.answers import AnswersField, AnswersWidget, read_tree, rows_of
from annotation.judging.judgments import hter
from annotation.models import Assignment, Campaign, Judgment
from annotation.protocols import Layout, Span, composed
from dashboards.panel.human import human_scores
from tests.annotation.campaign_files.test_round_trip import run, smallest
from tests.annotation.campaigns.test_campaign_form import problems
from tests.annotation.views.test_views_campaigns import FORM, new_address
from tests.annotation.views.test_views_protocols import (
    JSON,
    OUTPUTS,
    SOURCES,
    TOGETHER,
    address,
    form,
)
from tests.planting import plant
from tests.refusals import refused
from tests.world import World, make_user

SCALES = {
    "scales": [
        {"name": "Adequacy", "labels": {"0": "none", "100": "all"}},
        {"name": "Fluency", "min": 1, "max": 5, "labels": {"1": "none", "5": "native"}},
    ]
}
TAXONOMY = {
    "spans": {
        "severities": [{"name": "Slip", "weight": 1}, {"name": "Blunder", "weight": 7.5}],
        "categories": [
            {"name": "Names", "children": [{"name": "People"}, {"name": "Places"}]},
            {"name": "Other"},
        ],
        "weights": [{"category": "Names", "severity": "Slip", "weight": 0.25}],
    }
}


def opened(client: Client, protocol: str, answers: Any) -> tuple[Campaign, list[Assignment]]:
    outputs = OUTPUTS if protocol == "side-by-side" else OUTPUTS[:1]
    campaign = plant(protocol, sources=SOURCES, outputs=outputs, answers=answers)
    client.force_login(User.objects.get(username="annotator-1"))
    return campaign, list(Assignment.objects.order_by("position"))


def faults(values: Any, protocol: str = "segment-da") -> list[tuple[str, str]]:
    """Return the place and code of each problem."""
    found = composed.check(protocols.get(protocol), values)
    return [(path, problem.code.removeprefix("protocol.")) for path, problem in found]


@pytest.mark.parametrize("name", sorted(protocols.PROTOCOLS))
def test_presets_are_grids_of_segments_systems_and_answers(name: str) -> None:
    found = composed.compose(protocols.get(name), SCALES)
    assert [scale.key for scale in found.scales] == ["Adequacy", "Fluency"]
    assert (found.spans, found.layout) == (
        protocols.get(name).spans, protocols.get(name).layout,
    )  # fmt: skip
    assert composed.compose(found, None) is found


@pytest.mark.parametrize(
    ("values", "path", "code"),
    [
        ([], "", "no-object"),
        ({"scale": []}, "", "unknown-keys"),
        ({"scales": [{"name": ""}]}, "scales[0].name", "name-length"),
        ({"scales": [{"name": "A"}, {"name": "a"}]}, "scales[1].name", "name-taken"),
        ({"scales": [{"name": "5"}]}, "scales[0].name", "name-reserved"),
        ({"scales": [{"name": "a__b"}]}, "scales[0].name", "name-reserved"),
        ({"scales": [{"name": "A", "min": 5, "max": 5}]}, "scales[0].max", "greatest"),
        ({"scales": [{"name": "A", "max": 1001}]}, "scales[0].max", "no-whole-number"),
        ({"scales": [{"name": "A", "max": 5, "step": 2}]}, "scales[0].step", "step"),
        (
            {"scales": [{"name": "A", "max": 5, "labels": {"9": "x"}}]},
            "scales[0].labels", "label-value",
        ),
        ({"scales": [{"name": "A", "steps": 1}]}, "scales[0]", "unknown-keys"),
        ({"scales": []}, "", "empty"),
        ({"spans": {"severities": []}}, "spans.severities", "no-severity"),
        (
            {"spans": {"severities": [{"name": "A", "weight": -1}]}},
            "spans.severities[0].weight", "weight",
        ),
        (
            {"spans": {"severities": [{"name": "A", "weight": float("nan")}]}},
            "spans.severities[0].weight", "weight",
        ),
        (
            {"spans": {"severities": [{"name": "A", "weight": 1}],
                       "categories": [{"name": "a/b"}]}},
            "spans.categories[0].name", "name-characters",
        ),
        (
            {"spans": {"severities": [{"name": "A", "weight": 1}],
                       "weights": [{"category": "x", "severity": "A", "weight": 1}]}},
            "spans.weights[0].category", "no-category",
        ),
        ({"text": "yes"}, "text", "no-option"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_named_by_row_and_field(values: Any, path: str, code: str) -> None:
    assert (path, code) in faults(values)


def test_the_penalty_follows_from_own_weights() -> None:
    scheme = composed.compose(protocols.get("mqm"), TAXONOMY).spans
    assert scheme is not None
    assert scheme.category_keys == {"Names/People", "Names/Places", "Other"}
    marked = [("Slip", "Names/People"), ("Blunder", "Names/People"), ("Slip", "Other")]
    spans = [Span("target", 0, 1, severity, category) for severity, category in marked]
    assert scheme.penalty(spans) == 0.25 + 7.5 + 1


def test_indented_lines_are_a_tree() -> None:
    text = "Names (Slip 0.25)\n  People\n  Places\n\nOther\n"
    assert read_tree(text) == {
        "categories": [
            {"name": "Names", "children": [{"name": "People", "children": []},
                                           {"name": "Places", "children": []}]},
            {"name": "Other", "children": []},
        ],
        "weights": [{"category": "Names", "severity": "Slip", "weight": 0.25}],
    }  # fmt: skip


@pytest.mark.parametrize("values", [SCALES, TAXONOMY, {"text": "prefilled"}, SCALES | TAXONOMY])
def test_what_is_stored_comes_back_from_the_form_as_it_was(values: dict[str, Any]) -> None:
    rows = rows_of(values)
    data = {
        **{
            f"answers-scale-{n}-{k}": v for n, row in enumerate(rows.scales) for k, v in row.items()
        },
        **{
            f"answers-severity-{n}-{k}": v
            for n, row in enumerate(rows.severities)
            for k, v in row.items()
        },
        "answers-categories": rows.categories,
        "answers-text": rows.text,
    }
    cleaned = AnswersField().clean(AnswersWidget().value_from_datadict(data, {}, "answers"))
    base = protocols.get("mqm")
    assert composed.compose(base, cleaned) == composed.compose(base, values)


@pytest.mark.parametrize("protocol", ["segment-da", "document-da", "side-by-side", "esa", "mqm"])
@pytest.mark.django_db
def test_every_scale_is_asked_and_stored(client: Client, protocol: str) -> None:
    campaign, rows = opened(client, protocol, SCALES)
    data = form(client, rows[0])
    names = [name for name in data if name.endswith("score")]
    assert len(names) == 2 * TOGETHER.get(protocol, 1)
    own_values = {name: "4" if "s1-" in name else "73" for name in names}
    for wrong in ({names[1]: ""}, {names[1]: "6"}, {names[1]: "50"}, {names[0]: "101"}):
        reply = client.post(address(rows[0]), data | own_values | wrong, headers=JSON)
        assert reply.status_code == 422
    reply = client.post(address(rows[0]), data | own_values | {names[1]: ""}, headers=JSON)
    told = reply.json()["message"]
    assert (told["code"], told["parameters"]["scale"]) == ("rating.scale-missing", "Fluency")
    assert client.post(address(rows[0]), data | own_values, headers=JSON).status_code == 200
    first = Judgment.objects.order_by("pk").first()
    assert first is not None
    assert (first.score, first.ratings, first.penalty) == (73, {"Adequacy": 73, "Fluency": 4}, None)
    # Sent again it is one answer, and the page shows what is stored.
    assert client.post(address(rows[0]), data | own_values, headers=JSON).status_code == 200
    assert set(Judgment.objects.values_list("revision", flat=True)) == {1}
    assert 'value="4"' in client.get(address(rows[0])).text
    row = next(judgment_dicts(campaign))
    assert (row["score"], row["scale_Adequacy"], row["scale_Fluency"]) == (73, 73, 4)
    assert header_of(campaign)[-2:] == ("scale_Adequacy", "scale_Fluency")
    assert len(next(judgment_rows(campaign))) == len(header_of(campaign))


def answered(client: Client) -> Campaign:
    """Three outputs, whose adequacy falls while their fluency rises."""
    campaign, rows = opened(client, "segment-da", SCALES)
    for row, (adequacy, fluency) in zip(rows, ((90, 1), (50, 3), (10, 5)), strict=True):
        values = {"score": str(adequacy), "s1-score": str(fluency)}
        reply = client.post(address(row), form(client, row) | values, headers=JSON)
        assert reply.status_code == 200
    return campaign


@pytest.mark.django_db
def test_each_scale_is_a_human_score_that_readers_choose(client: Client) -> None:
    campaign = answered(client)
    chosen = {
        scale: read_judgments(campaign, Filters(scale=scale))[0].score.tolist()
        for scale in ("", "Adequacy", "Fluency")
    }
    assert sorted(chosen[""]) == sorted(chosen["Adequacy"]) == [10, 50, 90]
    pairs = dict(zip(chosen["Adequacy"], chosen["Fluency"], strict=True))
    assert pairs == {90: 1, 50: 3, 10: 5}
    raw = human_scores(campaign, Filters(scale="Fluency", scores="raw").of(campaign))
    assert raw.source.parameters["scale"] == "Fluency"
    assert sorted(raw.values[~np.isnan(raw.values)]) == [1, 3, 5]
    with refused("filter.no-scale", kind=FilterError):
        read_judgments(campaign, Filters(scale="Style"))
    files = scores(campaign)
    assert set(files) == {f"segment-da-{n}{z}" for n in ("Adequacy", "Fluency") for z in ("", "-z")}
    assert sorted(files["segment-da-Fluency"].values()) == [1, 3, 5]
    assert sorted(files["segment-da-Fluency-z"].values()) == pytest.approx([-1, 0, 1])


@pytest.mark.django_db
def test_post_edits_are_stored_with_their_edits(client: Client) -> None:
    campaign, rows = opened(client, "segment-da", {"scales": [], "text": "prefilled"})
    assert ">\nOne two three.</textarea>" in client.get(address(rows[0])).text
    data = form(client, rows[0])
    empty = client.post(address(rows[0]), data | {"text": " "}, headers=JSON)
    assert (empty.status_code, empty.json()["message"]["code"]) == (422, "rating.text-missing")
    client.post(address(rows[0]), data | {"text": "One two, three."}, headers=JSON)
    stored = Judgment.objects.get()
    assert (stored.score, stored.post_edit) == (None, "One two, three.")
    # One of five tokens was added.
    assert stored.hter == stored.penalty == pytest.approx(100 / 5)
    row = next(judgment_dicts(campaign))
    assert (row["post_edit"], row["hter"]) == ("One two, three.", stored.hter)
    assert read_judgments(campaign, Filters())[0].score.tolist() == [-stored.hter]


@pytest.mark.django_db
def test_programs_read_all_that_was_asked_as_it_was_answered(client: Client) -> None:
    choice = {"name": "Register", "options": ["formal", "informal"]}
    asked = SCALES | TAXONOMY | {"text": "empty", "choices": [choice]}
    campaign, rows = opened(client, "mqm", asked)
    spans = [{"side": "target", "start": 0, "end": 3, "severity": "Slip", "category": "Other"}]
    sent = {"score": "80", "s1-score": "2", "text": "Un, deux.", "spans": json.dumps(spans)}
    sent |= {"c0-choice": "informal"}
    reply = client.post(address(rows[0]), form(client, rows[0]) | sent, headers=JSON)
    assert reply.status_code == 200, reply.text
    client.force_login(make_user("reader", RESEARCHER))
    (row,) = client.get(f"/api/judgments/?campaign={campaign.slug}").json()["results"]
    assert (row["score"], row["ratings"]) == (80, {"Adequacy": 80, "Fluency": 2})
    assert (row["choices"], row["post_edit"]) == ({"Register": "informal"}, "Un, deux.")
    assert row["hter"] == pytest.approx(hter(campaign_output(rows[0]), "Un, deux."))
    assert (row["spans"], row["condition"], row["inclusion"]) == (spans, "", None)
    told = client.get(f"/api/campaigns/{campaign.slug}/").json()
    assert (told["protocol"], told["answers"]) == ("mqm", asked)


def campaign_output(row: Assignment) -> str:
    assert row.item.output is not None
    return str(row.item.output.text)


def test_edits_are_those_of_snover() -> None:
    # Snover et al. 2006, section 3: a shift is one edit, whatever it moves.
    assert hter("c d a b", "a b c d") == pytest.approx(100 / 4)
    assert hter("a b", "a b") == 0
    # By character where a script has no blanks.
    assert hter("港口很安静", "港口安静") == pytest.approx(100 / 4)


def test_the_form_names_what_is_wrong_and_shows_what_was_typed(
    world: World, as_admin: Client
) -> None:
    rows = {
        "answers-scale-0-name": "Adequacy", "answers-scale-0-labels": "0 = none; 100 = all",
        "answers-scale-1-name": "Fluency", "answers-scale-1-min": "1", "answers-scale-1-max": "1",
    }  # fmt: skip
    page = as_admin.post(new_address(world), FORM | rows).text
    (problem,) = problems(page)["answers"]
    assert problem.startswith("scales[1].max: ")
    assert 'value="0 = none; 100 = all"' in page
    as_admin.post(new_address(world), FORM | rows | {"answers-scale-1-max": "5"})
    campaign = Campaign.objects.get(name="Harbour, 80%")
    assert [scale.key for scale in campaign.judging.scales] == ["Adequacy", "Fluency"]
    assert campaign.judging.layout == Layout.SINGLE
    tried = as_admin.get(reverse("campaign-preview", args=[campaign.slug])).text
    assert "Adequacy" in tried
    assert "Fluency, from 1 to 5" in tried
    edit = as_admin.get(reverse("campaign-answers", args=[campaign.slug])).text
    assert 'value="0 = none; 100 = all"' in edit


def test_a_task_is_drawn_as_it_is_typed_and_nothing_is_stored(
    world: World, as_admin: Client
) -> None:
    address = reverse("campaign-draw", args=[world.test_set.slug])
    typed = FORM | {"name": "", "answers-scale-0-name": "Adequacy", "language": "de"}
    drawn = as_admin.post(address, typed).json()
    assert not any(drawn["errors"].values())
    assert "Adequacy" in drawn["html"]
    assert "Sentence 0 by gnorts" in drawn["html"]
    assert "Grauer Text" in drawn["html"]
    several = typed | {"answers-systems": "several", "answers-no-scales": "1"}
    refused = as_admin.post(address, several | {"answers-severity-0-weight": "x"}).json()
    assert refused == {
        "html": "",
        "errors": {"answers": ["Severity 1, weight: “x” is not a number."]},
    }
    both = as_admin.post(address, typed | {"answers-systems": "several"}).json()["html"]
    assert "Sentence 0 by kaew" in both
    assert Campaign.objects.count() == 1


def test_a_file_brings_and_takes_own_answers(db: None, tmp_path: Any) -> None:
    values = smallest()
    values["task"]["answers"] = SCALES | TAXONOMY
    run(tmp_path, values)
    campaign = Campaign.objects.get()
    assert campaign.answers == SCALES | TAXONOMY
    assert campaign.judging.spans
    assert "Names/People" in campaign.judging.spans.category_keys


def test_a_file_with_an_impossible_scale_is_refused(db: None, tmp_path: Any) -> None:
    values = smallest()
    values["task"]["answers"] = {"scales": [{"name": "A", "max": 5000}]}
    path = tmp_path / "campaign.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    printed = StringIO()
    with pytest.raises(CommandError):
        call_command("open", str(path), stdout=printed, stderr=printed)
    assert "task.answers" in printed.getvalue()
    assert "scales[0].max: " in printed.getvalue()
    assert not Campaign.objects.exists()
