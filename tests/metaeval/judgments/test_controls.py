import warnings

import numpy as np
import pytest
from scipy import stats

from metaeval.judgments import z_scores
from metaeval.judgments.controls import annotation_times, control_test, trap_levels
from metaeval.messages import DataError
from metaeval.results import ConstantInputWarning, MissingDataWarning, TooFewWarning
from tests.metaeval.published import numbers, table
from tests.refusals import refused

RNG = np.random.default_rng(8)
CONTROL, PARTNER = RNG.normal(40, 20, 12), RNG.normal(60, 20, 12)


@pytest.mark.parametrize("alternative", ["less", "greater", "two-sided"])
def test_equals_scipy(alternative):
    t = control_test(CONTROL, PARTNER, alternative=alternative)
    peer = stats.ttest_rel(CONTROL, PARTNER, alternative=alternative)
    assert (t.statistic, t.pvalue) == pytest.approx((peer.statistic, peer.pvalue))
    ranks = control_test(CONTROL, PARTNER, alternative=alternative, method="wilcoxon")
    assert ranks.pvalue == pytest.approx(
        stats.wilcoxon(CONTROL, PARTNER, alternative=alternative).pvalue
    )
    u = control_test(CONTROL, PARTNER[:7], alternative=alternative, method="mannwhitney")
    peer_u = stats.mannwhitneyu(CONTROL, PARTNER[:7], alternative=alternative, method="asymptotic")
    assert (u.statistic, u.pvalue) == pytest.approx((peer_u.statistic, peer_u.pvalue))


def test_effect_sizes_have_the_sign_of_the_difference():
    difference = CONTROL - PARTNER
    t = control_test(CONTROL, PARTNER)
    assert t.effect_size == pytest.approx(difference.mean() / difference.std(ddof=1))
    ranks = stats.rankdata(np.abs(difference))
    biserial = (ranks[difference > 0].sum() - ranks[difference < 0].sum()) / ranks.sum()
    assert control_test(CONTROL, PARTNER, method="wilcoxon").effect_size == pytest.approx(biserial)
    wins = (CONTROL[:, None] > PARTNER).mean() - (CONTROL[:, None] < PARTNER).mean()
    assert control_test(CONTROL, PARTNER, method="mannwhitney").effect_size == pytest.approx(wins)


def test_constant_differences_are_undefined_for_t_but_not_for_ranks():
    with pytest.warns(ConstantInputWarning):
        result = control_test([1, 2, 3], [11, 12, 13])
    assert np.isnan(result.pvalue)
    assert control_test([1, 2, 3], [11, 12, 13], method="wilcoxon").pvalue == pytest.approx(1 / 8)
    with pytest.warns(ConstantInputWarning):
        control_test([1, 2], [1, 2], method="wilcoxon")


def test_z_scores_have_the_ties_of_the_scores():
    raw = np.array([10, 20, 35, 50, 64, 71.0])
    z = z_scores(np.concatenate([raw, raw + 20, [33, 90, 47]]), ["A"] * 15).z
    with pytest.warns(ConstantInputWarning):
        assert np.isnan(control_test(z[:6], z[6:12]).pvalue)
    rng = np.random.default_rng(3)
    for _ in range(50):
        control = rng.integers(0, 101, 20).astype(float)
        partner = np.clip(control + rng.integers(-9, 10, 20), 0, 100)
        z = z_scores(np.concatenate([control, partner]), ["A"] * 40).z
        of_z, of_raw = (
            control_test(*sides, method="wilcoxon")
            for sides in (np.split(z, 2), (control, partner))
        )
        assert (of_z.n, of_z.statistic, of_z.pvalue) == (of_raw.n, of_raw.statistic, of_raw.pvalue)
        assert of_z.reasons == of_raw.reasons


def test_what_rounding_leaves_of_equal_scores_is_no_difference():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = control_test([0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2], method="wilcoxon")
    assert (result.reasons["no-difference"], result.mean_difference) == (2, 0.0)
    assert np.isnan(result.pvalue)


def test_incomplete_pairs_are_counted():
    with pytest.warns(MissingDataWarning):
        result = control_test([1, np.nan, 3, 2], [4, 5, 9, 8])
    assert (result.n, result.n_excluded) == (3, 1)
    with pytest.warns(TooFewWarning):
        control_test([1], [2])
    with pytest.warns(TooFewWarning):
        control_test([], [2], method="mannwhitney")
    with refused("argument.lengths", kind=DataError, names=["control", "partner"], lengths=[1, 2]):
        control_test([1], [2, 3])


def test_published_wmt21_quality_p_of_workers_on_this_pair_only():
    """BAD_REF below the SYSTEM judgment of the same HIT, system and segment, paired t."""
    judgments = table("raw-crowd-da/wmt21-ru-en/judgments.tsv")
    workers = table("raw-crowd-da/wmt21-ru-en/workers.tsv")
    rows = list(zip(*(judgments[c] for c in ("worker", "hit", "system", "sid")), strict=True))
    raw, kinds = numbers(judgments["raw"]), judgments["type"]
    intact = {key: raw[i] for i, key in enumerate(rows) if kinds[i] == "SYSTEM"}
    pairs = {}
    for i, key in enumerate(rows):
        if kinds[i] == "BAD_REF" and key in intact:
            pairs.setdefault(key[0], []).append((raw[i], intact[key]))
    exact = 0
    for name, p, n in zip(workers["worker"], workers["qc_p"], workers["qc_n_pairs"], strict=True):
        bad, good = np.array(pairs[name]).T
        if len(bad) == int(float(n)):
            exact += control_test(bad, good).pvalue == pytest.approx(float(p), rel=1e-4, abs=1e-9)
    assert exact == 40


def test_graham_2015_workers_by_the_paired_test():
    judgments = table("raw-crowd-da/graham2015/judgments.tsv")
    items = table("raw-crowd-da/graham2015/items.tsv")
    partner = {
        (hit, position): paired
        for hit, position, kind, paired in zip(
            items["hit"], items["position"], items["type"], items["paired_position"], strict=True
        )
        if kind == "BAD_REF"
    }
    scores = {
        key: float(score)
        for *key, score in zip(
            judgments["hit"],
            judgments["worker"],
            judgments["position"],
            judgments["score"],
            strict=True,
        )
        for key in [tuple(key)]
    }

    def p_of(worker: str) -> float:
        pairs = [
            (scores[hit, worker, bad], scores[hit, worker, good])
            for (hit, bad), good in partner.items()
            if (hit, worker, bad) in scores
        ]
        return control_test(*zip(*pairs, strict=True)).pvalue

    assert round(p_of("W05"), 2) == 0.12
    assert round(p_of("W12"), 2) == 0.26
    assert round(p_of("W19"), 2) == 0.06
    assert round(p_of("W30"), 2) == 0.28


def test_published_appraise_quality_p():
    """Appraise's dashboard value: unpaired U of BAD against TGT of the same base document."""
    judgments = table("raw-crowd-da/appraise-esa-en-de/judgments.tsv")
    annotators = table("raw-crowd-da/appraise-esa-en-de/annotators.tsv")
    base = [name.split("#duplicate")[0] for name in judgments["base_document"]]
    rows = list(
        zip(
            judgments["login"],
            judgments["type"],
            judgments["system"],
            base,
            numbers(judgments["score"]),
            strict=True,
        )
    )
    agreeing = []
    for login, published in zip(
        annotators["login"], annotators["published_quality_p"], strict=True
    ):
        own = [row for row in rows if row[0] == login]
        documents = {document for _, kind, _, document, _ in own if kind == "BAD"}
        bad = [score for _, kind, _, _, score in own if kind == "BAD"]
        good = [s for _, kind, _, document, s in own if kind == "TGT" and document in documents]
        p = control_test(bad, good, method="mannwhitney").pvalue
        if p == pytest.approx(float(published), abs=1e-6):
            agreeing.append(login)
    assert len(agreeing) == 31
    assert {"engdeu690a", "engdeu6921"}.isdisjoint(agreeing)


def test_trap_levels_at_the_borders():
    levels = trap_levels([0, 1, 20, 20.5, 100, np.nan])
    assert (levels.zero, levels.low, levels.high, levels.n) == (1, 2, 2, 5)
    assert dict(levels.reasons) == {"missing-score": 1}
    with refused("data.raw-scores", kind=DataError):
        trap_levels([-0.5])


def test_annotation_times_name_both_readings_of_the_cut():
    times = annotation_times([10, 600, 601, np.nan])
    assert times.mean == pytest.approx(1211 / 3)
    assert times.mean_dropped == times.mean_cut == 305.0
    assert times.mean_clipped == pytest.approx(1210 / 3)
    assert annotation_times([10, 601], cut="clip").mean_cut == 305.0
    assert (times.n_above, times.n_excluded) == (1, 1)
    with pytest.warns(TooFewWarning):
        assert np.isnan(annotation_times([700]).mean_cut)
    with refused("argument.least", kind=DataError, name="seconds", least=0, value=-1.0):
        annotation_times([-1])
