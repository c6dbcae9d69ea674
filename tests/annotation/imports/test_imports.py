"""Published data sets come in whole, once, and with every error named."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from annotation import uploads
from annotation.imports import CampaignDraft, ItemDraft, JudgmentDraft, store_campaign, tables
from annotation.models import (
    Annotator,
    Campaign,
    Item,
    Judgment,
    Output,
    PublishedScore,
    TestSet,
)
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from core.messages import messages_of
from metaeval.judgments.controls import control_test
from tests.refusals import refused


def small_set(score: int = 40) -> tuple[TestSetDraft, CampaignDraft]:
    segments = [SegmentDraft(key=str(n), source=f"Satz {n}", references={}) for n in (1, 2)]
    systems = [SystemDraft(name="nmt", outputs={"1": "Sentence one", "2": "Sentence two"})]
    test_set = TestSetDraft(
        slug="small", name="Small", source_language="de", target_language="en",
        segments=segments, systems=systems,
    )  # fmt: skip
    campaign = CampaignDraft(
        slug="small",
        name="Small",
        question="How good?",
        items=[ItemDraft("1", "nmt"), ItemDraft("1", kind=Item.Kind.BAD_REF, partner=0)],
        judgments=[JudgmentDraft("W1", 0, score), JudgmentDraft("W1", 1, 3)],
    )
    return test_set, campaign


def test_an_import_is_a_closed_campaign(db: None) -> None:
    test_set, draft = small_set()
    result = store_campaign(draft, uploads.store(test_set).test_set)
    assert result.is_new
    assert result.campaign.origin == Campaign.Origin.IMPORTED
    assert result.campaign.status == Campaign.Status.CLOSED
    bad = result.campaign.items.get(kind=Item.Kind.BAD_REF)
    assert bad.partner is not None
    assert bad.partner.output is not None
    assert bad.partner.output.text == "Sentence one"
    assert list(Judgment.objects.order_by("pk").values_list("score", flat=True)) == [40, 3]


def test_the_same_again_changes_nothing_and_another_score_is_refused(db: None) -> None:
    test_set, draft = small_set()
    stored = uploads.store(test_set).test_set
    store_campaign(draft, stored)
    assert not store_campaign(draft, stored).is_new
    assert Judgment.objects.count() == 2
    with refused("import.other-judgments"):
        store_campaign(small_set(score=41)[1], stored)
    assert Judgment.objects.count() == 2


def test_an_unknown_output_stores_nothing(db: None) -> None:
    test_set, _ = small_set()
    wrong = CampaignDraft(
        slug="wrong", name="Wrong", question="?", items=[ItemDraft("1", "nmt"), ItemDraft("7", "x")]
    )
    stored = uploads.store(test_set).test_set
    with refused("import.item-without-segment"):
        store_campaign(wrong, stored)
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("content", "code", "parameters"),
    [
        (b"sid\ttext\n1\n", "published.other-width", {"row": 2, "n": 1, "columns": 2}),
        (b"id\ttext\n", "published.no-columns", {"columns": ["sid"]}),
        (b"sid\ttext\n1\t\xff\n", "published.not-utf-8", {"byte": 11}),
    ],
)
def test_tables_name_file_and_row(
    tmp_path: Path, content: bytes, code: str, parameters: dict[str, object]
) -> None:
    (tmp_path / "t.tsv").write_bytes(content)
    with pytest.raises(ValidationError) as caught:
        list(tables.read_table(tmp_path / "t.tsv", "sid"))
    (error,) = messages_of(caught.value)
    assert (error.code, error.parameters) == (code, {"file": "t.tsv"} | parameters)


def test_rows_name_the_cell_that_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("score\tkind\nx7\tNEW\n")
    (row,) = tables.read_table(tmp_path / "t.tsv", "score")
    assert row.cell("score").text.startswith("t.tsv, row 2, score: ")
    with refused("published.not-whole"):
        row.whole("score")
    with refused("published.unknown"):
        row.find("kind", {"OLD": 1})


def test_line_separators_inside_a_text_do_not_split_it(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("text\none\u2028line\x85still\n", newline="\n")
    assert [row["text"] for row in tables.read_table(tmp_path / "t.tsv")] == [
        "one\u2028line\x85still"
    ]


def test_wmt17(db: None, data_dir: Path) -> None:
    call_command("import_dataset", "wmt17", data=data_dir)
    assert {s.slug: s.systems.count() for s in TestSet.objects.all()} == {
        "wmt17-de-en": 11,
        "wmt17-zh-en": 16,
    }
    assert Output.objects.filter(system__test_set__slug="wmt17-zh-en").count() == 7840
    scores = PublishedScore.objects.filter(campaign__slug="wmt17-de-en")
    values = np.array(scores.filter(output__isnull=False).values_list("value", flat=True))
    assert len(values) == 560
    assert np.round([values.min(), values.max()], 2).tolist() == [-1.79, 1.19]
    assert scores.filter(system__isnull=False).count() == 11


def test_the_other_data_sets(db: None, data_dir: Path) -> None:
    call_command("import_dataset", "da-annotators", "graham2015", "calibration-da", data=data_dir)
    counts = {
        campaign.slug: (
            campaign.annotators.count(),
            Judgment.objects.filter(assignment__annotator__campaign=campaign).count(),
        )
        for campaign in Campaign.objects.all()
    }
    assert counts["mlqe-en-zh"] == (23, 6000)
    assert counts["mlqe-ro-en"] == (27, 6000)
    hits = tables.read_table(data_dir / "raw-crowd-da/graham2015/assignments.tsv")
    assert counts["graham2015"] == (
        len({row["worker"] for row in hits if row["complete"] == "yes"}),
        2900,
    )
    assert counts["calibration-zh-en"][0] == 13
    assert not Annotator.objects.filter(user__isnull=False).exists()
    timed = Judgment.objects.filter(assignment__annotator__campaign__slug="calibration-en-zh")
    assert not timed.filter(started_at=None).exists()


def test_calibration_documents_are_rated_as_a_whole_after_their_segments(
    db: None, data_dir: Path
) -> None:
    call_command("import_dataset", "calibration-da", data=data_dir)
    for slug, judgments in (("calibration-en-zh", 1296), ("calibration-zh-en", 1406)):
        campaign = Campaign.objects.get(slug=slug)
        assert campaign.protocol == "document-da"
        kinds = Counter(campaign.items.values_list("kind", flat=True))
        assert kinds == {"target": 100, "document": 16}
        rated = Judgment.objects.filter(assignment__annotator__campaign=campaign)
        assert rated.count() == judgments
        for document in campaign.items.filter(kind=Item.Kind.DOCUMENT):
            screen = campaign.items.filter(screen=document.screen).order_by("place")
            assert screen.last() == document
            assert document.segment == screen[0].segment
            assert {item.output.system for item in screen if item.output} == {document.system}


def test_published_quality_of_error_span_annotators(db: None, data_dir: Path) -> None:
    """32 of 33 published p-values: of an item rated twice the later score counts."""
    call_command("import_dataset", "appraise-esa-en-de", data=data_dir)
    assert Judgment.objects.count() == 3106
    assert Judgment.objects.filter(is_current=True).count() == 3102
    scores = {
        (label, item): score
        for label, item, score in Judgment.objects.filter(is_current=True).values_list(
            "assignment__annotator__label", "assignment__item", "score"
        )
    }
    pairs: dict[str, list[tuple[int, int]]] = {}
    bad = Item.objects.filter(kind=Item.Kind.BAD_REF).values_list("batch", "pk", "partner")
    for login, item, partner in bad:
        if partner is not None:
            pairs.setdefault(login, []).append((scores[login, item], scores[login, partner]))
    same = set()
    for row in tables.read_table(data_dir / "raw-crowd-da/appraise-esa-en-de/annotators.tsv"):
        controls, partners = zip(*pairs[row["login"]], strict=True)
        test = control_test(controls, partners, method="mannwhitney")
        if test.pvalue == pytest.approx(row.real("published_quality_p"), abs=5.1e-7):
            same.add(row["login"])
    assert len(pairs) == 33
    assert set(pairs) - same == {"engdeu6921"}


def test_the_command_names_what_is_wrong(db: None, tmp_path: Path) -> None:
    with refused("datasets.unknown", kind=CommandError):
        call_command("import_dataset", "nope")
    with refused("command.no-data-set", kind=CommandError):
        call_command("import_dataset")
    with refused("command.not-imported", "published.no-pairs", kind=CommandError):
        call_command("import_dataset", "wmt17", data=tmp_path)
    assert not TestSet.objects.exists()
