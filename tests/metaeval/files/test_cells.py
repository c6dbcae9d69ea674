"""Missing scores in tables, in every spelling, over the library and its commands."""

import csv
import json

import numpy as np
import pytest
import scipy.stats

from metaeval.commands import main
from metaeval.files import (
    FormatError,
    read_da,
    read_evalset,
    read_score_table,
    write_evalset,
)
from metaeval.files.cells import is_missing, read_score
from metaeval.files.text import plain_number, plain_numbers
from metaeval.results import MissingDataWarning
from tests.metaeval.files.test_interchange import small
from tests.metaeval.published import CASES
from tests.refusals import refused, tells

SCORES = CASES / "scores"
MARKERS = (
    *("", " ", "nan", "NaN", "NAN", "-nan", "NA", "na", "N/A", "n/a", "#N/A", "None", "none"),
    *("null", "NULL", "inf", "-inf", "Inf", "-Infinity", "1e999", "<NA>", "-", " NA ", "–"),
)
SAYING = tuple(marker for marker in MARKERS if marker.strip())


@pytest.mark.parametrize("marker", [*MARKERS, None, float("nan"), float("inf"), -float("inf")])
def test_a_marker_is_a_missing_score(marker):
    assert is_missing(marker)
    assert np.isnan(read_score(marker))


@pytest.mark.parametrize("word", ["x", "1_000", "three", "0,5", "1 2", True, [1], {"a": 1}])
def test_another_word_is_neither_missing_nor_a_score(word):
    assert not is_missing(word)
    assert read_score(word) is None


def columns_of(path, separator="\t"):
    """The columns of a table by another reader; what is no finite number is nan."""
    with path.open(encoding="utf-8", newline="") as lines:
        head, *rows = csv.reader(lines, delimiter=separator)

    def value(text):
        try:
            return float(text)
        except ValueError:
            return np.nan

    found = {name: np.array([value(row[i]) for row in rows]) for i, name in enumerate(head)}
    return {name: np.where(np.isfinite(each), each, np.nan) for name, each in found.items()}


@pytest.mark.parametrize("name", ["base", "nan", "none", "inf", "humanNA", "csv"])
def test_the_commands_leave_out_missing_cells_and_count_them(capsys, name):
    path = SCORES / f"{name}.{'csv' if name == 'csv' else 'tsv'}"
    options = ["--human", "human", "--with-human", "--output", "json"]
    assert main(["correlate", str(path), *options]) == 0
    captured = capsys.readouterr()
    found = {row["metric"]: row for row in json.loads(captured.out)["metrics"]}
    columns = columns_of(path, "," if name == "csv" else "\t")
    human = columns["human"]
    for metric in ("good", "poor"):
        both = ~np.isnan(human + columns[metric])
        expected = scipy.stats.pearsonr(human[both], columns[metric][both]).statistic
        assert found[metric]["statistic"] == pytest.approx(expected, abs=1e-12)
        assert found[metric]["n"] == both.sum()
    for column in ("human", "good", "poor"):
        if missing := int(np.isnan(columns[column]).sum()):
            assert f"{column}: {missing} of 200 scores" in captured.err
    assert (tells(captured.err, "table.infinite", column="good", n=5)) == (name == "inf")


def test_both_metrics_of_a_table_with_missing_cells_are_compared(capsys):
    options = ["--human", "human", "--resamples", "19", "--output", "json"]
    assert main(["compare", str(SCORES / "none.tsv"), *options]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"] == ["good", "poor"]


@pytest.mark.parametrize("marker", SAYING)
@pytest.mark.parametrize("column", ["h", "m"])
@pytest.mark.parametrize("separator", ["\t", ","])
def test_every_marker_counts_as_missing_in_every_column(
    tmp_path, capsys, marker, column, separator
):
    path = tmp_path / "scores.tsv"
    rows = [["system", "seg", "h", "m"], *(["A", str(i), str(i), str(i * i)] for i in range(6))]
    rows[3][2 if column == "h" else 3] = marker
    path.write_text("".join(separator.join(row) + "\n" for row in rows), encoding="utf-8")
    for asked in ([], ["--metric", "m"]):
        options = ["--human", "h", "--grouping", "none", "--output", "json", *asked]
        assert main(["correlate", str(path), *options]) == 0
        captured = capsys.readouterr()
        assert json.loads(captured.out)["metrics"][0]["n"] == 5
        assert f"{column}: 1 of 6 scores" in captured.err


@pytest.mark.parametrize("marker", SAYING)
def test_every_marker_counts_as_missing_in_the_files_of_wmt(tmp_path, marker):
    word = marker.strip()
    write_evalset(small(), tmp_path)
    (tmp_path / "metric-scores/en-de/m-refA.seg.score").write_text(f"A\t1\nA\t{word}\nA\t3\n")
    found = read_evalset(tmp_path, "en-de").metrics()["m-refA"].values
    np.testing.assert_array_equal(found, [[1, np.nan, 3]])
    path = tmp_path / "da.csv"
    path.write_text(f"LP SID SYSTEM HUMAN\nen-de 1 A 0.5\nen-de 2 A {word}\n")
    np.testing.assert_array_equal(read_da(path)["en-de"].values, [[0.5, np.nan]])


def test_a_word_is_an_error_in_a_column_that_was_asked_for_and_an_omission_elsewhere(
    tmp_path, capsys
):
    path = tmp_path / "scores.tsv"
    path.write_text("system\tseg\th\tm\tn\nA\t1\t1\t2\t3\nA\t2\t2\tgood\t4\nA\t3\t5\t1\t4\n")
    assert main(["correlate", str(path), "--human", "h", "--metric", "m"]) == 2
    refusal = capsys.readouterr().err
    assert "line 3" in refusal
    assert tells(refusal, "field.no-number", field="m", text="good")
    assert main(["correlate", str(path), "--human", "h"]) == 0
    captured = capsys.readouterr()
    assert tells(captured.err, "table.column-not-numbers", column="m", n=1, total=3, example="good")
    assert captured.out.splitlines()[1].startswith("n\t")
    assert main(["correlate", str(path), "--human", "m"]) == 2
    refusal = capsys.readouterr().err
    assert "line 3" in refusal
    assert tells(refusal, "field.no-number", field="m", text="good")


def test_a_column_of_missing_scores_alone_is_left_out_with_a_warning(tmp_path):
    path = tmp_path / "scores.tsv"
    path.write_text("system\tseg\th\tm\nA\t1\t1\tNA\nA\t2\t2\tNA\n")
    with pytest.warns(MissingDataWarning) as caught:
        assert list(read_score_table(path)) == ["h"]
    warned = caught[0].message.message
    assert (warned.code, warned.parameters) == ("table.column-missing", {"column": "m", "n": 2})
    assert np.isnan(read_score_table(path, columns=["m"])["m"].values).all()


def test_quoted_csv_is_read_and_broken_csv_is_an_error(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text('system,seg,"note, of two lines",m\n"A, B",1,"a\nb",0.5\n"A, B",2,,1\n')
    found = read_score_table(path)
    assert found["m"].systems == ("A, B",)
    assert found["m"].values.tolist() == [[0.5, 1.0]]
    path.write_text('system,seg,m\nA,1,"0.5\n')
    with refused("table.csv", kind=FormatError) as caught:
        read_score_table(path)
    assert caught.value.line == 2


def test_the_human_column_may_be_a_penalty(tmp_path, capsys):
    """Penalties and their negation give the same correlations, whether inferred or stated."""
    rng = np.random.default_rng(3)
    penalty = rng.exponential(3, 40).round(3)
    metric = (-penalty + rng.normal(size=40)).round(3)
    found = []
    for name, values, options in (
        ("mqm", penalty, []),
        ("mqm", -penalty, []),
        ("judged", penalty, ["--lower", "judged"]),
        ("judged", -penalty, []),
    ):
        path = tmp_path / "scores.tsv"
        rows = [f"{'AB'[i % 2]}\t{i // 2}\t{values[i]}\t{metric[i]}" for i in range(40)]
        path.write_text("\n".join([f"system\tseg\t{name}\tm", *rows]) + "\n")
        assert main(["correlate", str(path), "--human", name, "--output", "json", *options]) == 0
        captured = capsys.readouterr()
        assert "correlates negatively" not in captured.err
        found.append(json.loads(captured.out)["metrics"][0]["statistic"])
    assert found == pytest.approx([found[0]] * 4, abs=1e-12)
    assert found[0] > 0.5
    path.write_text(path.read_text().replace("\t-", "\t"))
    assert main(["correlate", str(path), "--human", "judged", "--lower", "m"]) == 0
    assert main(["correlate", str(path), "--human", "judged"]) == 0
    said = capsys.readouterr().err
    assert tells(said, "command.all-negative")
    assert "--lower judged" in said


def test_an_unclear_direction_has_to_be_stated(tmp_path, capsys):
    path = tmp_path / "scores.tsv"
    rows = [f"A\t{i}\t{i}\t{i - 3}" for i in range(8)]
    path.write_text("\n".join(["system\tseg\th\tTER", *rows]) + "\n")
    assert main(["correlate", str(path), "--human", "h"]) == 2
    assert tells(capsys.readouterr().err, "direction.unclear")
    assert main(["correlate", str(path), "--human", "h", "--higher", "TER"]) == 0


@pytest.mark.parametrize("command", ["correlations", "systems", "question"])
def test_the_commands_of_bundles_take_penalties_of_humans_too(tmp_path, capsys, command):
    rng = np.random.default_rng(5)
    path = tmp_path / "scores.tsv"
    penalty = rng.exponential(2, 60).round(3)
    found = []
    for values, options in ((-penalty, []), (penalty, ["--lower", "mqm"])):
        rows = [
            f"{'ABC'[i % 3]}\t{i // 3}\t{value}\t{round(5 - penalty[i] / 2 + i % 5, 3)}"
            for i, value in enumerate(values)
        ]
        path.write_text("\n".join(["system\tsegment\tmqm\tm", *rows]) + "\n")
        asked = {"question": ["--statistic", "pearson"], "correlations": ["--hybrids", "10"]}
        arguments = [command, str(path), "--human", "mqm", *asked.get(command, []), *options]
        assert main([*arguments, "--output", "json"]) == 0
        captured = capsys.readouterr()
        assert "use --lower" not in captured.err
        found.append(captured.out)
    assert found[0] == found[1]
    assert main(arguments[:-2]) == 0
    assert tells(capsys.readouterr().err, "command.maybe-lower", name="mqm")


def test_many_numbers_are_written_as_each_is():
    values = [0.1, -0.0, 0.0, 3.0, -7.0, 1e15, 999999999999999.0, 1e16, 1e-7, float("nan"), 2.5e300]
    assert plain_numbers(np.array(values)) == [plain_number(value) for value in values]
    assert plain_numbers(np.array([0.5, np.nan]), empty="None") == ["0.5", "None"]
    assert plain_numbers(np.array([np.inf, -np.inf])) == ["inf", "-inf"]
    assert plain_numbers(np.array([])) == []
