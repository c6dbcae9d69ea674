"""A researcher's own tables: odd names, three languages, gaps, documents, spans, and mistakes."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings

from annotation.exports import FORMATS
from annotation.models import Campaign, ErrorSpan, Item, Judgment, System, TestSet
from annotation.uploads import InputFile
from metrics import catalogue
from metrics.runs.starting import refusals_for
from tests.annotation.tables.reading import DE_EN, as_files, errors_of, read, stored, values
from tests.world import World

HEAD = "rater\tseg_id\tsystem\tscore\n"


def table(*rows: str, head: str = HEAD, name: str = "own_tsv") -> list[InputFile]:
    text = head + "".join("\t".join(row.split("|")) + "\n" for row in rows)
    return as_files(**{name: text})


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
    assert "1 row without score and error" in " ".join(map(str, report.warnings))
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
    assert reading.first[1][:6] == ["R1", "2", "alpha", "Output", "35", "1"]


def test_the_same_again_changes_nothing_and_other_scores_are_refused(db: None) -> None:
    stored(as_files(odd_tsv=ODD), name="Pilot", columns=COLUMNS)
    again = stored(as_files(odd_tsv=ODD), name="Pilot", columns=COLUMNS)
    assert not any(each.result.is_new for each in again)
    changed = as_files(odd_tsv=ODD.replace("\t60\t", "\t61\t"))
    (error,) = errors_of(changed, name="Pilot", columns=COLUMNS)
    assert "'pilot-zh-cn-en' with other judgments is stored already" in error
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
    ("row", "message"),
    [
        ("R1|2|alpha|x", "own.tsv, row 3, score: “x” is no number"),
        ("R1|2|alpha|101", "own.tsv, row 3, score: the score 101 is not from 0 to 100"),
        ("R1|2|alpha|-1.2", "import them as published human scores"),
        ("R1|2|alpha|62.5", "own.tsv, row 3, score: the score 62.5 is no whole number"),
        ("|2|alpha|5", "own.tsv, row 3, rater: it is not said who judged"),
        ("R1||alpha|5", "own.tsv, row 3, seg_id: it is not said which segment this is"),
        ("R1|1|alpha|5", "own.tsv, row 3, score: “R1” answered the same thing differently in"),
        ("R1|2|alpha", "own.tsv, row 3: the row has 3 cells, the header has 4"),
        (f"{'R' * 81}|2|alpha|5", "own.tsv, row 3, rater: “RRRRR"),
        ("R\x001|2|alpha|5", "own.tsv, row 3, rater: the name contains U+0000 (NUL)"),
        ("R1|2|alpha|nan", ""),
        ("R1|2|alpha|1_0", "own.tsv, row 3, score: “1_0” is no number"),
    ],
)
def test_every_wrong_cell_is_named(db: None, row: str, message: str) -> None:
    found = errors_of(table("R1|1|alpha|80", row), **DE_EN)
    assert message in " ".join(found)
    assert bool(found) == bool(message)


def test_wrong_rows_and_wrong_values_are_told_together(db: None) -> None:
    found = errors_of(table("R1|1|alpha|80", "R1|2|alpha", "R1|3|alpha|x"), **DE_EN)
    assert found == [
        "own.tsv, row 3: the row has 3 cells, the header has 4",
        "own.tsv, row 4, score: “x” is no number",
    ]


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("kind", "NEW", "own.tsv, row 2, kind: the kind “new” is not known"),
        ("start", "yesterday", "own.tsv, row 2, start: “yesterday” is no time in ISO 8601"),
        ("time", "12.5", "own.tsv, row 2, time: 12.5 would be a time in the 1970s; a duration"),
        ("lp", "xx-yy-zz1", "own.tsv, row 2, lp: “xx-yy-zz1” is no language pair"),
        ("spans", "{oops", "own.tsv, row 2, spans: this is no JSON list of error spans"),
        ("spans", '[{"start":0,"end":2,"severity":"huge"}]', "the severity “huge” is not known"),
        ("spans", '[{"start":2,"end":2,"severity":"minor"}]', "the span [2, 2) is empty"),
        ("spans", '[{"start":0,"end":99,"severity":"minor"}]', "[0, 99) marks nothing in a text"),
        ("spans", '[{"start":"a","end":9,"severity":"minor"}]', "are whole numbers, not a, 9"),
        ("flag", "maybe", "own.tsv, row 2, flag: “maybe” is neither yes nor no"),
        ("duration", "-4", "own.tsv, row 2, duration: -4 seconds cannot have passed"),
    ],
)
def test_optional_cells_are_checked_too(db: None, column: str, cell: str, message: str) -> None:
    head = f"rater\tseg_id\tsystem\tscore\ttranslation\t{column}\n"
    found = errors_of(table(f"R1|1|alpha|80|The port.|{cell}", head=head), **DE_EN)
    assert message.lower() in " ".join(found).lower()


def test_columns_that_do_not_exist_or_mean_the_same(db: None) -> None:
    files = table("R1|1|alpha|80")
    (error,) = errors_of(files, columns={"Rating": "score"}, **DE_EN)
    assert error == (
        "column: there is no column “Rating”; the columns are rater, seg_id, system, score"
    )
    (error,) = errors_of(files, columns={"rater": "person"}, **DE_EN)
    assert error.startswith("column rater: “person” is no field that a column can hold")
    (error,) = errors_of(files, columns={"rater": "system", "system": "system"}, **DE_EN)
    assert error == "own.tsv, row 1, system: “rater” holds the field “system” already"
    (error,) = errors_of(table("1|alpha|80", head="seg\tsystem\tscore\n"), **DE_EN)
    assert error.startswith("own.tsv, row 1: no column says who judged. The columns are seg, ")


def test_columns_that_no_page_could_show(db: None) -> None:
    wide = "\t".join(["rater", *(f"c{n}" for n in range(600))]) + "\n"
    assert errors_of(as_files(own_tsv=wide + wide), **DE_EN) == [
        "own.tsv, row 1: 601 columns are more than 500"
    ]
    lone = '{"rater": "R1", "\\ud800": "x"}\n'
    (error,) = errors_of(as_files(own_jsonl=lone), **DE_EN)
    assert error.startswith("own.jsonl, row 1: the name of a column contains U+D800")


def test_languages_must_be_said(db: None) -> None:
    found = errors_of(table("R1|1|alpha|80"), source_language="de")
    assert found == [
        "own.tsv, row 2, target language: the target language is not said: give a column, or "
        "state it"
    ]


def test_another_scale_is_never_guessed(db: None) -> None:
    files = table("R1|1|alpha|6", "R1|2|alpha|0", "R1|3|alpha|2.5")
    assert "2.5 is no whole number" in " ".join(errors_of(files, **DE_EN))
    whole = table("R1|1|alpha|6", "R1|2|alpha|0")
    assert "all scores are from 0 to 6" in " ".join(map(str, read(whole, **DE_EN)[1].warnings))
    reading, report = read(files, scale=(0, 6), **DE_EN)
    assert [j.score for j in reading.drafts[0][1].judgments] == [100, 0, 42]
    assert "3 scores were mapped from 0–6 to 0–100; 1 of them had to be rounded" in " ".join(
        map(str, report.warnings)
    )
    (error,) = errors_of(table("R1|1|alpha|7"), scale=(0, 6), **DE_EN)
    assert "7 is outside the stated scale 0–6" in error


TIMED = "rater\tseg_id\tsystem\tscore\tend\n"


def test_revisions_by_time_copies_and_the_rule_for_the_rest(db: None) -> None:
    rows = ("R1|1|alpha|80|1714550410", "R1|1|alpha|70|1714550400", "R1|1|alpha|80|1714550410")
    reading, report = read(table(*rows, head=TIMED), **DE_EN)
    assert [j.score for j in reading.drafts[0][1].judgments] == [70, 80]
    assert "1 row is there twice; each counts once" in " ".join(map(str, report.warnings))
    assert "1 answers were revised later" in " ".join(map(str, report.notes))
    stored(table(*rows, head=TIMED), name="Timed", **DE_EN)
    ours = Judgment.objects.order_by("revision").values_list("score", "revision", "is_current")
    assert list(ours) == [(70, 1, False), (80, 2, True)]
    untimed = table("R1|1|alpha|80", "R1|1|alpha|70")
    assert len(errors_of(untimed, **DE_EN)) == 1
    reading, report = read(untimed, ties="last", **DE_EN)
    assert [j.score for j in reading.drafts[0][1].judgments] == [80, 70]
    assert "by the rule that the last row counts" in " ".join(map(str, report.notes))


@pytest.mark.parametrize(
    ("start", "end", "zone", "expected"),
    [
        ("2024-07-01 12:00", "2024-07-01 12:01", "Europe/Berlin", (10, 0)),
        ("2024-07-01T12:00:00Z", "2024-07-01T12:01:00Z", "Europe/Berlin", (12, 0)),
        ("2024-07-01T12:00:00-07:00", "1719860460", "", (19, 0)),
        ("1719835200000", "1719835260000", "", (12, 0)),
    ],
)
def test_times_and_zones(
    db: None, start: str, end: str, zone: str, expected: tuple[int, int]
) -> None:
    head = "rater\tseg_id\tsystem\tscore\tstart_time\tend_time\n"
    reading, _ = read(table(f"R1|1|alpha|80|{start}|{end}", head=head), time_zone=zone, **DE_EN)
    (judgment,) = reading.drafts[0][1].judgments
    assert judgment.started_at is not None
    assert judgment.submitted_at is not None
    assert (judgment.started_at.hour, judgment.started_at.minute) == expected
    assert (judgment.submitted_at - judgment.started_at).total_seconds() == 60


def test_impossible_times_are_dropped_and_counted(db: None) -> None:
    head = "rater\tseg_id\tsystem\tscore\tstart\tend\n"
    rows = ("R1|1|alpha|80|0|1719835260", "R1|2|alpha|80|1719835260|1719835200")
    reading, report = read(table(*rows, head=head), **DE_EN)
    assert [j.submitted_at for j in reading.drafts[0][1].judgments] == [None, None]
    said = " ".join(map(str, report.warnings))
    assert "the start is 0" in said
    assert "the end lies before the start" in said


def test_controls_are_paired_with_their_output(db: None) -> None:
    head = "rater\tseg_id\tsystem\tscore\ttype\n"
    rows = ("R1|1|alpha|80|TGT", "R1|1|alpha|20|BAD", "R1|1|alpha|78|CHK", "R1|2|beta|9|BAD_REF")
    reading, report = read(table(*rows, head=head), **DE_EN)
    items = reading.drafts[0][1].items
    assert [(item.kind, item.system, item.partner) for item in items] == [
        (Item.Kind.TARGET, "alpha", None),
        (Item.Kind.BAD_REF, None, 0),
        (Item.Kind.REPEAT, "alpha", 0),
        (Item.Kind.BAD_REF, None, None),
    ]
    assert "1 item of the kind Bad reference has no output" in " ".join(map(str, report.warnings))


def test_without_texts_a_test_set_of_keys_alone_is_made(db: None) -> None:
    _, report = read(table("R1|1|alpha|80"), **DE_EN)
    assert "no metric can run there" in " ".join(map(str, report.warnings))
    (launched,) = stored(table("R1|1|alpha|80"), name="Keys", **DE_EN)
    segment = launched.result.campaign.test_set.segments.get()
    assert (segment.source, segment.outputs.get().text) == ("[source not published]", "")
    refusals = refusals_for(launched.result.campaign.test_set)
    assert refusals.keys() == catalogue.infos().keys()
    assert refusals["chrf"] == "chrF cannot run: the outputs of these systems are not known."


def test_without_sources_metrics_that_read_them_are_refused(db: None) -> None:
    head = "rater\tseg_id\tsystem\tscore\tref\tmt\n"
    (launched,) = stored(table("R1|1|alpha|80|One.|Wun.", head=head), name="Bare", **DE_EN)
    infos = catalogue.infos()
    refused = refusals_for(launched.result.campaign.test_set)
    assert set(refused) == {name for name, info in infos.items() if info.needs_source}
    assert "chrf" not in refused


def test_contradictory_texts_name_both_rows(db: None) -> None:
    head = "rater\tseg_id\tsystem\tscore\tsource\ttranslation\n"
    rows = ("R1|1|alpha|80|Eins|One", "R2|1|alpha|70|Zwei|Two")
    assert errors_of(table(*rows, head=head), **DE_EN) == [
        "own.tsv, row 3, source: segment “1” has another source in own.tsv, row 2, source.",
        "own.tsv, row 3, translation: alpha has another output for segment “1” in own.tsv, row 2, "
        "translation",
    ]


def test_segments_numbered_within_documents(db: None) -> None:
    head = "rater\tdoc\tseg_id\tsystem\tscore\n"
    rows = ("R1|news|1|alpha|80", "R1|talk|1|alpha|70")
    error, *_ = errors_of(table(*rows, head=head), **DE_EN)
    assert "has another document in own.tsv, row 2, doc" in error
    assert "that is the place in the document" in error
    reading, _ = read(table(*rows, head=head), columns={"seg_id": "document_place"}, **DE_EN)
    assert [s.key for s in reading.drafts[0][0].segments] == ["news:1", "talk:1"]


def test_a_stored_test_set_has_the_texts(world: World) -> None:
    files = table("R1|1|strong|80", "R1|1|weak|30", "R2|4|weak|55")
    (launched,) = stored(files, name="Later", test_set="harbour")
    campaign = launched.result.campaign
    assert (campaign.test_set, campaign.length_ratio) == (world.test_set, Decimal("0.8"))
    assert TestSet.objects.count() == 1
    assert [row[:3] for row in values()] == [
        ("R1", "1", "strong"), ("R1", "1", "weak"), ("R2", "4", "weak"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("R1|9|strong|80|", "own.tsv, row 2, seg_id: the test set has no segment “9”"),
        ("R1|1.0|strong|80|", "seg_id: the test set has no segment “1.0”; “1” is there"),
        ("R1|1|Strong|80|", "system: the test set has no system “Strong”; “strong” is there"),
        ("R1|1|strong|80|Nope.", "row 2, mt: the stored output text of segment “1” is another one"),
    ],
)
def test_a_stored_test_set_is_not_contradicted(world: World, row: str, message: str) -> None:
    files = table(row, head="rater\tseg_id\tsystem\tscore\tmt\n")
    assert message in " ".join(errors_of(files, test_set="harbour"))
    assert errors_of(files, test_set="nowhere") == ["test_set: no test set “nowhere” is stored"]


def test_which_of_two_length_ratios_was_judged_is_asked(world: World) -> None:
    """Outputs of the test set are of 0.8; another system of half the length joins them."""
    shorter = Decimal("0.5")
    half = System.objects.create(test_set=world.test_set, name="strong", length_ratio=shorter)
    head = "rater\tseg_id\tsystem\tscore\tlength_ratio\n"
    ask = "which length ratio was judged? The test set has 0.5, 0.8; give a column length_ratio"
    assert errors_of(table("R1|1|strong|80"), test_set="harbour") == [f"test_set: {ask}"]
    both = table("R1|1|strong|80|0.8", "R1|1|strong|80|0.5", head=head)
    (error,) = errors_of(both, test_set="harbour")
    assert error.endswith("the table has several length ratios: import each by itself")
    (error,) = errors_of(table("R1|1|strong|80|0.5", head=head), test_set="harbour")
    assert error.endswith("“strong” has no stored output for segment “1”")
    assert not half.outputs.exists()
    assert errors_of(table("R1|1|strong|80|0.8", head=head), test_set="harbour") == []


OFFSETS = json.loads((settings.DATA_DIR / "protocols/offsets.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", [each for each in OFFSETS if each["marked"]])
@pytest.mark.parametrize("tool", ["code_points", "appraise", "pearmut_1_1_5"])
def test_spans_as_other_programs_count_them(db: None, case: dict[str, object], tool: str) -> None:
    start, end = case[tool]  # type: ignore[misc]
    names = ("start", "end") if tool == "code_points" else ("start_i", "end_i")
    span = {names[0]: start, names[1]: end, "severity": "minor"}
    span |= {"error_type": ["Accuracy"]} if tool == "appraise" else {}
    row = {"rater": "R1", "seg": 1, "system": "a", "score": 5, "mt": case["text"], "spans": [span]}
    reading, report = read(as_files(own_jsonl=json.dumps(row) + "\n"), **DE_EN)
    assert report.errors == []
    ((marked,),) = [judgment.spans for judgment in reading.drafts[0][1].judgments]
    assert str(case["text"])[marked.start : marked.end] == case["marked"]


def test_an_omission_and_ends_that_are_included(db: None) -> None:
    head = "rater\tseg_id\tsystem\tseverity\tcategory\tside\tstart\tend\tsource\tmt\n"
    rows = (
        "R1|1|alpha|major|Accuracy/Omission|missing|||Der Hafen.|Port.",
        "R1|1|alpha|minor|Fluency/Punctuation|target|4|4|Der Hafen.|Port.",
        "R1|2|alpha|no-error|||||Das Boot.|A boat.",
    )
    files = table(*rows, head=head)
    assert "is empty" in " ".join(errors_of(files, **DE_EN))
    stored(files, name="Errors", ends_included=True, **DE_EN)
    assert [(row[1], row[5]) for row in values()] == [("1", 5.1), ("2", 0)]
    spans = ErrorSpan.objects.order_by("pk").values_list("side", "start", "end", "category")
    assert list(spans) == [
        ("source", 0, 10, "accuracy/omission"), ("target", 4, 5, "fluency/punctuation"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_our_own_export_comes_back(db: None, name: str) -> None:
    """Revisions, controls, comments and spans included; `=1+1` is a comment, no formula."""
    head = "rater\thit\tseg_id\tsystem\tscore\ttype\tspans\tcomment\tflag\tend\tsource\tmt\n"
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
    assert launched.result.campaign.slug == "judgments"
    assert launched.result.n_judgments == 5
