"""The limit of hybrids: a worked case, coverage, sparse data, corpus metrics against many draws."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metaeval import ScoreMatrix
from metaeval.correlation.hybrids import hybrid_limit_intervals, hybrid_supersample
from metaeval.correlation.hybrids.cells import within
from metaeval.correlation.hybrids.limits import corpus_limit, weighted_limit
from metaeval.judgments import mean_scores
from metaeval.replication import questions
from metaeval.results import TooFewWarning
from metaeval.scores import CorpusStatistics, bleu_score, bleu_star_score


def matrix(values: Any) -> ScoreMatrix:
    rows, columns = np.shape(values)
    return ScoreMatrix(values, map(str, range(rows)), map(str, range(columns)))


def test_worked_case(data_dir: Path) -> None:
    path = data_dir.parent / "specs" / "estimation-checks.json"
    checks = {one["id"]: one for one in json.loads(path.read_text("utf-8"))["checks"]}
    given, expected = checks["1-hybrid"]["inputs"], checks["1-hybrid"]["expected"]
    everything = np.ones((3, 4), dtype=bool)
    sides = [within(np.array(given[n])[None], everything)[0] for n in ("human", "metric")]
    r, influence = weighted_limit(*sides, 1.0 / everything.sum(axis=0))
    assert r == pytest.approx(expected["r"], abs=1e-6)
    assert influence == pytest.approx(expected["influence"], abs=1e-6)
    assert np.sqrt(4 / 3 * (influence**2).sum()) == pytest.approx(expected["se"], abs=1e-6)


def equal_metrics(seed: int) -> tuple[ScoreMatrix, dict[str, ScoreMatrix]]:
    """Two equally good metrics on 4 systems x 100 segments."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(4, 100))
    noisy = {name: matrix(human + 2 * rng.normal(size=(4, 100))) for name in "ab"}
    return matrix(human), noisy


def test_equal_metrics_are_told_apart_one_time_in_twenty() -> None:
    trials, covered = 400, np.zeros(2)
    for seed in range(trials):
        found = hybrid_limit_intervals(*equal_metrics(seed))
        covered += [
            found.difference_lows[0, 1] <= 0 <= found.difference_highs[0, 1],
            found.lows[0] <= 1 / np.sqrt(5) <= found.highs[0],
        ]
    # Three standard errors of 400 trials are 3.3 points.
    assert (covered / trials >= 0.917).all()
    assert (covered / trials <= 0.983).all()


def test_the_default_over_hybrids_is_the_limit_and_the_studys_way_says_what_it_is() -> None:
    level = [key for key, one in questions.STATISTICS.items() if one.level.code == "level.system"]
    assert (level[0], level[-1]) == ("limit", "hybrids")
    assert [key for key, one in questions.STATISTICS.items() if one.is_of_draws] == ["hybrids"]
    declared = {"limit": 0, "hybrids": 0}
    for seed in range(12):
        scored = questions.Scored(*equal_metrics(seed), seed, n_hybrids=10_000)
        for key in declared:
            found = questions.answer(scored, questions.parse(key))
            declared[key] += found.difference_lows[0, 1] > 0 or found.difference_highs[0, 1] < 0
        assert "hybrids.not-observations" in [note.code for note in found.warnings]
    assert declared["limit"] <= 2
    assert declared["hybrids"] >= 6


def sparse(data_dir: Path) -> ScoreMatrix:
    """Published scores of WMT21 ru-en, of which half of the segments keep one system."""
    path = data_dir / "raw-crowd-da/wmt21-ru-en/published-segment-scores.tsv"
    with path.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    scores = mean_scores(
        [float(row["z_mean"]) for row in rows],
        [row["system"] for row in rows],
        [row["sid"] for row in rows],
    ).matrix
    values = np.array(scores.values[:, :511])
    rng = np.random.default_rng(46)
    for segment in range(46, 511):
        judged = np.flatnonzero(~np.isnan(values[:, segment]))
        values[np.delete(judged, rng.integers(len(judged))), segment] = np.nan
    return ScoreMatrix(values, scores.systems, scores.segments[:511])


def test_segments_of_one_system_tell_nothing_and_are_said(data_dir: Path) -> None:
    human = sparse(data_dir)
    rng = np.random.default_rng(1)
    metrics = {f"m{k}": human.with_values(rng.normal(size=human.shape)) for k in range(14)}
    scored = questions.Scored(human, metrics, 1)
    found = questions.answer(scored, questions.parse("limit"))
    assert (found.n_informative, found.n_segments) == (46, 511)
    assert found.n_systems == len(human.systems)
    known = {note.code: note.parameters for note in found.warnings}
    assert known["hybrids.few-choices"] == {"n": 46, "all": 511}
    assert known["hybrids.narrow"] == {"n": 46, "enough": 100}
    corrected, _ = questions.adjusted(found.pvalues, "bonferroni", "table", None)
    assert np.nansum(corrected <= 0.05) == 0
    only = hybrid_limit_intervals(
        ScoreMatrix(human.values[:, :46], human.systems, human.segments[:46]), metrics
    )
    assert found.lows == pytest.approx(only.lows)
    drawn = questions.answer(scored, questions.parse("hybrids"))
    assert (drawn.n_informative, drawn.n_segments) == (46, 511)
    assert "hybrids.few-choices" in [note.code for note in drawn.warnings]


def test_few_informative_segments_have_no_interval() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(3, 60))
    values[1:, 19:] = np.nan
    human = matrix(values)
    with pytest.warns(TooFewWarning):
        found = hybrid_limit_intervals(human, {"m": human.with_values(values + 1)})
    assert np.isnan(found.lows).all()


def bleu_counts(rng: np.random.Generator, quality: np.ndarray) -> np.ndarray:
    """Counts of BLEU for outputs whose n-grams match the more, the better they are."""
    length = rng.integers(8, 40, quality.shape)
    shares = 1 / (1 + np.exp(-quality))
    orders = [np.maximum(length - k, 1) for k in range(4)]
    matches = [
        rng.binomial(total, np.clip(shares ** (k + 1), 0, 1)) for k, total in enumerate(orders)
    ]
    reference = length + rng.integers(-2, 3, quality.shape)
    return np.stack([length, reference, *matches, *orders], axis=2).astype(float)


def test_corpus_metrics_have_the_limit_of_100_000_draws() -> None:
    rng = np.random.default_rng(3)
    human = rng.normal(size=(5, 120))
    names = list("ABCDE"), [str(j) for j in range(120)]
    counts = {
        "bleu": CorpusStatistics(bleu_counts(rng, human), *names, bleu_score),
        "star": CorpusStatistics(bleu_counts(rng, human), *names, bleu_star_score),
    }
    ours = ScoreMatrix(human, *names)
    found = hybrid_limit_intervals(ours, {}, statistics=counts)
    drawn = hybrid_supersample(ours, {}, n_hybrids=100_000, rng=1, statistics=counts)
    # Of 100,000 draws r has a standard error of .003 at most.
    assert found.values == pytest.approx(drawn.r, abs=0.012)
    assert drawn.limit == pytest.approx(found.values, abs=1e-12)
    assert (found.highs - found.lows > 0.02).all()
    # The jackknife by brute force: each segment is removed in turn.
    left_out = [
        hybrid_limit_intervals(
            ours.subset(segments=names[1][:j] + names[1][j + 1 :]),
            {},
            statistics={"bleu": counts["bleu"]},
        ).values[0]
        for j in range(0, 120, 40)
    ]
    parts = corpus_limit(
        within(human[None], np.ones(human.shape, dtype=bool))[0],
        counts["bleu"].values, bleu_score, np.ones(human.shape, dtype=bool),
    )[1]  # fmt: skip
    assert np.diff(parts[::40]) == pytest.approx(-119 / 120 * np.diff(left_out), abs=1e-9)
