"""Check every import: equal tables are read alike, and nothing is lost without a message."""

import csv
import io
import json
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow.parquet
import pytest
from openpyxl import Workbook

from annotation.imports import sources
from annotation.models import TestSet
from annotation.uploads import InputFile, Submission, check_submission
from annotation.uploads.normalising import normalise
from annotation.uploads.problems import Report
from metaeval.files import read_score_table
from metaeval.files.names import NAMES
from metrics.imported import checking
from metrics.imported.files import Choices
from metrics.spans import importing
from tests.files.doors import of_talks

pytestmark = pytest.mark.django_db
Row = dict[str, Any]
Reading = tuple[object, Report]
BASE = {"segment": "1", "system": "Nemo"}
ROWS: dict[str, list[Row]] = {
    "test set": [
        {"segment": "1", "source": "Eins, „zwei“.", "system": "Nemo", "output": 'One "two".'},
        {"segment": "2", "source": "Grüße; drei.", "system": "Nemo", "output": "Three."},
    ],
    "judgments": [
        {**BASE, "annotator": "R", "source": "S; 1", "output": "Über", "score": "80"},
        {**BASE, "segment": "2", "annotator": "R", "source": "S 2", "output": "b", "score": "70"},
    ],
    "human scores": [
        {**BASE, "source": "S; 1", "output": "Über", "human_score": "0.5"},
        {**BASE, "segment": "2", "source": "S 2", "output": "b", "human_score": "-0.5"},
    ],
    "metric scores": [{**BASE, "COMET": "0.5"}, {**BASE, "segment": "2", "COMET": "0.25"}],
    "spans": [
        {**BASE, "start": "0", "end": "4", "severity": "major"},
        {**BASE, "segment": "2", "start": "0", "end": "4", "severity": "minor"},
    ],
}


Columns = Mapping[str, str]
NONE: Columns = {}


def uploaded(file: InputFile, skip: frozenset[str], columns: Columns = NONE) -> Reading:
    checked = check_submission(
        Submission("s", "S", "de", "en", tables=[file], skip=skip, columns={"": columns})
    )
    draft = checked.draft
    systems = [(system.name, system.outputs) for system in draft.systems]
    return [(s.key, s.source, s.references) for s in draft.segments] + systems, checked.report


def judged(file: InputFile, skip: frozenset[str], columns: Columns = NONE) -> Reading:
    return _drafted(sources.JUDGMENTS, file, skip, columns)


def human(file: InputFile, skip: frozenset[str], columns: Columns = NONE) -> Reading:
    return _drafted(sources.HUMAN_SCORES, file, skip, columns)


def _drafted(tool: str, file: InputFile, skip: frozenset[str], columns: Columns) -> Reading:
    words = {"name": "x", "source_language": "de", "target_language": "en"}
    words |= {"skip": ",".join(skip), "columns": json.dumps(columns)}
    reading, report = sources.check(sources.Sent(tool, {"0": file}, words))
    drafts = reading.drafts
    return [
        (texts.segments, [s.outputs for s in texts.systems], campaign.judgments,
         campaign.output_scores) for texts, campaign in drafts
    ], report  # fmt: skip


def scored(file: InputFile, skip: frozenset[str], columns: Columns = NONE) -> Reading:
    choices = Choices(skip=skip, columns=columns, metric="COMET" if columns else "")
    checked = checking.check(TestSet.objects.get(), [file], choices)
    return [draft.held for draft in checked.drafts], checked.report


def marked(file: InputFile, skip: frozenset[str], columns: Columns = NONE) -> Reading:
    choices = Choices(skip=skip, columns=columns)
    checked = importing.check(TestSet.objects.get(), [file], "m", False, choices=choices)
    return checked.spans, checked.report


DOORS: dict[str, Callable[..., Reading]] = {
    "test set": uploaded,
    "judgments": judged,
    "human scores": human,
    "metric scores": scored,
    "spans": marked,
}


def separated(
    rows: Sequence[Row],
    separator: str = ",",
    *,
    index: bool = False,
    empty: int = 0,
    title: str = "",
    **options: Any,
) -> str:
    cells = io.StringIO()
    writer = csv.writer(cells, delimiter=separator, **{"lineterminator": "\n", **options})
    if title:
        writer.writerow([title, *[""] * (len(rows[0]) - 1)])
    writer.writerow([*[""] * index, *rows[0], *[""] * empty])
    for number, row in enumerate(rows):
        writer.writerow([*[number][: int(index)], *row.values(), *[""] * empty])
    return cells.getvalue()


def workbook(rows: Sequence[Row]) -> bytes:
    book, data = Workbook(), io.BytesIO()
    for cells in (list(rows[0]), *(list(row.values()) for row in rows)):
        book.active.append(cells)
    book.save(data)
    return data.getvalue()


def parquet(rows: Sequence[Row]) -> bytes:
    data = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), data)
    return data.getvalue()


def by_column(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    return {column: {str(n): row[column] for n, row in enumerate(rows)} for column in rows[0]}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", ["json", "jsonl", "parquet"])
def test_files_that_name_their_columns_have_no_first_row_of_data(door: str, kind: str) -> None:
    if door in ("metric scores", "spans"):
        of_talks(2)
    rows = ROWS[door]
    content = {
        "json": json.dumps(rows).encode(),
        "jsonl": "\n".join(map(json.dumps, rows)).encode(),
        "parquet": parquet(rows),
    }[kind]
    file = InputFile.holding(f"own.{kind}", content)
    _, report = DOORS[door](file, frozenset(), {"column 1": ""})
    assert [(e.code, e.place.file) for e in report.errors] == [("columns.named-in-file", file.name)]


def markdown(rows: Sequence[Row]) -> str:
    cells = [[*rows[0]], [":---", *["---"] * (len(rows[0]) - 1)], *([*r.values()] for r in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def doubly_quoted(text: str) -> str:
    doubled = (line.replace('"', '""') for line in text.splitlines())
    return "".join(f'"{line}"\n' for line in doubled)


def spaced(text: str) -> str:
    return text.replace('","', '", "')


def lines(rows: Sequence[Row]) -> str:
    return "\n".join(map(json.dumps, rows))


WRITERS: dict[str, tuple[str, Callable[[Sequence[Row]], str | bytes]]] = {
    "CRLF": ("t.csv", lambda rows: separated(rows, lineterminator="\r\n")),
    "every cell quoted": ("t.csv", lambda rows: separated(rows, quoting=csv.QUOTE_ALL)),
    "TSV": ("t.tsv", lambda rows: separated(rows, "\t")),
    "quoted TSV": ("t.tsv", lambda rows: separated(rows, "\t", quoting=csv.QUOTE_ALL)),
    "semicolons": ("t.csv", lambda rows: separated(rows, ";")),
    "vertical bars": ("t.txt", lambda rows: separated(rows, "|")),
    "Markdown": ("t.md", lambda rows: markdown(rows)),
    "sep=": ("t.csv", lambda rows: "sep=;\n" + separated(rows, ";")),
    "tabs in a CSV": ("t.csv", lambda rows: separated(rows, "\t")),
    "byte order mark": ("t.csv", lambda rows: separated(rows).encode("utf-8-sig")),
    "UTF-16": ("t.csv", lambda rows: separated(rows).encode("utf-16")),
    "UTF-16 without a mark": ("t.csv", lambda rows: separated(rows).encode("utf-16-le")),
    "Windows-1252": ("t.csv", lambda rows: separated(rows).encode("cp1252")),
    "index without a name": ("t.csv", lambda rows: separated(rows, index=True)),
    "empty columns behind": ("t.csv", lambda rows: separated(rows, empty=3)),
    "empty rows behind": ("t.csv", lambda rows: separated(rows) + "\n,,\n"),
    "rows in quotes": ("t.csv", lambda rows: doubly_quoted(separated(rows))),
    "blanks behind commas": ("t.csv", lambda rows: spaced(separated(rows, quoting=csv.QUOTE_ALL))),
    "a line above semicolons": ("t.csv", lambda rows: "Evaluation\n\n" + separated(rows, ";")),
    "Markdown under a title": ("t.md", lambda rows: "# Evaluation\n\n" + markdown(rows)),
    "comments in JSON lines": ("t.jsonl", lambda rows: "# of May\n// final\n" + lines(rows)),
    "title above": ("t.csv", lambda rows: separated(rows, title="Evaluation, May 2025")),
    "workbook": ("t.xlsx", workbook),
    "Parquet": ("t.parquet", parquet),
    "JSON lines": ("t.jsonl", lines),
    "JSON list": ("t.json", lambda rows: json.dumps(rows, indent=1)),
    "columns of pandas": ("t.json", lambda rows: json.dumps(by_column(rows))),
    "lists by column": (
        "t.json",
        lambda rows: json.dumps({c: [*own.values()] for c, own in by_column(rows).items()}),
    ),
    "rows by number": (
        "t.json",
        lambda rows: json.dumps({str(n): row for n, row in enumerate(rows)}),
    ),
    "split by pandas": (
        "t.json",
        lambda rows: json.dumps(
            {"columns": [*rows[0]], "index": [0, 1], "data": [[*row.values()] for row in rows]}
        ),
    ),
    "list in an object": ("t.json", lambda rows: json.dumps({"data": rows}, indent=1)),
}


def read(door: str, name: str, content: str | bytes, *skip: str) -> Reading:
    if not TestSet.objects.exists() and door in ("metric scores", "spans"):
        of_talks(2)
    data = content.encode() if isinstance(content, str) else content
    return DOORS[door](InputFile.holding(name, data), frozenset(skip))


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("door", DOORS)
def test_however_a_table_is_written_it_says_the_same(door: str, writer: str) -> None:
    rows = ROWS[door]
    wanted, report = read(door, "t.csv", separated(rows))
    assert not report.errors
    assert wanted
    name, write = WRITERS[writer]
    found, report = read(door, name, write(rows))
    assert [str(error) for error in report.errors] == []
    assert found == wanted


@pytest.mark.parametrize("door", DOORS)
def test_tables_without_names_are_read_where_their_columns_are_chosen(door: str) -> None:
    rows = ROWS[door]
    wanted, _ = read(door, "t.csv", separated(rows))
    columns = {f"column {n}": field for n, field in enumerate(rows[0], 1)}
    if door in ("metric scores", "human scores"):
        columns[f"column {len(columns)}"] = "score"
    _, _, bare = separated(rows).partition("\n")
    file = InputFile.holding("t.csv", bare.encode())
    found, report = DOORS[door](file, frozenset(), columns)
    assert [str(error) for error in report.errors] == []
    assert found == wanted


@pytest.mark.parametrize("door", DOORS)
def test_a_table_whose_names_are_numbers_keeps_them(door: str) -> None:
    rows = ROWS[door]
    read(door, "t.csv", separated(rows))  # There is a test set.
    columns = {f"column {n}": field for n, field in enumerate(rows[0], 1)}
    if door in ("metric scores", "human scores"):
        columns[f"column {len(columns)}"] = "score"
    _, _, bare = separated(rows).partition("\n")
    head = ",".join(columns).title()
    contents = [InputFile.holding("t.csv", text.encode()) for text in (bare, f"{head}\n{bare}")]
    (wanted, _), (found, report) = (DOORS[door](each, frozenset(), columns) for each in contents)
    assert [str(error) for error in report.errors] == []
    assert found == wanted


@pytest.mark.parametrize("door", DOORS)
def test_numbered_columns_replace_none_that_is_there(door: str) -> None:
    head, _, rest = separated(ROWS[door]).partition("\n")
    doubled = [f"{head},note x,note x,note x 2", *(f"{row},a,b,c" for row in rest.splitlines())]
    _, report = read(door, "t.csv", "\n".join(doubled))
    (numbered,) = [each for each in report.warnings if each.code == "table.columns-numbered"]
    assert numbered.message.parameters["columns"] == ["note x 3"]


@pytest.mark.parametrize(
    "whole",
    [
        {"columns": [{"name": "source"}], "data": [{"source": "a"}]},
        {"columns": ["segment", "source"], "data": [1, 2]},
        {"columns": ["segment", "source"], "data": [["1", "a", "lost"], ["2"]]},
        {"columns": ["segment", ["source", "x"]], "data": [["1", "a"]]},
    ],
)
@pytest.mark.parametrize("door", DOORS)
def test_objects_that_only_resemble_a_table_lose_nothing(door: str, whole: Any) -> None:
    """Not a cell of them is read as a table that `split` writes; what they are is reported."""
    _, report = read(door, "t.json", json.dumps(whole))
    assert report.problems


@pytest.mark.parametrize("door", DOORS)
def test_two_columns_of_a_name_that_says_nothing_are_numbered(door: str) -> None:
    rows = ROWS[door]
    wanted, _ = read(door, "t.csv", separated(rows))
    head, _, rest = separated(rows).partition("\n")
    doubled = [f"{head},weights,weights", *(f"{row},w,w" for row in rest.splitlines())]
    found, report = read(door, "t.csv", "\n".join(doubled))
    assert [str(error) for error in report.errors] == []
    assert "table.columns-numbered" in {warning.code for warning in report.warnings}
    assert found == wanted
    head = head.replace("system", "segment", 1)
    _, report = read(door, "t.csv", f"{head}\n{rest}")
    assert "table.column-twice" in {error.code for error in report.errors}


@pytest.mark.parametrize("mark", ['<mqm:startIssue type="x"/>', "<v>", "<tag>"])
@pytest.mark.parametrize("door", ["test set", "judgments", "human scores"])
def test_texts_with_marks_of_errors_are_a_warning(door: str, mark: str) -> None:
    rows = [row | {"output": f"{row['output']} {mark}x"} for row in ROWS[door]]
    _, report = read(door, "t.csv", separated(rows))
    (warning,) = [each for each in report.warnings if each.code == "texts.marks"]
    assert warning.message.parameters["n"] == 2


@pytest.mark.parametrize("value", ["text", {"a": 1}, [{"start": 0}], ["x"], 7])
@pytest.mark.parametrize("door", DOORS)
def test_what_is_not_used_is_named_in_a_warning(door: str, value: Any) -> None:
    rows = [row | {"Irgendwas": value} for row in ROWS[door]]
    found, report = read(door, "t.jsonl", lines(rows))
    warnings = " ".join(map(str, report.warnings))
    taken = door == "metric scores" and value in (7, {"a": 1})  # numbers are scores
    assert "Irgendwas" in warnings or taken
    assert found == read(door, "t.jsonl", lines(ROWS[door]))[0] or taken


@pytest.mark.parametrize("door", DOORS)
def test_parquet_needs_a_package_and_a_sound_file(
    door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = parquet(ROWS[door])
    _, report = read(door, "t.parquet", whole[: len(whole) // 2])
    assert [error.message.code for error in report.errors] == ["parquet.unreadable"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    _, report = read(door, "t.parquet", whole)
    assert [error.message.code for error in report.errors] == ["parquet.no-reader"]


def renamed(rows: Sequence[Row], names: Mapping[str, str]) -> list[Row]:
    return [{names.get(key, key): cell for key, cell in row.items()} for row in rows]


@pytest.mark.parametrize("field", ["segment", "system"])
@pytest.mark.parametrize("door", DOORS)
def test_every_door_knows_a_field_by_all_of_its_names(door: str, field: str) -> None:
    wanted, _ = read(door, "t.csv", separated(ROWS[door]))
    for name in NAMES[field]:
        for written in (name, name.upper().replace("_", " "), f"{name} (ours)"):
            rows = renamed(ROWS[door], {field: written})
            found, report = read(door, "t.csv", separated(rows))
            assert [str(error) for error in report.errors] == [], written
            assert found == wanted, written


@pytest.mark.parametrize("door", DOORS)
def test_rows_of_other_languages_are_never_taken_for_those_of_one(door: str) -> None:
    """One test set is of one pair, and says what else there is; other imports take each pair."""
    rows = ROWS[door]
    pair = ("de-en", "cs-en") if door == "test set" else ("zh-en", "zh-de")
    both = [row | {"langs": code} for row, code in zip(rows, pair, strict=True)]
    found, report = read(door, "t.csv", separated(both))
    assert not report.errors
    if door in ("test set", "metric scores", "spans"):
        alone, _ = read(door, "t.csv", separated(rows[:1]))
        assert found == alone
        codes = {"pair.skipped", "pair.of-other-test-sets"}
        assert codes & {warning.code for warning in report.warnings}
    else:
        assert isinstance(found, list)
        assert len(found) == 2


@pytest.mark.parametrize("field", ["system", "annotator", "document", "domain"])
@pytest.mark.parametrize("door", DOORS)
def test_names_are_one_however_their_letters_are_composed(door: str, field: str) -> None:
    of_talks(2).systems.filter(name="Nemo").update(name="José")
    wanted = [row | {"system": "José"} for row in ROWS[door]]
    if field == "annotator" and door != "judgments":
        return  # the other files name nobody
    if field in ("document", "domain") and door in ("metric scores", "spans"):
        return
    wanted = [row | {field: "José"} for row in wanted]
    split = [wanted[0], wanted[1] | {field: unicodedata.normalize("NFD", "José")}]
    assert split[1][field] != "José"
    found, report = read(door, "t.csv", separated(split))
    assert not report.errors
    assert found == read(door, "t.csv", separated(wanted))[0]


# What a door could store under another name, or stores where it is not: domains, which go with
# texts, times, exclusions.
TELLING = ("domain", "excluded", "z_score", "durations", "lang_variant")


@pytest.mark.parametrize("name", TELLING)
@pytest.mark.parametrize("door", DOORS)
def test_what_is_told_and_not_stored_is_a_warning(door: str, name: str) -> None:
    rows = [row | {name: "news" if n else "ted"} for n, row in enumerate(ROWS[door])]
    found, report = read(door, "t.csv", separated(rows))
    named = [each for each in report.warnings if name in str(each.message.parameters)]
    is_stored = name == "domain" and door != "spans"
    assert bool(named) is not is_stored
    assert is_stored or found == read(door, "t.csv", separated(ROWS[door]))[0]


@pytest.mark.parametrize("value", [{"start": 0, "end": 1}, [1, 2], [{"a": [1]}]])
@pytest.mark.parametrize("door", DOORS)
def test_an_object_or_list_in_a_used_cell_is_never_ignored(door: str, value: Any) -> None:
    """A name or a text that is a list is an error, or the column is named as unused."""
    field = "document" if door not in ("metric scores", "spans") else "system"
    rows = [row | {field: value} for row in ROWS[door]]
    _, report = read(door, "t.jsonl", lines(rows))
    shown = " ".join(f"{p.place} {p.message.parameters}" for p in report.warnings)
    assert report.errors or field in shown


@pytest.mark.parametrize(
    ("door", "wrong"),
    [
        ("test set", {"output": 7}),
        ("judgments", {"score": "x"}),
        ("human scores", {"human_score": "x"}),
        ("metric scores", {"COMET": "x"}),
        ("spans", {"severity": "x" * 30}),
    ],
)
def test_one_cause_is_one_error_with_the_first_places(door: str, wrong: Row) -> None:
    first = ROWS[door][0]
    if door in ("metric scores", "spans"):
        of_talks(60)
    rows = [first | {"segment": str(n + 1)} for n in range(60)]
    bad = rows[:40] + [row | wrong for row in rows[40:]]
    _, report = read(door, "t.jsonl", lines(bad))
    (error,) = report.errors
    assert error.place.row == 41
    assert error.more is not None
    assert error.more.parameters == {"n": 20, "rows": [42, 43, 44, 45]}


def test_spans_move_with_the_line_ends_of_their_texts() -> None:
    outputs = of_talks(2).systems.get(name="Nemo").outputs
    outputs.filter(segment__key="1").update(text="a\nb Fehler")
    rows = [ROWS["spans"][0] | {"start": "5", "end": "11", "output": "a\r\nb Fehler"}]
    found, report = read("spans", "t.csv", separated(rows))
    assert not report.errors
    assert isinstance(found, dict)
    ((span,),) = found.values()
    assert "a\nb Fehler"[span.start : span.end] == "Fehler"


@pytest.mark.parametrize(
    "text", ["a\r\nb", "\r\n\r\nx", "x\r\n", "ab", "\r", "a\rb\r\n\nc", "é\r\n😀 x"]
)
def test_every_part_of_a_text_keeps_its_place(text: str) -> None:
    stored = normalise(text)
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            cut = stored.text[stored.place(start) : stored.place(end)]
            signs = [text[n : n + 2] for n in range(start, end)]
            wanted = "".join("" if two == "\r\n" else two[0] for two in signs).replace("\r", "\n")
            assert cut == wanted


def test_tables_of_scores_from_files_are_read_alike(tmp_path: Any) -> None:
    """`python -m metaeval` reads what pages read."""
    rows = ROWS["metric scores"]
    for number, (name, write) in enumerate(WRITERS.values()):
        if name.endswith(("json", "jsonl")):
            continue
        content = write(rows)
        path = tmp_path / f"{number}-{name}"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        scores = read_score_table(path)
        assert scores["COMET"].values.tolist() == [[0.5, 0.25]], name


@pytest.mark.parametrize("head", ["A,B", "score_A,score_B"])
def test_human_scores_in_a_column_for_each_system(head: str) -> None:
    wide = f"segment,source,{head}\n1,Eins,0.5,-0.25\n2,Zwei,,1\n"
    long = "segment,source,system,human\n1,Eins,A,0.5\n1,Eins,B,-0.25\n2,Zwei,A,\n2,Zwei,B,1\n"
    (wanted, _), (found, report) = (read("human scores", "t.csv", text) for text in (long, wide))
    assert not report.errors
    assert found == wanted
    (note,) = [each for each in report.notes if each.code == "judgments.column-per-system"]
    assert note.message.parameters["names"] == ["A", "B"]


@pytest.mark.parametrize("category", ["", "category"])
@pytest.mark.parametrize("door", ["judgments", "spans"])
def test_the_words_of_an_error_in_a_column_called_so(door: str, category: str) -> None:
    texts = {"judgments": {"annotator": "R", "source": "S", "output": "Nemo 1"}, "spans": {}}[door]
    row = BASE | texts | {"marked_text": "Nemo", "severity": "major"}
    row |= {category: "accuracy"} if category else {}
    wanted, _ = read(door, "t.csv", separated([row]))
    for name in ("error", "Fehler"):
        found, report = read(door, "t.csv", separated(renamed([row], {"marked_text": name})))
        assert not report.errors
        assert found == wanted


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.xls", '<html xmlns:x="urn:x"><body><table><tr><td>segment</td></tr></table>'),
        ("t.html", "<!DOCTYPE html>\n<table></table>"),
        ("t.xls", '<?xml version="1.0"?>\n<?mso-application progid="x"?>\n<Workbook xmlns="u"/>'),
        ("t.yaml", "- segment: '1'\n  score: 5\n"),
        ("t.yml", "---\n- segment: '1'\n"),
        ("t.tex", "\\begin{tabular}{ll}\nsegment & score \\\\\n"),
        ("t.txt", "0 ||| Eins. ||| F0= -1.5 ||| -0.5\n0 ||| Ein. ||| F0= -2 ||| -0.6\n"),
    ],
)
@pytest.mark.parametrize("door", DOORS)
def test_tables_of_other_programs_are_refused_as_what_they_are(
    door: str, name: str, text: str
) -> None:
    _, report = read(door, name, text)
    assert [error.code for error in report.errors] == ["table.other"]
