"""Scores exported from Appraise become judgments; judgments with impossible times stay."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings

from annotation.models import Annotator, Campaign, ErrorSpan, Judgment
from annotation.uploads.offsets import APPRAISE
from extensions.formats.exports.appraise import batches_json
from tests.annotation.tables.reading import found
from tests.extensions.formats.appraise.batches import (
    document,
    errors,
    import_all,
    item,
    manifest,
    read,
    reported,
    tasks,
)

PLAIN = tasks([item(1), item(2), item(1, "BAD"), item(2, "CHK")])
ESA = manifest(TASK_TYPE="Document", TASK_OPTIONS="ESA")
EMOJI = item(1, targetText=" a😀b cd ", documentID="d1", isCompleteDocument=False)


def row(*cells: object) -> str:
    return ",".join(f'"{str(cell).replace(chr(34), chr(34) * 2)}"' for cell in cells) + "\n"


def plain(item_id: int = 1, score: object = 70, start: object = 1000.5, end: object = 1010.25,
          kind: str = "TGT", user: str = "engdeu0101") -> str:  # fmt: skip
    return row(user, "sysA", item_id, kind, "eng", "deu", score, start, end)


def marked(mqm: Any, score: int = 70, end: float = 1010) -> str:
    cells = ("d1", "False", mqm if isinstance(mqm, str) else json.dumps(mqm))
    return row("u1", "sysA", 1, "TGT", "eng", "deu", score, *cells, 1000, end)


def test_scores_make_a_finished_campaign(db: None) -> None:
    scores = plain() + plain(2, 0) + plain(1, 12, kind="BAD") + plain(2, 1, kind="CHK")
    launched = import_all(PLAIN, scores=scores)
    campaign = launched.result.campaign
    assert (campaign.status, campaign.origin) == (Campaign.Status.CLOSED, Campaign.Origin.IMPORTED)
    assert not launched.invitations
    rows = Judgment.objects.order_by("pk").values_list("assignment__item__kind", "score")
    assert list(rows) == [("target", 70), ("target", 0), ("bad_ref", 12), ("repeat", 1)]
    first = Judgment.objects.order_by("pk")[0]
    assert first.started_at == datetime(1970, 1, 1, 0, 16, 40, 500_000, tzinfo=UTC)
    assert first.submitted_at == datetime(1970, 1, 1, 0, 16, 50, 250_000, tzinfo=UTC)
    assert Annotator.objects.get().label == "engdeu0101"
    assert not import_all(PLAIN, scores=scores).result.is_new
    assert Judgment.objects.count() == 4


@pytest.mark.parametrize("names", [("A+B",), ("A", "B")])
def test_judgments_of_joined_systems_count_for_each(names: tuple[str, ...], db: None) -> None:
    """Appraise writes a row for each system; a row of the joined name is both."""
    batch = document("d#A+B", "A+B")[:2]
    described = manifest(TASK_TYPE="Document")
    scores = "".join(
        row("u1", name, n, "TGT", "eng", "deu", 50 + n, "d#A+B", "False", 1000, 1010 + n)
        for n in range(2)
        for name in names
    ) + row("u1", "A", 7, "TGT", "eng", "deu", 90, "e#A", "False", 2000, 2010)
    alone = item(7, system="A", documentID="e#A", isCompleteDocument=False)
    ((test_set, campaign),), report = read(tasks([*batch, alone]), described, scores)
    assert not report.errors
    found = [(campaign.items[j.item].system, j.score) for j in campaign.judgments]
    assert sorted(found) == [("A", 50), ("A", 51), ("A", 90), ("B", 50), ("B", 51)]
    assert {each.name: len(each.outputs) for each in test_set.systems} == {"A": 3, "B": 2}


def test_annotators_see_one_line_feed_where_the_batch_has_two_signs(db: None) -> None:
    """A browser makes LF of CRLF; offsets in the batch, and in what nobody changed, count both."""
    text = "a\r\nb c"
    before = {"start_i": 3, "end_i": 3, "severity": "minor", "text": "b"}
    own = item(1, targetText=text, documentID="d1", isCompleteDocument=False, mqm=[before])
    marks = [before, {"start_i": 4, "end_i": 4, "severity": "major", "text": "c"}]
    ((test_set, campaign),), report = read(tasks([own]), ESA, marked(marks))
    assert not report.errors
    assert test_set.systems[0].outputs == {"d1:1": "a\nb c"}
    ((first, second),) = [judgment.spans for judgment in campaign.judgments]
    assert ((first.start, first.end), (second.start, second.end)) == ((2, 3), (4, 5))


def test_every_marking_of_the_facts_goes_out_and_comes_in(db: None) -> None:
    """A batch that marks it beforehand, its scores, and the campaign's own files again."""
    cases = json.loads((settings.DATA_DIR / "protocols" / "offsets.json").read_text())
    spans = [dict(zip(("start_i", "end_i"), case["appraise"], strict=True)) for case in cases]
    common = {"documentID": "d1", "isCompleteDocument": False}
    items = [
        item(n, targetText=case["text"], mqm=[span | {"severity": "minor"}], **common)
        for n, (case, span) in enumerate(zip(cases, spans, strict=True))
    ]
    ((_, draft),), report = read(tasks(items), ESA)
    ends = next(each for each in report.warnings if each.code == "ends.read-as-included")
    assert (ends.message.parameters["included"], ends.message.parameters["n"]) == (6, 6)
    for case, made in zip(cases, draft.items, strict=True):
        (own,) = made.suggestions
        side, *places = ("target", *case["code_points"]) if case["marked"] else ("source", 0, 9)
        assert [own.side, own.start, own.end] == [side, *places], case["note"]
    stored = import_all(tasks(items), ESA).result.campaign
    assert (stored.is_prefilled, stored.prefill.source) == (True, "file")
    exported = json.loads("".join(batches_json(stored)))
    assert [each["mqm"] for each in exported[0]["items"]] == [each["mqm"] for each in items]


def test_batches_that_name_the_place_behind_are_told_by_words_or_asked(db: None) -> None:
    """What annotators left as it was keeps the batch's ends, what they marked has Appraise's."""
    text, common = "Er ging dann weg.", {"documentID": "d1", "isCompleteDocument": False}
    given = [{"start_i": a, "end_i": b, "severity": "minor"} for a, b in ((0, 2), (3, 7), (8, 12))]
    batch = tasks([item(1, targetText=text, mqm=given, **common)])
    scores = marked([*given[:2], {"start_i": 13, "end_i": 15, "severity": "major"}])
    ((_, draft),), report = read(batch, ESA, scores=scores)
    assert not report.errors
    words = ["Er", "ging", "dann"]
    assert [text[each.start : each.end] for each in draft.items[0].suggestions] == words
    spans = draft.judgments[0].spans
    assert [text[each.start : each.end] for each in spans] == ["Er", "ging", "weg"]
    unclear = [{"start_i": 0, "end_i": 1, "severity": "minor"},
               {"start_i": 3, "end_i": 7, "severity": "minor"}]  # fmt: skip
    batch = tasks([item(1, targetText=text, mqm=unclear, **common)])
    assert [each.code for each in errors(batch, ESA)] == ["ends.unclear"]
    wrong = tasks([item(1, mqm="{", **common)])
    assert [each.code for each in errors(wrong, ESA)] == ["spans.not-a-list"]


def test_rows_that_are_there_twice_count_once(db: None) -> None:
    _, report = read(PLAIN, scores=plain() * 3 + plain(2))
    (warning,) = reported(report)
    assert (warning.code, warning.message.parameters) == ("judgments.copies", {"n": 2})
    import_all(PLAIN, scores=plain() * 3 + plain(2))
    assert Judgment.objects.count() == 2


def test_answers_that_differ_are_revisions_in_the_order_of_time(db: None) -> None:
    import_all(PLAIN, scores=plain(score=80, start=2000, end=2010) + plain(score=40))
    rows = Judgment.objects.order_by("revision").values_list("revision", "score", "is_current")
    assert list(rows) == [(1, 40, False), (2, 80, True)]


@pytest.mark.parametrize(
    ("start", "end", "code"),
    [(0, 1000, "judgments.start-is-zero"), (1000, 999, "judgments.end-before-start")],
)
def test_impossible_times_are_dropped_and_the_judgment_is_kept(
    db: None, start: float, end: float, code: str
) -> None:
    scores = plain(start=start, end=end)
    _, report = read(PLAIN, scores=scores)
    (warning,) = reported(report)
    assert (warning.code, warning.message.parameters) == (code, {"n": 1})
    import_all(PLAIN, scores=scores)
    judgment = Judgment.objects.get()
    assert (judgment.score, judgment.started_at, judgment.submitted_at) == (70, None, None)


@pytest.mark.parametrize(
    ("scores", "place", "code"),
    [
        (plain(score=101), "row 1, score", "judgments.score-outside"),
        (plain(score=99999999999), "row 1, score", "judgments.score-outside"),
        (plain(score="high"), "row 1, score", "cell.not-a-number"),
        (plain(9), "row 1, itemID", "appraise.no-item"),
        (plain(kind="NEW"), "row 1, itemType", "judgments.unknown-kind"),
        (plain(start="soon"), "row 1, start", "judgments.not-a-time"),
        (plain(end=1e300), "row 1, end", "judgments.not-a-unix-time"),
        (plain(user=""), "row 1, username", "judgments.no-annotator"),
        (plain().replace('"deu"', '"ces"'), "row 1, src", "appraise.unknown-pair"),
        (row("a", "b"), "row 1", "appraise.cells"),
        ("", "", "appraise.no-scores"),
        ('"open', "row 1", "table.csv"),
    ],
)
def test_wrong_rows_are_named_and_nothing_is_read(scores: str, place: str, code: str) -> None:
    name = f"scores.csv, {place}" if place else "scores.csv"
    assert found(errors(PLAIN, scores=scores)) == [(name, code)]


@pytest.mark.parametrize("score", ["", "nan"])
def test_a_row_without_a_score_is_left_out_and_counted(score: str, db: None) -> None:
    ((_, draft),), report = read(PLAIN, scores=plain() + plain(2, score=score))
    assert [judgment.score for judgment in draft.judgments] == [70]
    counted = [each for each in reported(report) if each.code == "judgments.rows-without-answer"]
    assert [each.message.parameters["n"] for each in counted] == [1]


def test_a_judgment_without_times_is_kept(db: None) -> None:
    ((_, draft),), report = read(PLAIN, scores=plain(start="", end=""))
    assert not report.errors
    assert [(each.score, each.submitted_at) for each in draft.judgments] == [(70, None)]


def test_a_score_of_0_beside_mqm_says_nothing(db: None) -> None:
    mqm = [{"start_i": 0, "end_i": 1, "severity": "minor"}]
    described = manifest(TASK_TYPE="Document", TASK_OPTIONS="MQM")
    _, report = read(tasks([EMOJI]), described, marked(mqm, score=0))
    assert reported(report) == []
    _, report = read(tasks([EMOJI]), described, marked(mqm, score=70))
    codes = [each.code for each in report.warnings]
    assert "judgments.scores-differ-from-penalties" in codes


def test_every_wrong_row_is_listed() -> None:
    assert len(errors(PLAIN, scores=plain(score=101) + plain(9) + plain(kind="X"))) == 3


def test_a_header_is_no_judgment(db: None) -> None:
    header = "username,targetID,itemID,itemType,src,tgt,score,start,end\n"
    assert import_all(PLAIN, scores=header + plain()).result.n_judgments == 1


def test_an_item_of_several_tasks_is_that_of_the_task_a_person_did(db: None) -> None:
    described = manifest(TASKS_TO_ANNOTATORS=[["eng", "deu", "uniform", 2, 2]])
    batches = tasks([item(1), item(2)], [item(2), item(3)])
    scores = plain(3, user="u2") + plain(2, user="u2") + plain(1, user="u1") + plain(2, user="u1")
    import_all(batches, described, scores)
    rows = Judgment.objects.values_list("assignment__annotator__label", "assignment__item__batch")
    assert set(rows) == {("u1", "1"), ("u2", "2")}


def test_documents_are_told_apart_by_their_id(db: None) -> None:
    items = [*document("d1", "sysA"), *document("d1", "sysA", kind="BAD", suffix="#sysA#bad1")]
    rows = [
        row("u1", "sysA", 0, "TGT", "eng", "deu", 90, "d1", "False", 10, 20),
        row("u1", "sysA", 2, "TGT", "eng", "deu", 80, "d1", "True", 20, 30),
        row("u1", "sysA", 0, "BAD", "eng", "deu", 10, "d1#sysA#bad1", "False", 30, 40),
    ]
    import_all(tasks(items), manifest(TASK_TYPE="Document"), "".join(rows))
    stored = Judgment.objects.order_by("pk").values_list("assignment__item__kind", "score")
    assert list(stored) == [("target", 90), ("document", 80), ("bad_ref", 10)]


def test_error_spans_become_code_points(db: None) -> None:
    """Appraise counts UTF-16 units of the text without outer blanks, end included."""
    mqm = [
        {"start_i": 1, "end_i": 2, "severity": "minor"},
        {"start_i": 5, "end_i": 6, "severity": "major", "error_type": None},
        {"start_i": "missing", "end_i": "missing", "severity": "major"},
        {"start_i": 0, "end_i": 0, "severity": "undecided"},
    ]
    _, report = read(tasks([EMOJI]), ESA, marked(mqm))
    (warning,) = reported(report)
    assert (warning.code, warning.message.parameters) == (
        "judgments.spans-without-severity", {"n": 1},
    )  # fmt: skip
    import_all(tasks([EMOJI]), ESA, marked(mqm))
    stored = ErrorSpan.objects.order_by("pk").values_list("side", "start", "end", "severity")
    assert list(stored) == [
        ("target", 2, 3, "minor"), ("target", 5, 7, "major"), ("source", 0, 9, "major"),
    ]  # fmt: skip
    assert EMOJI["targetText"][2:3] == "😀"
    assert EMOJI["targetText"][5:7] == "cd"


def test_mqm_penalties_follow_from_the_spans(db: None) -> None:
    mqm = [
        {"start_i": 0, "end_i": 1, "severity": "minor",
         "error_type": ["Linguistic conventions", "Punctuation"]},
        {"start_i": 3, "end_i": 3, "severity": "major",
         "error_type": ["Style", "Unidiomatic style"]},
    ]  # fmt: skip
    described = manifest(TASK_TYPE="Document", TASK_OPTIONS="MQM")
    import_all(tasks([EMOJI]), described, marked(json.dumps(mqm)))
    judgment = Judgment.objects.get()
    assert (judgment.score, judgment.penalty) == (None, pytest.approx(5.1))
    assert list(judgment.spans.order_by("pk").values_list("category", flat=True)) == [
        "fluency/punctuation", "style/unidiomatic-style",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mqm", "place", "code"),
    [
        ("{", "mqm", "spans.not-a-list"),
        ([7], "mqm", "spans.not-a-list"),
        ([{"start_i": 0, "end_i": 1, "severity": "critical"}], "mqm", "judgments.unknown-severity"),
        ([{"start_i": 0, "end_i": 70, "severity": "minor"}], "mqm", "judgments.span-outside"),
        ([{"start_i": 3, "end_i": 2, "severity": "minor"}], "mqm", "judgments.span-outside"),
        (
            [{"start_i": 0.5, "end_i": 2, "severity": "minor"}],
            "mqm",
            "judgments.offsets-not-numbers",
        ),
    ],
)
def test_wrong_spans_are_named(mqm: Any, place: str, code: str) -> None:
    problems = errors(tasks([EMOJI]), ESA, marked(mqm))
    assert found(problems) == [(f"scores.csv, row 1, {place}", code)]


def test_a_span_may_end_just_after_the_text() -> None:
    assert APPRAISE.place("abc", 1, 3) == (1, 3)
    assert APPRAISE.place("abc", 1, 2) == (1, 3)
    assert APPRAISE.place("abc", 3, 3) is None
