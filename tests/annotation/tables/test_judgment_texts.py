"""The texts of judged outputs: in the table, of a stored test set, or not at all."""

from decimal import Decimal

import pytest

from annotation.models import System, TestSet
from metrics import catalogue
from metrics.runs.starting import refusals_for
from tests.annotation.tables.reading import DE_EN, counts, errors_of, read, stored, table, values
from tests.world import World


def test_without_texts_a_test_set_of_keys_alone_is_made(db: None) -> None:
    _, report = read(table("R1|1|alpha|80"), **DE_EN)
    assert "judgments.no-outputs" in counts(report.warnings)
    (launched,) = stored(table("R1|1|alpha|80"), name="Keys", **DE_EN)
    segment = launched.result.campaign.test_set.segments.get()
    assert (segment.source, segment.outputs.get().text) == ("[source not published]", "")
    refusals = refusals_for(launched.result.campaign.test_set)
    assert refusals.keys() == catalogue.infos().keys()
    assert "chrf" in refusals


def test_without_sources_metrics_that_read_them_are_refused(db: None) -> None:
    head = "annotator\tseg_id\tsystem\tscore\tref\tmt\n"
    (launched,) = stored(table("R1|1|alpha|80|One.|Wun.", head=head), name="Bare", **DE_EN)
    infos = catalogue.infos()
    refused = refusals_for(launched.result.campaign.test_set)
    assert set(refused) == {name for name, info in infos.items() if info.needs_source}
    assert "chrf" not in refused


def test_contradictory_texts_name_both_rows(db: None) -> None:
    head = "annotator\tseg_id\tsystem\tscore\tsource\ttranslation\n"
    rows = ("R1|1|alpha|80|Eins|One", "R2|1|alpha|70|Zwei|Two")
    assert errors_of(table(*rows, head=head), **DE_EN) == [
        ("own.tsv, row 3, source", "judgments.other-source"),
        ("own.tsv, row 3, translation", "judgments.other-output"),
    ]


def test_segments_numbered_within_documents(db: None) -> None:
    head = "annotator\tdoc\tseg_id\tsystem\tscore\n"
    rows = ("R1|news|1|alpha|80", "R1|talk|1|alpha|70")
    error, *_ = errors_of(table(*rows, head=head), **DE_EN)
    assert error == ("own.tsv, row 3, doc", "judgments.other-document")
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
    ("row", "column", "code"),
    [
        ("R1|9|strong|80|", "seg_id", "segment.unknown"),
        ("R1|1.0|strong|80|", "seg_id", "segment.unknown-near"),
        ("R1|1|Strong|80|", "system", "system.unknown-near"),
        ("R1|1||80|", "system", "system.missing"),
        ("R1|1|strong|80|Nope.", "mt", "judgments.differs-from-stored"),
    ],
)
def test_a_stored_test_set_is_not_contradicted(
    world: World, row: str, column: str, code: str
) -> None:
    files = table(row, head="annotator\tseg_id\tsystem\tscore\tmt\n")
    assert (f"own.tsv, row 2, {column}", code) in errors_of(files, test_set="harbour")
    (error,) = read(files, test_set="nowhere")[1].errors
    assert error.code == "judgments.no-test-set"


@pytest.mark.parametrize("others", ["0.8", "0.5"])
def test_a_length_ratio_that_cannot_be_read_is_no_missing_one(db: None, others: str) -> None:
    """Whether the other rows have one length ratio or two."""
    head = "annotator\tseg_id\tsystem\tscore\tlength_ratio\n"
    rows = ("R1|1|alpha|80|0.8", f"R1|2|alpha|80|{others}", "R1|3|alpha|80|half")
    (error,) = read(table(*rows, head=head), **DE_EN)[1].errors
    assert (error.code, error.place.row, error.place.field) == ("ratio.syntax", 4, "length_ratio")


def test_which_of_two_length_ratios_was_judged_is_asked(world: World) -> None:
    """Outputs of the test set are of 0.8; another system of half the length joins them."""
    shorter = Decimal("0.5")
    half = System.objects.create(test_set=world.test_set, name="strong", length_ratio=shorter)
    head = "annotator\tseg_id\tsystem\tscore\tlength_ratio\n"
    (error,) = read(table("R1|1|strong|80"), test_set="harbour")[1].errors
    assert error.code == "judgments.unclear-length-ratio"
    some = table("R1|1|strong|80|0.8", "R1|1|strong|80|0.5", "R1|2|strong|80|", head=head)
    assert "judgments.no-length-ratio" in {e.code for e in read(some, test_set="harbour")[1].errors}
    (error,) = read(table("R1|1|strong|80|0.5", head=head), test_set="harbour")[1].errors
    assert error.code == "judgments.no-stored-output"
    assert not half.outputs.exists()
    assert errors_of(table("R1|1|strong|80|0.8", head=head), test_set="harbour") == []
