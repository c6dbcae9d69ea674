"""Pearmut's own sliders, taxonomies and text fields, in and out."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from annotation.imports.store import launch
from annotation.models import Campaign, Segment
from annotation.uploads import InputFile, Report
from extensions.formats import pearmut
from extensions.formats.exports.pearmut import _written
from tests.annotation.judging.test_attachments import SOUND, zipped
from tests.annotation.tables.reading import found
from tests.extensions.formats.pearmut.test_pearmut import campaign, errors, import_all, item, read

EXAMPLES = settings.DATA_DIR / "protocols"


def example(name: str) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    return values


def test_sliders_and_post_editing_come_in_and_go_out(db: None) -> None:
    values = example("sliders-textfield.json")
    stored = import_all(values).result.campaign
    scales = [(each.key, each.low, each.high, each.step) for each in stored.judging.scales]
    assert scales == [("Fluency", 1, 5, 1), ("Adequacy", 0, 100, 1)]
    assert stored.judging.text == "prefilled"
    gold = stored.items.get(kind="gold")
    # The rule is about the first slider, by which control items are judged.
    assert (gold.low, gold.high) == (4, 5)
    info = _written(stored)["info"]
    assert {name: info[name] for name in ("sliders", "textfield")} == {
        name: values["info"][name] for name in ("sliders", "textfield")
    }


def test_own_categories_and_severities_come_in_and_go_out(db: None) -> None:
    values = example("mqm-custom.json")
    values["data"][0][0][0]["src"] = "Good morning."
    drafts, report = read(values)
    assert not report.errors
    launch(drafts)
    stored = Campaign.objects.get()
    scheme = stored.judging.spans
    assert scheme is not None
    assert scheme.category_keys == {"Accuracy/Mistranslation", "Accuracy/Omission", "Style"}
    weights = {each.key: each.weight for each in scheme.severities}
    assert weights == {"Neutral": 0, "Minor": 1, "Major": 5, "Critical": 10}
    info = _written(stored)["info"]
    names = ("mqm_categories", "mqm_severities")
    assert {name: info[name] for name in names} == {name: values["info"][name] for name in names}


@pytest.mark.parametrize(
    ("info", "path", "code"),
    [
        ({"sliders": {}}, "info.sliders", "json.wrong-type"),
        (
            {"sliders": [{"name": "A", "min": 1, "max": 5000}]},
            "info.sliders[0].max",
            "protocol.no-whole-number",
        ),
        ({"protocol": "DA", "sliders": []}, "info", "protocol.empty"),
        ({"protocol": "MQM", "mqm_categories": []}, "info.mqm_categories", "json.wrong-type"),
        (
            {"protocol": "MQM", "mqm_categories": {"a/b": []}},
            "info.mqm_categories[0].name",
            "protocol.name-characters",
        ),
        ({"textfield": "yes"}, "info.textfield", "pearmut.textfield"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(info: dict[str, Any], path: str, code: str) -> None:
    problems = errors(campaign([[item()]], **info))
    assert (f"pearmut.json, {path}", code) in found(problems)


@pytest.mark.parametrize(
    ("info", "code"),
    [
        ({"protocol": "MQM", "mqm_severities": ["Odd"]}, "pearmut.weights"),
        ({"protocol": "MQM", "mqm_categories": "input"}, "pearmut.free-categories"),
        ({"mqm_severities": ["Minor"]}, "pearmut.only-mqm"),
    ],
)
def test_what_is_lost_has_a_warning(info: dict[str, Any], code: str) -> None:
    _, report = read(campaign([[item()]], **info))
    assert not report.errors
    assert code in [each.code for each in report.warnings]


def test_tags_become_files(db: None, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    source = "<audio controls src='assets/one.wav'></audio>"
    rows = [
        {"item_id": "1", "src": source, "src_text": "So froh.", "tgt": {"A": "So glad."}},
        {"item_id": "2", "src": "Text.", "tgt": {"A": "Words."}},
    ]
    values = {"campaign_id": "talks", "info": {"protocol": "ESA"}, "data": [rows]}

    def read(values: Any, *media: InputFile) -> tuple[Any, list[str]]:
        report, file = Report(), InputFile.holding("p.json", json.dumps(values).encode())
        languages = {"source_language": "de", "target_language": "en"}
        drafts = pearmut.read(file, report, media=media, **languages)
        return drafts, [(str(each.place), each.code) for each in report.errors]

    drafts, errors = read(values, zipped(one=SOUND))
    assert errors == []
    launch(drafts)
    first, second = Segment.objects.order_by("position")
    assert (first.source, first.beside["kind"], first.beside["is_source"]) == (
        "So froh.", "audio", True,
    )  # fmt: skip
    assert second.beside is None
    assert read(values)[1] == [("p.json, data[0][0].src", "media.missing")]
    rows[0]["src"] = "<iframe src='assets/one.wav'></iframe>"
    assert read(values, zipped(one=SOUND))[1] == [("p.json, data[0][0].src", "media.tag")]
