"""Tables to drafts: TSV, CSV and JSONL, right and wrong; what comes out is what went in."""

import json
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation import uploads
from annotation.models import Output
from annotation.models.corpus import content_key
from annotation.uploads import Checked, InputFile, Report, SegmentDraft, Submission, SystemDraft
from annotation.uploads.problems import Place, problem_from_json
from core.text import neutralise
from metaeval.messages import message


def check(*tables: tuple[str, str | bytes], slug: str = "tables") -> Checked:
    files = [
        InputFile.holding(name, text.encode() if isinstance(text, str) else text)
        for name, text in tables
    ]
    return uploads.check_submission(
        Submission(
            slug=slug, name="Tables", source_language="de", target_language="en", tables=files
        )
    )


WIDE_TSV = (
    "segment\tsource\treference\tsystem:a@0.8\tsystem:b\n"
    "x1\tEins\tOne\tO\tOn\nx2\tZwei\tTwo\tT\tTw\n"
)
CSV = 'source,reference,system:a\n"Eins, zwei","One, ""two""",=1+1\nDrei,Three,Th\n'
JSONL = "\n".join(
    json.dumps(row)
    for row in [
        {"source": "Eins", "reference": "One", "reference_B": "Uno", "system:a": "O"},
        {"source": "Zwei", "reference": "Two", "reference_B": "Due", "system:a": "T"},
    ]
)


def test_wide_table(db: None) -> None:
    checked = check(("set.tsv", WIDE_TSV))
    assert checked.report.errors == []
    assert [segment.key for segment in checked.draft.segments] == ["x1", "x2"]
    systems = {system.identity: system.outputs for system in checked.draft.systems}
    assert systems == {
        ("a", Decimal("0.8")): {"x1": "O", "x2": "T"},
        ("b", Decimal(1)): {"x1": "On", "x2": "Tw"},
    }


def test_csv_quotes_and_formulas_are_text(db: None) -> None:
    checked = check(("set.csv", CSV))
    assert checked.report.errors == []
    assert checked.draft.segments[0].source == "Eins, zwei"
    assert checked.draft.segments[0].references == {"A": 'One, "two"'}
    uploads.store(checked.draft)
    assert list(Output.objects.order_by("pk").values_list("text", flat=True)) == ["=1+1", "Th"]


def test_json_lines_with_two_references(db: None) -> None:
    checked = check(("set.jsonl", JSONL))
    assert checked.report.errors == []
    assert checked.draft.segments[1].references == {"A": "Two", "B": "Due"}


def test_long_outputs_beside_segments(db: None) -> None:
    outputs = "segment\tsystem\tlength_ratio\toutput\nx1\ta\t0.5\tO\nx2\ta\t50%\tT\n"
    segments = "segment\tsource\nx1\tEins\nx2\tZwei\n"
    checked = check(("set.tsv", segments), ("out.tsv", outputs))
    assert checked.report.errors == []
    (system,) = checked.draft.systems
    assert system.identity == ("a", Decimal("0.5"))


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("t.tsv", "source\tsystem:a\nEins\tO\nZwei\n", "t.tsv, row 3"),
        ("t.tsv", "source\tsource\nEins\tO\n", "t.tsv, row 1"),
        ("t.tsv", "soruce\nEins\n", "soruce"),
        ("t.tsv", "segment\tsource\nx\tEins\nx\tZwei\n", "t.tsv, row 3, segment"),
        ("t.tsv", "source\tsystem:a@9\nEins\tO\n", "t.tsv, row 1"),
        ("t.tsv", "source\nEins\n \nDrei\n", "t.tsv, row 3"),
        ("t.tsv", "source\treference\nEins\t\n", "t.tsv, row 2, reference"),
        ("t.tsv", "source\nE\x07ins\n", "t.tsv, row 2, source"),
        ("t.csv", 'source\n"Eins\n', "t.csv"),
        ("t.jsonl", '{"source": "Eins"}\n{"source": \n', "t.jsonl, row 2"),
        ("t.jsonl", '{"source": 7}\n', "t.jsonl, row 1, source"),
        ("t.jsonl", '["Eins"]\n', "t.jsonl, row 1"),
        ("t.tsv", "segment\tsystem\toutput\nx\ta\tO\n", "t.tsv"),
    ],
)
def test_errors_name_file_row_and_field(db: None, name: str, text: str, place: str) -> None:
    checked = check((name, text))
    assert checked.report.errors, checked.draft
    assert any(place in str(error) for error in checked.report.errors), [
        str(error) for error in checked.report.errors
    ]


SEGMENTS = "segment\tsource\treference\nx1\tEins\tOne\nx2\tZwei\tTwo\n"
OUTPUT = "segment\tsystem\toutput\tlength_ratio\n"


@pytest.mark.parametrize(
    ("name", "text", "place", "code"),
    [
        (
            "o.tsv",
            "segment\toutput\tsystem:b\nx1\tO\tP\n",
            "o.tsv, row 1",
            "outputs.long-and-wide",
        ),
        ("o.tsv", "system\toutput\na\tO\n", "o.tsv, row 1", "outputs.no-segments"),
        (
            "o.tsv",
            OUTPUT + "x1\ta\tO\t1\nx1\ta\tP\t1\n",
            "o.tsv, row 3, output",
            "output.twice",
        ),
        ("o.tsv", OUTPUT + "x1\ta@0.5\tO\t\n", "o.tsv, row 2, system", "outputs.ratio-in-name"),
        ("o.tsv", OUTPUT + "x1\ta\tO\tlong\n", "o.tsv, row 2, length_ratio", "ratio.syntax"),
        ("o.tsv", OUTPUT + "x1\ta\tO\t0.125\n", "o.tsv, row 2, system", "ratio.decimals"),
        (
            "o.tsv",
            "segment\tsystem:a\nx1\tO\nx1\tP\n",
            "o.tsv, row 3, system:a",
            "output.twice",
        ),
        ("o.tsv", "segment\tsystem:a@9\nx1\tO\n", "o.tsv, row 1, system:a@9", "ratio.too-large"),
        ("o.tsv", "segment~system~output\nx1~a~O\n", "o.tsv, row 1", "columns.none-known"),
        ("o.tsv", "segment\tnote\nx1\tO\n", "o.tsv, row 1", "outputs.no-columns"),
        (
            "o.jsonl",
            '{"segment": "x1", "output": "O", "length_ratio": true}',
            "o.jsonl, row 1, length_ratio",
            "outputs.ratio-type",
        ),
        (
            "o.jsonl",
            '{"segment": "x1", "segment": "x2", "output": "O"}',
            "o.jsonl, row 1",
            "json.field-twice",
        ),
        ("o.jsonl", '[{"segment": "x1", "segment": "x2"}]', "o.jsonl, row 1", "json.field-twice"),
        ("o.tsv", SEGMENTS, "", "upload.several-sources"),
    ],
)
def test_errors_of_outputs(db: None, name: str, text: str, place: str, code: str) -> None:
    problems = check(("set.tsv", SEGMENTS), (name, text)).report.errors
    assert (place, code) in [(str(problem.place), problem.code) for problem in problems]


@pytest.mark.parametrize(
    ("head", "field", "code"),
    [
        ({"slug": "a b"}, "slug", "test-set.slug"),
        ({"slug": "Upload"}, "slug", "test-set.slug-taken"),
        ({"source_language": "no language"}, "source language", "language.code"),
        (
            {"target_language": "de-Latn-DE-1901-1996-x-ab"},
            "target language",
            "language.too-long",
        ),
        ({"name": " Tables"}, "name", "name.blank"),
        ({"name": ""}, "name", "name.empty"),
    ],
)
def test_errors_of_the_head(db: None, head: dict[str, str], field: str, code: str) -> None:
    about = {"slug": "t", "name": "T", "source_language": "de", "target_language": "en"} | head
    file = InputFile.holding("set.tsv", SEGMENTS.encode())
    problems = uploads.check_submission(Submission(**about, tables=[file])).report.errors
    assert (field, code) in [(str(problem.place), problem.code) for problem in problems]


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        (SEGMENTS.replace("One", "Uno"), "set.tsv, row 2, reference", "stored.reference"),
        (
            SEGMENTS.replace("reference", "reference_B"),
            "set.tsv, row 2, reference_B",
            "stored.no-reference",
        ),
        (SEGMENTS[: SEGMENTS.index("x2")], "", "stored.segments-absent"),
        (SEGMENTS.replace("x2", "x3"), "set.tsv, row 3, segment", "stored.no-segment"),
        (
            "segment\tsystem:A\nx1\tO\nx2\tT\n",
            "set.tsv, row 1, system:A",
            "stored.system-spelling",
        ),
    ],
)
def test_a_second_upload_changes_nothing_that_is_stored(
    db: None, text: str, place: str, code: str
) -> None:
    first = check(("set.tsv", SEGMENTS), ("a.tsv", "segment\tsystem:a\nx1\tO\nx2\tT\n"))
    uploads.store(first.draft)
    problems = check(("set.tsv", text)).report.errors
    assert (place, code) in [(str(problem.place), problem.code) for problem in problems]


def test_a_second_upload_keeps_what_it_does_not_name(db: None) -> None:
    uploads.store(check(("set.tsv", SEGMENTS)).draft)
    about = {"slug": "tables", "name": "Other", "source_language": "de", "target_language": "en"}
    sources = "segment\tsource\nx1\tEins\nx2\tZwei\n"
    again = uploads.check_submission(
        Submission(
            **about, description="New", tables=[InputFile.holding("s.tsv", sources.encode())]
        )
    )
    assert again.report.errors == []
    assert {warning.code: warning.message.parameters for warning in again.report.warnings} == {
        "stored.name": {"name": "Tables"},
        "stored.description": {},
        "stored.references-absent": {"n": 1, "references": ["A"]},
        "references.none": {},
    }


def test_outputs_of_no_test_set_are_one_error(db: None) -> None:
    (problem,) = check(("o.tsv", OUTPUT + "x1\ta\tO\t1\n"), slug="nowhere").report.errors
    assert problem.code == "test-set.no-segments"


@pytest.mark.parametrize(
    ("text", "n"), [("segment\tsource\nx\tEins\n", 1), ("source,system:a\nEins,O\n", 1),
                    ('{"source": "Eins"}\n', 1), ('[{"source": "Eins"}, {"source": "Zwei"}]', 2)]
)  # fmt: skip
def test_a_table_without_an_ending_is_known_by_its_content(db: None, text: str, n: int) -> None:
    checked = check(("table", text))
    assert checked.report.errors == []
    assert len(checked.draft.segments) == n


def test_every_cause_is_an_error_not_only_the_first(db: None) -> None:
    text = "source\treference\n" + "Eins\t\n" * 40 + "\tZwei\n" * 2
    (error,) = check(("t.tsv", text)).report.errors
    assert str(error.place) == "t.tsv, row 42, source"
    assert error.more is not None
    assert error.more.parameters == {"n": 2, "rows": [43]}


def test_byte_order_mark_and_windows_lines(db: None) -> None:
    text = WIDE_TSV.replace("\n", "\r\n").encode("utf-8-sig")
    checked = check(("set.tsv", text))
    assert checked.report.errors == []
    assert checked.draft.segments[1].source == "Zwei"
    assert len(checked.report.notes) == 2


def test_outputs_of_unknown_segments_are_errors(db: None) -> None:
    outputs = "segment\tsystem\toutput\nx1\ta\tO\nx9\ta\tT\n"
    checked = check(("set.tsv", "segment\tsource\nx1\tEins\n"), ("out.tsv", outputs))
    (error,) = checked.report.errors
    assert "out.tsv, row 3" in str(error)
    assert "x9" in str(error)


TEXT = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=40).filter(
    str.strip
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(rows=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_json_lines_come_back_unchanged(db: None, rows: list[tuple[str, str]]) -> None:
    text = "\n".join(json.dumps({"source": s, "system:a": o}) for s, o in rows)
    draft = check(("set.jsonl", text)).draft
    assert [segment.source for segment in draft.segments] == [source for source, _ in rows]
    assert list(draft.systems[0].outputs.values()) == [output for _, output in rows]


def test_the_order_of_references_changes_the_key() -> None:
    """Some metrics read the first one alone."""
    assert content_key("s", ["a", "b"], "h") != content_key("s", ["b", "a"], "h")
    assert content_key("s", ["a"], "h") != content_key("s", ["h"], "a")
    assert content_key("s", ["ab"], "c") != content_key("s", ["a"], "bc")


def test_a_draft_built_by_code_is_checked_too(db: None) -> None:
    draft = uploads.TestSetDraft(
        slug="x", name="X", source_language="de", target_language="en",
        segments=[SegmentDraft("1", "Eins"), SegmentDraft("1", "Zwei")],
        systems=[SystemDraft("a", ratio="nan", outputs={"1": "O"})],
    )  # fmt: skip
    with pytest.raises(Exception, match="1") as caught:
        uploads.store(draft)
    assert len(caught.value.messages) >= 2
    assert not Output.objects.exists()


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\tx", "'\tx"),
        ("-1.5", "-1.5"),
        ("-1e-05", "-1e-05"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_cells_that_a_spreadsheet_would_run(cell: str, expected: str) -> None:
    assert neutralise(cell) == expected


def test_a_problem_as_json(db: None) -> None:
    report = check(("t.tsv", "source\treference\n" + "Eins\t\n" * 40 + "\tZwei\n")).report
    (problem,) = report.errors
    assert problem.as_json() == {
        "severity": "error",
        "file": "t.tsv",
        "row": 42,
        "field": "source",
        "code": "text.empty",
        "text": "The text is empty.",
        "pattern": "The text is empty.",
        "parameters": {},
        "more": None,
    }
    assert problem_from_json(problem.as_json()) == problem


def test_problems_of_one_code_are_one_with_a_count() -> None:
    report = Report()
    for row in range(2, 12):
        twice = message("segment.twice", "“{key}” occurs twice.", key=f"x{row}")
        report.error(twice, Place("t.tsv", row, "segment"))
    report.error(message("text.empty", "The text is empty."), Place("t.tsv", 3, "segment"))
    report.gather()
    first, other = report.errors
    assert first.more is not None
    assert (first.code, first.place.row, first.message.parameters) == (
        "segment.twice", 2, {"key": "x2"},
    )  # fmt: skip
    assert first.more.parameters == {"n": 10, "rows": [3, 4, 5, 6]}
    assert str(first) == (
        "t.tsv, row 2, segment: “x2” occurs twice. (10 times, next in rows 3, 4, 5 and 6)"
    )
    assert (other.code, other.more) == ("text.empty", None)
    assert problem_from_json(first.as_json()) == first


def test_what_several_files_have_in_one_place_is_said_once() -> None:
    report = Report()
    for file in ("a.tsv", "b.tsv", "c.tsv"):
        unused = message("columns.unused", "Unused: {columns}.", columns=["x"])
        report.warn(unused, Place(file, 1))
    report.warn(message("columns.unused", "Unused: {columns}.", columns=["y"]), Place("d.tsv", 1))
    report.gather()
    first, other = report.warnings
    assert (first.place.file, other.place.file, other.more) == ("a.tsv", "d.tsv", None)
    assert first.more is not None
    assert first.more.parameters == {"files": ["b.tsv", "c.tsv"]}
    report.gather()
    assert report.warnings == [first, other]
