"""Files of scores: what they hold, what is refused, and where."""

import json

import pytest

from metrics.imported.checking import Checked, check
from metrics.imported.choices import Choices
from tests.metaeval.files.test_cells import MARKERS
from tests.metrics.imported.files import table
from tests.world import World

LONG = ("segment\tsystem\tmetric\tscore", "1\tstrong\tCOMET\t0.5", "2\tstrong\tCOMET\t0.25")
WIDE = ("Seg\tSystem\tCOMET-22\tTER\tmqm\tremark", "1\tstrong\t0.5\t30\t-1\tfine")


def checked(world: World, *lines: str, file: str = "scores.tsv", **chosen: object) -> Checked:
    return check(world.test_set, [table(file, *lines)], Choices(**chosen))  # type: ignore[arg-type]


def errors(world: World, *lines: str, file: str = "scores.tsv", **chosen: object) -> list[str]:
    return [str(each) for each in checked(world, *lines, file=file, **chosen).report.errors]


def test_a_row_a_score(world: World) -> None:
    [found] = checked(world, *LONG).metrics
    assert (found.name, found.n_outputs, found.n_systems) == ("COMET", 2, 0)
    assert found.coverage == {"strong": 2, "weak": 0}
    assert found.plan is not None
    assert found.plan.change == "new"


def test_a_column_a_metric_keeps_its_name(world: World) -> None:
    """Text is no score, and what people said is none of a metric unless somebody says so."""
    result = checked(world, *WIDE)
    assert [each.name for each in result.metrics if each.is_taken] == ["COMET-22", "TER"]
    told = " ".join(str(each) for each in result.report.problems)
    assert "remark" in told
    assert "mqm: named like human scores" in told
    assert "“TER”: lower is better: the name is that of an error rate" in told
    chosen = checked(world, *WIDE, metrics=("mqm", "TER"), lower=frozenset(["TER"]))
    assert [each.name for each in chosen.metrics if each.is_taken] == ["TER", "mqm"]
    assert not any("better when lower" in str(each) for each in chosen.report.warnings)


def test_without_segments_the_scores_are_of_systems(world: World) -> None:
    [found] = checked(world, "system,BLEU", "strong,31.5", "weak,20", file="x.csv").metrics
    assert (found.n_outputs, found.n_systems) == (0, 2)


def test_json_lines(world: World) -> None:
    lines = ['{"sid": 1, "mt": "weak", "Metric X": 0.5}', '{"sid": 2, "mt": "weak"}']
    [found] = checked(world, *lines, file="x.jsonl").metrics
    assert (found.name, found.n_outputs, found.n_missing) == ("Metric X", 1, 1)


def test_scores_without_a_name_are_called_as_their_file(world: World) -> None:
    lines = ("segment\tsystem\tscore", "1\tstrong\t0.5")
    assert checked(world, *lines, file="COMET.tsv").metrics[0].name == "COMET"
    named = checked(world, *lines, metric="XCOMET", metrics=("XCOMET",))
    assert named.metrics[0].name == "XCOMET"


def test_score_files_of_wmt_go_by_the_order_of_segments(world: World) -> None:
    lines = [f"{system}\t{n / 4}" for system in ("weak", "strong") for n in range(4)]
    segments = table("BLEU-refA.seg.score", *lines)
    systems = table("BLEU-refA.sys.score", "weak\t20", "strong 30.5")
    result = check(world.test_set, [segments, systems], Choices())
    [found] = result.metrics
    assert (found.name, found.n_outputs, found.n_systems) == ("BLEU-refA", 8, 2)
    keys = dict(world.test_set.segments.values_list("key", "pk"))
    weak = result.drafts[0].held.outputs[world.test_set.systems.get(name="weak").pk]
    assert weak[keys["4"]] == 0.75
    short = table("BLEU-refA.seg.score", *lines[:-1])
    [wrong] = check(world.test_set, [short], Choices()).report.errors
    assert (
        str(wrong) == "BLEU-refA.seg.score: “strong” has 3 scores, and the test set has 4 segments"
    )


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("9\tstrong\tCOMET\t1", "row 4, segment: The test set has no segment “9”"),
        (
            "01\tstrong\tCOMET\t1",
            "row 4, segment: The test set has no segment “01”, but it has “1”",
        ),
        ("1\tother\tCOMET\t1", "row 4, system: The test set has no system “other”. "),
        ("1\t STRONG\tCOMET\t1", "The test set has no system “STRONG”, but it has “strong"),
        ("\tstrong\tCOMET\t1", "row 4, segment: The segment is missing"),
        ("3\tstrong\t\t1", "row 4, metric: The metric is missing"),
        ("3\tstrong\tCOMET\thigh", "row 4, score: “high” is no number"),
        ("3\tstrong\tCOMET\t0,5", "“0,5” is no number: write a decimal point"),
        ("3\tstrong\tCOMET\t1_0", "“1_0” is no number"),
        ("2\tstrong\tCOMET\t1", "row 4, score: This output already has a score of “COMET” in"),
        ("3\tstrong\tCOMET", "row 4: the row has 3 cells, the header has 4"),
    ],
)
def test_what_is_wrong_is_said_with_file_row_and_field(world: World, row: str, wanted: str) -> None:
    [told] = errors(world, *LONG, row)
    assert told.startswith("scores.tsv, ")
    assert wanted in told


@pytest.mark.parametrize("cell", MARKERS)
def test_a_missing_cell_is_a_missing_score(world: World, cell: str) -> None:
    result = checked(world, *LONG, f"3\tstrong\tCOMET\t{cell}")
    [found] = result.metrics
    assert (found.n_outputs, found.n_missing) == (2, 1)
    is_infinite = cell.strip().lower().lstrip("-").startswith(("inf", "1e"))
    told = "“COMET”: 1 infinite value counts as missing" in map(str, result.report.warnings)
    assert told == is_infinite


def test_strangers_can_be_left_out_and_are_counted(world: World) -> None:
    result = checked(world, *LONG, "9\tstrong\tCOMET\t1", "1\tother\tCOMET\t1", skips_unknown=True)
    assert not result.report.errors
    told = " ".join(str(each) for each in result.report.warnings)
    assert "1 row of 1 segment that the test set does not have left out: 9" in told
    assert "left out: other" in told


def test_rows_of_other_languages_are_left_out(world: World) -> None:
    """The world is zh-en."""
    lines = ("lp\tsystem\tmetric\tscore", "zh-en\tstrong\tB\t1", "de-en\tstrange\tB\t2")
    result = checked(world, *lines)
    assert result.metrics[0].n_systems == 1
    assert "1 row is of other languages than zh→en" in str(result.report.warnings[0])
    [told] = errors(world, lines[0], lines[2])[:1]
    assert "no row is of zh→en; there are de→en (1)" in told


@pytest.mark.parametrize("pair", ["zho-eng", "zh_en", "ZH-EN", "zh-Hans-en", "zh>en", "zh_CN-en"])
def test_languages_are_read_in_any_spelling_of_their_codes(world: World, pair: str) -> None:
    result = checked(world, "lp\tsystem\tB", f"{pair}\tstrong\t1", "zh-de\tstrong\t2")
    assert result.report.errors == []
    assert result.metrics[0].n_systems == 1


def test_decimal_commas_are_read_where_semicolons_part_cells(world: World) -> None:
    wide = checked(world, "segment;system;COMET;remark", "1;strong;0,5;x", "2;strong;-1,25;",
                   file="x.csv")  # fmt: skip
    assert wide.report.errors == []
    assert sorted(wide.drafts[0].held.outputs.popitem()[1].values()) == [-1.25, 0.5]
    note = "x.csv: 2 cells have a decimal comma: “0,5” is read as 0.5"
    assert note in map(str, wide.report.notes)
    long = checked(world, "segment;system;score", "1;strong;0,5", file="x.csv")
    assert [each.n_outputs for each in long.metrics] == [1]


def test_a_column_with_some_numbers_that_is_left_out_is_warned_of(world: World) -> None:
    lines = ("segment\tsystem\tBLEU\tCOMET\tchrF\tremark\tsource", "1\tstrong\t1\t0.5\t0,5\t\tx",
             "2\tstrong\t2\t#REF!\t0,6\ty\t7", "3\tstrong\t3\t#REF!\t0,7\ty\tz")  # fmt: skip
    result = checked(world, *lines)
    assert [each.name for each in result.metrics] == ["BLEU"]
    advice = "Leave cells without a score empty, and write decimal points"
    assert [str(each) for each in result.report.warnings if advice in str(each)] == [
        "scores.tsv, row 3, COMET: “COMET” is not read as scores: “#REF!” is no number, and at "
        f"least half of the first cells are none. {advice}",
        "scores.tsv, row 2, chrF: “chrF” is not read as scores: “0,5” is no number, and at "
        f"least half of the first cells are none. {advice}",
    ]
    told = " ".join(map(str, result.report.warnings))
    assert "not used: the columns remark, source" in told


@pytest.mark.parametrize("cell", ["#REF!", "0,5"])
def test_the_only_column_of_scores_says_why_it_cannot_be_read(world: World, cell: str) -> None:
    head = "segment\tsystem\tCOMET\tsource"
    told = errors(world, head, f"1\tstrong\t{cell}\ta", f"2\tstrong\t{cell}\tb")
    assert len(told) == 1
    assert told[0].startswith("scores.tsv, row 2, COMET: “COMET” is not read as scores")
    assert f"“{cell}” is no number" in told[0]
    [nothing] = errors(world, head, "1\tstrong\t\ta")
    assert "no column holds scores" in nothing


def test_columns_that_a_person_names(world: World) -> None:
    lines = ("Zeile;x".replace(";", "\t") + "\tCOMET", "1\tstrong\t0.5")
    assert "No column names the system" in errors(world, *lines)[0]
    result = checked(world, *lines, columns={"Zeile": "segment", "x": "system"})
    assert [each.n_outputs for each in result.metrics] == [1]
    assert "no table has a column “y”" in errors(world, *LONG, columns={"y": "system"})[0]
    assert "“who” is no field" in errors(world, *LONG, columns={"score": "who"})[0]


def test_a_metric_that_no_file_has(world: World) -> None:
    assert (
        "the files have no metric BLEU; there are COMET"
        in errors(world, *LONG, metrics=("BLEU",))[0]
    )


def test_two_names_of_one_metric(world: World) -> None:
    lines = ("segment\tsystem\tCOMET\tother", "1\tstrong\t0.5\t0.5")
    assert "two metrics are called “comet”" in errors(world, *lines, names={"other": "comet"})[0]


def test_reading_ends_where_nobody_reads_on(world: World) -> None:
    many = [f"{n}\tstrong\tCOMET\tx" for n in range(5_000)]
    told = errors(world, *LONG, *many)
    assert len(told) < 10
    assert "segment, 997 times" in told[0]


def test_arrays_of_json_are_of_the_system_that_the_file_is_called_as(world: World) -> None:
    n = world.test_set.segments.count()
    values = [round(0.1 * place, 1) for place in range(n)]
    alone = checked(world, json.dumps(values), file="strong.json", metric="COMET")
    several = checked(world, json.dumps({"strong": values}), file="COMET.json")
    for result in (alone, several):
        assert not result.report.errors
        [found] = result.metrics
        assert (found.name, found.n_outputs) == ("COMET", n)
    for lines, file, told in (
        (json.dumps(values), "strong.json", "name the metric"),
        (json.dumps({"strong": values[:-1]}), "COMET.json", "“strong” has"),
        (json.dumps({"nobody": values}), "COMET.json", "no system “nobody”"),
        (
            '{"strong": [1, 2, 3, 4], "strong": [5, 6, 7, 8]}',
            "COMET.json",
            "“strong” is in the file twice",
        ),
        (json.dumps({"strong": ["x", *values[1:]]}), "COMET.json", "row 1, strong"),
    ):
        found_errors = errors(world, lines, file=file)
        assert any(told in each for each in found_errors), found_errors


def test_a_table_of_one_system_is_called_as_it(world: World) -> None:
    lines = ("segment\tscore", "1\t0.5", "2\t0.25")
    [found] = checked(world, *lines, file="strong.tsv", metric="COMET").metrics
    assert (found.name, found.coverage) == ("COMET", {"strong": 2, "weak": 0})
    [wide] = checked(world, "segment\tBLEU", "1\t3", file="weak.tsv").metrics
    assert (wide.name, wide.coverage) == ("BLEU", {"strong": 0, "weak": 1})
    assert any("name the metric" in each for each in errors(world, *lines, file="strong.tsv"))
    objects = [{"segment": "1", "system": "strong", "metric": "X", "score": 1}]
    [listed] = checked(world, json.dumps(objects), file="x.json").metrics
    assert (listed.name, listed.n_outputs) == ("X", 1)
