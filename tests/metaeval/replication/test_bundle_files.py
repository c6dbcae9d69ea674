"""Files of a bundle without a database: which judgments filters choose, questions to a table."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from metaeval.commands import main, run_command
from metaeval.files import FormatError, read_score_table
from metaeval.messages import message
from metaeval.replication import judgments, read_judgments, read_scores
from metaeval.replication.judgments import Chosen
from metaeval.results import Interval, StatisticResult, StatisticsWarning
from tests.refusals import refused, tells

# annotator, kind, system, segment, score, is_target, seconds, submitted_at, item, partner, output
LINES = """\
A01	target	s1	1	50	1	10	2026-03-01T00:00:00+00:00	1		1
A01	trap	s1	2	5	0	20	2026-03-01T23:59:59.999999+00:00	2
A01	target	s2	2	60	1	30	2026-03-02T01:00:00+02:00	3		3
A02	target	s1	1	70	1			1		1
A02	gold	s2	3	80	0	40	2026-03-03T12:00:00+00:00	4
A03	target	s2	3	90	1	50	2026-03-04T00:00:00+00:00	5		5
"""
HEAD = "annotator kind system segment score is_target seconds submitted_at item partner output"
SEGMENTS = "segment\tdocument\n1\tclinic\n2\tmarket\n3\tclinic\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # An editor may strip blanks at the end of a line; the bundle has all its tabs.
    lines = [line + "\t" * (10 - line.count("\t")) + "\n" for line in LINES.splitlines()]
    (tmp_path / "judgments.tsv").write_text("\t".join(HEAD.split()) + "\n" + "".join(lines))
    (tmp_path / "annotators.tsv").write_text("annotator\tis_excluded\nA01\t0\nA02\t0\nA03\t0\n")
    (tmp_path / "segments.tsv").write_text(SEGMENTS)
    (tmp_path / "scores.tsv").write_text(
        "system\tsegment\thuman\tup\tdown\n"
        "a\t1\t0.1\t1\t9\na\t2\t0.5\t4\t3\na\t3\t0.9\t8\t1\n"
        "b\t1\t0.3\t2\t5\nb\t2\t0.2\t3\t6\nb\t3\t0.8\t7\t2\n"
    )
    (tmp_path / "metrics.tsv").write_text("metric\tlabel\nup\tUp\ndown\tDown\n")
    return tmp_path


@pytest.mark.parametrize(
    ("chosen", "scores"),
    [
        ({}, [50, 5, 60, 70, 80, 90]),
        ({"without": ["A01"]}, [70, 80, 90]),
        ({"has_controls": False}, [50, 60, 70, 90]),
        ({"documents": ["market"]}, [5, 60]),
        # Days are in UTC and both included; who has no times belongs to none.
        ({"since": "2026-03-01", "until": "2026-03-01"}, [50, 5, 60]),
        ({"since": "2026-03-02"}, [80, 90]),
        ({"until": "2026-03-03"}, [50, 5, 60, 80]),
        ({"min_seconds": 20}, [5, 60, 80, 90]),
        ({"min_seconds": 0}, [50, 5, 60, 80, 90]),
        ({"max_seconds": 30, "without": ["A02"], "has_controls": False}, [50, 60]),
    ],
)
def test_filters_choose_judgments(
    folder: Path, chosen: dict[str, object], scores: list[float]
) -> None:
    options = Chosen(segments=folder / "segments.tsv", **chosen)
    found = read_judgments(folder / "judgments.tsv", folder / "annotators.tsv", options)
    assert found.score.tolist() == scores


@pytest.mark.parametrize(
    ("chosen", "scores"),
    [
        ({"since": "2026-03-02"}, [33, 80, 90]),
        ({"until": "2026-03-01"}, [50, 5, 60]),
        ({"min_seconds": 40}, [80, 90]),
    ],
)
def test_a_day_needs_the_end_alone(
    folder: Path, chosen: dict[str, object], scores: list[float]
) -> None:
    path = folder / "judgments.tsv"
    timed = "A02\ttarget\ts1\t1\t33\t1\t\t2026-03-02T09:00:00+00:00\t1\t\t1\n"
    path.write_text(path.read_text().replace("A02\tgold", timed + "A02\tgold"))
    found = read_judgments(path, folder / "annotators.tsv", Chosen(**chosen))
    assert found.score.tolist() == scores


def test_a_question_to_a_table(folder: Path) -> None:
    words = ["question", "scores.tsv", "--human", "human", "--lower", "down", "--metrics"]
    asked = [*words, "metrics.tsv", "--statistic", "pearson", "--correction", "none"]
    asked += ["--test", "perm"]
    found = run_command(asked, folder)
    human, up = [0.1, 0.5, 0.9, 0.3, 0.2, 0.8], [1, 4, 8, 2, 3, 7]
    down = [-9, -3, -1, -5, -6, -2]
    values = {row["metric"]: row["value"] for row in found["metrics"]}
    assert values["up"] == pytest.approx(stats.pearsonr(human, up).statistic)
    assert values["down"] == pytest.approx(stats.pearsonr(human, down).statistic)
    assert [row["metric"] for row in found["metrics"]] == ["up", "down"]
    first = found["pairs"][0]
    assert first["difference"] == pytest.approx(values["up"] - values["down"])
    # All 2^6 swaps of six cells at most: p cannot be below 1/64.
    assert 1 / 64 <= first["p"] < 0.5
    only = run_command([*asked, "--shown", "down"], folder)
    assert [row["metric"] for row in only["metrics"]] == ["down"]
    expected = found["metrics"][1] | {"rank": 1}
    assert {name: only["metrics"][0][name] for name in ("metric", "value", "rank")} == {
        name: expected[name] for name in ("metric", "value", "rank")
    }
    # Three segments of two systems have no interval.
    assert np.isnan([expected["low"], expected["high"]]).all()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (
            ["--statistic", "pearson", "--shown", "none"],
            "question.unknown-metrics",
        ),
        (["--statistic", "hybrids", "--grouping", "item"], "question.unknown-grouping"),
    ],
)
def test_questions_that_do_not_fit(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: str
) -> None:
    assert main(["question", str(folder / "scores.tsv"), "--human", "human", *words]) == 2
    assert tells(capsys.readouterr().err, code)


def test_documents_need_the_file_of_segments(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people = [str(folder / "judgments.tsv"), "--annotators", str(folder / "annotators.tsv")]
    assert main(["human-scores", *people, "--document", "clinic"]) == 2
    assert "--segments" in capsys.readouterr().err


def test_every_warning_of_a_statistic_has_a_row() -> None:
    notes = tuple(StatisticsWarning(message(f"known.{n}", "Warning {n}.", n=n)) for n in range(3))
    interval = Interval(0.1, 0.9, 0.95)
    parts = {
        "a": StatisticResult(
            n=9, warnings=notes, statistic=0.5, method="bootstrap", interval=interval
        ),
        "b": StatisticResult(n=9, warnings=notes, statistic=0.5, method=None),
    }
    rows = judgments._intervals(parts, "x")
    for name in parts:
        found = {value for key, value in rows.items() if key.startswith(name)}
        assert {note.message for note in notes} <= found


@pytest.mark.parametrize(
    "lines",
    [
        "system\tsegment\th\tm\na\t1\t0.5\t\na\t2\t-1e-07\t3\nb\t1\t1\t2.25\nb\t2\t\t0\n",
        "system\tsegment\tdocument\th\tm\na\t1\td\t1\t2\na\t2\te\t3\t4\nb\t1\td\t5\t6\nb\t2\te\t7\t8\n",
        # Not as a bundle has them: other orders, words, signs and quotation marks.
        "segment\tsystem\th\tm\n1\ta\t1\t2\n2\ta\t3\t4\n",
        "system\tsegment\th\tm\na\t2\t1\t2\nb\t1\t3\t4\nb\t2\t3\t9\na\t1\t7\t8\n",
        "system\tsegment\th\tm\na\t1\t1\t2\nb\t2\t3\t4\n",
        "system\tsegment\th\tm\na\t1\tNA\t 2\nb\t1\t3\tinf\n",
        'system\tsegment\th\tm\n"a"\t1\t0.5\t1\n"b"\t1\t1\t2\n',
        "system\tsegment\th\tm\r\na\t1\t1\t2\r\nb\t1\t3\t4\r\n",
    ],
)
def test_scores_are_those_of_any_table(tmp_path: Path, lines: str) -> None:
    file = tmp_path / "scores.tsv"
    file.write_bytes(lines.encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        found = read_scores(file, "h")
        wanted = read_score_table(file, columns=["h", "m"])
    for name, matrix in (("h", found.human), ("m", found.metrics["m"])):
        assert matrix.systems == wanted[name].systems
        assert matrix.segments == wanted[name].segments
        assert matrix.documents == wanted[name].documents
        np.testing.assert_array_equal(matrix.values, wanted[name].values)
    file.write_bytes(lines.replace("\t2", "\tx2", 1).replace("h\tm", "h\th").encode())
    with refused("table.columns-twice", kind=FormatError):
        read_scores(file, "h")
