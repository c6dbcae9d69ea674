"""A trial of prefilled spans: planted truths come out, intervals cover, sizes as published."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import ttest_rel

from metaeval.commands import main
from metaeval.judgments.trial import (
    mean_effect,
    mean_power,
    rate_effect,
    rate_half_width,
    rate_power,
    smallest_change,
)
from metaeval.messages import DataError
from metaeval.results import (
    ApproximationWarning,
    ConstantInputWarning,
    MissingDataWarning,
    TooFewWarning,
)
from tests.refusals import refused, tells


def trial(rng, people, outputs, change, own=0.2, noise=1.05):
    """Every output once by every person, in half of the cases treated (a Latin square)."""
    who, what = (each.ravel() for each in np.mgrid[:people, :outputs])
    shown = (who + what) % 2 == 0
    log = (
        0.5 * rng.normal(size=people)[who]
        + 0.5 * rng.normal(size=outputs)[what]
        + (change + own * rng.normal(size=people)[who]) * shown
        + noise * rng.normal(size=who.size)
    )
    return 30 * np.exp(log), shown, who, what


def test_a_known_change_of_time_comes_out() -> None:
    seconds, shown, who, what = trial(np.random.default_rng(1), 40, 200, np.log(0.7))
    found = mean_effect(seconds, shown, who, what, is_ratio=True)
    assert found.statistic == pytest.approx(0.7, abs=0.04)
    assert found.interval is not None
    assert found.interval.low < 0.7 < found.interval.high
    assert (found.n, found.n_annotators) == (8000, 40)


@pytest.mark.parametrize("people", [4, 8, 20])
def test_intervals_cover_and_the_test_keeps_its_size(people: int) -> None:
    rng, covered, n = np.random.default_rng(people), 0, 300
    for _ in range(n):
        found = mean_effect(*trial(rng, people, 24, 0.1), is_ratio=True)
        assert found.interval is not None
        covered += found.interval.low < np.exp(0.1) < found.interval.high
    assert 0.915 <= covered / n <= 0.985


def test_it_is_least_squares_with_dummies_and_a_covariate() -> None:
    rng = np.random.default_rng(3)
    seconds, shown, who, what = trial(rng, 6, 20, -0.2)
    seconds[::7] = np.nan
    length = rng.normal(size=len(seconds))
    found = mean_effect(seconds, shown, who, what, covariates=length[:, None], is_ratio=True)
    known = ~np.isnan(seconds)
    dummies = [(labels[:, None] == np.unique(labels)[1:]).astype(float) for labels in (who, what)]
    x = np.column_stack([np.ones(len(who)), shown, length, *dummies])[known]
    fitted = np.linalg.lstsq(x, np.log(seconds[known]), rcond=None)[0]
    assert np.log(found.statistic) == pytest.approx(fitted[1], abs=1e-8)
    assert found.reasons["effects.missing-values"] == int((~known).sum())


def test_complete_pairs_are_a_paired_t_test() -> None:
    """Each person rates one output in both conditions."""
    rng = np.random.default_rng(4)
    gaps = rng.normal(size=9)
    who, shown = np.repeat(np.arange(9), 2), np.tile([True, False], 9)
    values = np.where(shown, gaps[who] + 5, 5.0)
    found = mean_effect(values, shown, who, np.zeros(18))
    paired = ttest_rel(values[shown], values[~shown])
    assert found.statistic == pytest.approx(gaps.mean())
    assert found.interval is not None
    low, high = paired.confidence_interval(0.95)
    assert found.interval[:2] == pytest.approx((low, high))
    assert found.pvalue == pytest.approx(paired.pvalue)


def regions(rng, people, n, blank, treated, spread=0.8, own=0.3):
    base = spread * rng.normal(size=people)
    rates = [expit(logit(treated) + base + own * rng.normal(size=people)),
             expit(logit(blank) + base)]  # fmt: skip
    events = np.concatenate([rng.random((people, n)) < rate[:, None] for rate in rates])
    shown = np.repeat([True, False], people * n)
    return events.ravel(), shown, np.tile(np.repeat(np.arange(people), n), 2)


def test_false_acceptance_comes_out_and_its_interval_covers() -> None:
    rng, covered, n = np.random.default_rng(5), 0, 400
    far = np.random.default_rng(0).normal(size=200_000) * 0.8
    own = np.random.default_rng(1).normal(size=200_000) * 0.3
    truth = (expit(logit(0.3) + far + own) - expit(logit(0.1) + far)).mean()
    for _ in range(n):
        found = rate_effect(*regions(rng, 15, 12, 0.1, 0.3))
        assert found.interval is not None
        covered += found.interval.low < truth < found.interval.high
    assert 0.92 <= covered / n <= 0.98
    assert found.treated - found.blank == pytest.approx(found.statistic)


def test_the_sizes_of_the_facts() -> None:
    """`protocols-2026.md`, section 3: simulated there, integrated here."""
    powers = [mean_power(np.log(0.7), 8, 50), mean_power(np.log(0.8), 12, 100),
              mean_power(np.log(0.8), 20, 50), mean_power(np.log(0.9), 20, 100)]  # fmt: skip
    assert powers == pytest.approx([0.84, 0.79, 0.90, 0.43], abs=0.02)
    misses = [rate_power(0.3, to, people, n)
              for to, people, n in ((0.4, 20, 20), (0.45, 12, 20), (0.45, 20, 10))]  # fmt: skip
    assert misses == pytest.approx([0.70, 0.78, 0.78], abs=0.02)
    widths = [rate_half_width(0.3, people, n) for people, n in ((12, 15), (20, 20), (40, 10))]
    assert widths == pytest.approx([0.11, 0.08, 0.06], abs=0.014)
    # People buy more than outputs.
    assert mean_power(np.log(0.9), 40, 100) > mean_power(np.log(0.9), 20, 200)


def test_a_tenth_less_time_is_out_of_reach_of_twenty_people() -> None:
    found = smallest_change(lambda change: mean_power(change, 20, 100))
    assert found is not None
    assert np.exp(-found) < 0.9
    assert mean_power(-found, 20, 100) == pytest.approx(0.8)
    assert smallest_change(lambda change: mean_power(change, 2, 1)) is None


def test_what_cannot_be_known_is_said() -> None:
    with pytest.warns(TooFewWarning):
        one = mean_effect([1.0, 2.0], [True, False], ["a", "a"], ["x", "x"])
    assert one.interval is None
    with pytest.warns(ConstantInputWarning):
        none = mean_effect([1.0, 2.0, 3.0, 4.0], [True, False, True, False], list("aabb"),
                           ["w", "x", "y", "z"])  # fmt: skip
    assert none.interval is None
    assert np.isnan(none.statistic)
    with pytest.warns(ConstantInputWarning):
        rate_effect([False] * 8, [True, True, False, False] * 2, list("aaaabbbb"))
    with pytest.warns(TooFewWarning):
        assert rate_effect([True], [True], ["a"]).interval is None
    with refused(
        "argument.lengths",
        kind=DataError,
        names=["events", "treated", "annotators"],
        lengths=[1, 2, 1],
    ):
        rate_effect([True], [True, False], ["a"])


def test_missing_events_and_conditions_are_left_out_and_counted() -> None:
    with pytest.warns(MissingDataWarning):
        found = rate_effect([np.nan, np.nan, 0, 0], [1, 1, 0, 0], "ABAB")
    assert np.isnan(found.treated)
    assert (found.n, found.n_treated, found.n_excluded) == (2, 0, 2)
    events, shown, who = regions(np.random.default_rng(2), 6, 5, 0.3, 0.5)
    whole = rate_effect(events, shown, who)
    more = rate_effect(
        [*events.astype(float), 1, np.nan], [*shown.astype(float), np.nan, 0], [*who, 0, 99]
    )
    assert more.statistic == whole.statistic
    assert more.interval == whole.interval
    assert (more.n_annotators, more.n_excluded) == (6, 2)


def test_a_missing_condition_is_not_treated() -> None:
    seconds, shown, who, what = trial(np.random.default_rng(6), 5, 12, -0.3)
    whole = mean_effect(seconds, shown, who, what, is_ratio=True)
    more = mean_effect(
        [*seconds, 500.0], [*shown.astype(float), np.nan], [*who, 0], [*what, 0], is_ratio=True
    )
    assert more.statistic == pytest.approx(whole.statistic)
    assert dict(more.reasons) == {"effects.missing-values": 1}


def test_means_that_do_not_settle_are_said_whatever_the_unit() -> None:
    rng, n = np.random.default_rng(7), 25
    # A chain: each person shares one output with the next.
    outputs = np.concatenate([[0], np.repeat(np.arange(1, n), 2), [n]])
    with pytest.warns(ApproximationWarning):
        mean_effect(rng.normal(size=2 * n), np.arange(2 * n) % 2, np.repeat(np.arange(n), 2),
                    outputs)  # fmt: skip
    seconds, shown, who, what = trial(rng, 6, 20, -0.2)
    seconds[::7] = np.nan
    plain = mean_effect(seconds, shown, who, what)
    for unit in (1e-14, 1e12):
        scaled = mean_effect(seconds * unit, shown, who, what)
        assert scaled.statistic == pytest.approx(plain.statistic * unit, rel=1e-6)
        assert not any(isinstance(each, ApproximationWarning) for each in scaled.warnings)


def test_the_command_reads_a_table(tmp_path, capsys) -> None:
    rng = np.random.default_rng(8)
    seconds, shown, who, what = trial(rng, 10, 40, np.log(0.6))
    accepted, planted, rater = regions(rng, 10, 15, 0.1, 0.6)
    rows = ["annotator\toutput\tcondition\tseconds\taccepted"]
    rows += [f"p{w}\to{o}\t{('blank', 'prefilled')[int(t)]}\t{s:.6f}\t"
             for s, t, w, o in zip(seconds, shown, who, what, strict=True)]  # fmt: skip
    rows += [f"p{w}\tr{n}\t{('blank', 'planted')[int(t)]}\t\t{int(e)}"
             for n, (e, t, w) in enumerate(zip(accepted, planted, rater, strict=True))]  # fmt: skip
    path = tmp_path / "trial.tsv"
    path.write_text("\n".join(rows) + "\n")
    assert main(["trial", str(path), "--output", "json"]) == 0
    effects = json.loads(capsys.readouterr().out)["effects"]
    alone = mean_effect(seconds, shown, who, what, is_ratio=True)
    assert effects["time ratio"]["statistic"] == pytest.approx(alone.statistic, abs=1e-5)
    assert effects["accepted"]["statistic"] == pytest.approx(
        rate_effect(accepted, planted, rater).statistic
    )
    path.write_text(rows[0] + "\np1\to1\tblnk\t3\t\n")
    assert main(["trial", str(path)]) == 2
    assert tells(capsys.readouterr().err, "prefilled.unknown-condition", value="blnk")
