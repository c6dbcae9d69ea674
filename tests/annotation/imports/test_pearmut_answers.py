"""Pearmut's own sliders, taxonomies and text fields, in and out."""

import json
from typing import Any

import pytest
from django.conf import settings

from annotation.exports.pearmut import _written
from annotation.imports.launch import launch
from annotation.models import Campaign
from tests.annotation.imports.test_imports_pearmut import campaign, errors, import_all, item, read

EXAMPLES = settings.DATA_DIR / "protocols"


def example(name: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    return values


def test_sliders_and_post_editing_come_in_and_go_out(db: None) -> None:
    values = example("sliders-textfield.json")
    found = import_all(values).result.campaign
    scales = [(each.key, each.low, each.high, each.step) for each in found.judging.scales]
    assert scales == [("Fluency", 1, 5, 1), ("Adequacy", 0, 100, 1)]
    assert found.judging.text == "prefilled"
    gold = found.items.get(kind="gold")
    # The rule is about the first slider, on which controls rest.
    assert (gold.low, gold.high) == (4, 5)
    info = _written(found)["info"]
    assert {name: info[name] for name in ("sliders", "textfield")} == {
        name: values["info"][name] for name in ("sliders", "textfield")
    }


def test_own_categories_and_severities_come_in_and_go_out(db: None) -> None:
    values = example("mqm-custom.json")
    values["data"][0][0][0]["src"] = "Good morning."
    drafts, report = read(values)
    assert not report.errors
    launch(drafts)
    found = Campaign.objects.get()
    scheme = found.judging.spans
    assert scheme is not None
    assert scheme.category_keys == {"Accuracy/Mistranslation", "Accuracy/Omission", "Style"}
    weights = {each.key: each.weight for each in scheme.severities}
    assert weights == {"Neutral": 0, "Minor": 1, "Major": 5, "Critical": 10}
    info = _written(found)["info"]
    names = ("mqm_categories", "mqm_severities")
    assert {name: info[name] for name in names} == {name: values["info"][name] for name in names}


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"sliders": {}}, "info.sliders: a list is expected"),
        (
            {"sliders": [{"name": "A", "min": 1, "max": 5000}]},
            "info.sliders[0].max: a whole number",
        ),
        ({"protocol": "DA", "sliders": []}, "nothing is asked"),
        ({"protocol": "MQM", "mqm_categories": []}, "info.mqm_categories: an object is expected"),
        ({"protocol": "MQM", "mqm_categories": {"a/b": []}}, "info.mqm_categories[0].name"),
        ({"textfield": "yes"}, "info.textfield: null, hidden, visible or prefilled"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(info: dict[str, Any], message: str) -> None:
    found = errors(campaign([[item()]], **info))
    assert any(message in each for each in found), found


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"protocol": "MQM", "mqm_severities": ["Odd"]}, "Odd: no weight is known, so 1 is taken"),
        ({"protocol": "MQM", "mqm_categories": "input"}, "that annotators type freely"),
        ({"mqm_severities": ["Minor"]}, "not used: mqm_severities, which belong to MQM"),
    ],
)
def test_what_is_lost_is_said(info: dict[str, Any], message: str) -> None:
    _, report = read(campaign([[item()]], **info))
    assert not report.errors
    assert any(message in str(each) for each in report.problems), report.problems
