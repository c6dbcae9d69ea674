"""Ratings of mt-metrics-eval folders become judgments, where nothing is lost on the way."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.models import Item
from annotation.protocols import Span
from annotation.uploads import Report
from metaeval.files import EvalSet, EvalSetScores
from metrics.datasets import mtme
from tests.annotation.tables.reading import DE_EN, as_files, stored
from tests.metrics.datasets.test_mtme import exported, lay_out, rating, small, written


def read(evalset: EvalSet, tmp_path: Path) -> tuple[Any, Report]:
    report = Report()
    return mtme.read(written(tmp_path, evalset), "en-de", report), report


def esa(*annotators: str, score: float = 77.0) -> EvalSet:
    """ESA of one output; a file of ratings for each annotator."""
    rows = {"A": ((rating((0, 4, "minor")), None), (None, None), (None, None))}
    names = [f"esa-{n}" if n > 1 else "esa" for n in range(1, len(annotators) + 1)]
    ratings = {
        name: {"A": ((rows["A"][0][0], annotator), *rows["A"][1:])}
        for name, annotator in zip(names, annotators, strict=True)
    }
    scores = {("esa", "seg"): EvalSetScores({"A": np.array([score, np.nan, np.nan])})}
    return small(human_scores=scores, ratings=ratings, metric_scores={})


def test_esa_ratings_have_scores_and_spans(tmp_path: Path) -> None:
    draft, report = read(esa("r1"), tmp_path)
    (campaign,) = draft.campaigns
    assert (campaign.protocol, campaign.output_scores) == ("esa", {})
    (judgment,) = campaign.judgments
    assert (judgment.annotator, judgment.score, len(judgment.spans)) == ("r1", 77, 1)
    assert not report.warnings


@pytest.mark.parametrize(("evalset", "code"), [
    (esa("r1", "r2"), "mtme.only-means"),
    (esa("r1", score=77.5), "mtme.score-unknown"),
])  # fmt: skip
def test_scores_count_where_the_annotators_of_ratings_are_unknown(
    tmp_path: Path, evalset: EvalSet, code: str
) -> None:
    draft, report = read(evalset, tmp_path)
    (campaign,) = draft.campaigns
    assert not campaign.judgments
    assert len(campaign.output_scores) == 1
    assert report.warnings[0].code == code


def test_scores_that_differ_from_the_ratings_are_stored_too(tmp_path: Path) -> None:
    scores = {("mqm", "seg"): EvalSetScores({"Z.1-x": np.array([-25.0, np.nan, np.nan])})}
    ratings = {"mqm": {"Z.1-x": ((rating((0, 3, "major")), "r1"), (None, None), (None, None))}}
    draft, report = read(small(human_scores=scores, ratings=ratings), tmp_path)
    (campaign,) = draft.campaigns
    assert len(campaign.judgments) == 1
    assert campaign.output_scores == {("Z.1-x", "1"): -25.0}
    assert "mtme.scores-differ-from-ratings" in [each.code for each in report.warnings]


def test_a_second_rating_by_the_same_annotator_is_a_repeat(tmp_path: Path) -> None:
    one = {"A": ((rating((0, 4, "minor")), "r1"), (None, None), (None, None))}
    draft, _ = read(small(human_scores={}, ratings={"mqm": one, "mqm-2": one}), tmp_path)
    (campaign,) = draft.campaigns
    assert [item.kind for item in campaign.items] == [Item.Kind.TARGET, Item.Kind.REPEAT]
    assert len(campaign.judgments) == 2


def test_errors_without_a_position_are_marked_and_counted(tmp_path: Path) -> None:
    one = {"A": ((rating((4, 4, "minor")), "r1"), (None, None), (None, None))}
    draft, report = read(small(human_scores={}, ratings={"mqm": one}), tmp_path)
    (span,) = draft.campaigns[0].judgments[0].spans
    assert (span.side, span.start, span.end) == ("target", 0, 4)
    assert report.warnings[0].code == "mtme.errors-without-position"
    assert report.warnings[0].message.parameters["n"] == 1


def test_merged_ratings_replace_those_of_single_annotators(tmp_path: Path) -> None:
    one = {"A": ((rating((0, 4, "minor")), "r1"), (None, None), (None, None))}
    several = {"mqm.merged": one, "mqm.rater1": one, "mqm.rater2": one}
    scores = {("mqm", "seg"): EvalSetScores({"A": np.array([-1.0, np.nan, np.nan])})}
    draft, report = read(small(human_scores=scores, ratings=several), tmp_path)
    (campaign,) = draft.campaigns
    assert len(campaign.judgments) == 1
    merged = [note for note in report.notes if note.code == "mtme.merged"]
    assert [note.message.parameters for note in merged] == [{"file": "mqm.merged"}] * 2


TABLE = """annotator\tsegment\tsystem\tsource\toutput\tscore\tside\tspan_start\tspan_end\tseverity
ann\t1\tA\tein Haus\ta house\t70\ttarget\t0\t1\tminor
ann\t2\tA\tein Hund\ta cat\t10\tsource\t4\t8\tmajor
bob\t1\tA\tein Haus\ta house\t91\t\t\t\tno-error
bob\t2\tA\tein Hund\ta cat\t0\ttarget\t2\t5\tmajor
"""


def test_each_rating_keeps_its_score(db: None, tmp_path: Path) -> None:
    """Two people give every output a score; out and in, each has their own again, with spans."""
    (launched,) = stored(as_files(esa_tsv=TABLE), **DE_EN)
    files = exported(launched.result.campaign)
    (second,) = [text for name, text in files.items() if name.endswith("-r2.seg.score")]
    assert second == "A\t91.0\nA\t0.0\n"
    lay_out(files, tmp_path)
    report = Report()
    draft = mtme.read(mtme.find_root(tmp_path), "de-en", report)
    (found,) = [each for each in draft.campaigns if each.protocol == "esa"]
    assert [
        (each.annotator, found.items[each.item].segment, each.score, each.spans)
        for each in found.judgments
    ] == [
        ("ann", "1", 70, (Span("target", 0, 1, "minor"),)),
        ("ann", "2", 10, (Span("source", 4, 8, "major"),)),
        ("bob", "1", 91, ()),
        ("bob", "2", 0, (Span("target", 2, 5, "major"),)),
    ]
    assert not found.output_scores
    assert len(draft.campaigns) == 2  # and the z-scores, which are nobody's judgments


def test_scores_of_documents_alone_are_a_campaign(tmp_path: Path) -> None:
    values = {"Z.1-x": np.array([1.0]), "A": np.array([2.0])}
    documents = EvalSetScores({name: np.append(row, row) for name, row in values.items()})
    evalset = small(human_scores={("mqm", "doc"): documents}, ratings={})
    draft, report = read(evalset, tmp_path)
    (campaign,) = draft.campaigns
    assert not report.errors
    assert not campaign.output_scores
    assert not campaign.system_scores
    found = {(system, level): value for (system, level, _), value in campaign.part_scores.items()}
    assert found == {("Z.1-x", "document"): 1.0, ("A", "document"): 2.0}
    assert len(campaign.part_scores) == 4
