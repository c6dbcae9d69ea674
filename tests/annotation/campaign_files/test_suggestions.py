"""Suggestions in a campaign file: out and in again, and what is refused."""

import json
from typing import Any

import pytest

from annotation.campaign_files import open_file, to_values
from annotation.campaign_files.storing import Wish
from annotation.campaigns import open_campaign
from annotation.models import Assignment, Campaign, Item
from annotation.prefill.trial import set_shares
from annotation.uploads import InputFile, Report
from tests.annotation.prefill.test_trial import SHARES, drafted


def opened(values: Any, slug: str) -> Report:
    report = Report()
    file = InputFile.holding("c.json", json.dumps(values).encode())
    open_file(file, report, Wish(slug=slug))
    return report


def drawn(campaign: Campaign) -> list[tuple[object, ...]]:
    rows = Assignment.objects.filter(annotator__campaign=campaign)
    order = rows.order_by("annotator__label", "position")
    return list(order.values_list("item__output", "condition"))


@pytest.mark.django_db
def test_a_file_holds_the_trial_and_draws_it_again() -> None:
    campaign = drafted(segments=12)
    set_shares(campaign, SHARES, seed=5)
    values = to_values(Campaign.objects.get(), with_secret=True)
    assert not opened(values, "copy").errors
    open_campaign(campaign=campaign)
    copy = Campaign.objects.get(slug="copy")
    assert drawn(copy) == drawn(campaign)
    stored = Item.objects.order_by("output")
    for_each = [list(stored.filter(campaign=c).values_list("suggestions", flat=True))
                for c in (campaign, copy)]  # fmt: skip
    assert for_each[0] == for_each[1]
    assert to_values(copy)["suggestions"] == values["suggestions"]


@pytest.mark.django_db
def test_what_is_wrong_is_named_by_its_path() -> None:
    campaign = drafted(segments=4)
    values = to_values(Campaign.objects.get(pk=campaign.pk))
    outputs = values["suggestions"]["outputs"]
    outputs[1]["spans"] = [["target", 3, 900, "minor", ""]]
    outputs[2]["system"] = "nobody"
    errors = {each.place.field: each.message for each in opened(values, "copy").errors}
    assert errors["suggestions.outputs[1].spans[0]"].code == "campaign-file.span"
    assert errors["suggestions.outputs[1].spans[0]"].parameters == {"start": 3, "end": 900}
    assert errors["suggestions.outputs[2]"].code == "campaign-file.no-output"
    outputs[1]["spans"] = [["target", 3]]
    assert any("outputs[1].spans[0]" in str(each) for each in opened(values, "copy").errors)
    assert Campaign.objects.count() == 1
