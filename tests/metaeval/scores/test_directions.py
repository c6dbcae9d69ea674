"""Directions of scores from names and signs."""

import pytest

from metaeval.scores.directions import infer_direction
from tests.metaeval.published import CASES, DATA, numbers, table

POSITIVE, NEGATED, BOTH = [0.0, 0.42, 5.5], [0.0, -0.42, -5.5], [-1.0, 0.3, 2.0]


@pytest.mark.parametrize(
    "name",
    [
        *("mean_penalty", "published_penalty", "TER", "hTER", "TERp", "word-error-rate", "WER"),
        *("MetricX-24-Hybrid", "metricx_23_qe", "perplexity", "ppl", "CharacTER", "EED", "CER"),
        *("meanPenalty", "n_errors", "MQM", "mqm_mean", "mqm-2", "GEMBA-MQM"),
    ],
)
def test_error_rates_and_penalties_are_better_when_lower_unless_their_sign_is_turned(name):
    assert infer_direction(name, POSITIVE).is_lower is True
    assert infer_direction(name, NEGATED).is_lower is False
    assert infer_direction(name, BOTH).is_lower is None
    assert infer_direction(name, [*NEGATED, float("nan")]).is_lower is False


@pytest.mark.parametrize(
    "name",
    [
        *("BLEU", "chrF++", "COMET", "BLEURT-20", "wmt22-comet-da", "COMET-MQM_2021-refA", "z"),
        *("raw_mean", "esa", "da", "METEOR", "BEER", "error_detection_f1", "error-free", "YiSi-1"),
        *("wmt23-comet-mqm", "system", "cushLEPOR", "percentage"),
    ],
)
def test_other_scores_are_better_when_higher_whatever_their_signs(name):
    assert [infer_direction(name, v).is_lower for v in (POSITIVE, NEGATED, BOTH)] == [False] * 3


def test_trained_metrics_go_a_little_beyond_the_best_score():
    """MetricX-23 of WMT23 is above 0, its best score, for 174 of 6,684 outputs, by .07."""
    scores = numbers(table("wmt23-meta/en-de/segment-scores.tsv")["MetricX-23-refA"])
    assert (scores > 0).any()
    assert infer_direction("MetricX-23-refA", scores).is_lower is False
    assert infer_direction("MetricX-23-refA", -scores).is_lower is True


@pytest.mark.parametrize("name", ["1-TER", "neg_ter", "minus WER", "1 - PER"])
def test_a_name_that_says_that_it_is_turned_has_to_be_stated_unless_its_signs_agree(name):
    assert infer_direction(name, POSITIVE).is_lower is None
    assert infer_direction(name, NEGATED).is_lower is False


def test_mqm_as_points_out_of_100_has_to_be_stated():
    assert infer_direction("mqm", [100, 95, 88.5, 100, 40], is_human=True).is_lower is None
    assert infer_direction("mqm", [1, 0.95, 0.88, 1, 0.5], is_human=True).is_lower is None
    assert infer_direction("mqm", [0, 0, 1, 5, 25], is_human=True).is_lower is True


def test_humans_count_errors_whatever_else_the_name_says():
    for name in ("published_mqm", "round2.mqm.col3", "mqm.merged", "de_mqm"):
        assert infer_direction(name, POSITIVE, is_human=True).is_lower is True
        assert infer_direction(name, NEGATED, is_human=True).is_lower is False


def test_every_published_metric_of_wmt23_is_better_when_higher():
    """The layout turns all metrics: none may be turned again."""
    columns = table("wmt23-meta/en-de/system-scores.tsv")
    for name in columns.keys() - {"system"}:
        found = infer_direction(name, numbers(columns[name]), is_human=name == "mqm")
        assert found.is_lower is False, name


def test_the_penalties_of_ted_are_better_when_lower():
    assert DATA.is_dir()
    head, *rows = (CASES / "scores" / "ted_penalties_sys.tsv").read_text().splitlines()
    for column, name in list(enumerate(head.split("\t")))[2:]:
        values = [float(row.split("\t")[column]) for row in rows]
        assert infer_direction(name, values, is_human=True).is_lower is True
