"""Protocols as data, and the penalties of real annotations."""

import csv
from collections import defaultdict
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.template.loader import get_template

from annotation import protocols
from annotation.models import Campaign
from annotation.protocols import Layout, Span
from annotation.protocols.base import SOURCE, TARGET

NAMES = sorted(protocols.PROTOCOLS)


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_has_a_template_and_a_script(name: str) -> None:
    protocol = protocols.get(name)
    assert protocol.name == name
    assert get_template(protocol.template)
    assert finders.find(protocol.script)
    assert protocol.has_score or protocol.spans or protocol.text


def test_an_unknown_protocol_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        protocols.get("ranking")


def test_campaigns_offer_every_protocol() -> None:
    choices = Campaign._meta.get_field("protocol").choices
    assert sorted(name for name, _ in choices) == NAMES


def test_layouts() -> None:
    assert {name: protocols.get(name).layout for name in NAMES} == {
        "segment-da": Layout.SINGLE,
        "document-da": Layout.DOCUMENT,
        "side-by-side": Layout.TOGETHER,
        "esa": Layout.SINGLE,
        "contrastive-esa": Layout.GRID,
        "mqm": Layout.SINGLE,
        "side-by-side-mqm": Layout.TOGETHER,
        "adequacy-fluency": Layout.SINGLE,
        "post-editing": Layout.SINGLE,
    }


@pytest.mark.parametrize(
    ("category", "severity", "weight"),
    [
        # Freitag et al. 2021, table 4.
        ("non-translation", "major", 25),
        ("accuracy/mistranslation", "major", 5),
        ("fluency/punctuation", "minor", 0.1),
        ("fluency/punctuation", "major", 5),
        ("fluency/grammar", "minor", 1),
        ("style/awkward", "neutral", 0),
    ],
)
def test_weights_of_mqm(category: str, severity: str, weight: float) -> None:
    scheme = protocols.get("mqm").spans
    assert scheme.weight(Span(TARGET, 0, 1, severity, category)) == weight


def test_only_leaves_of_the_category_tree_can_be_chosen() -> None:
    keys = protocols.get("mqm").spans.category_keys
    assert "accuracy/omission" in keys
    assert "other" in keys
    assert "accuracy" not in keys


def _key(name: str) -> str:
    """A category as the data set writes it, in our words."""
    table = {
        "Accuracy/Untranslated text": "accuracy/untranslated",
        "Locale convention/Name format": "locale/name",
        "Terminology/Inappropriate for context": "terminology/inappropriate",
        "Terminology/Inconsistent use of terminology": "terminology/inconsistent",
        "Source error": "source",
    }
    return table.get(name, name.lower())


def test_penalties_are_the_published_ones(data_dir: Path) -> None:
    """All 7,935 segment scores of the WMT21 TED MQM annotations (zh-en)."""
    folder = data_dir / "mqm-ted" / "zh-en"
    scheme = protocols.get("mqm").spans
    penalties: dict[tuple[str, str, str], float] = defaultdict(float)
    for row in _rows(folder / "annotations.tsv"):
        cell = (row["seg_id"], row["system"], row["rater"])
        if row["severity"] == "No-error":
            continue
        category = _key(row["category"])
        assert category in scheme.category_keys
        side = SOURCE if row["side"] == "source" else TARGET
        span = Span(side, 0, 1, row["severity"].lower(), category)
        penalties[cell] += scheme.weight(span)
    published = list(_rows(folder / "seg-scores.tsv"))
    assert len(published) == 7935
    for row in published:
        ours = -penalties[row["seg_id"], row["system"], row["rater"]]
        assert ours == pytest.approx(float(row["published_mqm"]), abs=1e-9)


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
