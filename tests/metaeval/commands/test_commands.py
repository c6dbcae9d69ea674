"""``python -m metaeval`` over directories, cut files and its own help."""

import argparse
import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from metaeval.commands import main
from metaeval.commands.entry import _parser
from metaeval.files import (
    EvalSet,
    EvalSetScores,
    FormatError,
    evalset_system_scores,
    read_darr,
    read_evalset,
    read_score_table,
    write_evalset,
)
from metaeval.judgments.agreement import krippendorff_alpha
from metaeval.results import ConstantInputWarning
from tests.metaeval.published import numbers, pivot, table
from tests.refusals import refused, tells

PAIR = "en-de"
FOLDER = "wmt23-meta/en-de"
# Shared data, README: system-level r against MQM over the 12 MT systems.
PUBLISHED = {
    "BLEU-refA": 0.917,
    "chrF-refA": 0.866,
    "COMET-refA": 0.990,
    "CometKiwi-src": 0.946,
    "XCOMET-Ensemble-refA": 0.980,
    "GEMBA-MQM-src": 0.993,
    "Random-sysname-src": 0.357,
}


def of_segments(name: str) -> EvalSetScores:
    rows = table(f"{FOLDER}/segment-scores.tsv")
    values, systems, segments = pivot(rows["system"], rows["seg"], numbers(rows[name]))
    order = np.argsort(np.array(segments, dtype=int))
    given = zip(systems, values[:, order], strict=True)
    return EvalSetScores({system: row for system, row in given if not np.isnan(row).all()})


def of_systems(name: str) -> EvalSetScores:
    rows = table(f"{FOLDER}/system-scores.tsv")
    given = zip(rows["system"], numbers(rows[name]), strict=True)
    return EvalSetScores({system: np.array([x]) for system, x in given if not np.isnan(x)})


def wmt23(*, without: tuple[tuple[str, str], ...] = ()) -> EvalSet:
    """WMT23 en-de: MQM and metrics on both levels, except ``without``."""
    documents = table(f"{FOLDER}/documents.tsv")
    size = len(documents["seg"])
    systems = of_segments("mqm").values
    metrics = {(name, "seg"): of_segments(name) for name in PUBLISHED}
    metrics |= {(name, "sys"): of_systems(name) for name in PUBLISHED}
    human = {("mqm", "seg"): of_segments("mqm"), ("mqm", "sys"): of_systems("mqm")}
    return EvalSet(
        name="wmt23",
        language_pair=PAIR,
        sources=("source",) * size,
        documents=tuple(zip(documents["domain"], documents["document"], strict=True)),
        references={"refA": ("reference",) * size},
        outputs=dict.fromkeys(systems, ("output",) * size),
        human_scores={key: each for key, each in human.items() if key not in without},
        metric_scores={key: each for key, each in metrics.items() if key not in without},
    )


@pytest.fixture
def directory(tmp_path):
    def write(**options: object) -> str:
        write_evalset(wmt23(**options), tmp_path / "wmt23")
        return str(tmp_path / "wmt23")

    return write


def run(capsys, *arguments: str) -> tuple[dict[str, dict[str, str]], str]:
    """Return metric -> row, and the text on the standard error."""
    assert main([*arguments, "--human", "mqm", "--language-pair", PAIR, "--without", "refA"]) == 0
    captured = capsys.readouterr()
    head, *lines = [line.split("\t") for line in captured.out.splitlines()]
    return {line[0]: dict(zip(head, line, strict=True)) for line in lines}, captured.err


def test_system_level_correlations_of_a_directory_are_the_published_ones(directory, capsys):
    folder = directory()
    rows, said = run(capsys, "correlate", folder, "--grouping", "system-level")
    assert {name: round(float(row["statistic"]), 3) for name, row in rows.items()} == PUBLISHED
    assert {row["n"] for row in rows.values()} == {"12"}
    assert {row["scores"] for row in rows.values()} == {"sys.score"}
    assert tells(said, "command.origins", human="sys.score")


def test_means_of_segments_can_be_asked_for(directory, capsys):
    rows, said = run(
        capsys, "correlate", directory(), "--grouping", "system-level",
        "--system-scores", "segments", "--metric", "BLEU-refA",
    )  # fmt: skip
    bleu, mqm = of_segments("BLEU-refA").values, of_segments("mqm").values
    both = [(bleu[name][~np.isnan(mqm[name])].mean(), np.nanmean(mqm[name])) for name in bleu]
    expected = np.corrcoef(np.array(both).T)[0, 1]
    assert float(rows["BLEU-refA"]["statistic"]) == pytest.approx(expected, abs=1e-6)
    assert rows["BLEU-refA"]["scores"] == "mean of segments"
    assert tells(said, "command.origins", human="mean of segments")


def test_a_metric_of_systems_only_is_there_and_one_of_segments_is_averaged(directory, capsys):
    folder = directory(without=(("BLEU-refA", "seg"), ("GEMBA-MQM-src", "sys")))
    rows, said = run(capsys, "correlate", folder, "--grouping", "system-level")
    assert round(float(rows["BLEU-refA"]["statistic"]), 3) == PUBLISHED["BLEU-refA"]
    assert rows["GEMBA-MQM-src"]["scores"] == "mean of segments"
    assert "metrics 6 sys.score and 1 mean of segments" in said
    rows, said = run(capsys, "correlate", folder, "--grouping", "item")
    assert "BLEU-refA" not in rows
    assert tells(said, "command.system-scores-only", metrics="BLEU-refA")


def test_humans_without_system_scores_are_averaged_and_metrics_over_the_same(directory):
    folder = directory(without=(("mqm", "sys"), ("GEMBA-MQM-src", "sys")))
    found = evalset_system_scores(read_evalset(folder, PAIR), "mqm")
    assert (found.human_origin, found.origins["BLEU-refA"]) == ("mean of segments", "sys.score")
    published = of_systems("mqm").values
    for system, mean in zip(found.human.systems, found.human.values[:, 0], strict=True):
        assert mean == pytest.approx(published[system][0], abs=1e-6)
    metric = found.metrics["GEMBA-MQM-src"]
    segments, judged = of_segments("GEMBA-MQM-src").values, of_segments("mqm").values
    for system, mean in zip(metric.systems, metric.values[:, 0], strict=True):
        expected = segments[system][~np.isnan(judged[system])].mean()
        assert mean == pytest.approx(expected, abs=1e-12)


def test_metrics_are_compared_over_the_same_system_scores(directory, capsys):
    folder = directory()
    options = ["--grouping", "system-level", "--resamples", "19", "--output", "json"]
    arguments = ["compare", folder, "--human", "mqm", "--language-pair", PAIR, *options]
    assert main([*arguments, "--without", "refA"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = dict(zip(document["metrics"], document["correlations"], strict=True))
    assert {name: round(value, 3) for name, value in found.items()} == PUBLISHED
    assert document["system_scores"] == {"": "sys.score"} | dict.fromkeys(PUBLISHED, "sys.score")


def test_soft_pairwise_accuracy_is_made_of_segments(directory, capsys):
    rows, said = run(
        capsys, "correlate", directory(), "--correlation", "soft_pairwise_accuracy",
        "--metric", "GEMBA-MQM-src",
    )  # fmt: skip
    assert float(rows["GEMBA-MQM-src"]["statistic"]) > 0.8
    assert "system scores" not in said


def test_a_constant_metric_has_neither_p_nor_rank(tmp_path, capsys):
    path = tmp_path / "scores.tsv"
    scores = np.random.default_rng(0).normal(size=(3, 12)).round(2)
    rows = [
        f"{'ABC'[i]}\t{j}\t{score}\t{score + (j % 3)}\t1"
        for (i, j), score in np.ndenumerate(scores)
    ]
    path.write_text("\n".join(["system\tseg\th\tm\tflat", *rows]) + "\n")
    assert main(["compare", str(path), "--human", "h", "--correlation", "acc_eq"]) == 0
    captured = capsys.readouterr()
    head, *lines = [line.split("\t") for line in captured.out.splitlines()]
    found = {line[0]: dict(zip(head, line, strict=True)) for line in lines}
    assert (found["flat"]["p"], found["flat"]["rank"]) == ("", "")
    assert found["m"]["rank"] == "1"
    assert tells(captured.err, "pairs.constant-metric")


@pytest.mark.parametrize(
    ("options", "is_told"),
    [([], True), (["--swap", "inputs"], False), (["--grouping", "item"], False)],
)
def test_swapping_outputs_one_by_one_is_said_to_find_too_much(tmp_path, capsys, options, is_told):
    path = tmp_path / "scores.tsv"
    scores = np.random.default_rng(1).normal(size=(3, 10, 3)).round(2)
    rows = [f"{'ABC'[i]}\t{j}\t" + "\t".join(map(str, scores[i, j])) for i, j in np.ndindex(3, 10)]
    path.write_text("\n".join(["system\tseg\th\tm\tn", *rows]) + "\n")
    assert main(["compare", str(path), "--human", "h", "--resamples", "19", *options]) == 0
    assert (tells(capsys.readouterr().err, "test.swaps-outputs")) == is_told


@pytest.fixture
def edits(tmp_path):
    """Edits that grow where people find less, and a metric that knows less of it."""
    rng = np.random.default_rng(1)
    lines = ["system\tsegment\thuman\tTER\tchrF"]
    for place in range(200):
        human = rng.normal()
        scores = human, 50 - 10 * human + rng.normal(), human + 3 * rng.normal()
        lines.append("\t".join([f"s{place % 4}", f"{place // 4}", *map(str, scores)]))
    (tmp_path / "scores.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(tmp_path / "scores.tsv")


def test_a_metric_that_is_better_when_lower_is_turned(edits, capsys):
    """TER is known by its name; as better when higher, which can be stated, it loses."""
    asked = ["compare", edits, "--human", "human", "--grouping", "none", "--output", "json"]
    assert main([*asked, "--higher", "TER"]) == 0
    straight = capsys.readouterr()
    assert tells(straight.err, "direction.higher")
    assert tells(straight.err, "direction.stated")
    assert main(asked) == 0
    turned = capsys.readouterr()
    assert tells(turned.err, "direction.lower")
    assert tells(turned.err, "direction.error-rate")
    before, after = json.loads(straight.out), json.loads(turned.out)
    assert "lower" not in before
    assert after["lower"] == ["TER"]
    columns = np.genfromtxt(edits, delimiter="\t", skip_header=1, usecols=(2, 3, 4)).T
    ter, chrf = np.corrcoef(columns)[0, 1:]
    assert before["correlations"] == pytest.approx([ter, chrf])
    assert after["correlations"] == pytest.approx([-ter, chrf])
    assert (before["ranks"], after["ranks"]) == ([2, 1], [1, 2])
    assert main(["correlate", edits, "--human", "human", "--lower", "TER"]) == 0
    assert float(capsys.readouterr().out.splitlines()[1].split("\t")[1]) > 0.9
    assert main([*asked, "--lower", "ter"]) == 2
    assert (
        "has no ter, which --lower names. It has: human, TER and chrF." in capsys.readouterr().err
    )
    assert main([*asked, "--lower", "TER", "--higher", "TER"]) == 2
    assert tells(capsys.readouterr().err, "command.both-directions", name="TER")


def test_unknown_human_scores_are_named(directory, capsys):
    arguments = ["correlate", directory(), "--language-pair", PAIR, "--grouping", "system-level"]
    assert main([*arguments, "--human", "esa"]) == 2
    assert re.search(r"“esa” .*: mqm\.$", capsys.readouterr().err, re.MULTILINE)


HEAD = "system\tseg\th\tm\n"


@pytest.mark.parametrize(
    ("text", "n", "field"),
    [(HEAD + "A\t1\t5\t1\nA\t2\t5\n", 3, "m"), (HEAD + "A\t1\t5\t1\nA\n", 1, "seg")],
)
def test_a_row_that_was_cut_off_is_no_missing_score(tmp_path, capsys, text, n, field):
    path = tmp_path / "scores.tsv"
    path.write_text(text)
    with refused("table.field-missing", kind=FormatError, expected=4, n=n, field=field) as caught:
        read_score_table(path)
    assert caught.value.line == 3
    assert main(["correlate", str(path), "--human", "h"]) == 2
    assert str(caught.value) in capsys.readouterr().err


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_empty_field_at_the_end_of_a_row_is_a_missing_score(tmp_path, end):
    path = tmp_path / "scores.tsv"
    rows = ["system\tseg\th\tm", "A\t1\t5\t1", "A\t2\t5\t", "A\t3\t\t", "A\t4\t1\t2\t"]
    path.write_bytes((end.join(rows) + end).encode())
    scores = read_score_table(path)
    np.testing.assert_array_equal(scores["m"].values, [[1.0, np.nan, np.nan, 2.0]])
    path.write_text("system\tseg\th\t\nA\t1\t5\nA\t2\t6\t\n")
    assert read_score_table(path)["h"].values.tolist() == [[5.0, 6.0]]


def judgments(tmp_path) -> tuple[str, np.ndarray]:
    """Three annotators rate the outputs of two systems; returns the file and the ratings."""
    rng = np.random.default_rng(4)
    quality = rng.normal(50, 20, size=24)
    ratings = (quality + rng.normal(0, 10, size=(3, 24))).round()
    lines = [
        f"{who}\t{'AB'[k % 2]}\t{k // 2}\t{score:g}"
        for who, row in zip("xyz", ratings, strict=True)
        for k, score in enumerate(row)
    ]
    path = tmp_path / "judgments.tsv"
    path.write_text("\n".join(["annotator\tsystem\tsegment\tscore", *lines]) + "\n")
    return str(path), ratings


def test_the_table_of_human_says_what_the_document_does(tmp_path, capsys):
    path, ratings = judgments(tmp_path)
    z = (ratings - ratings.mean(axis=1, keepdims=True)) / ratings.std(axis=1, ddof=1, keepdims=True)
    expected = krippendorff_alpha(z).statistic
    assert main(["human", path]) == 0
    *rows, alpha, rest = capsys.readouterr().out.splitlines()
    assert sorted(row.split("\t")[0] for row in rows) == ["A", "B", "system"]
    assert main(["human", path, "--output", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["alpha"]["statistic"] == pytest.approx(expected, rel=1e-9)
    low, high, _ = document["alpha"]["interval"]
    assert alpha.startswith(
        f"# Krippendorff's alpha (interval): {expected:.6g} [{low:.6g}, {high:.6g}], 95%"
    )
    assert alpha.endswith("72 z-scores of 24 outputs with two or more")
    assert rest.startswith("# one-vs-rest Pearson: 0.")


def test_human_takes_documents_as_units_where_segments_share_them(tmp_path, capsys):
    """Six documents of two segments; a column of single ones changes nothing but itself."""
    path, _ = judgments(tmp_path)
    lines = Path(path).read_text().splitlines()
    found = {}
    for name, size in (("none", 0), ("single", 1), ("pairs", 2)):
        rows = (
            [f"{row}\td{int(row.split()[2]) // size}" for row in lines[1:]] if size else lines[1:]
        )
        file = tmp_path / f"{name}.tsv"
        file.write_text("\n".join([lines[0] + "\tdocument" * bool(size), *rows]) + "\n")
        assert main(["human", str(file), "--output", "json"]) == 0
        found[name] = json.loads(capsys.readouterr().out)
    assert found["none"] == found["single"]
    for key in ("ranking", "agreement"):
        assert (found["none"][key]["unit"], found["pairs"][key]["unit"]) == (
            "segments",
            "documents",
        )
        assert found["pairs"][key]["n_units"] == 6
    assert found["pairs"]["alpha"]["statistic"] == found["none"]["alpha"]["statistic"]
    assert found["pairs"]["alpha"]["interval"] != found["none"]["alpha"]["interval"]
    assert main(["human", str(tmp_path / "pairs.tsv")]) == 0
    out = capsys.readouterr().out
    assert "24 outputs" in out
    assert "6 documents" in out


def test_trial_takes_documents_as_units_beside_annotators(tmp_path, capsys):
    rng, lines = np.random.default_rng(4), []
    for who, text in product(range(6), range(24)):
        condition = ("blank", "prefilled")[int(rng.random() < 0.5)]
        lines.append(f"A{who}\to{text}\t{condition}\t{rng.normal(60, 9):.2f}\td{text // 3}")
    path = tmp_path / "trial.tsv"
    head = "annotator\toutput\tcondition\tscore"
    path.write_text("\n".join([head + "\tdocument", *lines]) + "\n")
    assert main(["trial", str(path), "--output", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["effects"]["score"]
    assert (found["unit"], found["n_units"]) == ("documents", 8)
    path.write_text("\n".join([head, *(line.rsplit("\t", 1)[0] for line in lines)]) + "\n")
    assert main(["trial", str(path), "--output", "json"]) == 0
    alone = json.loads(capsys.readouterr().out)["effects"]["score"]
    assert (alone["unit"], alone["statistic"]) == ("segments", found["statistic"])


def test_undefined_agreement_is_said_with_its_reason(tmp_path, capsys):
    path = tmp_path / "judgments.tsv"
    rows = [f"x\t{system}\t{k}\t{k + (system == 'B')}" for system in "AB" for k in range(5)]
    path.write_text("\n".join(["annotator\tsystem\tsegment\tscore", *rows]) + "\n")
    assert main(["human", str(path)]) == 0
    remarks = [line for line in capsys.readouterr().out.splitlines() if line.startswith("#")]
    assert "alpha (interval): undefined" in remarks[0]
    assert remarks[2].startswith("# warning: ")


def test_agreement_names_the_metric_of_a_warning(tmp_path, capsys):
    path = tmp_path / "scores.tsv"
    # The flat metric has no curve; that of the other has no interval over three systems.
    rows = [f"{k}\t1\t{k}\t{k * k}\t1" for k in range(3)]
    path.write_text("\n".join(["system\tsegment\thuman\tslope\tflat", *rows]) + "\n")
    assert main(["agreement", str(path), "--human", "human"]) == 0
    lines = [row for row in capsys.readouterr().err.splitlines() if row.startswith("warning: ")]
    assert [line.split()[1] for line in lines] == ["slope:", "flat:"]


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {name: each for action in actions for name, each in action.choices.items()}


@pytest.mark.parametrize("name", subparsers(_parser()))
def test_every_option_has_help(name):
    silent = [
        action.dest for action in subparsers(_parser())[name]._actions if not (action.help or "")
    ]
    assert silent == []
    assert name in _parser().format_help()


def test_relative_ranks_of_a_metric_that_ties_all_are_undefined(tmp_path):
    path = tmp_path / "darr.csv"
    path.write_text("LP SID BETTER WORSE\nde-en 1 A B\nde-en 2 B A\n")
    ranks = read_darr(path)["de-en"]
    da = tmp_path / "scores.tsv"
    da.write_text("system\tseg\tm\nA\t1\t2\nB\t1\t2\nA\t2\t2\nB\t2\t2\n")
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(ranks.kendall_like(read_score_table(da)["m"]).statistic)


def test_darr_of_a_file_of_ranks(tmp_path, capsys):
    """Over the listed pairs alone; a tie of the metric counts as wrong; errors are negated."""
    path, scores = tmp_path / "RR-seglevel.csv", tmp_path / "scores.tsv"
    ranks = "LP DATA SID BETTER WORSE\nde-en t 1 A B\nde-en t 1 A C\nde-en t 2 B A\nen-de t 1 B A\n"
    path.write_text(ranks)
    scores.write_text(
        "system\tseg\tm\tTER\tda\n"
        "A\t1\t3\t10\t1\nB\t1\t1\t20\t1\nC\t1\t3\t30\t1\n"
        "A\t2\t1\t50\t1\nB\t2\t2\t40\t1\n"
    )
    words = ["correlate", str(scores), "--ranks", str(path), "--metric", "m", "--metric", "TER"]
    assert main([*words, "--language-pair", "de-en", "--output", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["metric"]: (row["statistic"], row["n"]) for row in found["metrics"]}
    assert rows == {"m": (pytest.approx(1 / 3), 3), "TER": (1.0, 3)}
    assert found["lower"] == ["TER"]
    assert main(words) == 2
    assert "de-en and en-de" in capsys.readouterr().err
    assert main([*words, "--language-pair", "de-en", "--resamples", "9"]) == 2
    assert main(["correlate", str(scores)]) == 2
    assert "--human" in capsys.readouterr().err


def test_the_threshold_of_darr_is_chosen(tmp_path, capsys):
    scores = tmp_path / "scores.tsv"
    scores.write_text("system\tseg\th\tm\nA\t1\t90\t1\nB\t1\t60\t2\nC\t1\t50\t0\n")
    words = ["correlate", str(scores), "--human", "h", "--correlation", "kendall_like"]
    values = []
    for more in ([], ["--threshold", "35"]):
        assert main([*words, *more, "--output", "json"]) == 0
        values.append(json.loads(capsys.readouterr().out)["metrics"][0]["statistic"])
    # A-B is wrong and A-C right; 35 points apart are only A and C.
    assert values == [0.0, 1.0]
