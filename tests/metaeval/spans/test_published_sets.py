"""Spans of `spans/` against the values published beside them, which came from other programs."""

import pytest

from metaeval.spans import CHARACTERS, MPP, SpanTable, ceiling, compare_spans, detect
from metaeval.spans.detection import everything, nothing
from metaeval.spans.error_free import error_free_detection, is_error_free
from metaeval.spans.span_table import ends_at_words
from tests.metaeval.published import numbers, table

FOLDER = "spans/en-de"


def outputs():
    rows = table(f"{FOLDER}/outputs.tsv")
    return {key: n for n, key in enumerate(zip(rows["seg"], rows["system"], strict=True))}


def rows_of(name, file="spans.tsv"):
    rows = table(f"{FOLDER}/{file}")
    kept = [n for n, group in enumerate(rows["set"]) if group == name]
    return {column: [values[n] for n in kept] for column, values in rows.items()}


def spans(name, sides=("target",)):
    places, rows = outputs(), rows_of(name)
    kept = [n for n, side in enumerate(rows["side"]) if side in sides]
    cells = zip(rows["seg"], rows["system"], strict=True)
    item = [places[cell] for cell in cells]
    return SpanTable.of(
        len(places),
        *([int(values[n] or 0) for n in kept] for values in (item, rows["start"], rows["end"])),
        [rows["severity"][n] for n in kept],
    )


def predicted(name):
    if name == "whole":
        return everything([len(text) for text in table(f"{FOLDER}/outputs.tsv")["output"]])
    return nothing(spans("WMT-MQM")) if name == "nothing" else spans(name)


@pytest.mark.parametrize(
    ("detector", "gold", "characters", "micro", "macro"),
    [
        ("MQM-1", "WMT-MQM", ".4071 .0838 .1390", ".4748 .0612 .1084", ".8533 .3115 .2852"),
        ("ESA-1", "WMT-MQM", ".5553 .0610 .1100", ".4636 .0424 .0777", ".9009 .2932 .2765"),
        ("ESA-2", "WMT-MQM", ".4176 .1105 .1747", ".4159 .1031 .1652", ".7729 .3341 .2927"),
        ("ESA-1", "ESA-2", ".2253 .0936 .1323", ".2474 .0820 .1232", ".8624 .6445 .5611"),
        ("nothing", "WMT-MQM", "1 0 0", "1 0 0", "1 .2530 .2530"),
        ("whole", "WMT-MQM", ".0912 .7375 .1623", ".0808 .2383 .1207", ".0808 .6229 .1064"),
    ],
)
def test_published_values(detector, gold, characters, micro, macro):
    tables = spans(gold), predicted(detector)
    for measure, averaging, expected in (
        (CHARACTERS, "micro", characters), (MPP, "micro", micro), (MPP, "macro", macro)
    ):  # fmt: skip
        found = detect(compare_spans(*tables, measure), averaging=averaging)
        assert [found.precision, found.recall, found.f1] == pytest.approx(
            [float(value) for value in expected.split()], abs=6e-5
        )


def test_ceiling_on_common_outputs():
    """README: on the 743 outputs of both, MQM-IAA and MQM-1 .1195, ESA-IAA and MQM-IAA .4375."""
    places = outputs()
    for first, second, f1 in (("MQM-IAA", "MQM-1", 0.1195), ("ESA-IAA", "MQM-IAA", 0.4375)):
        annotators = {}
        for name in (first, second):
            rows = rows_of(name, "judgments.tsv")
            items = [places[key] for key in zip(rows["seg"], rows["system"], strict=True)]
            annotators[name] = (items, spans(name).taken(items))
        found = ceiling(annotators)
        assert found.f1 == pytest.approx(f1, abs=6e-5)
        assert found.lowest == pytest.approx(found.highest)
        assert {pair[2] for pair in found.pairs} == {743}


def test_error_free_outputs():
    """README: MCC .2452 of ESA-1 against ESA-2, 653 / 380 / 385 / 610."""
    marked = []
    for name in ("ESA-1", "ESA-2"):
        rows = rows_of(name, "judgments.tsv")
        marked.append(is_error_free(numbers(rows["score"]), numbers(rows["n_spans"])))
    found = error_free_detection(marked[1], marked[0])
    counts = (found.true_positive, found.false_positive, found.false_negative, found.true_negative)
    assert found.mcc == pytest.approx(0.2452, abs=6e-5)
    assert (counts[0], {counts[1], counts[2]}, counts[3]) == (653, {380, 385}, 610)


@pytest.mark.parametrize(
    ("name", "shift", "n", "included", "excluded"),
    [("MQM-1", 0, 912, 724, 86), ("ESA-1", 0, 659, 531, 119), ("MQM-1", 1, 912, None, 724)],
)
def test_ends_are_read_from_the_words(name, shift, n, included, excluded):
    """README, whose rule for a word differs by a few characters: included 724, excluded 86."""
    rows, places = rows_of(name), outputs()
    texts = table(f"{FOLDER}/outputs.tsv")["output"]
    kept = [n for n, side in enumerate(rows["side"]) if side == "target"]
    cells = list(zip(rows["seg"], rows["system"], strict=True))
    found = ends_at_words((texts[places[cells[n]]], int(rows["raw_end"][n]) + shift) for n in kept)
    assert found.n == n
    assert found.excluded == pytest.approx(excluded, abs=25)
    assert included is None or found.included == pytest.approx(included, abs=25)
    assert found.are_included is (shift == 0)
