"""A researcher's own tables: odd names, three languages, gaps, documents, spans, and mistakes."""

import json
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings

from annotation.doors import first_rows
from annotation.exports import FORMATS
from annotation.models import Campaign, ErrorSpan, Item, Judgment
from annotation.uploads import InputFile
from tests.annotation.tables.reading import (
    DE_EN,
    as_files,
    counts,
    errors_of,
    read,
    stored,
    table,
    values,
)

ODD = (
    "Langs\tWho did it\tdoc\tsid\tMT engine\tRating\tmarked\tsrc\thyp\tbegun\tdone\n"
    "de-en\tR1\tnews\t1\talpha\t80\t[]\tDer Hafen.\tThe harbour.\t1714550400\t1714550410\n"
    'de-en\tR1\tnews\t2\talpha\t35\t[{"start":4,"end":9,"severity":"Major"}]\tDas Boot.\t'
    "The boots.\t1714550411\t1714550431\n"
    "de-en\tR2\tnews\t1\talpha\t\t\tDer Hafen.\tThe harbour.\t1714550500\t1714550510\n"
    "zh_CN-en\tR3\tnews\t1\tbeta\t60\t[]\t港口。\tPort.\t1714550600000\t1714550610500\n"
    "en→ar\tR3\ttalk\t1\tbeta\t75\t[]\tThe harbour.\tالميناء.\t"
    "2024-05-01T10:00:00+02:00\t2024-05-01T10:00:20+02:00\n"
)
COLUMNS = {
    "Langs": "language_pair", "who did it": "annotator", "MT engine": "system",
    "marked": "spans", "begun": "started_at", "done": "submitted_at",
}  # fmt: skip


def test_odd_names_three_languages_gaps_documents_and_spans(db: None) -> None:
    files = as_files(odd_tsv=ODD)
    reading, report = read(files, name="Pilot", columns=COLUMNS)
    assert report.errors == []
    assert counts(report.warnings)["judgments.rows-without-answer"] == 1
    launched = stored(files, name="Pilot", columns=COLUMNS)
    assert [each.result.campaign.slug for each in launched] == [
        "pilot-de-en", "pilot-zh-cn-en", "pilot-en-ar",
    ]  # fmt: skip
    first = launched[0].result.campaign
    assert (first.protocol, first.origin, first.status) == ("esa", "imported", "closed")
    assert first.test_set.segments.get(key="2").document == "news"
    own = values(assignment__annotator__campaign=first)
    assert own == [
        ("R1", "1", "alpha", "target", 80, None), ("R1", "2", "alpha", "target", 35, None),
    ]  # fmt: skip
    span = ErrorSpan.objects.get()
    assert (span.start, span.end, span.severity) == (4, 9, "major")
    zh = Judgment.objects.get(assignment__annotator__campaign=launched[1].result.campaign)
    assert zh.started_at == datetime(2024, 5, 1, 8, 3, 20, tzinfo=UTC)
    ar = Judgment.objects.get(assignment__annotator__campaign=launched[2].result.campaign)
    assert ar.started_at == datetime(2024, 5, 1, 8, 0, tzinfo=UTC)
    _, rows = first_rows(*reading.drafts[0])
    assert rows[1][:6] == ["R1", "2", "alpha", "Output", "35", "1"]


def test_the_same_again_changes_nothing_and_other_scores_are_refused(db: None) -> None:
    stored(as_files(odd_tsv=ODD), name="Pilot", columns=COLUMNS)
    again = stored(as_files(odd_tsv=ODD), name="Pilot", columns=COLUMNS)
    assert not any(each.result.is_new for each in again)
    changed = as_files(odd_tsv=ODD.replace("\t60\t", "\t61\t"))
    (error,) = read(changed, name="Pilot", columns=COLUMNS)[1].errors
    assert error.code == "import.other-judgments"
    assert error.message.parameters["campaign"] == "pilot-zh-cn-en"
    assert Judgment.objects.count() == 4


def test_usual_names_need_no_help(db: None) -> None:
    heads = (
        "rater\tseg_id\tsystem\tscore", "worker\tsid\tsys\traw", "login\tsegment\tmodel\trating",
        "annotator_id\tid\tsystem_id\tda", "User\tItem\tMT-System\tDA-Score",
    )  # fmt: skip
    for head in heads:
        reading, report = read(table("R1|1|alpha|80", head=head + "\n"), **DE_EN)
        assert report.errors == [], head
        ((_, campaign),) = reading.drafts
        assert (campaign.items[0].segment, campaign.items[0].system) == ("1", "alpha"), head
        assert campaign.judgments[0].score == 80, head


def test_csv_and_json_lines(db: None) -> None:
    csv = as_files(own_csv='rater,seg,system,score,comment\nR1,1,alpha,80,"a, b"\nR1,2,alpha,7,\n')
    lines = as_files(
        own_jsonl='{"rater": "R1", "seg": 1, "system": "alpha", "score": 80, "spans": []}\n'
    )
    assert [j.comment for j in read(csv, **DE_EN)[0].drafts[0][1].judgments] == ["a, b", ""]
    assert read(lines, **DE_EN)[0].drafts[0][1].judgments[0].score == 80


@pytest.mark.parametrize(
    ("row", "column", "code"),
    [
        ("R1|2|alpha|x", "score", "cell.not-a-number"),
        ("R1|2|alpha|101", "score", "judgments.score-outside"),
        ("R1|2|alpha|-1.2", "score", "judgments.score-outside"),
        ("R1|2|alpha|62.5", "score", "judgments.score-outside"),
        ("|2|alpha|5", "annotator", "judgments.no-annotator"),
        ("R1||alpha|5", "seg_id", "segment.missing"),
        ("R1|1|alpha|5", "score", "judgments.contradiction"),
        ("R1|2|alpha", "", "table.cells"),
        (f"{'R' * 81}|2|alpha|5", "annotator", "judgments.name-too-long"),
        ("R\x001|2|alpha|5", "annotator", "judgments.character-in-name"),
        ("R1|2|alpha|nan", "", ""),
        ("R1|2|alpha|1_0", "score", "cell.not-a-number"),
    ],
)
def test_every_wrong_cell_is_named(db: None, row: str, column: str, code: str) -> None:
    place = f"own.tsv, row 3, {column}" if column else "own.tsv, row 3"
    expected = [(place, code)] if code else []
    assert errors_of(table("R1|1|alpha|80", row), **DE_EN) == expected


def test_wrong_rows_and_wrong_values_are_reported_together(db: None) -> None:
    assert errors_of(table("R1|1|alpha|80", "R1|2|alpha", "R1|3|alpha|x"), **DE_EN) == [
        ("own.tsv, row 3", "table.cells"),
        ("own.tsv, row 4, score", "cell.not-a-number"),
    ]


@pytest.mark.parametrize(
    ("column", "cell", "code"),
    [
        ("kind", "NEW", "judgments.unknown-kind"),
        ("start", "yesterday", "judgments.not-a-time"),
        ("end_time", "12.5", "judgments.time-in-the-1970s"),
        ("lp", "xx-yy-zz1", "language.pair-unknown"),
        ("spans", "{oops", "spans.not-a-list"),
        ("spans", '{"start": 0, "end": 1, "severity": "minor"}', "spans.not-a-list"),
        ("spans", '[{"start":0,"end":2,"severity":"huge"}]', "judgments.unknown-severity"),
        ("spans", '[{"start":2,"end":2,"severity":"minor"}]', "judgments.span-empty"),
        ("spans", '[{"start":0,"end":99,"severity":"minor"}]', "judgments.span-outside"),
        ("spans", '[{"start":"a","end":9,"severity":"minor"}]', "judgments.offsets-not-numbers"),
        ("flag", "maybe", "judgments.not-yes-or-no"),
        ("duration", "-4", "judgments.impossible-duration"),
    ],
)
def test_optional_cells_are_checked_too(db: None, column: str, cell: str, code: str) -> None:
    head = f"annotator\tseg_id\tsystem\tscore\ttranslation\t{column}\n"
    errors = errors_of(table(f"R1|1|alpha|80|The port.|{cell}", head=head), **DE_EN)
    assert errors == [(f"own.tsv, row 2, {column}", code)]


def test_columns_that_do_not_exist_or_mean_the_same(db: None) -> None:
    files = table("R1|1|alpha|80")
    (error,) = read(files, columns={"Rating": "score"}, **DE_EN)[1].errors
    assert error.code == "columns.absent"
    (error,) = read(files, columns={"annotator": "soruce"}, **DE_EN)[1].errors
    assert error.code == "columns.no-field"
    twice = errors_of(files, columns={"annotator": "system", "system": "system"}, **DE_EN)
    assert twice == [("own.tsv, row 1, system", "columns.same-field")]
    nobody = errors_of(table("1|alpha|80", head="seg\tsystem\tscore\n"), **DE_EN)
    assert nobody == [("own.tsv, row 1", "judgments.no-annotator-column")]
    (headless,) = read(table("0.9|z26|Die Uhr.", head="1.0\tZ17\tDer Hafen.\n"), **DE_EN)[1].errors
    assert headless.code == "columns.none-known"
    # As the file writes them.
    assert headless.message.parameters["columns"] == ["1.0", "Z17", "Der Hafen."]


def test_a_table_without_names_of_columns(db: None) -> None:
    """The same rows, with names or with those of their columns chosen, are the same judgments."""
    rows = ("R1|1|alpha|80|The port.", "R2|1|alpha|80|The port.", "R1|2|alpha|60|The port.")
    fields = ("annotator", "segment", "system", "score", "output")
    named, _ = read(table(*rows, head="\t".join(fields) + "\n"), **DE_EN)
    first, *rest = rows
    columns = {f"Column {n}": name for n, name in enumerate(fields, 1)}
    files = table(*rest, head=first.replace("|", "\t") + "\n")
    headless, report = read(files, columns=columns, **DE_EN)
    assert report.errors == []
    (ours,), (theirs,) = named.drafts, headless.drafts
    assert ours[1].judgments == theirs[1].judgments
    assert sorted(each.score for each in theirs[1].judgments) == [60, 80, 80]
    assert ours[0].systems == theirs[0].systems
    # Without a choice, the columns are asked for.
    (error,) = read(files, columns={"column 1": ""}, **DE_EN)[1].errors
    assert error.code == "columns.without-names"
    assert error.message.parameters["columns"] == [f"column {n}" for n in range(1, 6)]


def test_entities_that_were_not_decoded_are_counted(db: None) -> None:
    rows = ("R1|1|alpha|80|The port&#44; at night.", "R1|2|alpha|60|AT&T.", "R1|3|alpha|1|&quot;")
    fields = "annotator\tsegment\tsystem\tscore\toutput\n"
    _, report = read(table(*rows, head=fields), **DE_EN)
    (warning,) = [each for each in report.warnings if each.code == "texts.entities-unchanged"]
    assert warning.message.count == 2
    assert (warning.place.row, warning.place.field) == (2, "output")
    assert warning.message.parameters["entities"] == ["&#44;", "&quot;"]


def test_columns_that_no_page_could_show(db: None) -> None:
    wide = "\t".join(["annotator", *(f"c{n}" for n in range(1_000))]) + "\n"
    assert errors_of(as_files(own_tsv=wide + wide), **DE_EN) == [
        ("own.tsv, row 1", "table.too-many-columns")
    ]
    lone = '{"annotator": "R1", "\\ud800": "x"}\n'
    assert errors_of(as_files(own_jsonl=lone), **DE_EN) == [
        ("own.jsonl, row 1", "judgments.character-in-column")
    ]


def test_languages_must_be_stated(db: None) -> None:
    (error,) = read(table("R1|1|alpha|80"), source_language="de")[1].errors
    assert (error.code, error.place.row) == ("language.unstated", 2)


def test_another_scale_is_never_guessed(db: None) -> None:
    files = table("R1|1|alpha|6", "R1|2|alpha|0", "R1|3|alpha|2.5")
    assert ("own.tsv, row 4, score", "judgments.score-outside") in errors_of(files, **DE_EN)
    whole = table("R1|1|alpha|6", "R1|2|alpha|0")
    assert "judgments.scores-on-small-scale" in counts(read(whole, **DE_EN)[1].warnings)
    reading, report = read(files, scale=(0, 6), **DE_EN)
    assert [j.score for j in reading.drafts[0][1].judgments] == [100, 0, 42]
    assert counts(report.warnings)["judgments.scores-mapped"] == 3
    (error,) = read(table("R1|1|alpha|7"), scale=(0, 6), **DE_EN)[1].errors
    assert error.code == "judgments.score-outside-scale"


@pytest.mark.parametrize(
    ("adequacy", "fluency"),
    [("Adequacy (1-5)", "Fluency (1-5)"), ("Adäquatheit", "Flüssigkeit"), ("充分性", "流畅度")],
)
def test_adequacy_and_fluency_are_two_scales(db: None, adequacy: str, fluency: str) -> None:
    head = f"annotator\tseg_id\tsystem\t{fluency}\t{adequacy}\n"
    reading, report = read(table("R1|1|alpha|4|5", "R2|1|alpha|3|1", head=head), **DE_EN)
    assert report.errors == []
    draft = reading.drafts[0][1]
    assert draft.protocol == "adequacy-fluency"
    assert [each.ratings for each in draft.judgments] == [
        {"adequacy": 5, "fluency": 4}, {"adequacy": 1, "fluency": 3},
    ]  # fmt: skip
    files = table("R1|1|alpha|40|90", head=head)
    assert {code for _, code in errors_of(files, **DE_EN)} == {"judgments.not-on-scale"}
    draft = read(files, scale=(0, 100), **DE_EN)[0].drafts[0][1]
    assert [each.ratings for each in draft.judgments] == [{"adequacy": 90, "fluency": 40}]


def test_adequacy_alone_or_beside_a_score_is_no_second_scale(db: None) -> None:
    alone = table("R1|1|alpha|80", head="annotator\tseg_id\tsystem\tadequacy\n")
    assert read(alone, **DE_EN)[0].drafts[0][1].judgments[0].score == 80
    head = "annotator\tseg_id\tsystem\tscore\tadequacy\tfluency\n"
    reading, report = read(table("R1|1|alpha|70|4|5", head=head), **DE_EN)
    assert reading.drafts[0][1].judgments[0].score == 70
    assert "columns.unused" in counts(report.warnings)


TIMED = "annotator\tseg_id\tsystem\tscore\tend\n"


def test_revisions_by_time_copies_and_the_rule_for_the_rest(db: None) -> None:
    rows = ("R1|1|alpha|80|1714550410", "R1|1|alpha|70|1714550400", "R1|1|alpha|80|1714550410")
    reading, report = read(table(*rows, head=TIMED), **DE_EN)
    assert [j.score for j in reading.drafts[0][1].judgments] == [70, 80]
    assert counts(report.warnings)["judgments.copies"] == 1
    assert counts(report.notes)["judgments.revised"] == 1
    stored(table(*rows, head=TIMED), name="Timed", **DE_EN)
    ours = Judgment.objects.order_by("revision").values_list("score", "revision", "is_current")
    assert list(ours) == [(70, 1, False), (80, 2, True)]
    untimed = table("R1|1|alpha|80", "R1|1|alpha|70")
    assert len(errors_of(untimed, **DE_EN)) == 1
    reading, report = read(untimed, ties="last", **DE_EN)
    assert [j.score for j in reading.drafts[0][1].judgments] == [80, 70]
    assert "judgments.last-row-counts" in counts(report.notes)


@pytest.mark.parametrize(
    ("start", "end", "zone", "expected"),
    [
        ("2024-07-01 12:00", "2024-07-01 12:01", "Europe/Berlin", (10, 0)),
        ("2024-07-01T12:00:00Z", "2024-07-01T12:01:00Z", "Europe/Berlin", (12, 0)),
        ("2024-07-01T12:00:00-07:00", "1719860460", "", (19, 0)),
        ("1719835200000", "1719835260000", "", (12, 0)),
        ("2024/07/01 1:00:00 PM GMT+1", "2024/07/01 1:01:00 PM GMT+1", "Europe/Berlin", (12, 0)),
        ("2024/07/01 6:30:00 AM GMT-5:30", "2024/07/01 6:31:00 AM GMT-5:30", "", (12, 0)),
        ("2024/07/01 12:00:00 AM GMT", "2024/07/01 12:01:00 AM GMT", "", (0, 0)),
        ("2024/07/01 12:00", "2024/07/01 12:01", "Europe/Berlin", (10, 0)),
    ],
)
def test_times_and_zones(
    db: None, start: str, end: str, zone: str, expected: tuple[int, int]
) -> None:
    head = "annotator\tseg_id\tsystem\tscore\tstart_time\tend_time\n"
    reading, _ = read(table(f"R1|1|alpha|80|{start}|{end}", head=head), time_zone=zone, **DE_EN)
    (judgment,) = reading.drafts[0][1].judgments
    assert judgment.started_at is not None
    assert judgment.submitted_at is not None
    assert (judgment.started_at.hour, judgment.started_at.minute) == expected
    assert (judgment.submitted_at - judgment.started_at).total_seconds() == 60


def test_a_time_column_of_small_numbers_has_seconds(db: None) -> None:
    """As in WMT22's tables of direct assessments; a choice of the person goes first."""
    head = "annotator\tseg_id\tsystem\tscore\ttime\n"
    files = table("R1|1|alpha|80|12.5", "R1|2|alpha|70|3", head=head)
    reading, report = read(files, **DE_EN)
    assert "judgments.time-is-duration" in [each.code for each in report.warnings]
    assert [each.active_ms for each in reading.drafts[0][1].judgments] == [12_500, 3_000]
    chosen = errors_of(files, columns={"time": "submitted_at"}, **DE_EN)
    assert {code for _, code in chosen} == {"judgments.time-in-the-1970s"}
    files = table("R1|1|alpha|80|12.5", "R1|2|alpha|70|1719860460", head=head)
    assert [code for _, code in errors_of(files, **DE_EN)] == ["judgments.time-in-the-1970s"]


def test_numbered_ratings_of_named_systems_are_those_of_annotators(db: None) -> None:
    head = "seg_id\tsystem\trating_1\trating_2\n"
    reading, report = read(table("1|alpha|80|60", "2|alpha|70|50", head=head), **DE_EN)
    assert "judgments.annotators-numbered" in [each.code for each in report.warnings]
    given = [(each.annotator, each.score) for each in reading.drafts[0][1].judgments]
    assert sorted(given) == [("1", 70), ("1", 80), ("2", 50), ("2", 60)]


@pytest.mark.parametrize(
    "names",
    ["rater1|raterB", "Bewerter:in 1|Bewerter:in 2", "评分者1|评分者乙", "аннотатор А|аннотатор 2",
     "評価者１|評価者２", "Annotator-1|Annotator-x", "değerlendirici_1|değerlendirici_2",
     "évaluateur 1|e\u0301valuateur 2", "Evaluator Ann|Evaluator Zoë", "coder_b2x|coder_Ids"],
)  # fmt: skip
def test_annotators_with_a_column_each_are_called_in_any_script(db: None, names: str) -> None:
    files = table(
        "1|alpha|80|60", "2|alpha|70|50", head=f"seg_id|system|{names}\n".replace("|", "\t")
    )
    reading, report = read(files, **DE_EN)
    assert report.errors == []
    given = {(each.annotator, each.score) for each in reading.drafts[0][1].judgments}
    first, second = names.split("|")
    assert {(unicodedata.normalize("NFC", who), score) for who, score in given} == {
        (unicodedata.normalize("NFC", who), score)
        for who, score in ((first, 80), (first, 70), (second, 60), (second, 50))
    }


@pytest.mark.parametrize(
    "names", ["raters|userid2x", "evaluator mean|evaluator SD", "user age|user experience (years)"]
)
def test_words_that_begin_as_annotators_are_none(db: None, names: str) -> None:
    files = table("1|alpha|80|60", head=f"seg_id|system|{names}\n".replace("|", "\t"))
    assert [code for _, code in errors_of(files, **DE_EN)] == ["judgments.no-annotator-column"]


@pytest.mark.parametrize(("name", "is_warned"), [("year", True), ("words of Ann", False)])
def test_scores_that_follow_from_errors_are_not_missed(
    db: None, name: str, is_warned: bool
) -> None:
    head = f"annotator\tseg_id\tsystem\toutput\tseverity\tstart\tend\t{name}\n"
    cell = "2025" if is_warned else "looks odd"
    reading, report = read(table(f"R1|1|alpha|Ein Fehler|minor|4|10|{cell}", head=head), **DE_EN)
    assert reading.drafts[0][1].protocol == "mqm"
    found = {warning.code for warning in report.warnings}
    assert ("judgments.no-score-column" in found) == is_warned


@pytest.mark.parametrize("name", ["simplicity", "full_score"])
def test_scores_of_simplifications_have_a_name(db: None, name: str) -> None:
    head = f"annotator\tseg_id\tsystem\t{name}\n"
    reading, _ = read(table("R1|1|alpha|80", head=head), **DE_EN)
    assert [each.score for each in reading.drafts[0][1].judgments] == [80]


def test_impossible_times_are_dropped_and_counted(db: None) -> None:
    head = "annotator\tseg_id\tsystem\tscore\tstart\tend\n"
    rows = ("R1|1|alpha|80|0|1719835260", "R1|2|alpha|80|1719835260|1719835200")
    reading, report = read(table(*rows, head=head), **DE_EN)
    assert [j.submitted_at for j in reading.drafts[0][1].judgments] == [None, None]
    assert {"judgments.start-is-zero", "judgments.end-before-start"} <= set(counts(report.warnings))


def test_controls_are_paired_with_their_output(db: None) -> None:
    head = "annotator\tseg_id\tsystem\tscore\ttype\n"
    rows = ("R1|1|alpha|80|TGT", "R1|1|alpha|20|BAD", "R1|1|alpha|78|CHK", "R1|2|beta|9|BAD_REF")
    reading, report = read(table(*rows, head=head), **DE_EN)
    items = reading.drafts[0][1].items
    assert [(item.kind, item.system, item.partner) for item in items] == [
        (Item.Kind.TARGET, "alpha", None),
        (Item.Kind.BAD_REF, None, 0),
        (Item.Kind.REPEAT, "alpha", 0),
        (Item.Kind.BAD_REF, None, None),
    ]
    assert counts(report.warnings)["judgments.control-without-partner"] == 1


OFFSETS = json.loads((settings.DATA_DIR / "protocols/offsets.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", [each for each in OFFSETS if each["marked"]])
@pytest.mark.parametrize("tool", ["code_points", "appraise", "pearmut_1_1_5"])
def test_spans_as_other_programs_count_them(db: None, case: dict[str, object], tool: str) -> None:
    start, end = case[tool]  # type: ignore[misc]
    names = ("start", "end") if tool == "code_points" else ("start_i", "end_i")
    span = {names[0]: start, names[1]: end, "severity": "minor"}
    span |= {"error_type": ["Accuracy"]} if tool == "appraise" else {}
    row = {
        "annotator": "R1",
        "seg": 1,
        "system": "a",
        "score": 5,
        "mt": case["text"],
        "spans": [span],
    }
    reading, report = read(as_files(own_jsonl=json.dumps(row) + "\n"), **DE_EN)
    assert report.errors == []
    ((marked,),) = [judgment.spans for judgment in reading.drafts[0][1].judgments]
    assert str(case["text"])[marked.start : marked.end] == case["marked"]


def test_an_omission_and_ends_that_are_included(db: None) -> None:
    head = "annotator\tseg_id\tsystem\tseverity\tcategory\tside\tstart\tend\tsource\tmt\n"
    rows = (
        "R1|1|alpha|major|Accuracy/Omission|missing|||Der Hafen.|Port.",
        "R1|1|alpha|minor|Fluency/Punctuation|target|4|4|Der Hafen.|Port.",
        "R1|2|alpha|no-error|||||Das Boot.|A boat.",
    )
    files = table(*rows, head=head)
    assert "judgments.span-empty" in [code for _, code in errors_of(files, **DE_EN)]
    stored(files, name="Errors", ends_included=True, **DE_EN)
    assert [(row[1], row[5]) for row in values()] == [("1", 5.1), ("2", 0)]
    spans = ErrorSpan.objects.order_by("pk").values_list("side", "start", "end", "category")
    assert list(spans) == [
        ("source", 0, 10, "accuracy/omission"), ("target", 4, 5, "fluency/punctuation"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_our_own_export_comes_back(db: None, name: str) -> None:
    """Revisions, controls, comments and spans included; `=1+1` is a comment, no formula."""
    head = "annotator\thit\tseg_id\tsystem\tscore\ttype\tspans\tcomment\tflag\tend\tsource\tmt\n"
    span = '[{"start":0,"end":3,"severity":"minor"}]'
    rows = (
        f"R1|h1|1|alpha|80|TGT|{span}|=1+1|yes|2024-05-01T10:00:00Z|Der Hafen.|The port.",
        "R1|h1|1|alpha|70|TGT|||no|2024-05-01T10:05:00Z|Der Hafen.|The port.",
        "R1|h1|1|alpha|10|BAD|||no|2024-05-01T10:06:00Z|Der Hafen.|",
        "R1|h1|1|alpha|72|CHK|||no|2024-05-01T10:07:00Z|Der Hafen.|The port.",
        "R2|h2|2|alpha|90|TGT|||no|2024-05-01T10:08:00Z|Das Boot.|A boat.",
    )
    (first,) = stored(table(*rows, head=head), name="First", **DE_EN)
    data = b"".join(FORMATS[name].pieces(first.result.campaign))
    suffix = FORMATS[name].suffix.rpartition(".")[2]
    sent = [InputFile.holding(f"export.{suffix}", data)]
    (second,) = stored(sent, name="Second", test_set="first")
    assert everything(second.result.campaign) == everything(first.result.campaign)
    assert len(everything(second.result.campaign)) == 5


def everything(campaign: Campaign) -> list[tuple[object, ...]]:
    """All that an import stores of judgments, apart from keys."""
    found = []
    judgments = Judgment.objects.filter(assignment__annotator__campaign=campaign).select_related(
        "assignment__annotator", "assignment__item__segment", "assignment__item__partner__segment"
    )
    for judgment in judgments.order_by("assignment__annotator", "assignment__position", "revision"):
        item = judgment.assignment.item
        partner = item.partner and (item.partner.kind, item.partner.segment.key, item.partner.batch)
        spans = tuple(judgment.spans.values_list("side", "start", "end", "severity", "category"))
        found.append(
            (judgment.assignment.annotator.label, item.segment.key, item.kind, item.batch, partner,
             judgment.score, judgment.revision, judgment.is_current, judgment.comment,
             judgment.is_flagged, judgment.submitted_at, spans)
        )  # fmt: skip
    return found


def test_the_example_for_download_is_imported(db: None) -> None:
    path = Path(settings.BASE_DIR) / "static/examples/judgments.tsv"
    (launched,) = stored([InputFile.at(path)])
    assert launched.result.campaign.slug == "judgments-de-en"
    assert launched.result.n_judgments == 5
