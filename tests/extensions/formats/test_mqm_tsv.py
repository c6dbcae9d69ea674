"""Tables of MQM with tags in their texts: as TED, as newstest2020, with tokens; in and out."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from annotation.filters import FilterError
from annotation.imports.judgments.options import read_options
from annotation.imports.published.human import mqm_ted as read_ted
from annotation.imports.published.pairs import Pair
from annotation.models import Campaign, Judgment, Output
from annotation.uploads import InputFile, Report
from extensions.formats.exports.mqm import HEADER, mqm_lines
from tests.annotation.tables.reading import counts, errors_of, read, stored
from tests.refusals import refused

FOLDER = settings.DATA_DIR / "mqm-ted" / "zh-en"
LANGUAGES = {"source_language": "zh", "target_language": "en"}


def rows_of(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="\n") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def published(n_segments: int = 40) -> list[list[str]]:
    """Rows as TED was published: each error in its text, of the first segments."""
    segments = {row["seg_id"]: row for row in rows_of("segments.tsv")[:n_segments]}
    outputs = {(row["seg_id"], row["system"]): row["output"] for row in rows_of("outputs.tsv")}
    found = []
    for row in rows_of("annotations.tsv"):
        segment = segments.get(row["seg_id"])
        if segment is None:
            continue
        texts = {"source": segment["source"], "target": outputs[row["seg_id"], row["system"]]}
        if row["side"] != "none":
            start, end, text = int(row["start"]), int(row["end"]), texts[row["side"]]
            texts[row["side"]] = f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"
        head = [row["system"], segment["doc"], segment["doc_id"], row["seg_id"], row["rater"]]
        found.append([*head, *texts.values(), row["category"], row["severity"]])
    return found


def table(rows: list[list[str]], *, quotes: bool = False, header: Any = HEADER) -> InputFile:
    out = io.StringIO()
    if quotes:
        csv.writer(out, delimiter="\t", lineterminator="\n").writerows([header, *rows])
    else:
        out.writelines("\t".join(row) + "\n" for row in [header, *rows])
    return InputFile.holding("mqm.tsv", out.getvalue().encode())


def test_published_errors_come_in_to_the_code_point_and_go_out_as_they_came(db: None) -> None:
    rows = published()
    assert any("<v>" in row[5] for row in rows)
    assert any('"' in row[6] for row in rows)
    drafts = {}
    for quotes in (False, True):
        reading, report = read([table(rows, quotes=quotes)], **LANGUAGES)
        assert not report.errors, report.errors[:3]
        ((_, drafts[quotes]),) = reading.drafts
    assert drafts[True] == drafts[False]
    # The reader of the re-laid-out data, which has offsets instead of tags, finds the same.
    _, other = read_ted(Pair("zh-en", FOLDER, "zh", "en"))
    kept = {row[3] for row in rows}
    wanted, found = (
        {
            (each.annotator, draft.items[each.item].segment, draft.items[each.item].system):
                sorted(map(repr, each.spans))
            for each in draft.judgments
            if draft.items[each.item].segment in kept
        }
        for draft in (other, drafts[False])
    )  # fmt: skip
    assert found == wanted
    assert sum(map(len, found.values())) > 300
    campaign = stored([table(rows)], **LANGUAGES)[0].result.campaign
    lines = [line.rstrip("\n").split("\t") for line in mqm_lines(campaign)]
    # The category's name is ours; all else is as it was published.
    same = [0, 1, 3, 4, 5, 6, 8]
    assert sorted([row[i] for i in same] for row in lines[1:]) == sorted(
        [row[i] for i in same] for row in rows
    )
    again = stored([table(lines[1:])], name="again", **LANGUAGES)[0].result.campaign
    assert list(mqm_lines(again)) == list(mqm_lines(campaign))


def test_every_marking_of_the_facts(db: None) -> None:
    cases = json.loads((settings.DATA_DIR / "protocols" / "offsets.json").read_text())
    rows = [
        ["s", "d", "1", str(n), "r", "Quelle.", case["mqm_tsv"], "Accuracy/Mistranslation", "Major"]
        for n, case in enumerate(cases)
        if case["marked"]
    ]
    ((_, draft),) = read([table(rows)], **LANGUAGES)[0].drafts
    spans = {draft.items[each.item].segment: each.spans for each in draft.judgments}
    for n, case in enumerate(cases):
        if case["marked"]:
            ((span,),) = [spans[str(n)]]
            assert [span.start, span.end] == case["code_points"], case["note"]


TOKENS = ["The", " ", "dog", " ", "walked", "."]
MAROT = (*HEADER[:2], "docSegId", "globalSegId", *HEADER[4:], "metadata")


def marot(target: str, metadata: Any, annotator: str = "r", severity: str = "Major") -> list[str]:
    values = json.dumps(metadata)
    return ["s", "d", "1", "7", annotator, "Der Hund.", target, "Style/Awkward", severity, values]


def test_tokens_place_errors_without_a_tag(db: None) -> None:
    segment = {"target_tokens": TOKENS, "source_tokens": ["Der", " ", "Hund", "."]}
    text = "".join(TOKENS)
    rows = [
        marot(text, {"target_spans": [[2, 4]], "segment": segment}),
        marot(text, {"source_spans": [[2, 2]]}),
        marot("The <v>dog</v> <v>walked</v>.", {"target_spans": [[0, 0]]}),
        marot(text, {"segment": segment}, annotator=""),
        marot(text, {}, severity="HOTW-test"),
    ]
    reading, report = read([table(rows, header=MAROT)], **LANGUAGES)
    assert not report.errors, report.errors
    ((_, draft),) = reading.drafts
    (judgment,) = draft.judgments
    assert [(s.side, s.start, s.end) for s in judgment.spans] == [
        ("target", 4, 14), ("source", 4, 8), ("target", 4, 14),
    ]  # fmt: skip
    numbers = counts(report.warnings)
    assert [numbers[f"mqm.{code}"] for code in ("no-annotator", "planted", "parts")] == [1, 1, 1]


def test_critical_errors_need_their_weight(db: None) -> None:
    head = ["s", "d", "1", "7", "r", "Der Hund."]
    rows = [
        [*head, "The <v>dog</v>.", "Accuracy/Mistranslation", "Critical"],
        [*head, "<v>The</v> dog.", "Fluency/Punctuation", "Minor"],
    ]
    _, report = read([table(rows)], **LANGUAGES)
    (error,) = report.errors
    assert error.place.row == 2
    assert error.code == "judgments.critical-without-weight"
    campaign = stored([table(rows)], critical=25.0, **LANGUAGES)[0].result.campaign
    assert [each.key for each in campaign.judging.spans.severities][-1] == "critical"
    # A minor error of punctuation weighs 0.1 in MQM, as without critical ones.
    assert Judgment.objects.get().penalty == pytest.approx(25.1)
    sent = [line.rstrip("\n").split("\t") for line in mqm_lines(campaign)][1:]
    assert sorted(row[8] for row in sent) == ["Critical", "Minor"]
    for wrong in ("x", "-1", "1001"):
        report = Report()
        read_options({"critical": wrong}, report)
        assert report.errors[0].code == "judgments.not-a-weight"


@pytest.mark.parametrize(
    ("source", "target", "code"),
    [
        ("Q", "a </v>b", "mqm.lone-tag"),
        ("Q", "<v><v>a</v></v>", "mqm.lone-tag"),
        ("<v>Q</v>", "<v>a</v>", "mqm.both-texts"),
    ],
)
def test_a_tag_that_marks_nothing_is_refused(source: str, target: str, code: str) -> None:
    row = ["s", "d", "1", "1", "r", source, target, "Style/Awkward", "Major"]
    assert code in [each for _, each in errors_of([table([row])], **LANGUAGES)]


def test_tokens_that_are_not_the_text_are_refused() -> None:
    wrong = marot("The dog.", {"target_spans": [[0, 1]], "segment": {"target_tokens": TOKENS}})
    far = marot("".join(TOKENS), {"target_spans": [[0, 9]], "segment": {"target_tokens": TOKENS}})
    for row, code in ((wrong, "mqm.tokens"), (far, "mqm.token-numbers")):
        errors = errors_of([table([row], header=MAROT)], **LANGUAGES)
        assert code in [each for _, each in errors]


def test_a_text_with_a_tag_of_its_own_does_not_go_out(db: None, tmp_path: Path) -> None:
    row = ["s", "d", "1", "1", "r", "Q", "<v>a</v> b", "Style/Awkward", "Major"]
    campaign: Campaign = stored([table([row])], **LANGUAGES)[0].result.campaign
    Output.objects.update(text="a <v> b")
    with refused("export.mqm-tag", kind=FilterError):
        list(mqm_lines(campaign))
