"""The page on error spans over six human sets of WMT23: one set is gold, others are metrics."""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO, StringIO
from uuid import uuid4
from zipfile import ZipFile

import numpy as np
import pytest
from django.test import Client
from scipy import stats

from annotation.filters import Filters
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    ErrorSpan,
    Item,
    Judgment,
    Output,
    TestSet,
)
from annotation.uploads import InputFile
from dashboards.bundle import build
from dashboards.documents.computing import settled
from dashboards.report.parts import parts
from dashboards.spans.document import Spans, SpansChoice, compute
from dashboards.spans.page import METRIC, PEOPLE, Mark, pieces
from metrics.models import SegmentSpans
from metrics.spans.importing import check, store
from tests.house.templates.seen import seen
from tests.metaeval.published import table
from tests.shared import SharedRows
from tests.world import World, add_system, make_dataset, make_user

GOLD = "wmt23-spans-en-de-wmt-mqm"


def file_of(name: str) -> InputFile:
    """One of the sets as a file: a row a span with ends as the campaign stored them."""
    marks, judged = (table(f"spans/en-de/{part}.tsv") for part in ("spans", "judgments"))
    lines = ["system\tsegment\tstart\tend\tseverity\tside\tcategory"]
    for group, system, segment in zip(judged["set"], judged["system"], judged["seg"], strict=True):
        if group == name:
            lines.append(f"{system}\t{segment}\t\t\tno-error\t\t")
    columns = ("set", "system", "seg", "raw_start", "raw_end", "severity", "side", "category")
    for group, *row in zip(*(marks[column] for column in columns), strict=True):
        if group == name:
            lines.append("\t".join(row if row[5] != "missing" else [*row[:2], "0", "0", *row[4:]]))
    return InputFile.holding(f"{name}.tsv", "\n".join(lines).encode())


def imported() -> int:
    make_dataset("spans")
    test_set = TestSet.objects.get(slug="wmt23-spans-en-de")
    for name in ("MQM-1", "ESA-2"):
        checked = check(test_set, [file_of(name)], name, True)
        store(checked)
    return Campaign.objects.get(slug=GOLD).pk


@pytest.fixture(scope="module")
def rows(shared_rows: SharedRows[int]) -> Iterator[int]:
    with shared_rows(imported) as pk:
        yield pk


@pytest.fixture
def campaign(rows: int, db: None) -> Campaign:
    return Campaign.objects.get(pk=rows)


@pytest.fixture
def document(campaign: Campaign) -> Spans:
    return compute(campaign, SpansChoice())


PUBLISHED = {
    "MQM-1 (imported)": (0.4748, 0.0612, 0.1084, 0.4071, 0.0838, 0.1390, 0.2852),
    "ESA-2 (imported)": (0.4159, 0.1031, 0.1652, 0.4176, 0.1105, 0.1747, 0.2927),
    "Marks nothing": (1, 0, 0, 1, 0, 0, 0.2530),
    "Marks every output as a whole": (0.0808, 0.2383, 0.1207, 0.0912, 0.7375, 0.1623, 0.1064),
}
ORDER = [list(PUBLISHED)[place] for place in (1, 0, 2, 3)]


def test_lines_are_the_published_ones(document: Spans) -> None:
    """The README of `spans/`, through upload, database and worker."""
    assert document.n_judgments == document.n_outputs == 2028
    found = {
        str(row.label): (row.precision, row.recall, row.f1, row.character_precision,
                    row.character_recall, row.character_f1, row.macro_f1)
        for row in document.rows
    }  # fmt: skip
    assert list(found) == ORDER
    for label, expected in PUBLISHED.items():
        assert found[label] == pytest.approx(expected, abs=6e-5)


def test_floor_and_significance(document: Spans) -> None:
    best, second, silent, whole = document.rows
    assert best.p is None
    assert second.p is not None
    assert second.p < 0.05
    # MQM-1 finds less than whoever marks everything.
    assert (best.is_at_floor, second.is_at_floor) == (False, True)
    assert not silent.is_at_floor
    assert not whole.is_at_floor
    assert silent.mcc is None
    for row in (best, second):
        assert row.f1_low is not None
        assert row.f1 is not None
        assert row.f1_high is not None
        assert row.f1_low < row.f1 < row.f1_high
        assert row.mcc_low < row.mcc < row.mcc_high
    assert "spans.no-ceiling" in [each.code for each in document.warnings]


def test_outputs_without_errors_by_a_loop(document: Spans) -> None:
    marks, judged = (table(f"spans/en-de/{part}.tsv") for part in ("spans", "judgments"))

    def items(rows: Mapping[str, Sequence[str]], group: str) -> set[tuple[str, str]]:
        named = zip(rows["set"], rows["system"], rows["seg"], strict=True)
        return {(system, segment) for own, system, segment in named if own == group}

    outputs = sorted(items(judged, "WMT-MQM"))
    marked = items(marks, "WMT-MQM")
    gold = np.array([output not in marked for output in outputs])
    for group in ("MQM-1", "ESA-2"):
        marked = items(marks, group)
        free = np.array([output not in marked for output in outputs])
        (row,) = [each for each in document.rows if str(each.label).startswith(group)]
        assert row.free_precision == pytest.approx((gold & free).sum() / free.sum())
        assert row.free_recall == pytest.approx((gold & free).sum() / gold.sum())
        assert row.mcc == pytest.approx(stats.pearsonr(gold, free).statistic)


def test_shares_found_by_a_loop(campaign: Campaign, document: Spans) -> None:
    marks = table("spans/en-de/spans.tsv")
    columns = ("set", "side", "seg", "system", "start", "end", "severity")
    spans: dict[str, list[tuple[tuple[str, str], int, int, str]]] = {"WMT-MQM": [], "ESA-2": []}
    for group, side, segment, system, start, end, severity in zip(
        *(marks[column] for column in columns), strict=True
    ):
        if side == "target" and group in spans and severity != "undecided":
            place = (segment, system)
            spans[group].append((place, int(start), int(end), severity))
    by: dict[tuple[str, str], set[int]] = {}
    for place, start, end, _ in spans["ESA-2"]:
        by.setdefault(place, set()).update(range(start, end))
    for severity in ("minor", "major"):
        own = [(len(by.get(place, set()) & set(range(start, end))), end - start)
               for place, start, end, kind in spans["WMT-MQM"] if kind == severity]  # fmt: skip
        (found,) = [r for r in document.found if (r.detector, r.dimension, r.value)
                    == (document.rows[0].key, "severity", severity)]  # fmt: skip
        hit, long = np.array(own).T
        assert found.n == len(own)
        assert found.share == pytest.approx((hit > 0).mean())
        assert found.characters == pytest.approx(hit.sum() / long.sum())


def test_a_bundle_holds_all_spans_and_gives_the_numbers_of_the_page(
    campaign: Campaign, document: Spans
) -> None:
    content = build(campaign, Filters()).zip
    with ZipFile(BytesIO(content)) as bundle:
        texts = {name.partition("/")[2]: bundle.read(name).decode() for name in bundle.namelist()}
    ours = list(
        csv.DictReader(StringIO(texts["spans.tsv"]), delimiter="\t", quoting=csv.QUOTE_NONE)
    )
    marked = [row for row in ours if row["severity"] != "no-error"]
    stored = SegmentSpans.objects.values_list("spans", flat=True)
    assert len(marked) == sum(map(len, stored))
    assert len({(row["set"], row["system"], row["segment"]) for row in ours}) == len(stored)
    people = texts["human-spans.tsv"].splitlines()[1:]
    assert (
        len([row for row in people if "no-error" not in row])
        == ErrorSpan.objects.filter(judgment__assignment__annotator__campaign=campaign).count()
    )
    rows = {row["detector"]: row for row in json.loads(texts["expected/spans.json"])["detectors"]}
    for line in document.rows[:2]:
        row = rows[line.key]
        assert row["n"] == line.n
        found = [row[name] for name in ("precision", "recall", "f1", "f1_low", "f1_high")]
        shown = [line.precision, line.recall, line.f1, line.f1_low, line.f1_high]
        assert found == pytest.approx(shown, rel=1e-9)


def test_worst_misses_are_unmarked_and_severe(document: Spans) -> None:
    assert {row.kind for row in document.missed} == {"missed", "false alarm"}
    for row in document.missed:
        others = row.metric if row.kind == "missed" else row.people
        assert not [1 for start, end, _ in others if start < row.end and end > row.start]
        assert row.kind == "false alarm" or row.severity == "major"


def test_pages_and_files(campaign: Campaign, client: Client) -> None:

    client.force_login(make_user("reader", "researcher"))
    address = f"/campaigns/{campaign.slug}/spans"
    page = client.get(f"{address}/").content.decode()
    assert "data-at-floor" in page
    assert 'class="people-major' in page
    told = json.loads(client.get(f"{address}.json").content)
    assert [
        label["text"] if isinstance(label := row["label"], dict) else label for row in told["rows"]
    ] == ORDER
    text = b"".join(client.get(f"{address}.csv")).decode("utf-8-sig")
    lines = list(csv.DictReader(StringIO(text)))
    assert float(lines[0]["f1"]) == pytest.approx(0.1652, abs=6e-5)
    assert "tabular" in b"".join(client.get(f"{address}.tex")).decode()
    assert client.get(f"{address}/?detector=nobody").status_code == 400
    assert client.get(f"{address}/?agreed=9").status_code == 400


def test_the_report_and_programs_have_the_same_lines(
    campaign: Campaign, document: Spans, client: Client
) -> None:
    told = parts(campaign, Filters())["spans"]
    assert told.rows == settled(document).rows
    assert not told.missed
    client.force_login(make_user("programs", "researcher"))
    found = client.get(f"/api/results/{campaign.slug}/").json()["spans"]
    assert [row["key"] for row in found["rows"]] == [row.key for row in document.rows]
    assert found["rows"][0]["f1"] == document.rows[0].f1
    assert found["missed"] == []


def test_a_campaign_without_spans_says_so(db: None, world: object) -> None:
    found = compute(Campaign.objects.get(slug="harbour-80"), SpansChoice())
    assert found.rows == ()
    assert found.warnings[-1].code == "spans.none"


def test_pieces_put_together_are_the_text() -> None:
    text = "The 😀 harbour was quiet."
    marks = [
        Mark(4, 13, "major", PEOPLE),
        Mark(6, 17, "minor", METRIC),
        Mark(4, 5, "minor", METRIC),
    ]
    found = pieces(text, marks)
    assert "".join(each.text for each in found) == text
    said = [(each.text, each.classes) for each in found if each.marks]
    assert said == [
        ("😀", "people-major metric-minor"), (" ", "people-major"),
        ("harbour", "people-major metric-minor"), (" was", "metric-minor"),
    ]  # fmt: skip
    long = pieces("x" * 5000, [Mark(2000, 2010, "major", PEOPLE)], around=2000)
    assert sum(len(each.text) for each in long) < 1000
    assert "x" * 10 in [each.text for each in long if each.marks]


def test_an_output_shows_who_marked_what(campaign: Campaign, client: Client) -> None:
    client.force_login(make_user("reader", "researcher"))
    rows = Output.objects.filter(system__name="AIRC", segment__key="12")
    output = rows.get(system__campaigns=campaign)
    page = seen(client.get(f"/campaigns/{campaign.slug}/outputs/{output.pk}/").text)
    assert "<h3>Error spans</h3>" in page
    for label in ("MQM-1 (imported)", "ESA-2 (imported)"):
        assert f"<dt>{label}" in page
    assert re.search(r'<mark class="people-major" title="Annotators: major error.">[^<]*beim', page)
    assert 'class="metric-' in page


def test_gold_that_two_agree_on_and_a_ceiling(world: World) -> None:
    """Two annotators marked twelve outputs: half of each other's characters, one major."""
    campaign = world.campaign
    type(campaign).objects.filter(pk=campaign.pk).update(protocol="esa")
    add_system(world.test_set, "third")
    campaign.systems.set(world.test_set.systems.all())
    people = [Annotator.objects.create(campaign=campaign, user=user, label=f"P{n}")
              for n, user in enumerate(world.annotators[:2])]  # fmt: skip
    texts = Output.objects.filter(system__test_set=world.test_set).order_by("pk")
    for place, output in enumerate(texts):
        item = Item.objects.create(campaign=campaign, output=output, segment=output.segment,
                                   kind=Item.Kind.TARGET)  # fmt: skip
        marks = ((0, "minor"), (4, "major"))
        for person, (start, severity) in zip(people, marks, strict=True):
            assignment = Assignment.objects.create(annotator=person, item=item, position=place)
            judgment = Judgment.objects.create(
                assignment=assignment, score=50, submit_key=uuid4(), is_current=True
            )
            judgment.spans.create(side="target", start=start, end=start + 8, severity=severity)
    found = compute(Campaign.objects.get(pk=campaign.pk), SpansChoice())
    (line,) = [row for row in found.rows if row.kind == "ceiling"]
    assert line.f1 == pytest.approx(0.5)
    assert line.character_f1 == pytest.approx(0.25)
    agreed = compute(Campaign.objects.get(pk=campaign.pk), SpansChoice(agreed="2"))
    assert (agreed.n_judgments, agreed.n_spans) == (12, 12)
    assert compute(Campaign.objects.get(pk=campaign.pk), SpansChoice(agreed="3")).rows == ()
