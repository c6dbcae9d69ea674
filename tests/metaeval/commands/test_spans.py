"""``python -m metaeval spans`` over rows of spans, WMT25's lists, and files that are wrong."""

import json

import pytest

from metaeval.commands import main
from tests.metaeval.published import table
from tests.refusals import has

HEADER = "set\tsystem\tsegment\tstart\tend\tseverity\n"


def run(capsys, *arguments):
    code = main(["spans", *map(str, arguments), "--output", "json"])
    said = capsys.readouterr()
    return code, json.loads(said.out) if code == 0 else said.err


@pytest.fixture
def published(tmp_path):
    """Two of the sets of `spans/`, with a row for each output without a span."""
    marks, judged = (table(f"spans/en-de/{name}.tsv") for name in ("spans", "judgments"))
    wanted = ("ESA-1", "ESA-2")
    rows = [
        row for row in zip(*(judged[c] for c in ("set", "system", "seg")), strict=True)
        if row[0] in wanted
    ]  # fmt: skip
    lines = ["\t".join((*row, "-1", "-1", "no-error")) for row in rows]
    columns = [marks[c] for c in ("set", "system", "seg", "start", "end", "severity", "side")]
    lines += ["\t".join(r[:6]) for r in zip(*columns, strict=True)
              if r[0] in wanted and r[6] == "target"]  # fmt: skip
    file = tmp_path / "spans.tsv"
    file.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_published_sets(published, capsys):
    code, found = run(capsys, published, "--gold", "ESA-2", "--resamples", 200)
    assert code == 0
    detector, silent = found["detectors"]
    assert (detector["detector"], detector["n"]) == ("ESA-1", 2028)
    values = [detector[name] for name in ("precision", "recall", "f1")]
    assert values == pytest.approx([0.2474, 0.0820, 0.1232], abs=6e-5)
    assert detector["f1_low"] < detector["f1"] < detector["f1_high"]
    assert (silent["f1"], silent["other"]) == (0, "ESA-1")
    assert silent["p"] < 0.05
    assert found["sets against each other"]["f1"] == pytest.approx(detector["f1"])


def test_lists_as_in_wmt25(tmp_path, capsys):
    file = tmp_path / "lists.tsv"
    file.write_text(
        "set\tsystem_id\tsegment_id\tstart_indices\tend_indices\terror_types\n"
        "human\tA\t1\t0 6\t3 9\tmajor minor\nhuman\tA\t2\t-1\t-1\tno-error\n"
        "metric\tA\t1\t0\t3\tminor\nmetric\tA\t2\tmissing\tmissing\tmajor\n"
    )
    code, found = run(capsys, file, "--gold", "human", "--measure", "characters")
    assert code == 0
    row = found["detectors"][0]
    # 4 and 8 characters where ends are included: half credit for another severity.
    assert [row["precision"], row["recall"]] == pytest.approx([0.5, 1.5 / 6])
    code, found = run(capsys, file, "--gold", "human", "--measure", "characters", "--ends-included")
    assert found["detectors"][0]["recall"] == pytest.approx(2 / 8)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("m\tA\t1\t5\t2\tminor", "spans.ends-before-start"),
        ("m\tA\t1\tx\t2\tminor", "spans.no-whole-numbers"),
        ("m\tA\t1\t1 2\t2\tminor", "spans.unequal-lists"),
        ("m\tB\t9\t1\t2\tminor", "command.no-gold-outputs"),
        ("\tA\t1\t1\t2\tminor", "line 3: Field set"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, capsys, row, message):
    file = tmp_path / "wrong.tsv"
    file.write_text(f"{HEADER}human\tA\t1\t0\t3\tminor\n{row}\n")
    code, said = run(capsys, file, "--gold", "human")
    assert code == 2
    assert has(said, message)


def test_each_judgment_of_several_people_is_gold(tmp_path, capsys):
    """Two judged the first output, one of them the second; the metric agrees with one on it."""
    people, metric = tmp_path / "people.tsv", tmp_path / "metric.tsv"
    people.write_text(
        f"{HEADER}a\tA\t1\t0\t4\tminor\nb\tA\t1\t6\t8\tmajor\nb\tA\t2\t\t\tno-error\n"
    )
    metric.write_text(f"{HEADER}m\tA\t1\t0\t4\tminor\nm\tA\t2\t\t\tno-error\n")
    code, found = run(capsys, metric, "--people", people)
    assert code == 0
    row, silent = found["detectors"]
    # One of two spans of gold, by one of the two that are compared.
    assert (row["n"], row["precision"], row["recall"], silent["n"]) == (3, 0.5, 0.5, 3)
    assert found["gold"] == "a, b"
    assert found["sets against each other"]["n"] == 0
