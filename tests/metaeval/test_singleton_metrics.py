"""Where no document has two segments, every number is that of segments, to the last bit."""

import dataclasses
import warnings
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest

import metaeval.correlation
import metaeval.correlation.hybrids
import metaeval.correlation.intervals
import metaeval.sensitivity
import metaeval.significance
from metaeval import ScoreMatrix
from metaeval.correlation import Measure
from metaeval.correlation.hybrids import (
    hybrid_limit_intervals,
    hybrid_limits,
    hybrid_supersample,
    pairwise_difference_pearson,
)
from metaeval.correlation.intervals import correlation_intervals, soft_pairwise_intervals
from metaeval.correlation.intervals.soft import soft_chance
from metaeval.correlation.measure import COEFFICIENTS
from metaeval.replication.bounds import against_floors
from metaeval.replication.questions import STATISTICS, Scored, answer, parse
from metaeval.results import plain
from metaeval.scores import CorpusStatistics
from metaeval.scores.oriented import OrientedScores
from metaeval.sensitivity import curves, draw_segments, layer_profile
from metaeval.significance import boot_interval, compare_metrics, contest_of_metrics, perm_test

SYSTEMS, SEGMENTS = 7, 36
Scores = Mapping[str, ScoreMatrix]
Call = Callable[[ScoreMatrix, Scores], Any]
EVERY = {
    "correlation": metaeval.correlation,
    "intervals": metaeval.correlation.intervals,
    "hybrids": metaeval.correlation.hybrids,
    "significance": metaeval.significance,
    "sensitivity": metaeval.sensitivity,
}
# What takes no systems x segments, or computes one value without interval, draw or p.
OF_ONE_VALUE = {
    *("acc_eq", "correlate_metrics", "kendall_like", "pairwise_accuracy", "system_correlation"),
    *("gaps", "level_correlations", "movement", "pooled", "ranks", "variant_tables"),
    *("within_systems", "choose", "resampled_levels"),
}
OF_OTHER_UNITS = {
    *("accuracy_interval", "jackknife_interval", "system_intervals", "wilson_interval"),
    *("adjust_pvalues", "rank_clusters", "williams_test", "zou_interval"),
    *("compare_seeds", "paired_gain", "signed_rank_test", "contest", "mean_interval"),
}


def counts(human: ScoreMatrix) -> CorpusStatistics:
    values = np.random.default_rng(8).integers(1, 9, (*human.shape, 2)).astype(float)
    score = lambda sums: sums[:, 0] / sums[:, 1]  # noqa: E731
    return CorpusStatistics(values, human.systems, human.segments, score, human.documents)


def scored(human: ScoreMatrix, metrics: Scores) -> Scored:
    return Scored(human, metrics, 1, n_hybrids=200)


def floors(human: ScoreMatrix, metrics: Scores) -> Any:
    noise = np.random.default_rng(9).normal(size=human.shape)
    panel = scored(human, metrics)
    return dataclasses.asdict(
        against_floors(panel, {"x": human.with_values(noise)}, parse("tau-b"), random="x")
    )


def calls() -> dict[str, Call]:
    """Every public function whose numbers depend on what is independent, by name."""
    found: dict[str, Call] = {
        "hybrid_limit_intervals": lambda h, m: hybrid_limit_intervals(
            h, m, statistics={"counted": counts(h)}
        ),
        "hybrid_limits": hybrid_limits,
        "hybrid_supersample": lambda h, m: hybrid_supersample(h, m, n_hybrids=50, rng=1),
        "pairwise_difference_pearson": pairwise_difference_pearson,
        "soft_pairwise_intervals": soft_pairwise_intervals,
        "soft_chance": lambda h, m: soft_chance(h),
        "soft_pairwise_accuracy": lambda h, m: metaeval.correlation.soft_pairwise_accuracy(
            h, m["a"], n_resamples=50, rng=1
        ),
        "contest_of_metrics": lambda h, m: contest_of_metrics(
            h.values, m["a"].values, m["b"].values, clusters=h.clusters
        ),
        "layer_profile": lambda h, m: [
            dataclasses.asdict(layer_profile(h, m, name)) for name in ("limit", "kendall")
        ],
        "draw_segments": lambda h, m: draw_segments(
            np.random.default_rng(1), 9, SEGMENTS, 20, h.clusters
        ),
        "curves": lambda h, m: [
            dataclasses.asdict(point)
            for point in curves(
                h.values,
                [OrientedScores(each.values) for each in m.values()],
                [10, 20],
                n_samples=9,
                rng=np.random.default_rng(1),
                clusters=h.clusters,
            )
        ],
        "against_floors": floors,
    }
    for name in (*COEFFICIENTS, "acc_eq"):
        for grouping, target in product(("none", "item", "system"), ("segments", "systems")):
            if target == "segments" or (grouping == "none" and name != "acc_eq"):
                found[f"correlation_intervals {name} {grouping} {target}"] = (
                    lambda h, m, n=name, g=grouping, t=target: correlation_intervals(
                        h, m, Measure(n, g), target=t
                    )
                )
    for name in (*COEFFICIENTS, "correlate"):
        function = getattr(metaeval.correlation, name)
        more = ["pearson"] if name == "correlate" else []
        found[name] = lambda h, m, f=function, more=more: f(h, m["a"], *more)
        found[f"{name} of one system"] = lambda h, m, f=function, more=more: f(
            h.subset(systems=["S1"]), m["a"].subset(systems=["S1"]), *more
        )
    measures = [Measure(name) for name in (*COEFFICIENTS, "acc_eq", "pairwise_accuracy")]
    measures += [Measure("soft_pairwise_accuracy", n_flips=flips) for flips in (None, 20)]
    for measure in measures:
        for swap in ("both", "xor", "inputs", "systems", "pairs"):
            if swap != "pairs" or measure.correlation == "acc_eq":
                found[f"perm_test {measure} {swap}"] = lambda h, m, e=measure, s=swap: perm_test(
                    h, m["a"], m["b"], e, swap=s, n_resamples=20, rng=1
                )
        for resample in ("both", "inputs", "systems"):
            found[f"boot_interval {measure} {resample}"] = lambda h, m, e=measure, r=resample: (
                boot_interval(h, m["a"], e, resample=r, n_resamples=9, rng=1)
            )
    found["compare_metrics"] = lambda h, m: compare_metrics(h, m, n_resamples=20, rng=1)
    for statistic in STATISTICS.values():
        for test in statistic.tests:
            question = parse(f"{statistic.key}//{test}")
            found[f"answer {question.key}"] = lambda h, m, q=question: dataclasses.asdict(
                answer(scored(h, m), q)
            )
    return found


CALLS = calls()


def test_every_public_function_is_here_or_has_no_segments_as_units() -> None:
    walked = {name.split()[0] for name in CALLS} | OF_ONE_VALUE | OF_OTHER_UNITS
    for module in EVERY.values():
        public = {name for name in module.__all__ if name[0].islower()}
        modules = {name for name in public if hasattr(getattr(module, name), "__path__")}
        assert public - modules <= walked, module.__name__


def scores(documents: list[str] | None) -> tuple[ScoreMatrix, Scores]:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(3, SYSTEMS, SEGMENTS)).round(1)
    values[1:] += values[0]
    values[0][rng.random((SYSTEMS, SEGMENTS)) < 0.1] = np.nan
    names = [f"S{k}" for k in range(SYSTEMS)], [str(k) for k in range(SEGMENTS)]
    human, *metrics = (ScoreMatrix(each, *names, documents) for each in values)
    return human, dict(zip("ab", metrics, strict=True))


@pytest.mark.parametrize("name", CALLS)
def test_singleton_documents_give_the_numbers_of_segments_to_the_last_bit(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, distinct, unnamed = (
            repr(_digits(CALLS[name](*scores(documents))))
            for documents in (None, [f"d{k}" for k in range(SEGMENTS)], [""] * SEGMENTS)
        )
        pairs = scores([f"d{k // 2}" for k in range(SEGMENTS)])
        chosen = CALLS[name](
            pairs[0].by_segment(), {k: m.by_segment() for k, m in pairs[1].items()}
        )
    assert distinct == expected
    assert unnamed == expected
    assert repr(_digits(chosen)) == expected


def _digits(found: Any) -> Any:
    """Whole numbers of everything: `repr` of a float is exact."""
    if dataclasses.is_dataclass(found) and not hasattr(found, "to_dict"):
        found = dataclasses.asdict(found)  # type: ignore[call-overload]
    return plain(found)
