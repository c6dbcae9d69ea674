"""The demo text keeps the promises of annotation/demo/README.md."""

import re
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean

import pytest

DEMO = Path(__file__).resolve().parents[3] / "annotation" / "demo"
DIRECTIONS = ("en-zh", "zh-en")
SYSTEMS = ("prefix-token", "length-embedding", "cut-decoder")
RATIOS = ("0.80", "0.50")
HEADERS = {
    "segments": ["segment", "document", "source", "reference"],
    "outputs": ["segment", "system", "length_ratio", "output", "adequacy"],
}
FILES = [(direction, kind) for direction in DIRECTIONS for kind in HEADERS]
# Ideographs, CJK punctuation and full-width forms: English text has none.
CJK = re.compile("[\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef]")
IDEOGRAPH = re.compile("[\u4e00-\u9fff]")

Row = dict[str, str]

each_direction = pytest.mark.parametrize("direction", DIRECTIONS)
each_file = pytest.mark.parametrize(("direction", "kind"), FILES)
each_ratio = pytest.mark.parametrize("ratio", RATIOS)


def _lines(direction: str, kind: str) -> list[str]:
    text = (DEMO / f"{direction}.{kind}.tsv").read_bytes().decode("utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def _rows(direction: str, kind: str) -> list[Row]:
    header, *lines = _lines(direction, kind)
    names = header.split("\t")
    return [dict(zip(names, line.split("\t"), strict=True)) for line in lines]


def _length(text: str, language: str) -> int:
    return len(text.split()) if language == "en" else len(re.sub(r"\s", "", text))


def _is_in(text: str, language: str) -> bool:
    return bool(IDEOGRAPH.search(text)) if language == "zh" else not CJK.search(text)


def _length_shares(direction: str, system: str, ratio: str) -> dict[str, float]:
    """Length of each output as a share of the length of its reference, by segment."""
    language = direction[-2:]
    full = {r["segment"]: _length(r["reference"], language) for r in _rows(direction, "segments")}
    return {
        r["segment"]: _length(r["output"], language) / full[r["segment"]]
        for r in _rows(direction, "outputs")
        if r["system"] == system and r["length_ratio"] == ratio
    }


def _adequacy(direction: str, ratio: str) -> dict[str, list[int]]:
    values = defaultdict(list)
    for row in _rows(direction, "outputs"):
        if row["length_ratio"] == ratio:
            values[row["system"]].append(int(row["adequacy"]))
    return values


@each_file
def test_header_fields_and_characters(direction: str, kind: str) -> None:
    lines = _lines(direction, kind)
    assert lines[0].split("\t") == HEADERS[kind]
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        assert len(fields) == len(HEADERS[kind]), f"line {number}"
        for field in fields:
            assert field, f"line {number}"
            assert field == field.strip(), f"line {number}: {field!r}"
            kinds = {unicodedata.category(character) for character in field}
            assert not kinds & {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}, f"line {number}"
            assert unicodedata.is_normalized("NFC", field), f"line {number}"
            assert '"' not in field, f"line {number}"


@each_direction
def test_eleven_documents_of_four_consecutive_segments(direction: str) -> None:
    rows = _rows(direction, "segments")
    documents = list(dict.fromkeys(row["document"] for row in rows))
    assert len(documents) == 11
    expected = [f"{document}-{number}" for document in documents for number in range(1, 5)]
    assert [row["segment"] for row in rows] == expected
    assert [row["document"] for row in rows] == [s.rpartition("-")[0] for s in expected]


@each_direction
def test_sources_and_references_are_unique_and_in_their_language(direction: str) -> None:
    rows = _rows(direction, "segments")
    for field, language in zip(("source", "reference"), direction.split("-"), strict=True):
        texts = [row[field] for row in rows]
        assert len(set(texts)) == len(texts)
        assert [text for text in texts if not _is_in(text, language)] == []


def test_english_sentences_have_18_to_35_words() -> None:
    lengths = {r["segment"]: len(r["source"].split()) for r in _rows("en-zh", "segments")}
    assert {s: n for s, n in lengths.items() if not 18 <= n <= 35} == {}


def test_both_directions_use_the_same_pairs() -> None:
    forward, backward = (_rows(direction, "segments") for direction in DIRECTIONS)
    swapped = [row | {"source": row["reference"], "reference": row["source"]} for row in backward]
    assert forward == swapped


@each_direction
def test_every_segment_system_and_ratio_once(direction: str) -> None:
    counts = Counter(
        (row["segment"], row["system"], row["length_ratio"]) for row in _rows(direction, "outputs")
    )
    segments = [row["segment"] for row in _rows(direction, "segments")]
    assert counts == Counter((s, m, r) for s in segments for m in SYSTEMS for r in RATIOS)


@each_direction
def test_outputs_are_in_the_target_language_and_no_reference(direction: str) -> None:
    references = {row["reference"] for row in _rows(direction, "segments")}
    for row in _rows(direction, "outputs"):
        assert _is_in(row["output"], direction[-2:]), row
        assert row["output"] not in references, row


@each_direction
def test_texts_are_identical_across_systems_in_three_to_five_places_only(direction: str) -> None:
    places = defaultdict(list)
    for row in _rows(direction, "outputs"):
        places[row["output"]].append(row)
    shared = [rows for rows in places.values() if len(rows) > 1]
    assert 3 <= len(shared) <= 5
    for rows in shared:
        assert len({(r["segment"], r["length_ratio"], r["adequacy"]) for r in rows}) == 1, rows
        assert len({r["system"] for r in rows}) == len(rows), rows


@each_direction
@each_ratio
def test_prefix_token_keeps_within_12_percent_of_the_required_length(
    direction: str, ratio: str
) -> None:
    shares = _length_shares(direction, "prefix-token", ratio)
    off = {s: share for s, share in shares.items() if abs(share / float(ratio) - 1) > 0.12}
    assert off == {}


@each_direction
@pytest.mark.parametrize("system", SYSTEMS)
@each_ratio
def test_every_system_is_near_the_required_length_on_average(
    direction: str, system: str, ratio: str
) -> None:
    shares = _length_shares(direction, system, ratio)
    assert mean(shares.values()) == pytest.approx(float(ratio), rel=0.10)


@each_direction
@each_ratio
def test_systems_differ_clearly_in_adequacy_yet_overlap(direction: str, ratio: str) -> None:
    values = _adequacy(direction, ratio)
    assert all(0 <= value <= 100 for scores in values.values() for value in scores)
    good, middling, poor = (values[system] for system in SYSTEMS)
    assert mean(good) > mean(middling) + 10 > mean(poor) + 20
    assert min(good) < mean(middling) < max(poor)


@each_direction
def test_every_system_loses_adequacy_when_half_the_length_is_left(direction: str) -> None:
    long, short = (_adequacy(direction, ratio) for ratio in RATIOS)
    assert [s for s in SYSTEMS if mean(long[s]) <= mean(short[s])] == []


@each_direction
def test_some_outputs_need_escaping(direction: str) -> None:
    text = "\n".join(row["output"] for row in _rows(direction, "outputs"))
    assert "<" in text
    assert re.search("[\U0001f300-\U0001faff]", text)
    assert re.search("[0-9]", text)
