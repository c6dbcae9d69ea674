"""The part of a test set that a campaign covers, against independent computations."""

import json
import re
from collections import Counter
from fractions import Fraction
from html import unescape
from itertools import combinations
from math import ceil, comb, floor
from uuid import uuid4

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.campaign_files import open_file
from annotation.campaign_files.storing import Wish
from annotation.campaigns import add_annotators, describe, open_campaign
from annotation.campaigns.effort import describe_effort
from annotation.campaigns.facts import facts, study_facts
from annotation.campaigns.sampling import draw, read_rule, size_of, store_sample
from annotation.controls import possible_traps
from annotation.exports.formats import sample_rows
from annotation.exports.judgments import judgment_dicts
from annotation.filters import Filters
from annotation.models import Assignment, Campaign, Item, Judgment, Segment, TestSet
from annotation.uploads import InputFile, Report
from core.messages import messages_of
from dashboards.correlations.agreement import correlate
from dashboards.panel.panel import read_panel
from lifecycle.services import copy_campaign
from metaeval.judgments.planning import draw_evenly
from metaeval.messages import DataError
from tests.refusals import refused
from tests.world import World, make_campaign, make_test_set, score


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.data())
def test_counts_are_exact_and_strata_share_them(strata: list[int], data: st.DataObject) -> None:
    size = data.draw(st.integers(1, len(strata)))
    drawn = draw_evenly(strata, size, seed=data.draw(st.integers(0, 2**63 - 1)))
    assert drawn == sorted(set(drawn))
    assert len(drawn) == size
    counts = Counter(strata[place] for place in drawn)
    for stratum, n in Counter(strata).items():
        share = Fraction(n * size, len(strata))
        assert floor(share) <= counts[stratum] <= ceil(share)


def test_every_unit_is_drawn_with_the_same_probability() -> None:
    strata, size, n = ["a"] * 5 + ["b"] * 2 + ["c"], 3, 6_000
    drawn = Counter(place for seed in range(n) for place in draw_evenly(strata, size, seed=seed))
    # Binomial: four standard deviations.
    p = size / len(strata)
    for place in range(len(strata)):
        assert abs(drawn[place] - n * p) < 4 * (n * p * (1 - p)) ** 0.5


def test_without_strata_all_sets_are_equally_likely() -> None:
    n = 6_000
    drawn = Counter(tuple(draw_evenly([0] * 5, 2, seed=seed)) for seed in range(n))
    assert set(drawn) == set(combinations(range(5), 2))
    expected = n / comb(5, 2)
    # Chi-square with 9 degrees of freedom at .001.
    assert sum((count - expected) ** 2 / expected for count in drawn.values()) < 27.9


def test_a_seed_draws_the_same_for_ever() -> None:
    """The numbers of `random.Random` are the same in every version of Python."""
    assert draw_evenly([0] * 1997, 270, seed=1)[:8] == [5, 6, 25, 26, 34, 40, 41, 43]
    for size in (0, 3):
        with refused("argument.range", kind=DataError, name="size", low=1, high=2):
            draw_evenly(["a", "b"], size, seed=1)


@pytest.fixture
def harbour(db: None) -> TestSet:
    """Twelve segments: four documents of three, with sources of different lengths."""
    test_set = make_test_set("quay", segments=12, systems=("one", "two"), ratio="1.00")
    for segment in test_set.segments.all():
        segment.document = f"d{segment.position // 3}"
        segment.domain = "news" if segment.position < 9 else "speech"
        segment.source = "港" * (segment.position + 1)
        segment.save()
    return test_set


def keys(test_set: TestSet, **rule: object) -> list[str]:
    drawn = draw(test_set, test_set.systems.all(), read_rule(rule) or {}, seed=3)
    rows = Segment.objects.filter(pk__in=drawn).order_by("position")
    return list(rows.values_list("key", flat=True))


def codes(test_set: TestSet, **rule: object) -> list[str]:
    with pytest.raises(ValidationError) as refused:
        keys(test_set, **rule)
    return [each.code for each in messages_of(refused.value)]


def test_rules_choose_what_they_name(harbour: TestSet) -> None:
    assert keys(harbour, segments="12\n 3 \n") == ["3", "12"]
    assert keys(harbour, documents=["d1"]) == ["4", "5", "6"]
    assert keys(harbour, min_length="3", max_length=4) == ["3", "4"]
    assert keys(harbour, unit="document", min_length=24) == ["7", "8", "9", "10", "11", "12"]
    assert keys(harbour, documents=["d1", "d2"], segments=["1", "5", "9"]) == ["5", "9"]
    assert keys(harbour, domains="speech\n") == ["10", "11", "12"]
    assert keys(harbour, domains=["news"], min_length=8) == ["8", "9"]
    assert keys(harbour, domains=["news", "speech"]) == list(map(str, range(1, 13)))
    assert len(keys(harbour, size="25%")) == 3
    whole = keys(harbour, unit="document", size=2)
    assert len({(int(key) - 1) // 3 for key in whole}) == 2
    assert len(whole) == 6
    assert {(int(key) - 1) // 3 for key in keys(harbour, size=4, strata="document")} == {0, 1, 2, 3}
    assert {(int(key) - 1) // 3 for key in keys(harbour, size=4, strata="length")} == {0, 1, 2, 3}


def test_probabilities_sum_to_the_number_of_drawn_units(harbour: TestSet) -> None:
    systems = harbour.systems.all()
    drawn = draw(harbour, systems, {"size": 5}, seed=3)
    assert (len(drawn), set(drawn.values())) == (5, {5 / 12})
    drawn_of = [draw(harbour, systems, {"size": 5}, seed) for seed in range(600)]
    found = [
        sum(pk in drawn for drawn in drawn_of) / 600
        for pk in harbour.segments.values_list("pk", flat=True)
    ]
    assert sum(found) == pytest.approx(5)
    assert found == pytest.approx([5 / 12] * 12, abs=0.085)  # four standard errors
    drawn = draw(harbour, systems, {"unit": "document", "size": 3}, seed=3)
    assert (len(drawn), set(drawn.values())) == (9, {3 / 4})
    assert set(draw(harbour, systems, {"documents": ["d0"]}, seed=3).values()) == {1.0}
    assert draw(harbour, systems, {"size": 5}, seed=3) == draw(harbour, systems, {"size": 5}, 3)
    assert len({tuple(draw(harbour, systems, {"size": 5}, seed)) for seed in range(9)}) > 5


def test_segments_without_an_output_of_the_systems_are_in_no_sample(harbour: TestSet) -> None:
    one = harbour.systems.get(name="one")
    one.outputs.filter(segment__key__in=["1", "2", "3"]).delete()
    drawn = draw(harbour, [one], {"size": "100%"}, seed=1)
    assert len(drawn) == 9
    with pytest.raises(ValidationError):
        draw(harbour, [one], {"documents": ["d0"]}, seed=1)


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ({"size": 0}, "sample.size"),
        ({"size": "101%"}, "sample.size"),
        ({"size": "many"}, "sample.size"),
        ({"size": True}, "sample.size"),
        ({"size": 13}, "sample.too-few"),
        ({"min_length": -1}, "sample.length"),
        ({"min_length": 5, "max_length": 4}, "sample.order"),
        ({"min_length": 50}, "sample.empty"),
        ({"strata": "document"}, "sample.strata-without-size"),
        ({"strata": "colour", "size": 2}, "sample.choice"),
        ({"unit": "document", "strata": "document", "size": 2}, "sample.strata-of-documents"),
        ({"unit": "document", "segments": ["1"]}, "sample.segments-of-documents"),
        ({"segments": ["1", "nowhere"]}, "sample.no-segments"),
        ({"documents": ["nowhere"]}, "sample.no-documents"),
        ({"domains": ["nowhere"]}, "sample.no-domains"),
        ({"segments": [1]}, "sample.list"),
        ({"seed": 1}, "sample.not-a-rule"),
    ],
)
def test_rules_that_cannot_be_followed(
    harbour: TestSet, rule: dict[str, object], code: str
) -> None:
    assert codes(harbour, **rule) == [code]


def test_documents_need_names(harbour: TestSet) -> None:
    harbour.segments.filter(key="1").update(document="")
    assert codes(harbour, unit="document", size=1) == ["sample.without-document"]


def test_what_has_no_effect_is_not_a_rule() -> None:
    for nothing in (None, {}, {"unit": "segment"}, {"unit": "document"}, {"segments": "\n"}):
        assert read_rule(nothing) is None
    assert read_rule({"unit": "segment", "size": " 10%"}) == {"size": "10%"}
    assert [size_of(each, 10) for each in (None, 3, "1%", "25%", "100%")] == [10, 3, 1, 3, 10]


def sampled(test_set: TestSet, **rule: object) -> Campaign:
    campaign = make_campaign(
        test_set, "part", length_ratio="1.00", traps_per_annotator=2, sample=rule, seed=5
    )
    store_sample(campaign)
    campaign.refresh_from_db()
    return campaign


def test_a_campaign_plants_and_counts_its_sample_only(harbour: TestSet, world: World) -> None:
    campaign = sampled(harbour, size=5)
    chosen = set(campaign.sampled_segments.values_list("segment", flat=True))
    assert len(chosen) == 5
    assert {segment for segment, _ in possible_traps(campaign)} == chosen
    add_annotators(campaign=campaign, users=world.annotators)
    before = dict(campaign.sampled_segments.values_list("segment", "inclusion"))
    open_campaign(campaign=campaign)
    targets = campaign.items.filter(kind=Item.Kind.TARGET)
    assert targets.count() == 5 * 2
    assert set(campaign.items.values_list("segment", flat=True)) == chosen
    assert dict(campaign.sampled_segments.values_list("segment", "inclusion")) == before
    assert next(m.parameters["n"] for m in facts(campaign) if m.code == "facts.segments") == 5
    study = {m.code: m.parameters for m in study_facts([campaign, world.campaign])}
    assert study["facts.outputs"]["n"] == 5 * 2 + world.campaign.outputs.count()


def test_the_design_says_what_is_judged(harbour: TestSet) -> None:
    campaign = sampled(harbour, unit="document", size=2)
    values = {name.code: list(own) for name, own in describe(campaign)}
    assert [(each.code, each.parameters) for each in values["design.sample"]] == [
        ("sample.segments", {"n": 6, "total": 12}),
        ("sample.whole", {}),
        ("sample.random", {"seed": "5"}),
    ]
    times = {name.code: value for name, value in describe_effort(campaign)}
    campaign.sample = None
    assert times != {name.code: value for name, value in describe_effort(campaign)}


def test_a_copy_has_the_same_sample(harbour: TestSet, world: World) -> None:
    campaign = sampled(harbour, size=5, strata="length")
    copy = copy_campaign(campaign, world.admin)
    rows = [
        list(each.sampled_segments.order_by("segment").values_list("segment", "inclusion"))
        for each in (campaign, copy)
    ]
    assert rows[0] == rows[1]
    assert copy.sample == campaign.sample


FORM = {
    "name": "Part",
    "length_ratio": "1.00",
    "systems": ["one", "two"],
    "protocol": "segment-da",
    "shown_text": "source",
    "annotators_per_item": "3",
    "traps_per_annotator": "2",
    "trap_ratio": "0.5",
    "seed": "5",
    "sample-size": "50%",
    "sample-unit": "document",
    "sample-documents": "d0\nd1\nd3\n",
}


def test_a_page_draws_shows_and_changes_the_sample(harbour: TestSet, as_admin: Client) -> None:
    address = f"{reverse('campaign-new')}?testset={harbour.slug}"
    assert as_admin.post(address, FORM).status_code == 302
    campaign = Campaign.objects.get(name="Part")
    rule = {"unit": "document", "documents": ["d0", "d1", "d3"], "size": "50%"}
    assert campaign.sample == rule
    assert dict(campaign.sampled_segments.values_list("segment", "inclusion")) == draw(
        harbour, harbour.systems.all(), rule, 5
    )
    assert campaign.segments.count() == 6
    setup = as_admin.get(reverse("campaign-setup", args=[campaign.slug]))
    assert "6 of 12 segments" in setup.text
    edit = reverse("campaign-edit", args=[campaign.slug])
    page = as_admin.get(edit)
    assert page.context["form"].sample_cells == {
        "unit": "document", "documents": "d0\nd1\nd3", "size": "50%",
    }  # fmt: skip
    assert page.context["form"].n_drawn == 6
    changed = {**FORM, "sample-size": "3", "sample-unit": "segment", "sample-documents": ""}
    assert as_admin.post(edit, changed).status_code == 302
    campaign.refresh_from_db()
    assert (campaign.sample, campaign.segments.count()) == ({"size": 3}, 3)
    assert as_admin.post(edit, {**changed, "sample-size": ""}).status_code == 302
    campaign.refresh_from_db()
    assert campaign.sample is None
    assert not campaign.sampled_segments.exists()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"sample-size": "4"}, "sample.too-few"),
        ({"sample-size": "none"}, "sample.size"),
        ({"sample-documents": "d9"}, "sample.no-documents"),
        ({"sample-domains": "none"}, "sample.no-domains"),
        ({"protocol": "document-da", "sample-unit": "segment"}, "design.whole-documents"),
    ],
)
def test_a_page_says_beside_the_field_what_cannot_be_drawn(
    harbour: TestSet, as_admin: Client, change: dict[str, str], code: str
) -> None:
    address = f"{reverse('campaign-new')}?testset={harbour.slug}"
    page = as_admin.post(address, FORM | change)
    assert page.status_code == 422
    errors = page.context["form"].errors.as_data()["sample"]
    assert [each.code for error in errors for each in messages_of(error)] == [code]


def test_programs_write_and_read_the_sample(harbour: TestSet, as_admin: Client) -> None:
    body = {"test_set": harbour.slug, "preset": "da", "name": "By program", "sample": {"size": 4}}
    made = as_admin.post("/api/campaigns/", body, content_type="application/json")
    assert made.status_code == 201, made.json()
    assert made.json()["sample"] == {"size": 4}
    campaign = Campaign.objects.get(name="By program")
    assert campaign.segments.count() == 4
    body["sample"] = {"size": 40}
    refused = as_admin.post("/api/campaigns/", body, content_type="application/json")
    (problem,) = refused.json()["problems"]
    assert problem["code"] == "sample.too-few"
    file = as_admin.get(f"/api/campaigns/{campaign.slug}/file/").json()
    assert file["task"]["sample"] == {"size": 4}
    report = Report()
    opened = open_file(
        InputFile.holding("c.json", json.dumps(file).encode()),
        report,
        Wish(slug="again", is_draft=True),
    )
    assert opened is not None
    assert not report.errors
    drawn = [
        dict(each.sampled_segments.values_list("segment__key", "inclusion"))
        for each in (campaign, opened.campaign)
    ]
    assert drawn[0] == drawn[1]
    rows = list(sample_rows(campaign))
    assert {key: inclusion for key, _, inclusion in rows} == drawn[0]
    assert sum(1 for _ in rows) == 4


def test_results_are_of_the_sample(harbour: TestSet, world: World, as_researcher: Client) -> None:
    campaign = sampled(harbour, size=6)
    add_annotators(campaign=campaign, users=world.annotators)
    open_campaign(campaign=campaign)
    for number, row in enumerate(
        Assignment.objects.filter(annotator__campaign=campaign).order_by("pk")
    ):
        Judgment.objects.create(assignment=row, score=number * 7 % 100, submit_key=uuid4())
    panel = read_panel(campaign, Filters())
    assert panel.human.n == 6 * 2
    assert ("sample.covers", {"n": 6, "total": 12}) in [
        (each.code, each.parameters) for each in panel.human.notes
    ]
    score(harbour, "chrf")
    found = correlate(campaign)
    assert (found.n_judged, found.n_outputs) == (12, 12)
    known = {each.code for each in found.warnings}
    assert "correlation.outputs-without-human-score" not in known
    rows = as_researcher.get(f"/api/judgments/?campaign={campaign.slug}").json()["results"]
    assert {row["segment_inclusion"] for row in rows} == {0.5}
    judged = list(judgment_dicts(campaign))
    assert {row["segment_inclusion"] for row in judged} == {0.5}


def test_the_page_of_custom_answers_keeps_the_sample(harbour: TestSet, as_admin: Client) -> None:
    as_admin.post(f"{reverse('campaign-new')}?testset={harbour.slug}", FORM)
    campaign = Campaign.objects.get(name="Part")
    address = reverse("campaign-answers", args=[campaign.slug])
    (hidden,) = re.findall(
        r'<input type="hidden" name="sample" value="(.*?)"', as_admin.get(address).text
    )
    assert json.loads(unescape(hidden)) == campaign.sample
    carried = {name: value for name, value in FORM.items() if not name.startswith("sample-")}
    assert as_admin.post(address, carried | {"sample": unescape(hidden)}).status_code == 302
    assert Campaign.objects.get(name="Part").sample == campaign.sample
