"""Files of scores: their content, errors and the places of errors."""

import json
from collections.abc import Iterable
from decimal import Decimal

import pytest

from annotation.uploads.problems import Place, Problem
from metrics.imported.checking import Checked, check
from metrics.imported.files import Choices
from tests.metaeval.files.test_cells import MARKERS
from tests.metrics.imported.files import table
from tests.world import World

LONG = ("segment\tsystem\tmetric\tscore", "1\tstrong\tCOMET\t0.5", "2\tstrong\tCOMET\t0.25")
WIDE = ("Seg\tSystem\tCOMET-22\tTER\tmqm\tnote", "1\tstrong\t0.5\t30\t-1\tfine")


def checked(world: World, *lines: str, file: str = "scores.tsv", **chosen: object) -> Checked:
    return check(world.test_set, [table(file, *lines)], Choices(**chosen))  # type: ignore[arg-type]


def errors(world: World, *lines: str, file: str = "scores.tsv", **chosen: object) -> list[Problem]:
    return checked(world, *lines, file=file, **chosen).report.errors


def codes(problems: Iterable[Problem]) -> list[str]:
    return [each.code for each in problems]


def test_a_row_a_score(world: World) -> None:
    [found] = checked(world, *LONG).metrics
    assert (found.name, found.n_outputs, found.n_systems) == ("COMET", 2, 0)
    assert found.coverage == {"strong": 2, "weak": 0}
    assert found.change == "new"


def test_a_column_a_metric_keeps_its_name(world: World) -> None:
    """Texts are not scores, and human scores are taken only if chosen."""
    result = checked(world, *WIDE)
    assert [each.name for each in result.metrics if each.is_taken] == ["COMET-22", "TER"]
    by_code = {each.code: each.message.parameters for each in result.report.problems}
    assert by_code["columns.unused"]["columns"] == ["note"]
    assert by_code["scores.human-skipped"]["names"] == ["mqm"]
    assert by_code["direction.column-lower"]["name"] == "TER"
    chosen = checked(world, *WIDE, metrics=("mqm", "TER"), lower=frozenset(["TER"]))
    assert [each.name for each in chosen.metrics if each.is_taken] == ["TER", "mqm"]
    assert "scores.was-lower" not in codes(chosen.report.warnings)


@pytest.mark.parametrize("first", ["strong_COMET", "COMET strong", "scores.strong.COMET"])
def test_two_columns_with_the_same_scores_are_an_error(world: World, first: str) -> None:
    lines = f"id,{first},strong-COMET,weak_COMET", "1,.9,.4,.3", "2,.8,.1,.2"
    [error] = errors(world, *lines, file="wide.csv")
    assert (error.code, error.place.field) == ("columns.same-field", "strong-COMET")
    assert error.message.parameters["column"] == first


BY_SYSTEM = {
    "COMET.csv": ("id,strong,weak", "1,.9,.3", "2,.8,.2"),
    "wide.csv": ("id,strong_COMET,weak_COMET", "1,.9,.3", "2,.8,.2"),
    "wide.tsv": ("id\tCOMET weak\tCOMET strong", "1\t.3\t.9", "2\t.2\t.8"),
    "wide.json": ('[{"id": 1, "COMET": {"strong": 0.9, "weak": 0.3}},',
                  '{"id": 2, "COMET": {"strong": 0.8, "weak": 0.2}}]'),
}  # fmt: skip


@pytest.mark.parametrize("file", BY_SYSTEM)
def test_a_column_a_system(world: World, file: str) -> None:
    result = checked(world, *BY_SYSTEM[file], file=file)
    assert result.report.errors == []
    [found] = result.metrics
    assert (found.name, found.coverage) == ("COMET", {"strong": 2, "weak": 2})
    shown = {(system, key): float(score) for _, system, key, score in result.first}
    assert shown == {
        ("strong", "1"): 0.9, ("strong", "2"): 0.8, ("weak", "1"): 0.3, ("weak", "2"): 0.2,
    }  # fmt: skip


def test_lists_of_scores_by_metric_and_system(world: World) -> None:
    n = world.test_set.segments.count()
    lists = {"COMET": {"strong": [0.9] * n, "weak": [0.3] * n}, "TER": {"strong": [20] * n}}
    result = checked(world, json.dumps(lists), file="all.json")
    assert result.report.errors == []
    found = {each.name: each.coverage for each in result.metrics}
    assert found == {"COMET": {"strong": n, "weak": n}, "TER": {"strong": n, "weak": 0}}
    lists["COMET"]["weak"].pop()
    result = checked(world, json.dumps(lists), file="all.json")
    assert "scores.other-number" in codes(result.report.errors)


def test_a_metric_may_have_the_name_of_the_file_beside_others(world: World) -> None:
    lines = ("id,strong,strong_TER,weak,weak_TER", "1,.9,20,.3,60")
    found = checked(world, *lines, file="COMET.csv").metrics
    assert [each.name for each in found] == ["COMET", "TER"]


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
    assert wrong.code == "scores.other-number"
    assert wrong.message.parameters == {"system": "strong", "n": 3, "expected": 4}


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("9\tstrong\tCOMET\t1", ("segment", "segment.unknown", "9")),
        ("01\tstrong\tCOMET\t1", ("segment", "segment.unknown-near", "01")),
        ("1\tother\tCOMET\t1", ("system", "system.unknown", "other")),
        ("1\t STRONG\tCOMET\t1", ("system", "system.unknown-near", "STRONG")),
        ("\tstrong\tCOMET\t1", ("segment", "segment.missing", None)),
        ("3\tstrong\t\t1", ("metric", "scores.no-metric-named", None)),
        ("3\tstrong\tCOMET\thigh", ("score", "cell.not-a-number", "high")),
        ("3\tstrong\tCOMET\t0,5", ("score", "cell.decimal-comma", "0,5")),
        ("3\tstrong\tCOMET\t1_0", ("score", "cell.not-a-number", "1_0")),
        ("2\tstrong\tCOMET\t1", ("score", "scores.output-score-twice", "COMET")),
        ("3\tstrong\tCOMET", ("", "table.cells", 3)),
    ],
)
def test_errors_have_file_row_and_field(
    world: World, row: str, wanted: tuple[str, str, object]
) -> None:
    [error] = errors(world, *LONG, row)
    field, code, value = wanted
    assert (error.place, error.code) == (Place("scores.tsv", 4, field), code)
    assert value is None or value in error.message.parameters.values()


@pytest.mark.parametrize("cell", MARKERS)
def test_a_missing_cell_is_a_missing_score(world: World, cell: str) -> None:
    result = checked(world, *LONG, f"3\tstrong\tCOMET\t{cell}")
    [found] = result.metrics
    assert (found.n_outputs, found.n_missing) == (2, 1)
    is_infinite = cell.strip().lower().lstrip("-").startswith(("inf", "1e"))
    assert ("scores.infinite" in codes(result.report.warnings)) == is_infinite


def test_unknown_names_can_be_skipped_and_are_counted(world: World) -> None:
    skip = frozenset({"unknown-segment", "unknown-system"})
    result = checked(world, *LONG, "9\tstrong\tCOMET\t1", "1\tother\tCOMET\t1", skip=skip)
    assert not result.report.errors
    skipped = [each for each in result.report.warnings if each.code == "skip.rows"]
    assert [each.message.parameters["n"] for each in skipped] == [1, 1]


def test_rows_of_other_languages_are_skipped(world: World) -> None:
    """The world is zh-en."""
    lines = ("lp\tsystem\tmetric\tscore", "zh-en\tstrong\tB\t1", "de-en\tstrange\tB\t2")
    result = checked(world, *lines)
    assert result.metrics[0].n_systems == 1
    warning = result.report.warnings[0]
    assert (warning.code, warning.message.parameters["n"]) == ("pair.of-other-test-sets", 1)
    assert errors(world, lines[0], lines[2])[0].code == "pair.none"


@pytest.mark.parametrize("pair", ["zho-eng", "zh_en", "ZH-EN", "zh-Hans-en", "zh>en", "zh_CN-en"])
def test_languages_are_read_in_any_spelling_of_their_codes(world: World, pair: str) -> None:
    result = checked(world, "lp\tsystem\tB", f"{pair}\tstrong\t1", "zh-de\tstrong\t2")
    assert result.report.errors == []
    assert result.metrics[0].n_systems == 1


def test_decimal_commas_are_read_where_semicolons_part_cells(world: World) -> None:
    wide = checked(world, "segment;system;COMET;note", "1;strong;0,5;x", "2;strong;-1,25;",
                   file="x.csv")  # fmt: skip
    assert wide.report.errors == []
    assert sorted(wide.drafts[0].held.outputs.popitem()[1].values()) == [-1.25, 0.5]
    [note] = [each for each in wide.report.notes if each.code == "cell.decimal-commas"]
    assert note.message.parameters == {"n": 2, "text": "0,5", "number": "0.5"}
    long = checked(world, "segment;system;score", "1;strong;0,5", file="x.csv")
    assert [each.n_outputs for each in long.metrics] == [1]


def test_a_skipped_column_with_some_numbers_gives_a_warning(world: World) -> None:
    lines = ("segment\tsystem\tBLEU\tCOMET\tchrF\tnote\tsource", "1\tstrong\t1\t0.5\t1,500\t\tx",
             "2\tstrong\t2\t#REF!\t1,600\ty\t7", "3\tstrong\t3\t#REF!\t1,700\ty\tz")  # fmt: skip
    result = checked(world, *lines)
    assert [each.name for each in result.metrics] == ["BLEU"]
    assert [
        (each.place, each.message.parameters["text"])
        for each in result.report.warnings
        if each.code == "scores.column-not-numeric"
    ] == [(Place("scores.tsv", 3, "COMET"), "#REF!"), (Place("scores.tsv", 2, "chrF"), "1,500")]
    [unused] = [each for each in result.report.warnings if each.code == "columns.unused"]
    assert unused.message.parameters["columns"] == ["note", "source"]


@pytest.mark.parametrize("file", ["x.csv", "y.tsv"])
def test_a_first_row_of_data_names_no_columns(world: World, file: str) -> None:
    """A system with the ending of its file, and numbers, are no names of metrics."""
    sign = "," if file == "x.csv" else "\t"
    rows = [sign.join(("strong.txt", key, "0.5")) for key in "12"]
    assert codes(errors(world, *rows, file=file)) == ["columns.none-known"]


@pytest.mark.parametrize(
    ("lines", "file"),
    [
        ((",BLEU,COMET", "strong,30,0.5", "weak,20,0.4"), "x.csv"),
        (("Unnamed: 0\tBLEU\tCOMET", "strong\t30\t0.5", "weak\t20\t0.4"), "x.tsv"),
        (('{"scores": {"strong": {"BLEU": 30, "COMET": 0.5},',
          '"weak": {"BLEU": 20, "COMET": 0.4}}}'), "x.json"),
    ],
)  # fmt: skip
def test_names_of_systems_need_no_column_called_so(
    world: World, lines: tuple[str, ...], file: str
) -> None:
    """As pandas writes an index, and programs an object by system."""
    result = checked(world, *lines, file=file)
    assert result.report.errors == []
    names = {system.pk: system.name for system in world.test_set.systems.all()}
    found = {d.name: {names[pk]: v for pk, v in d.held.systems.items()} for d in result.drafts}
    assert found == {"BLEU": {"strong": 30, "weak": 20}, "COMET": {"strong": 0.5, "weak": 0.4}}


def test_a_length_ratio_says_which_system(world: World) -> None:
    """`strong` has 80% of the full length here, and a second one of this name all of it."""
    assert world.test_set.systems.get(name="strong").length_ratio == Decimal("0.8")
    full = world.test_set.systems.create(name="strong", length_ratio=1)
    full.outputs.create(segment=world.test_set.segments.get(key="1"), text="All of it.")
    head = "segment,system,length_ratio,chrF"
    # A ratio in the name, too; a row without a ratio is of the system as it is called.
    rows = ("1,strong,0.80,0.5", "2,strong@0.8,80%,0.4", "1,strong,1,0.3", "1,weak,,0.2")
    found = checked(world, head, *rows, file="x.csv")
    assert found.report.errors == []
    assert found.metrics[0].coverage == {"strong@0.8": 2, "weak": 1, "strong": 1}


@pytest.mark.parametrize(
    ("ratio", "field", "code"),
    [("0.5", "system", "system.unknown"), ("half", "length_ratio", "ratio.syntax")],
)
def test_a_length_ratio_that_no_system_has(world: World, ratio: str, field: str, code: str) -> None:
    lines = ("segment,system,length_ratio,chrF", f"1,strong,{ratio},0.5")
    [found] = errors(world, *lines, file="x.csv")
    assert (found.code, found.place.row, found.place.field) == (code, 2, field)


@pytest.mark.parametrize("cell", ["#REF!", "1,500"])
def test_the_only_column_of_scores_says_why_it_cannot_be_read(world: World, cell: str) -> None:
    head = "segment\tsystem\tCOMET\tsource"
    [error] = errors(world, head, f"1\tstrong\t{cell}\ta", f"2\tstrong\t{cell}\tb")
    assert (error.code, error.place) == (
        "scores.column-not-numeric",
        Place("scores.tsv", 2, "COMET"),
    )
    assert error.message.parameters["text"] == cell
    assert codes(errors(world, head, "1\tstrong\t\ta")) == ["scores.no-score-column"]


def test_columns_that_a_person_names(world: World) -> None:
    lines = ("Zeile;x".replace(";", "\t") + "\tCOMET", "1\tstrong\t0.5")
    assert errors(world, *lines)[0].code == "scores.system-unknown-of-columns"
    result = checked(world, *lines, columns={"Zeile": "segment", "x": "system"})
    assert [each.n_outputs for each in result.metrics] == [1]
    assert errors(world, *LONG, columns={"y": "system"})[0].code == "columns.absent"
    assert errors(world, *LONG, columns={"score": "who"})[0].code == "columns.no-field"


def test_a_metric_that_no_file_has(world: World) -> None:
    error = errors(world, *LONG, metrics=("BLEU",))[0]
    assert error.code == "scores.unknown-metric"
    assert error.message.parameters == {"names": ["BLEU"], "n": 1, "known": ["COMET"]}


def test_two_names_of_one_metric(world: World) -> None:
    lines = ("segment\tsystem\tCOMET\tother", "1\tstrong\t0.5\t0.5")
    assert errors(world, *lines, names={"other": "comet"})[0].code == "scores.name-twice"


def test_reading_ends_where_nobody_reads_on(world: World) -> None:
    many = [f"{n}\tstrong\tCOMET\tx" for n in range(5_000)]
    found = errors(world, *LONG, *many)
    assert len(found) < 10
    assert found[0].more is not None
    assert found[0].more.parameters["n"] == 997


def test_arrays_of_json_are_of_the_system_that_the_file_is_called_as(world: World) -> None:
    n = world.test_set.segments.count()
    values = [round(0.1 * place, 1) for place in range(n)]
    alone = checked(world, json.dumps(values), file="strong.json", metric="COMET")
    several = checked(world, json.dumps({"strong": values}), file="COMET.json")
    for result in (alone, several):
        assert not result.report.errors
        [found] = result.metrics
        assert (found.name, found.n_outputs) == ("COMET", n)
    for lines, file, code in (
        (json.dumps(values), "strong.json", "scores.metric-unknown"),
        (json.dumps({"strong": values[:-1]}), "COMET.json", "scores.other-number"),
        (json.dumps({"nobody": values}), "COMET.json", "system.unknown"),
        # A system may be called as a column of tables is.
        (json.dumps({"strong": values, "refA": values}), "COMET.json", "system.unknown"),
        (
            '{"strong": [1, 2, 3, 4], "strong": [5, 6, 7, 8]}',
            "COMET.json",
            "scores.key-twice",
        ),
        (json.dumps({"strong": ["x", *values[1:]]}), "COMET.json", "cell.not-a-number"),
    ):
        assert code in codes(errors(world, lines, file=file))


def test_a_table_of_one_system_is_called_as_it(world: World) -> None:
    lines = ("segment\tscore", "1\t0.5", "2\t0.25")
    [found] = checked(world, *lines, file="strong.tsv", metric="COMET").metrics
    assert (found.name, found.coverage) == ("COMET", {"strong": 2, "weak": 0})
    [wide] = checked(world, "segment\tBLEU", "1\t3", file="weak.tsv").metrics
    assert (wide.name, wide.coverage) == ("BLEU", {"strong": 0, "weak": 1})
    assert "scores.metric-unknown" in codes(errors(world, *lines, file="strong.tsv"))
    objects = [{"segment": "1", "system": "strong", "metric": "X", "score": 1}]
    [listed] = checked(world, json.dumps(objects), file="x.json").metrics
    assert (listed.name, listed.n_outputs) == ("X", 1)
