import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from metaeval.commands import main
from metaeval.correlation import pearson
from metaeval.files import (
    EvalSet,
    EvalSetScores,
    FormatError,
    read_da,
    read_darr,
    read_evalset,
    read_mqm,
    read_score_table,
    write_evalset,
    write_score_table,
)
from metaeval.files.evalset.folder import read_scores
from metaeval.messages import DataError
from tests.metaeval.published import DATA, table
from tests.refusals import has, refused, tells

RATING = json.dumps({"errors": [{"start": 0, "end": 1, "category": "x", "severity": "minor"}]})


def small() -> EvalSet:
    return EvalSet(
        name="set",
        language_pair="en-de",
        sources=("a", "b\u2028c", "d"),
        documents=(("news", "d1"), ("news", "d1"), ("chat", "d2")),
        references={"refA": ("r", "s", "t")},
        outputs={"Z.1-x": ("u", None, ""), "A": ("v", "w", "x")},
        human_scores={
            ("mqm", "seg"): EvalSetScores({"Z.1-x": np.array([-1.0, np.nan, 0.1])}),
            ("mqm", "sys"): EvalSetScores({"A": np.array([2.0])}),
            ("mqm", "doc"): EvalSetScores({"A": np.array([2.0, 3.0])}),
            ("mqm", "domain"): EvalSetScores({"A": np.array([2.0, 3.0])}, ("news", "chat")),
        },
        metric_scores={
            ("m-refA", "seg"): EvalSetScores(
                {"Z.1-x": np.array([0.1, 1 / 3, 5.0]), "A": np.array([1.0, 2.0, 3.0])}
            )
        },
        ratings={"mqm": {"A": ((RATING, "r1"), (None, None), (RATING, "r2"))}},
        metadata={"A": ('{"k": 1}',)},
    )


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_written_set_reads_back_and_gives_the_same_bytes(tmp_path):
    write_evalset(small(), tmp_path / "set")
    again = read_evalset(tmp_path / "set", "en-de")
    assert again.outputs["Z.1-x"] == ("u", None, "")
    assert again.sources[1] == "b\u2028c"
    assert again.ratings["mqm"]["A"][0] == (RATING, "r1")
    assert list(again.metric_scores["m-refA", "seg"].values) == ["Z.1-x", "A"]
    assert again.metrics()["m-refA"].values[0, 1] == 1 / 3
    assert np.isnan(again.human("mqm").values[0, 1])
    write_evalset(again, tmp_path / "two")
    assert contents(tmp_path / "two") == contents(tmp_path / "set")


def test_json_lines_stand_in_for_text(tmp_path):
    write_evalset(small(), tmp_path)
    (tmp_path / "sources" / "en-de.txt").unlink()
    lines = [json.dumps({"source": text}) for text in "abd"]
    (tmp_path / "sources" / "en-de.jsonl").write_text("\n".join(lines) + "\n")
    assert read_evalset(tmp_path, "en-de").sources == ("a", "b", "d")


@pytest.mark.parametrize(
    ("file", "text", "line", "code"),
    [
        ("human-scores/en-de.mqm.seg.score", "A\tx\n", 1, "field.no-number"),
        ("human-scores/en-de.mqm.seg.score", "A\t1\n", None, "evalset.scores"),
        ("human-scores/en-de.mqm.seg.score", "B\t1\n" * 3, None, "evalset.no-outputs"),
        ("metric-scores/en-de/m-refA.seg.score", "A\t1\nA\tgood\n", 2, "field.no-number"),
        ("metric-scores/en-de/m-refA.score", "A\t1\n", None, "evalset.level"),
        ("system-outputs/en-de/A.txt", "v\n", None, "evalset.lines"),
        ("documents/en-de.docs", "n d\nn e\nn d\n", 3, "evalset.document-split"),
        ("human-scores/en-de.mqm.seg.rating", "A\t{}\n", 1, "evalset.rating-json"),
    ],
)
def test_errors_name_file_line_and_field(tmp_path, file, text, line, code):
    write_evalset(small(), tmp_path)
    (tmp_path / file).write_text(text)
    with pytest.raises(FormatError) as caught:
        read_evalset(tmp_path, "en-de")
    assert (caught.value.message.code, caught.value.line) == (code, line)
    assert file.rsplit("/", 1)[1] in str(caught.value)


def test_what_could_not_be_read_back_is_not_written(tmp_path):
    whole = small()
    for change, code in (
        ({"outputs": {"a b": ("u", "v", "w")}}, "name"),
        ({"references": {"ref-A": ("r",) * 3}}, "reference-name"),
    ):
        ((name, *_),) = change.values()
        with refused(f"evalset.{code}", kind=DataError, name=name):
            write_evalset(EvalSet(**{**vars(whole), **change}), tmp_path / "x")
    # A system may be called as the lists that are compared.
    with refused("argument.lengths", kind=DataError, lengths=[2, 3]):
        write_evalset(
            EvalSet(**{**vars(whole), "outputs": {"segments": ("u", "v")}}), tmp_path / "x"
        )
    with refused("evalset.line-break", kind=DataError, name="sources", segment=1):
        write_evalset(EvalSet(**{**vars(whole), "sources": ("a\n", "b", "c")}), tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_all_7935_published_mqm_scores():
    scores = read_mqm(DATA / "mqm-ted/zh-en/annotations.tsv")["mean"]
    rows = table("mqm-ted/zh-en/seg-scores.tsv")
    at = {name: i for i, name in enumerate(scores.systems)}
    of = {name: j for j, name in enumerate(scores.segments)}
    keys = zip(rows["system"], rows["seg_id"], strict=True)
    found = [scores.values[at[system], of[segment]] for system, segment in keys]
    assert len(found) == 7935
    np.testing.assert_allclose(found, np.array(rows["published_mqm"], dtype=float), atol=1e-9)


def test_published_correlations_from_a_score_table(tmp_path):
    scores = read_score_table(DATA / "wmt23-meta/en-de/segment-scores.tsv")
    systems = [name for name in scores["mqm"].systems if name != "refA"]
    human = scores["mqm"].subset(systems=systems)
    published = {"BLEU-refA": 0.192, "COMET-refA": 0.432, "XCOMET-Ensemble-refA": 0.695}
    for name, r in published.items():
        assert pearson(human, scores[name]).statistic == pytest.approx(r, abs=5e-4)
    write_score_table(tmp_path / "t.tsv", {"mqm": human})
    again = read_score_table(tmp_path / "t.tsv")["mqm"]
    np.testing.assert_array_equal(again.values, human.values)


def test_relative_ranks_and_da_files(tmp_path):
    path = tmp_path / "darr.csv"
    path.write_text("LP DATA SID BETTER WORSE\nde-en t 1 A B 30\nde-en t 2 B A 40\nen-de t 1 A B\n")
    ranks = read_darr(path)
    assert ranks["de-en"].differences.tolist() == [30.0, 40.0]
    da = tmp_path / "da.csv"
    da.write_text("LP DATA SID SYSTEM HUMAN\nde-en t 1 A+B 0.5\nde-en t 2 A -1\n")
    scores = read_da(da)["de-en"]
    assert (scores.systems, scores.values[1, 0]) == (("A", "B"), 0.5)
    metric = scores.with_values([[2.0, 1.0], [1.0, 1.0]])
    assert ranks["de-en"].kendall_like(metric).statistic == 0.0
    path.write_text("LP SID BETTER WORSE\nde-en 1 A A\n")
    with refused("darr.itself", kind=FormatError):
        read_darr(path)


def test_bad_tables_are_refused(tmp_path):
    path = tmp_path / "t.tsv"
    for text, line, code in [
        ("system\tseg\tm\nA\t1\t1\nA\t1\t2\n", 3, "table.output-twice"),
        ("segment\tm\nA\t1\n", 1, "table.no-column"),
        ("system\tseg\tm\nA\t1\t1\t2\n", 2, "table.fields"),
        ("system\tseg\tm\n\t1\t1\n", 2, "field.empty"),
    ]:
        path.write_text(text)
        with pytest.raises(FormatError) as caught:
            read_score_table(path)
        assert (caught.value.line, caught.value.message.code) == (line, code)
    path.write_text("system\tseg\tm\nA\t1\tx\n")
    with refused("field.no-number", kind=FormatError, field="m", text="x") as caught:
        read_score_table(path, columns=["m"])
    assert caught.value.line == 2
    # What only Python reads as a number.
    for text in ("1_000", "2_0"):
        path.write_text(f"system\tseg\tm\nA\t1\t2\nA\t2\t \nA\t3\t{text}\n")
        with refused("field.no-number", kind=FormatError, field="m", text=text) as caught:
            read_score_table(path, columns=["m"])
        assert caught.value.line == 4
    path.write_text("system\tseg\tm\nA\t1\t2\nA\t2\t \nA\t3\t\n")
    np.testing.assert_array_equal(
        read_score_table(path, columns=["m"])["m"].values, [[2, np.nan, np.nan]]
    )
    path.write_text("system\tseg_id\trater\tcategory\tseverity\nA\t1\tr\tx\tHuge\n")
    with refused("mqm.severity", kind=FormatError) as caught:
        read_mqm(path)
    assert caught.value.line == 2


def test_the_command_line_correlates_compares_and_ranks(tmp_path, capsys):
    data = str(DATA / "wmt23-meta/en-de/segment-scores.tsv")
    options = ["--human", "mqm", "--without", "refA", "--metric", "BLEU-refA", "--metric"]
    assert main(["correlate", data, *options, "chrF-refA"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [rows[1][0], rows[1][1][:5]] == ["BLEU-refA", "0.192"]
    arguments = ["compare", data, *options, "chrF-refA", "--output", "json", "--resamples", "99"]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["metrics"] == ["BLEU-refA", "chrF-refA"]
    assert document["ranks"] == [2, 1]
    path = tmp_path / "judgments.tsv"
    rows = ["annotator\tsystem\tsegment\tscore"]
    rows += [f"{a}\t{s}\t{k}\t{10 * (s == 'B') + k}" for a in "xy" for s in "AB" for k in range(9)]
    path.write_text("\n".join(rows) + "\n")
    assert main(["human", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("B\t")


def test_the_command_line_ranks_systems_as_published(capsys):
    """WMT21: z from all items, means over outputs and their repeats."""
    folder = "raw-crowd-da/wmt21-ru-en"
    judgments = str(DATA / folder / "judgments.tsv")
    assert main(["human", judgments, "--type", "SYSTEM", "--type", "REPEAT"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()[1:]
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    published = table(f"{folder}/published-system-scores.tsv")
    assert [row[0] for row in rows] == published["system"]
    assert [round(float(row[1]), 3) for row in rows] == [float(z) for z in published["z_mean"]]
    assert [row[-1] for row in rows] == published["wins"]
    assert main(["human", judgments]) == 0
    assert tells(capsys.readouterr().err, "command.all-types")


def test_scores_of_whole_systems_need_no_segments(capsys):
    """Shared data, README: BLEU .917, XCOMET .980 against MQM over 12 MT systems."""
    data = str(DATA / "wmt23-meta/en-de/system-scores.tsv")
    assert main(["correlate", data, "--human", "mqm", "--without", "refA"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    found = {row[0]: (round(float(row[1]), 3), row[2]) for row in rows}
    assert found["BLEU-refA"] == (0.917, "12")
    assert found["XCOMET-Ensemble-refA"] == (0.980, "12")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (None, "correlate", "file.missing"),
        ("system\tseg\th\nA\t1\t5\n", "correlate", "command.no-metrics"),
        ("system\tseg\th\tm\nA\t1\tx\t1\n", "correlate", "field.no-number"),
        ("system\tseg\th\tm\nA\t1\t5\t1\n", "compare", "command.too-few-metrics"),
        (
            "system\tseg\th\tm\nA\t1\t5\t1\n",
            "correlate --without B",
            "no B, which --without-systems",
        ),
        ("system\tseg\th\tm\nA\t1\t5\t1\n", "correlate --metric n", "table.no-column"),
        (
            "system\tseg\th\tm\nA\t1\t5\t1\nA\t2\t5\tx\n",
            "correlate",
            "table.column-not-numbers",
        ),
    ],
)
def test_the_command_line_says_what_is_wrong_with_the_input(
    tmp_path, capsys, text, arguments, message
):
    path = tmp_path / "scores.tsv"
    if text is not None:
        path.write_text(text)
    command, *options = arguments.split()
    assert main([command, str(path), "--human", "h", *options]) == 2
    assert has(capsys.readouterr().err, message)


def test_the_command_line_wants_the_language_pair_of_a_directory(tmp_path, capsys):
    assert main(["correlate", str(tmp_path), "--human", "mqm"]) == 2
    assert "Use --language-pair" in capsys.readouterr().err
    assert main(["human", str(tmp_path)]) == 2
    assert f"{tmp_path}: Is a directory" in capsys.readouterr().err


def test_fields_of_two_lines_are_not_taken_for_those_of_one(tmp_path: Path) -> None:
    path = tmp_path / "m.seg.score"
    path.write_text("A\t0.5 B\n0.25\n")
    with refused("evalset.fields", kind=FormatError, expected=2, n=3) as caught:
        read_scores(path, "seg", (), None)
    assert caught.value.line == 1
    path.write_text("A 0.5\nA\tNone\nB\t1_0\n")
    with refused("field.no-number", kind=FormatError, field="SCORE", text="1_0") as caught:
        read_scores(path, "seg", (), None)
    assert caught.value.line == 3
    path.write_text("A 0.5\nB   1\nA\tNone\nB\tn/a\n")
    found = read_scores(path, "seg", (), 2).values
    np.testing.assert_array_equal([found["A"], found["B"]], [[0.5, np.nan], [1.0, np.nan]])


@pytest.mark.parametrize(
    "text",
    [
        "A\t0.5\nA\tNone\nB\t1\nB\t-2e-3\n",
        "A\t0.5\nA\tNone\nB\t1\nB\t-2e-3",
        "A\t0.5\r\nA\tNone\r\nB\t1\r\nB\t-2e-3\r\n",
        "A 0.5\nA None\nB\t 1\nB  -2e-3\n",
        "A\t0.5\nB\t1\nA\tNone\nB\t-2e-3\n",
    ],
)
def test_scores_are_those_of_systems_in_any_layout(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.seg.score"
    path.write_bytes(text.encode())
    values = read_scores(path, "seg", (), 2).values
    assert list(values) == ["A", "B"]
    np.testing.assert_array_equal([*values.values()], [[0.5, np.nan], [1.0, -0.002]])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("A\t0.5\nA\t\nB\t1\nB\t2\n", 2),
        ("A\t0.5\n\nA\t1\nB\t1\nB\t2\n", 2),
        ("A\t0.5\nA\t1 2\nB\t1\nB\t2\n", 2),
        ("A b\t0.5\nA b\t1\nB\t1\nB\t2\n", 1),
        ("A\t0.5\nA\t1\nB\t1\nB\tx\n", 4),
        ("A\t0.5\nA\t1\nB\t1\n", None),
        ("A\t0.5\nA\t1\nB\t1\nB\t2\nA\t1\nA\t1\n", None),
    ],
)
def test_a_wrong_line_is_named_in_any_layout(tmp_path: Path, text: str, line: int | None) -> None:
    path = tmp_path / "m.seg.score"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_scores(path, "seg", (), 2)
    assert caught.value.line == line


def test_one_domain_of_a_folder_has_its_segments_documents_and_system_scores() -> None:
    whole = small()
    chat = whole.of_domain("chat")
    assert chat.sources == ("d",)
    assert chat.documents == (("chat", "d2"),)
    assert chat.references["refA"] == ("t",)
    assert chat.human("mqm").values.tolist() == [[0.1]]
    assert chat.human("mqm", "doc").values.tolist() == [[3.0]]
    # The score of the domain, and not that of all segments.
    assert chat.human_scores["mqm", "sys"].values["A"].tolist() == [3.0]
    assert ("mqm", "domain") not in chat.human_scores
    with refused("evalset.unknown", kind=DataError, what="evalset.domain-names", name="law"):
        whole.of_domain("law")


def test_scores_of_documents_are_a_matrix_of_documents() -> None:
    found = small().human("mqm", "doc")
    assert found.segments == ("d1", "d2")
    assert found.values.tolist() == [[2.0, 3.0]]


def test_a_domain_of_a_directory_and_of_a_table(tmp_path: Path, capsys) -> None:
    """Pearson of WMT23's news segments, from its tables and from one table with a domain column."""
    documents, rows = (
        table(f"wmt23-meta/en-de/{name}.tsv") for name in ("documents", "segment-scores")
    )
    domains = dict(zip(documents["seg"], documents["domain"], strict=True))
    lines = ["system\tseg\tdomain\tmqm\tCOMET-refA"]
    x, y = [], []
    columns = (rows[name] for name in ("system", "seg", "mqm", "COMET-refA"))
    for system, segment, human, metric in zip(*columns, strict=True):
        lines.append(f"{system}\t{segment}\t{domains[segment]}\t{human}\t{metric}")
        if domains[segment] == "news" and human and metric:
            x.append(float(human))
            y.append(float(metric))
    path = tmp_path / "scores.tsv"
    path.write_text("\n".join(lines) + "\n")
    expected = np.corrcoef(x, y)[0, 1]
    for words in (["wmt23-meta", "--language-pair", "en-de"], [str(path)]):
        given = [str(DATA / words[0]), *words[1:], "--human", "mqm", "--metric", "COMET-refA"]
        assert main(["correlate", *given, "--domain", "news", "--output", "json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["metrics"][0]["statistic"] == pytest.approx(expected, abs=1e-12)
        assert main(["correlate", *given, "--domain", "none"]) == 2
        capsys.readouterr()


def test_a_document_of_two_domains_counts_in_both() -> None:
    mixed = replace(small(), documents=(("news", "d1"), ("chat", "d1"), ("chat", "d2")))
    assert mixed.of_domain("news").human("mqm", "doc").values.tolist() == [[2.0]]
    assert mixed.of_domain("chat").human("mqm", "doc").values.tolist() == [[2.0, 3.0]]
