"""Exports say what is stored, come as streams, and read back as the same judgments."""

import csv
import io
import json
import uuid
import zipfile
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.exports import JUDGMENT_HEADER, judgment_rows
from annotation.exports.formats import declared
from annotation.exports.judgments import judgment_dicts
from annotation.imports.store import launch
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Item,
    Judgment,
    Reference,
    System,
    TestSet,
)
from annotation.quality import read_columns, standardise
from annotation.uploads import InputFile, Report
from extensions.formats import appraise
from tests.annotation.tables.reading import as_file
from tests.extensions.formats.appraise.batches import (
    document,
    import_all,
    item,
    manifest,
    read,
    tasks,
)
from tests.extensions.formats.appraise.test_scores import ESA, plain, row
from tests.refusals import refused
from tests.world import make_dataset

DIRECT = tasks([item(1), item(2), item(1, "BAD"), item(2, "CHK"), item(3, system="=sys B")])
SCORES = (
    plain(1, 90) + plain(2, 55, start=0) + plain(1, 10, kind="BAD") + plain(2, 60, kind="CHK")
    + plain(1, 80, 2000.125, 2011.5) + plain(1, 33, user="u2")
    + row("u2", "=sys B", 3, "TGT", "eng", "deu", 77, 5, 9)
)  # fmt: skip
MARKS = [
    {"start_i": 0, "end_i": 1, "severity": "minor"},
    {"start_i": "missing", "end_i": "missing", "severity": "major"},
]


def direct() -> Campaign:
    return import_all(DIRECT, scores=SCORES).result.campaign


def marked(protocol: str = "ESA") -> Campaign:
    items = [
        *document("d 1", "sysA", first_id=7)[:2],
        *document("d 1", "sysB", first_id=9)[:2],
        *document("d 1", "sysA", first_id=30, kind="BAD", suffix="#sysA#bad1")[:2],
    ]
    scores = "".join(
        row(user, each["targetID"], each["itemID"], each["itemType"], "eng", "deu", n * 9,
            each["documentID"], "False", json.dumps(MARKS if n % 2 else []), 100 + n, 101 + n)
        for user in ("u1", "u2")
        for n, each in enumerate(items)
    )  # fmt: skip
    described = manifest(TASK_TYPE="Document", TASK_OPTIONS=protocol)
    return import_all(tasks(items), described, scores).result.campaign


def data(campaign: Campaign, name: str) -> bytes:
    return b"".join(declared()[name].pieces(campaign))


def unzipped(campaign: Campaign, name: str) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data(campaign, name))) as archive:
        assert archive.testzip() is None
        return {each: archive.read(each).decode() for each in archive.namelist()}


def facts(campaign: Campaign) -> Counter[Any]:
    """What judgments say, by names that an import keeps."""
    found: Counter[Any] = Counter()
    for each in judgment_dicts(campaign):
        spans = tuple(tuple(span.values()) for span in each["spans"])
        names = ("annotator", "kind", "system", "score", "penalty", "revision", "is_current")
        times = each["started_at"], each["submitted_at"]
        found[*(each[name] for name in names), *times, spans] += 1
    return found


def test_one_row_a_judgment_revisions_included(db: None) -> None:
    campaign = direct()
    rows = list(csv.DictReader(io.StringIO(data(campaign, "csv").decode())))
    assert tuple(rows[0]) == (*JUDGMENT_HEADER, "own_text")
    assert [
        (r["annotator"], r["kind"], r["score"], r["revision"], r["is_current"]) for r in rows
    ] == [
        ("engdeu0101", "target", "90", "1", "False"),
        ("engdeu0101", "target", "80", "2", "True"),
        ("engdeu0101", "target", "55", "1", "True"),
        ("engdeu0101", "bad_ref", "10", "1", "True"),
        ("engdeu0101", "repeat", "60", "1", "True"),
        ("u2", "target", "77", "1", "True"),
        ("u2", "target", "33", "1", "True"),
    ]
    bad = rows[3]
    assert (bad["system"], bad["batch"], bad["protocol"]) == ("", "1", "segment-da")
    assert bad["partner"] == rows[0]["item"]


def test_cells_that_look_like_formulas_are_neutralised(db: None) -> None:
    for name in ("csv", "appraise", "appraise-header"):
        assert "'=sys B" in data(direct_once(), name).decode()
    assert '"system": "=sys B"' in data(direct_once(), "jsonl").decode()


def direct_once() -> Campaign:
    return Campaign.objects.first() or direct()


def test_json_lines_nest_the_spans(db: None) -> None:
    lines = [json.loads(line) for line in data(marked(), "jsonl").decode().splitlines()]
    assert len(lines) == 12
    assert tuple(lines[0]) == (*JUDGMENT_HEADER, "own_text")
    assert lines[1]["spans"] == [
        {"side": "target", "start": 0, "end": 2, "severity": "minor", "category": ""},
        {"side": "source", "start": 0, "end": 12, "severity": "major", "category": ""},
    ]
    assert lines[0]["spans"] == []


def test_parquet_holds_the_same_with_types(db: None) -> None:
    campaign = marked()
    table = pyarrow.parquet.read_table(io.BytesIO(data(campaign, "parquet")))
    assert table.to_pylist() == list(judgment_dicts(campaign))
    assert str(table.schema.field("submitted_at").type) == "timestamp[us, tz=UTC]"


def test_spans_have_a_table_of_their_own(db: None) -> None:
    rows = list(csv.DictReader(io.StringIO(data(marked(), "spans").decode())))
    assert len(rows) == 12
    assert [(r["side"], r["text"], r["weight"]) for r in rows[:2]] == [
        ("target", "d ", "1"), ("source", "d 1 source 1", "5"),
    ]  # fmt: skip


def test_z_scores_are_those_of_the_quality_page(db: None, data_dir: Path) -> None:
    make_dataset("graham2015")
    campaign = Campaign.objects.get()
    columns = read_columns(campaign)
    for pool in ("targets", "all"):
        z = standardise(columns, pool).z.tolist()
        ours = [each[f"z_{pool}"] for each in judgment_dicts(campaign)]
        assert len(ours) == 2900
        for value, expected in zip(ours, z, strict=True):
            assert (
                value == pytest.approx(expected, abs=1e-9)
                if value is not None
                else expected != expected
            )


def test_excluded_annotators_are_marked_and_have_no_z(db: None) -> None:
    campaign = direct()
    Annotator.objects.filter(label="u2").update(excluded_at=timezone.now())
    rows = {
        (r["annotator"], r["is_excluded"], r["z_all"] is None) for r in judgment_dicts(campaign)
    }
    assert ("u2", True, True) in rows
    assert ("engdeu0101", False, False) in rows
    assert (
        "\nu2"
        not in unzipped(campaign, "mtme")["harbour2026/human-scores/en-de.segment-da.seg.score"]
    )


def test_appraise_columns_and_types(db: None) -> None:
    lines = data(direct(), "appraise").decode().splitlines()
    assert "engdeu0101,sysA,2,TGT,eng,deu,55,0.0,0.0" in lines
    assert lines[3] == "engdeu0101,sysA,1,BAD,eng,deu,10,1000.500000,1010.250000"
    header = data(Campaign.objects.get(), "appraise-header").decode().splitlines()
    assert header[0] == "username,targetID,itemID,itemType,src,tgt,score,start,end"
    assert header[1:] == lines


def test_appraise_columns_with_spans(db: None) -> None:
    header, *lines = csv.reader(io.StringIO(data(marked(), "appraise-header").decode()))
    assert header == [
        "username", "targetID", "itemID", "itemType", "src", "tgt", "score",
        "documentID", "isCompleteDocument", "mqm", "start", "end",
    ]  # fmt: skip
    assert lines[5][7:9] == ["d 1#bad", "False"]
    assert json.loads(lines[5][9]) == MARKS


def test_appraise_scores_read_back_with_the_batches_they_came_from(db: None) -> None:
    campaign = direct()
    before, scores = facts(campaign), data(campaign, "appraise").decode()
    wipe()
    assert facts(import_all(DIRECT, scores=scores).result.campaign) == before


@pytest.mark.parametrize("make", [direct, marked, lambda: marked("MQM")])
def test_a_whole_appraise_campaign_reads_back(db: None, make: Any) -> None:
    campaign = make()
    before, files = facts(campaign), unzipped(campaign, "appraise-zip")
    wipe()
    report = Report()
    drafts = appraise.read(
        as_file("batches.json", files["batches.json"]),
        as_file("manifest.json", files["manifest.json"]),
        report,
        scores=InputFile.holding("scores.csv", files["scores.csv"].encode()),
    )
    assert not report.errors, [str(problem) for problem in report.errors]
    (launched,) = launch(drafts)
    assert facts(launched.result.campaign) == before
    assert sum(before.values()) == launched.result.n_judgments


def wipe() -> None:
    Judgment.objects.all().delete()
    Item.objects.all().delete()
    Campaign.objects.all().delete()
    TestSet.objects.all().delete()


def test_documents_read_back_as_a_whole(db: None) -> None:
    items = [*document("d1", "sysA"), *document("d1", "sysB")]
    scores = "".join(
        row("u1", each["targetID"], each["itemID"], "TGT", "eng", "deu", 50 + n,
            "d1", each["isCompleteDocument"], 10 + n, 11 + n)
        for n, each in enumerate(items)
    )  # fmt: skip
    described = manifest(TASK_TYPE="Document")
    campaign = import_all(tasks(items), described, scores).result.campaign
    before, exported = facts(campaign), data(campaign, "appraise").decode()
    wipe()
    assert facts(import_all(tasks(items), described, exported).result.campaign) == before


def test_names_in_paths_are_short_and_distinct(db: None) -> None:
    campaign = direct()
    names = ["../a b", ".._a_b", ".._a_b_2", "港" * 120, "港" * 119 + "口"]
    for name in names:
        campaign.systems.add(System.objects.create(test_set=campaign.test_set, name=name))
    for segment in campaign.test_set.segments.all():
        for name in ("a.b", "a-b"):
            Reference.objects.create(segment=segment, name=name, text=name)
    paths = [*unzipped(campaign, "mtme")]
    assert len(set(paths)) == len(paths)
    assert sum("/system-outputs/" in each for each in paths) == 2 + len(names)
    assert sum("/references/" in each for each in paths) == 2
    assert all(len(part.encode()) < 255 and part != ".." for p in paths for part in p.split("/"))


def test_mt_metrics_eval_layout(db: None) -> None:
    files = unzipped(direct(), "mtme")
    assert list(files) == [
        "harbour2026/documents/en-de.docs",
        "harbour2026/sources/en-de.txt",
        "harbour2026/system-outputs/en-de/=sys_B.txt",
        "harbour2026/system-outputs/en-de/sysA.txt",
        "harbour2026/human-scores/en-de.segment-da.seg.score",
        "harbour2026/human-scores/en-de.segment-da.sys.score",
        "harbour2026/human-scores/en-de.segment-da-z.seg.score",
        "harbour2026/human-scores/en-de.segment-da-z.sys.score",
    ]
    assert files["harbour2026/sources/en-de.txt"] == "Source 1.\nSource 2.\nSource 3.\n"
    assert files["harbour2026/system-outputs/en-de/sysA.txt"] == (
        "sysA says 1.\nsysA says 2.\n[No translation supplied]\n"
    )
    # A segment without a document is one of its own.
    documents = [f"general\tsegment-{number}\n" for number in (1, 2, 3)]
    assert files["harbour2026/documents/en-de.docs"] == "".join(documents)
    # Segment 1: (80 + 33) / 2; segment 2 with its repeat: (55 + 60) / 2.
    assert files["harbour2026/human-scores/en-de.segment-da.seg.score"] == (
        "=sys_B\tNone\n=sys_B\tNone\n=sys_B\t77.0\nsysA\t56.5\nsysA\t57.5\nsysA\tNone\n"
    )
    assert (
        files["harbour2026/human-scores/en-de.segment-da.sys.score"] == "=sys_B\t77.0\nsysA\t57.0\n"
    )


def test_ratings_have_a_file_for_every_rating_of_an_output(db: None) -> None:
    files = unzipped(marked("MQM"), "mtme")
    first = files["harbour2026/human-scores/en-de.mqm.seg.rating"].splitlines()
    assert len(first) == 4
    system, rating, rater = first[1].split("\t")
    assert (system, rater) == ("sysA", "u1")
    assert json.loads(rating) == {
        "errors": [
            {"start": 0, "end": 2, "category": "other", "severity": "minor", "score": 1.0,
             "is_source_error": False},
            {"start": 0, "end": 12, "category": "accuracy/omission", "severity": "major",
             "score": 5.0, "is_source_error": True},
        ]
    }  # fmt: skip
    second = files["harbour2026/human-scores/en-de.mqm-2.seg.rating"].splitlines()
    assert {line.split("\t")[-1] for line in second} == {"u2"}
    scores = files["harbour2026/human-scores/en-de.mqm.seg.score"].splitlines()
    assert scores == ["sysA\t0.0", "sysA\t-6.0", "sysB\t0.0", "sysB\t-6.0"]


def test_published_mqm_scores_come_out_in_the_layout(db: None, data_dir: Path) -> None:
    make_dataset("mqm-ted")
    files = unzipped(Campaign.objects.get(), "mtme")
    top = "mqm-ted-zh-en/human-scores/zh-en.mqm"
    scores = [line.split("\t") for line in files[f"{top}.seg.score"].splitlines()]
    ratings = [line.split("\t") for line in files[f"{top}.seg.rating"].splitlines()]
    assert len(scores) == len(ratings) == 7935
    for (system, score), (rated, rating, _) in zip(scores, ratings, strict=True):
        errors = json.loads(rating)["errors"]
        assert system == rated
        assert float(score) == pytest.approx(-sum(error["score"] for error in errors))
    assert files["mqm-ted-zh-en/documents/zh-en.docs"].count("\n") == 529
    assert "mqm-ted-zh-en/references/zh-en.refA.txt" in files


def test_the_same_campaign_gives_the_same_bytes(db: None) -> None:
    campaign = marked()
    for name in ("mtme", "appraise-zip", "csv"):
        assert data(campaign, name) == data(campaign, name)


def test_rows_are_read_in_portions(db: None) -> None:
    """The queries of an export do not grow with its rows, up to a portion."""
    campaign = direct()
    with CaptureQueriesContext(connection) as few:
        list(judgment_rows(campaign))
    annotator = Annotator.objects.create(campaign=campaign, label="u3")
    for position, each in enumerate(campaign.items.all()):
        assignment = Assignment.objects.create(annotator=annotator, item=each, position=position)
        now = timezone.now()
        Judgment.objects.create(
            assignment=assignment, score=5, submit_key=uuid.uuid4(),
            started_at=now, submitted_at=now + timedelta(seconds=1),
        )  # fmt: skip
    with CaptureQueriesContext(connection) as many:
        list(judgment_rows(campaign))
    assert len(many) == len(few)


def test_the_command_writes_a_file_or_says_why_not(db: None, tmp_path: Path) -> None:
    campaign = direct()
    path = tmp_path / "out.parquet"
    call_command("export_judgments", campaign.slug, format="parquet", output=path)
    assert len(pyarrow.parquet.read_table(path)) == 7
    assert [each.name for each in tmp_path.iterdir()] == ["out.parquet"]
    with refused("command.no-campaign", kind=CommandError, slug="nope"):
        call_command("export_judgments", "nope")


def test_an_empty_campaign_exports(db: None) -> None:
    drafts, _ = read(tasks([item(1, documentID="d", isCompleteDocument=False)]), ESA)
    (launched,) = launch(drafts)
    for name in declared():
        assert data(launched.result.campaign, name) or name in (
            "jsonl",
            "spans-jsonl",
            "appraise",
            "pearmut-log",
        )
