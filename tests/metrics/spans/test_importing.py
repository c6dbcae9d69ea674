"""Spans from elsewhere: what files may hold, what is refused, what is stored."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import Output, TestSet
from annotation.uploads import InputFile
from metrics.error_spans import FoundSpan
from metrics.models import MetricImport, SegmentSpans
from metrics.scores import latest_signatures
from metrics.spans.importing import check, store
from metrics.spans.stored import find_with_spans, read_rows, store_spans, unpack
from tests.refusals import refused
from tests.world import make_test_set, make_user

HEADER = "system\tsegment\tstart\tend\tseverity\tcategory\tside\tconfidence\n"
# "Sentence 0 by gnorts: the harbour was quiet."
GOOD = "strong\t1\t22\t32\tmajor\taccuracy\ttarget\t0.5\nstrong\t2\t\t\tno-error\t\t\t\n"
WORDS = "strong\t1\t0\t7\tminor\t\t\t\nstrong\t1\t14\t19\tminor\t\t\t\n"


@pytest.fixture
def test_set(db: None) -> TestSet:
    return make_test_set()


def file(text: str, name: str = "spans.tsv") -> InputFile:
    return InputFile.holding(name, text.encode())


def spans_of(test_set: TestSet, name: str = "") -> dict[tuple[str, str], list[FoundSpan]]:
    signatures = latest_signatures(test_set)
    (signature,) = [row for key, row in signatures.items() if not name or name in key]
    rows = read_rows(signature, list(test_set.systems.all()))
    outputs = Output.objects.select_related("system", "segment").in_bulk(rows)
    return {
        (outputs[pk].system.name, outputs[pk].segment.key): list(unpack(own))
        for pk, own in rows.items()
    }


def test_rows_become_spans_beside_a_score(test_set: TestSet) -> None:
    outcome = store(check(test_set, [file(HEADER + GOOD)], "Marker", False))
    assert spans_of(test_set) == {
        ("strong", "1"): [FoundSpan("target", 22, 32, "major", "accuracy", 0.5)],
        ("strong", "2"): [],
    }
    assert outcome.row is not None
    assert outcome.row.n_outputs == 2
    assert find_with_spans([outcome.signature]) == {outcome.signature.pk}
    origin = outcome.row.provenance.parameters
    assert origin["text"].code == "spans.origin-excluded"
    assert origin["note"].code == "spans.scores-computed"


def test_an_end_that_names_the_last_character(test_set: TestSet) -> None:
    """The meaning of ends must be stated; a warning follows if the words contradict it."""
    asked = check(test_set, [file(HEADER + WORDS)], "Marker", None)
    (problem,) = asked.report.errors
    assert problem.code == "spans.ends-unclear"
    assert problem.message.parameters == {"included": 2, "excluded": 0, "n": 2}
    wrong = check(test_set, [file(HEADER + WORDS)], "Marker", False)
    assert wrong.report.warnings[0].code == "spans.ends-against-words"
    right = check(test_set, [file(HEADER + WORDS)], "Marker", True)
    assert not right.report.problems
    store(right)
    assert [(s.start, s.end) for s in spans_of(test_set)["strong", "1"]] == [(0, 8), (14, 20)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lists.tsv", "system_id\tsegment_id\tstart_indices\tend_indices\terror_types\toverall\n"
         "strong\t1\t0 14\t8 20\tminor major\t-6\nstrong\t2\t-1\t-1\tno-error\t0\n"),
        ("spans.jsonl", "\n".join(json.dumps(row) for row in (
            {"system": "strong", "segment": "1", "score": -6, "errors": [
                {"start": 0, "end": 8, "severity": "Minor"},
                {"start": 14, "end": 20, "severity": "major"}]},
            {"system": "strong", "segment": "2", "score": 0, "errors": []}))),
    ],
)  # fmt: skip
def test_lists_and_json(test_set: TestSet, name: str, text: str) -> None:
    checked = check(test_set, [file(text, name)], "Marker", False)
    assert not checked.report.errors
    assert checked.has_scores
    store(checked)
    found = spans_of(test_set)
    assert [(s.start, s.end, s.severity) for s in found["strong", "1"]] == [
        (0, 8, "minor"), (14, 20, "major"),
    ]  # fmt: skip
    assert found["strong", "2"] == []


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("strong\t1\t9\t9\tminor\t\t\t", (2, "spans.empty")),
        ("strong\t1\tx\t9\tminor\t\t\t", (2, "spans.offsets-not-numbers")),
        pytest.param(
            f"strong\t1\t1\t{'9' * 5000}\tminor\t\t\t",
            (2, "spans.offsets-not-numbers"),
            id="5000 digits",
        ),
        (
            "strong\t1\t1\t9\t\t\t\t\nstrong\t2\t1\t9\t" + "m" * 21 + "\t\t\t",
            (3, "spans.severity-length"),
        ),
        ("strong\t1\t1 2\t9\tminor\t\t\t", (2, "spans.lists-differ")),
        ("strong\t1\t1\t9\tminor\t\tmiddle\t", (2, "spans.unknown-side")),
        ("strong\t1\t1\t9\tminor\t\t\t1.5", (2, "spans.confidence-outside")),
        ("nobody\t1\t1\t9\tminor\t\t\t", (2, "system.unknown")),
        ("strong\t77\t1\t9\tminor\t\t\t", (2, "segment.unknown")),
    ],
)
def test_what_is_wrong_is_named_and_nothing_stored(
    test_set: TestSet, row: str, expected: tuple[int, str]
) -> None:
    checked = check(test_set, [file(HEADER + row + "\n")], "Marker", False)
    assert expected in [(each.place.row, each.code) for each in checked.report.errors]
    with pytest.raises(ValidationError):
        store(checked)
    assert not SegmentSpans.objects.exists()
    assert not MetricImport.objects.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("system\tsegment\nstrong\t1\n", (1, "", "spans.column-missing")),
        ("system\tsegment\terrors\nstrong\t1\t{\n", (2, "errors", "spans.not-a-list")),
        ("system\tsegment\terrors\nstrong\t1\t[7]\n", (2, "errors", "spans.not-a-list")),
        ('system\tsegment\terrors\nstrong\t1\t{"x": []}\n', (2, "errors", "spans.not-a-list")),
        ("sys\tSeg ID\tMQM\tValue\nstrong\t1\t[]\tgood\n", (2, "Value", "spans.score-unusable")),
        ("system\tsegment\terrors\tscore\nstrong\t1\t[]\tgood\n",
         (2, "score", "spans.score-unusable")),
        ("system\tsegment\terrors\tscore\n" + "strong\t1\t[]\t1\nstrong\t1\t[]\t2\n",
         (3, "score", "spans.score-unusable")),
    ],
)  # fmt: skip
def test_tables_of_another_kind_are_refused_by_column(
    test_set: TestSet, text: str, expected: tuple[int, str, str]
) -> None:
    checked = check(test_set, [file(text, "s.tsv")], "Marker", False)
    found = [(each.place.row, each.place.field, each.code) for each in checked.report.errors]
    assert expected in found


def test_spans_outside_their_text_are_cut_and_counted(test_set: TestSet) -> None:
    long = "strong\t1\t38\t999\tminor\t\t\t\nstrong\t1\t900\t901\tmajor\t\t\t\n"
    checked = check(test_set, [file(HEADER + long)], "Marker", False)
    counts = {each.code: each.message.parameters["n"] for each in checked.report.warnings}
    assert counts == {"spans.cut": 1, "spans.behind-text": 1}
    store(checked)
    text = Output.objects.get(system__name="strong", segment__key="1").text
    assert spans_of(test_set)["strong", "1"] == [
        FoundSpan("target", 38, len(text), "minor"), FoundSpan("missing", 0, 0, "major"),
    ]  # fmt: skip


def test_other_spans_are_another_version_although_scores_are_equal(test_set: TestSet) -> None:
    first = store(check(test_set, [file(HEADER + WORDS)], "Marker", True))
    again = store(check(test_set, [file(HEADER + WORDS)], "Marker", True))
    assert again.row is None
    other = store(check(test_set, [file(HEADER + WORDS)], "Marker", False))
    assert other.row is not None
    assert other.signature != first.signature
    assert other.plan.message.code == "scores.spans-differ"
    assert [(s.start, s.end) for s in spans_of(test_set)["strong", "1"]] == [(0, 7), (14, 19)]
    assert SegmentSpans.objects.filter(signature=first.signature).exists()


def test_a_content_keeps_the_spans_it_has(test_set: TestSet) -> None:
    outcome = store(check(test_set, [file(HEADER + GOOD)], "Marker", False))
    key = Output.objects.filter(system__name="weak").values_list("content_key", flat=True)[0]
    for start in (1, 2):
        store_spans(outcome.signature, [key], [[FoundSpan("target", start, 9, "minor")]])
    (row,) = SegmentSpans.objects.filter(content_key=key)
    assert unpack(row.spans) == (FoundSpan("target", 1, 9, "minor"),)


@pytest.mark.parametrize(
    "fields", [("middle", 0, 1, "minor"), ("target", 3, 3, "minor"), ("target", 2, 1, "minor"),
               ("target", 0, 1, ""), ("target", 0, 1, "minor", "", 2.0)],
)  # fmt: skip
def test_a_span_that_cannot_be_is_refused(fields: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="span"):
        FoundSpan(*fields)  # type: ignore[arg-type]


def test_the_page_asks_and_stores(test_set: TestSet, client: Client) -> None:
    from django.core.files.uploadedfile import SimpleUploadedFile

    client.force_login(make_user("keeper", "admin"))
    address = f"/testsets/{test_set.slug}/spans/"
    sent = {"name": "My marker", "ends": "",
            "tables": SimpleUploadedFile("spans.tsv", (HEADER + WORDS).encode())}  # fmt: skip
    checked = client.post(address, sent)
    assert checked.status_code == 302
    page = client.get(checked["Location"]).content.decode()
    assert 'data-excluded="0"' in page
    assert 'name="import"' not in page
    chosen = {"name": "My marker", "ends": "included"}
    read = client.post(checked["Location"], chosen)
    assert 'name="import"' in client.get(read["Location"]).content.decode()
    stored = client.post(read["Location"], chosen | {"import": "1"}, follow=True).content.decode()
    assert "Imported 2 spans" in stored
    sent_back = b"".join(client.get(f"/testsets/{test_set.slug}/spans.csv")).decode("utf-8-sig")
    rows = list(csv.DictReader(StringIO(sent_back)))
    shown = [[row[name] for name in ("segment", "start", "end", "text")] for row in rows]
    assert shown == [["1", "0", "8", "Sentence"], ["1", "14", "20", "gnorts"]]
    again = check(test_set, [file(sent_back, "spans.csv")], "Again", False)
    sent = check(test_set, [file(HEADER + WORDS)], "Marker", True)
    assert (again.digest, again.n_spans) == (sent.digest, 2)


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("import_spans", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_the_command_asks_what_ends_are_and_stores_after_that(
    test_set: TestSet, tmp_path: Path
) -> None:
    path = tmp_path / "spans.tsv"
    path.write_text(HEADER + WORDS, encoding="utf-8")
    given = ("harbour", str(path), "--name", "Marker")
    with refused("command.errors", kind=CommandError, n=1):
        run(*given)
    output = run(*given, "--ends", "included", "--dry-run")
    assert "Marker: 2 spans of 1 output" in output
    assert "2 minor" in output
    assert not SegmentSpans.objects.exists()
    assert "Imported." in run(*given, "--ends", "included")
    assert [(s.start, s.end) for s in spans_of(test_set)["strong", "1"]] == [(0, 8), (14, 20)]
    assert "Nothing changed" in run(*given, "--ends", "included")
    with refused("command.no-test-set", "command.known", kind=CommandError, slug="nowhere"):
        run("nowhere", *given[1:])
