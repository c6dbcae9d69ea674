"""Tables under names that nobody prescribed; Unicode twins of keys; entities; what is too much."""

import csv
import io
import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import translation

from annotation import uploads
from annotation.models import Output, Segment, System
from annotation.uploads import Checked, InputFile, Submission, SystemFile
from annotation.uploads.normalising import decode, first_entity
from annotation.uploads.problems import Place, Problem
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


def errors(checked: Checked) -> list[str]:
    return [str(error) for error in checked.report.errors]


def notes(checked: Checked) -> str:
    return "\n".join(str(problem) for problem in checked.report.notes)


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
    assert "“sid” as segment, “doc_id” as document, “src” as source" in notes(checked)
    assert checked.meanings[0].fields["mt"] == "output"


def test_rows_of_one_segment_that_contradict_each_other(db: None) -> None:
    checked = check(("wmt.tsv", LONG.replace("s1\tBeta\tEins.", "s1\tBeta\tEins!")))
    assert errors(checked) == ["wmt.tsv, row 4, source: segment “s1” has another source in row 2"]


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
    assert "no column names the system: these are outputs of “nllb”" in notes(checked)


def test_an_ambiguous_name_is_told(db: None) -> None:
    checked = check(("t.csv", "id,seg_id,source,system:a\n9,x,Eins,One\n"))
    assert checked.draft.segments[0].key == "x"
    assert "“seg_id” is taken as segment, not “id”" in notes(checked)


def test_what_a_person_says_goes_before_guesses(db: None) -> None:
    text = "id,seg_id,text,Online-B\n9,x,Eins,One\n"
    assert errors(check(("t.csv", text)))
    said = {"text": "source", "id": "segment", "seg_id": "", "Online-B": "system:Online-B"}
    checked = check(("t.csv", text), columns={"t.csv": said})
    assert errors(checked) == []
    assert checked.draft.segments[0].key == "9"
    assert checked.draft.systems[0].identity == ("Online-B", Decimal(1))
    assert any("not used: the column seg_id" in str(w) for w in checked.report.warnings)


def test_what_is_probably_misspelt_is_refused_until_somebody_says(db: None) -> None:
    text = "source,refrence,system:a\nEins,Uno,One\n"
    assert "is “reference” meant?" in errors(check(("t.csv", text)))[0]
    assert errors(check(("t.csv", text), columns={"": {"refrence": ""}})) == []
    named = check(("t.csv", text), columns={"": {"refrence": "reference"}})
    assert named.draft.segments[0].references == {"A": "Uno"}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"": {"nothing": "source"}}, "no table has a column “nothing”"),
        ({"t.csv": {"nothing": "source"}}, "t.csv, row 1: there is no column “nothing”"),
        ({"x.csv": {"source": "source"}}, "there is no table “x.csv”"),
        ({"": {"note": "soruce"}}, "“soruce” is nothing that the column “note” can be taken for"),
        ({"": {"note": "source"}}, "t.csv, row 1: two columns are taken for source"),
    ],
)
def test_choices_that_cannot_be_followed(
    db: None, columns: dict[str, dict[str, str]], message: str
) -> None:
    table = ("t.csv", "source,note,system:a\nEins,x,One\n")
    if "two columns" in message:
        columns = {"": {"note": "source", "source": "source"}}
    assert message in "\n".join(errors(check(table, columns=columns)))


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
    found = "\n".join(errors(check(("s.tsv", segments))))
    assert "s.tsv, row 3, segment: the segment key" in found
    assert "(s.tsv, row 2, segment); they differ in their Unicode normalisation alone" in found
    outputs = f"segment\tsystem\toutput\n{NFC}\ta\tOne\n{NFD}\ta\tTwo\n"
    (error,) = errors(check(("s.tsv", f"segment\tsource\n{NFC}\tEins\n"), ("o.tsv", outputs)))
    assert "o.tsv, row 3" in error
    assert "o.tsv, row 2" in error


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("1.0", "; “01” is there"),
        ("DOC A-1", "; “doc a-1” is there"),
        ("2", ""),
        ("snan1", ""),
        ("1²", ""),
        ("", ""),
    ],
)
def test_a_key_that_programs_write_otherwise_is_named(db: None, written: str, hint: str) -> None:
    """Not taken for it: “1” and “01” may be two segments."""
    segments = "segment\tsource\n01\tEins\ndoc a-1\tZwei\n"
    outputs = f"segment\tsystem\toutput\n01\ta\tOne\n{written}\ta\tTwo\n"
    found = errors(check(("s.tsv", segments), ("o.tsv", outputs)))
    if written:
        sentence = f"there is no segment “{written}” in the test set{hint}"
        assert found == [f"o.tsv, row 3, output: {sentence}"]
    assert Near(["01", "doc a-1"])(written) == hint


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
    assert "another source" in "\n".join(errors(check(("s.tsv", other_text))))


def test_a_test_set_without_outputs_is_pointed_out_until_some_are_there(db: None) -> None:
    words = "there are no outputs"
    checked = check(("s.tsv", "source\nEins.\n"))
    assert [words in str(each) for each in checked.report.warnings].count(True) == 1
    uploads.store(checked.draft)
    assert words not in " ".join(map(str, check(("s.tsv", "source\nEins.\n")).report.warnings))
    new = check(("s.tsv", "source\tsystem:a\nEins.\tOne.\n"))
    assert words not in " ".join(map(str, new.report.warnings))


ENTITIES = "source\treference\tsystem:a\nEr sagt &quot;ja&quot;\tHe says yes\tAT&T &amp;#39;s\n"


def test_entities_are_told_and_kept(db: None) -> None:
    checked = check(("t.tsv", ENTITIES))
    assert checked.preview.entities == 1
    (warning,) = [w for w in checked.report.warnings if "entities" in w.message]
    assert str(warning).startswith("t.tsv, row 2, source: 1 segment holds HTML entities such as")
    assert checked.draft.segments[0].source == "Er sagt &quot;ja&quot;"


def test_entities_are_decoded_when_asked_for(db: None) -> None:
    checked = check(("t.tsv", ENTITIES), decode=True)
    assert checked.draft.segments[0].source == 'Er sagt "ja"'
    assert checked.draft.systems[0].outputs == {"1": "AT&T 's"}
    assert "HTML entities of 2 texts are decoded, here first" in notes(checked)
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
    assert "t.csv, row 1: the table has 1,001 columns, and 1,000 is the limit" in error


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
    (error,) = errors(checked)
    assert error.startswith(f"{name}: with this there are 2")
    assert "one upload may hold 20." in error


def test_texts_are_counted_over_columns_and_files(db: None, settings: Any) -> None:
    settings.MAX_UPLOAD_TEXTS = 7
    table = "source\treference\tsystem:a\tsystem:b\n" + "x\ty\tz\tz\n" * 2
    (error,) = errors(check(("t.tsv", table)))
    assert "with this there are 8 texts" in error


def test_a_damaged_file_has_a_thousand_errors_and_no_more(db: None) -> None:
    checked = check(("t.tsv", "source\treference\n" + "Eins\t\n" * 5_000))
    found = errors(checked)
    assert found == [
        "t.tsv, row 2, reference, 1,000 times, also in rows 3, 4, 5, 6: the text is empty",
        "these are 1,000 errors: the rest was not looked at",
    ]
    ragged = errors(check(("t.tsv", "source\treference\n" + "Eins\n" * 5_000)))
    assert len(ragged) == 1
    assert "(5,000 rows: 2, 3, 4, 5, 6 and 4,995 more)" in ragged[0]


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
    assert name in errors(checked)[0]
    assert "100,00" in errors(checked)[0] or "field limit" in errors(checked)[0]


def swapped(source: str, reference: str, output: str, **head: str) -> str:
    table = file("t.tsv", f"source\treference\tsystem:a\n{source}\t{reference}\t{output}\n")
    languages = {"source_language": "en", "target_language": "ar"} | head
    head = {"slug": "swapped", "name": "Swapped"} | languages
    checked = uploads.check_submission(Submission(**head, tables=[table]))
    return "\n".join(str(warning) for warning in checked.report.warnings)


def test_swapped_languages_are_seen_by_their_letters(db: None) -> None:
    english, arabic = "The train is late 😀", "القطار متأخر BMW"
    said = "the sources are in letters of Arabic, the translations in those of English"
    assert f"target language: {said}" in swapped(arabic, english, english)
    told = swapped(english, arabic, arabic)
    told += swapped(arabic, arabic, arabic) + swapped("1", "2", "3")
    # Serbian has two scripts, German and English have one.
    told += swapped("Voz kasni", "The train", "A train", source_language="sr", target_language="en")
    told += swapped("The train", "Der Zug", "Zug", target_language="de")
    assert "letters" not in told


def test_one_empty_output_is_one_segment(db: None) -> None:
    told = swapped("Rain falls.", "المطر", " ")
    assert "1 of 1 outputs of “a” are empty (segment 1)" in told


def test_outputs_that_cannot_be_read_are_not_said_to_be_missing(db: None) -> None:
    checked = check(("s.tsv", b"source\tsystem:a\nEins.\t\xff\n".decode("latin-1")), ("t.csv", ""))
    assert errors(checked)
    assert "there are no outputs" not in " ".join(map(str, checked.report.warnings))


def test_a_reference_that_does_not_fit_is_not_said_to_be_missing(db: None) -> None:
    sources = file("src.txt", "Eins.\nZwei.\n")
    checked = check(source=sources, references=[file("ref.txt", "One.\n")])
    assert errors(checked) == ["ref.txt: 1 line in this file, 2 segments in src.txt"]
    assert "no reference" not in " ".join(map(str, checked.report.warnings))
    assert "no reference" in " ".join(map(str, check(source=sources).report.warnings))


def test_columns_of_outputs_under_bare_names_are_told_what_to_be_called(db: None) -> None:
    checked = check(("s.tsv", "source\tours\ttheirs\nEins.\tOne.\tWon.\n"))
    told = [str(warning) for warning in checked.report.warnings]
    assert "s.tsv, row 1: not used: the columns ours, theirs" in told
    assert "s.tsv, row 1: if a column has the outputs of a system, call it so: system:ours" in told
    right = check(("s.tsv", "source\tsystem:ours\tremark\nEins.\tOne.\tGood.\n"))
    assert "call it so" not in " ".join(map(str, right.report.warnings))


@pytest.mark.parametrize(
    ("said", "chinese"),
    [
        (
            "11 lines in this file, 12 segments in src.txt",
            "此文件有 11 行，而 src.txt 有 12 个句段",
        ),
        ("1 of 9 outputs of “a” are empty (segment 5)", "“a”的 9 条译文中有 1 条为空（句段 5）"),
        (
            "2 segments with a reference equal to the source (1, 2)",
            "2 个句段的参考译文与原文相同（1, 2）",
        ),
        ("source and target language are the same", "原文语言与目标语言相同"),
        ("not used: the columns ours, theirs", "未使用：列 ours, theirs"),
        (
            "this is broken UTF-16-LE text. Save it as UTF-8.",
            "这是损坏的 UTF-16-LE 文本。请另存为 UTF-8。",
        ),
    ],
)
def test_what_is_found_is_said_in_chinese(said: str, chinese: str) -> None:
    problem = Problem("error", said, Place("src.txt", 3, "source"))
    with translation.override("zh-hans"):
        shown = render_to_string("_problem.html", {"problem": problem}).strip()
    assert shown == f"src.txt, 第 3 行, 原文: {chinese}"


def test_a_header_alone_is_refused_and_wrong_rows_are_no_header_alone(db: None) -> None:
    head = "segment\tsource\toutput\tsystem\n"
    assert errors(check(("own.tsv", head))) == ["own.tsv: the table has a header but no row"]
    wrong = check(("own.tsv", f"{head}1\tQuelle\n2\tZwei\tTwo\tA\t9\n"))
    assert errors(wrong) == [
        "own.tsv, row 2: the row has 2 cells, the header has 4",
        "own.tsv, row 3: the row has 5 cells, the header has 4",
    ]
