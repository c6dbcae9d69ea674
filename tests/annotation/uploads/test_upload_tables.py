"""Tables under names that nobody prescribed; Unicode twins of keys; entities; what is too much."""

import csv
import io
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from annotation import uploads
from annotation.models import Output, Segment, System
from annotation.uploads import Checked, InputFile, Submission, SystemFile
from annotation.uploads.normalising import decode, first_entity
from annotation.uploads.problems import Problem
from annotation.uploads.spellings import Near
from annotation.uploads.tables.rows import LONGEST_TEXT, MOST_COLUMNS

NFC = "Café 1"
NFD = unicodedata.normalize("NFD", NFC)


def file(name: str, text: str) -> InputFile:
    return InputFile.holding(name, text.encode())


def check(*tables: tuple[str, str], **options: Any) -> Checked:
    head = {"slug": "set", "name": "Set", "source_language": "de", "target_language": "en"}
    return uploads.check_submission(
        Submission(**head, tables=[file(*table) for table in tables], **options)
    )


def errors(checked: Checked) -> list[tuple[str, str]]:
    return [(str(error.place), error.code) for error in checked.report.errors]


def warnings(checked: Checked) -> list[str]:
    return [warning.code for warning in checked.report.warnings]


def parameters(problems: Sequence[Problem], code: str) -> dict[str, Any]:
    (problem,) = [each for each in problems if each.code == code]
    return problem.message.parameters


LONG = (
    "doc_id\tsid\tsys\tsrc\tref\tmt\n"
    "d1\ts1\tAlpha\tEins.\tOne.\tOn.\n"
    "d1\ts2\tAlpha\tZwei.\tTwo.\tTw.\n"
    "d1\ts1\tBeta\tEins.\tOne.\tWon.\n"
    "d1\ts2\tBeta\tZwei.\tTwo.\tToo.\n"
)


def test_a_researchers_table_of_one_output_a_row(db: None) -> None:
    checked = check(("wmt.tsv", LONG))
    assert errors(checked) == []
    draft = checked.draft
    assert [(s.key, s.document, s.source) for s in draft.segments] == [
        ("s1", "d1", "Eins."), ("s2", "d1", "Zwei."),
    ]  # fmt: skip
    assert draft.segments[1].references == {"A": "Two."}
    assert {s.name: s.outputs for s in draft.systems} == {
        "Alpha": {"s1": "On.", "s2": "Tw."}, "Beta": {"s1": "Won.", "s2": "Too."},
    }  # fmt: skip
    pairs = parameters(checked.report.notes, "columns.guessed")["pairs"]
    assert [tuple(pair.parameters.values()) for pair in pairs][:3] == [
        ("sid", "segment"), ("doc_id", "document"), ("src", "source"),
    ]  # fmt: skip
    assert checked.meanings[0].fields["mt"] == "output"


def test_rows_of_one_segment_that_contradict_each_other(db: None) -> None:
    checked = check(("wmt.tsv", LONG.replace("s1\tBeta\tEins.", "s1\tBeta\tEins!")))
    assert errors(checked) == [("wmt.tsv, row 4, src", "segments.source")]
    assert parameters(checked.report.errors, "segments.source") == {"segment": "s1", "row": 2}


def test_without_keys_different_sources_are_numbered(db: None) -> None:
    rows = [line.split("\t") for line in LONG.splitlines()]
    text = "\n".join("\t".join([row[0], *row[2:]]) for row in rows)
    draft = check(("wmt.tsv", text)).draft
    assert [segment.key for segment in draft.segments] == ["1", "2"]
    assert draft.systems[1].outputs == {"1": "Won.", "2": "Too."}


def test_outputs_of_one_system_are_called_as_their_file(db: None) -> None:
    checked = check(("nllb.csv", "id,src,hyp\na,Eins,One\nb,Zwei,Two\n"))
    assert errors(checked) == []
    (system,) = checked.draft.systems
    assert (system.name, system.outputs) == ("nllb", {"a": "One", "b": "Two"})
    assert parameters(checked.report.notes, "outputs.system-of-file") == {"system": "nllb"}


def test_an_ambiguous_name_is_noted(db: None) -> None:
    checked = check(("t.csv", "id,seg_id,source,system:a\n9,x,Eins,One\n"))
    assert checked.draft.segments[0].key == "x"
    assert parameters(checked.report.notes, "columns.rivals") == {
        "column": "seg_id", "field": "segment", "others": ["id"],
    }  # fmt: skip


def test_what_a_person_says_goes_before_guesses(db: None) -> None:
    text = "id,seg_id,text,Online-B\n9,x,Eins,One\n"
    assert errors(check(("t.csv", text)))
    chosen = {"text": "source", "id": "segment", "seg_id": "", "Online-B": "system:Online-B"}
    checked = check(("t.csv", text), columns={"t.csv": chosen})
    assert errors(checked) == []
    assert checked.draft.segments[0].key == "9"
    assert checked.draft.systems[0].identity == ("Online-B", Decimal(1))
    assert parameters(checked.report.warnings, "columns.unused")["columns"] == ["seg_id"]


def test_what_is_probably_misspelt_is_refused_until_somebody_says(db: None) -> None:
    text = "source,refrence,system:a\nEins,Uno,One\n"
    checked = check(("t.csv", text))
    assert parameters(checked.report.errors, "columns.misspelt")["names"] == ["reference"]
    assert errors(check(("t.csv", text), columns={"": {"refrence": ""}})) == []
    named = check(("t.csv", text), columns={"": {"refrence": "reference"}})
    assert named.draft.segments[0].references == {"A": "Uno"}


@pytest.mark.parametrize(
    ("columns", "place", "code"),
    [
        ({"": {"nothing": "source"}}, "column", "columns.absent"),
        ({"t.csv": {"nothing": "source"}}, "t.csv, row 1", "columns.absent"),
        ({"x.csv": {"source": "source"}}, "", "upload.no-table"),
        ({"": {"note": "soruce"}}, "t.csv, row 1, note", "columns.no-field"),
        (
            {"": {"note": "source", "source": "source"}},
            "t.csv, row 1, source",
            "columns.same-field",
        ),
    ],
)
def test_choices_that_cannot_be_followed(
    db: None, columns: dict[str, dict[str, str]], place: str, code: str
) -> None:
    table = ("t.csv", "source,note,system:a\nEins,x,One\n")
    assert (place, code) in errors(check(table, columns=columns))


def test_keys_that_differ_in_normalisation_alone_are_one(db: None) -> None:
    assert NFC != NFD
    segments = f"segment\tdocument\tsource\n{NFC}\t{NFC}\tEins\nb\t{NFD}\tZwei\n"
    outputs = f"segment\tsystem\toutput\n{NFD}\t{NFD}\tOne\nb\t{NFC}\tTwo\n"
    checked = check(("s.tsv", segments), ("o.tsv", outputs))
    assert errors(checked) == []
    assert {segment.document for segment in checked.draft.segments} == {NFC}
    (system,) = checked.draft.systems
    assert system.outputs == {NFC: "One", "b": "Two"}
    uploads.store(checked.draft)
    assert set(Output.objects.values_list("segment__key", "text")) == {(NFC, "One"), ("b", "Two")}


def test_twins_within_one_file_are_duplicates_with_both_rows(db: None) -> None:
    segments = f"segment\tsource\tsystem:a\n{NFC}\tEins\tOne\n{NFD}\tZwei\tTwo\n"
    checked = check(("s.tsv", segments))
    assert ("s.tsv, row 3, segment", "segment.twice-unicode") in errors(checked)
    place = parameters(checked.report.errors, "segment.twice-unicode")["place"]
    assert str(place) == "s.tsv, row 2, segment"
    outputs = f"segment\tsystem\toutput\n{NFC}\ta\tOne\n{NFD}\ta\tTwo\n"
    again = check(("s.tsv", f"segment\tsource\n{NFC}\tEins\n"), ("o.tsv", outputs))
    assert [str(error.place.row) for error in again.report.errors] == ["3"]
    (error,) = again.report.errors
    assert str(error.message.parameters["place"]) == "o.tsv, row 2, output"


@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("1.0", "01"),
        ("DOC A-1", "doc a-1"),
        ("2", ""),
        ("snan1", ""),
        ("1²", ""),
        ("", ""),
    ],
)
def test_a_key_that_programs_write_otherwise_is_named(db: None, written: str, near: str) -> None:
    """The key is not corrected: “1” and “01” may be two segments."""
    segments = "segment\tsource\n01\tEins\ndoc a-1\tZwei\n"
    outputs = f"segment\tsystem\toutput\n01\ta\tOne\n{written}\ta\tTwo\n"
    report = check(("s.tsv", segments), ("o.tsv", outputs)).report
    if written:
        (error,) = report.errors
        assert str(error.place) == "o.tsv, row 3, output"
        others = {"known": near} if near else {"n": 2, "segments": ["01", "doc a-1"]}
        assert error.message.parameters == {"segment": written, **others}
    assert Near(["01", "doc a-1"]).name(written) == near


def test_stored_twins_are_found_and_texts_are_never_normalised(db: None) -> None:
    text = f"segment\tdocument\tsource\tsystem:{NFD}\n{NFD}\t{NFD}\t{NFD}\t{NFD}\n"
    uploads.store(check(("s.tsv", text)).draft)
    assert Segment.objects.get().key == NFD
    assert Output.objects.get().text == NFD
    again = f"segment\tdocument\tsource\tsystem:{NFC}\tsystem:b\n{NFC}\t{NFC}\t{NFD}\t{NFD}\tB\n"
    checked = check(("s.tsv", again))
    assert errors(checked) == []
    assert checked.changes.systems_unchanged == (NFD,)
    uploads.store(checked.draft)
    assert (Segment.objects.count(), System.objects.count()) == (1, 2)
    other_text = again.replace(f"{NFC}\t{NFD}\t{NFD}", f"{NFC}\t{NFC}\t{NFD}")
    assert "stored.source" in [code for _, code in errors(check(("s.tsv", other_text)))]


def test_a_test_set_without_outputs_is_pointed_out_until_some_are_there(db: None) -> None:
    checked = check(("s.tsv", "source\nEins.\n"))
    assert warnings(checked).count("outputs.none") == 1
    uploads.store(checked.draft)
    assert "outputs.none" not in warnings(check(("s.tsv", "source\nEins.\n")))
    assert "outputs.none" not in warnings(check(("s.tsv", "source\tsystem:a\nEins.\tOne.\n")))


ENTITIES = "source\treference\tsystem:a\nEr sagt &quot;ja&quot;\tHe says yes\tAT&T &amp;#39;s\n"


def test_entities_are_stored_with_a_warning(db: None) -> None:
    checked = check(("t.tsv", ENTITIES))
    assert checked.preview.entities == 1
    (warning,) = [w for w in checked.report.warnings if w.code == "texts.entities"]
    assert (str(warning.place), warning.message.parameters["n"]) == ("t.tsv, row 2, source", 1)
    assert checked.draft.segments[0].source == "Er sagt &quot;ja&quot;"


def test_entities_are_decoded_when_asked_for(db: None) -> None:
    checked = check(("t.tsv", ENTITIES), decode=True)
    assert checked.draft.segments[0].source == 'Er sagt "ja"'
    assert checked.draft.systems[0].outputs == {"1": "AT&T 's"}
    assert parameters(checked.report.notes, "upload.decoded") == {"n": 2}
    plain = Submission(
        slug="p", name="P", source_language="de", target_language="en", decode=True,
        source=file("s.txt", "&lt;b&gt;\n"), systems=[SystemFile(file("o.txt", "&#x41;\n"), "o")],
    )  # fmt: skip
    draft = uploads.check_submission(plain).draft
    assert (draft.segments[0].source, draft.systems[0].outputs) == ("<b>", {"1": "A"})


@pytest.mark.parametrize("text", ["AT&T; fine", "&copy right", "a & b;", "&#0;", "&nosuchname;"])
def test_what_is_no_entity(text: str) -> None:
    assert (first_entity(text), decode(text)) == ("", text)


def wide(columns: int) -> str:
    buffer = io.StringIO()
    names = ["source", *(f"system:s{i}" for i in range(columns - 1))]
    csv.writer(buffer).writerows([names, ["x"] * columns])
    return buffer.getvalue()


def test_a_table_of_thousands_of_columns_is_refused_in_words(db: None) -> None:
    assert errors(check(("t.csv", wide(MOST_COLUMNS)))) == []
    (error,) = errors(check(("t.csv", wide(MOST_COLUMNS + 1))))
    assert error == ("t.csv, row 1", "table.too-many-columns")


@pytest.mark.parametrize("name", ["t.tsv", "t.jsonl", "s.txt"])
def test_more_texts_than_can_be_checked_while_one_waits(db: None, settings: Any, name: str) -> None:
    settings.MAX_UPLOAD_TEXTS = 20
    line = '{"source": "x"}' if name == "t.jsonl" else "x"
    head = "source\n" if name == "t.tsv" else ""
    if name == "s.txt":
        plain = Submission("p", "P", "de", "en", source=file(name, "x\n" * 21))
        checked = uploads.check_submission(plain)
    else:
        checked = check((name, head + f"{line}\n" * 21))
    assert errors(checked) == [(name, "upload.too-many-texts")]
    assert parameters(checked.report.errors, "upload.too-many-texts")["limit"] == 20


def test_texts_are_counted_over_columns_and_files(db: None, settings: Any) -> None:
    settings.MAX_UPLOAD_TEXTS = 7
    table = "source\treference\tsystem:a\tsystem:b\n" + "x\ty\tz\tz\n" * 2
    checked = check(("t.tsv", table))
    assert parameters(checked.report.errors, "upload.too-many-texts")["n"] == 8


def test_a_damaged_file_has_a_thousand_errors_and_no_more(db: None) -> None:
    checked = check(("t.tsv", "source\treference\n" + "Eins\t\n" * 5_000))
    assert errors(checked) == [
        ("t.tsv, row 2, reference", "text.empty"),
        ("", "problem.too-many"),
    ]
    assert checked.report.errors[0].more is not None
    assert checked.report.errors[0].more.parameters == {"n": 1000, "rows": [3, 4, 5, 6]}
    (ragged,) = check(("t.tsv", "source\treference\n" + "Eins\n" * 5_000)).report.errors
    assert ragged.more is not None
    assert (ragged.code, ragged.more.parameters["n"]) == ("table.cells", 5_000)


@pytest.mark.parametrize("name", ["s.txt", "t.tsv", "t.csv", "t.jsonl"])
def test_a_text_whose_line_ends_are_lost(db: None, name: str) -> None:
    text = "x" * (LONGEST_TEXT + 1)
    content = f'{{"source": "{text}"}}\n' if name == "t.jsonl" else f"{text}\n"
    if name == "s.txt":
        checked = uploads.check_submission(
            Submission("p", "P", "de", "en", source=file(name, content))
        )
    else:
        checked = check((name, content if name == "t.jsonl" else f"source\n{content}"))
    (place, code), *_ = errors(checked)
    assert place.startswith(name)
    assert code in ("text.too-long", "table.csv")


def swapped(source: str, reference: str, output: str, **head: str) -> list[str]:
    table = file("t.tsv", f"source\treference\tsystem:a\n{source}\t{reference}\t{output}\n")
    languages = {"source_language": "en", "target_language": "ar"} | head
    head = {"slug": "swapped", "name": "Swapped"} | languages
    checked = uploads.check_submission(Submission(**head, tables=[table]))
    return warnings(checked)


def test_swapped_languages_are_seen_by_their_letters(db: None) -> None:
    english, arabic = "The train is late 😀", "القطار متأخر BMW"
    assert "languages.swapped" in swapped(arabic, english, english)
    codes = swapped(english, arabic, arabic)
    codes += swapped(arabic, arabic, arabic) + swapped("1", "2", "3")
    # Serbian has two scripts, German and English have one.
    codes += swapped(
        "Voz kasni", "The train", "A train", source_language="sr", target_language="en"
    )
    codes += swapped("The train", "Der Zug", "Zug", target_language="de")
    assert "languages.swapped" not in codes


def test_an_empty_output_is_a_warning(db: None) -> None:
    assert "outputs.empty" in swapped("Rain falls.", "المطر", " ")


def test_outputs_that_cannot_be_read_are_not_said_to_be_missing(db: None) -> None:
    checked = check(("s.tsv", b"source\tsystem:a\nEins.\t\xff\n".decode("latin-1")), ("t.csv", ""))
    assert errors(checked)
    assert "outputs.none" not in warnings(checked)


def test_a_reference_that_does_not_fit_is_not_said_to_be_missing(db: None) -> None:
    sources = file("src.txt", "Eins.\nZwei.\n")
    checked = check(source=sources, references=[file("ref.txt", "One.\n")])
    assert errors(checked) == [("ref.txt", "upload.lines")]
    assert parameters(checked.report.errors, "upload.lines") == {
        "lines": 1, "segments": 2, "within": "src.txt",
    }  # fmt: skip
    assert "references.none" not in warnings(checked)
    assert "references.none" in warnings(check(source=sources))


def test_names_for_columns_of_outputs_are_suggested(db: None) -> None:
    checked = check(("s.tsv", "source\tours\ttheirs\nEins.\tOne.\tWon.\n"))
    unused = parameters(checked.report.warnings, "columns.unused")
    assert unused == {"n": 2, "columns": ["ours", "theirs"]}
    assert parameters(checked.report.warnings, "columns.no-outputs") == {"column": "ours"}
    right = check(("s.tsv", "source\tsystem:ours\tnote\nEins.\tOne.\tGood.\n"))
    assert "columns.no-outputs" not in warnings(right)


@pytest.mark.parametrize(
    "names",
    [("System A", "System B"), ("MT_1", "MT_2"), ("hyp1", "hyp2", "hyp10"),
     ("Übersetzung a", "Übersetzung b"), ("output-1", "output-2"), ("系统 1", "系统 2")],
)  # fmt: skip
def test_a_column_for_each_numbered_system(db: None, names: tuple[str, ...]) -> None:
    head = ["Nr.", "Quelle", "Referenz", *names, "Bemerkung"]
    row = ["1", "Eins.", "One.", *(f"{name}!" for name in names), ""]
    checked = check(("t.tsv", "\t".join(head) + "\n" + "\t".join(row) + "\n"))
    assert errors(checked) == []
    outputs = {system.name: list(system.outputs.values()) for system in checked.draft.systems}
    assert outputs == {name: [f"{name}!"] for name in names}


def test_numbered_columns_beside_one_of_outputs_are_not_systems(db: None) -> None:
    checked = check(("t.tsv", "source\tmt\tmt_1\tmt_2\nEins.\tOne.\tWon.\tTwo.\n"))
    assert [system.name for system in checked.draft.systems] == ["t"]
    assert parameters(checked.report.warnings, "columns.unused")["columns"] == ["mt_1", "mt_2"]


def test_a_header_alone_is_refused_and_wrong_rows_are_no_header_alone(db: None) -> None:
    head = "segment\tsource\toutput\tsystem\n"
    assert errors(check(("own.tsv", head))) == [("own.tsv", "table.no-rows")]
    wrong = check(("own.tsv", f"{head}1\tQuelle\n2\tZwei\tTwo\tA\t9\n"))
    assert errors(wrong) == [
        ("own.tsv, row 2", "table.cells"),
        ("own.tsv, row 3", "table.cells"),
    ]
