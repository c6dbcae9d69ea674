"""Tasks of WMT against the figures of mt-metrics-eval: values, averages, p-values."""

import csv
import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metaeval.commands import main
from metaeval.correlation import (
    acc_eq,
    correlate,
    pairwise_accuracy,
    system_correlation,
)
from metaeval.correlation.soft_pairwise import normal_pvalues, pair_pvalues
from metaeval.files import FormatError, read_evalset
from metaeval.results import ConstantInputWarning
from metaeval.scores import ScoreMatrix
from metaeval.significance.comparison import rank_clusters
from metaeval.wmt import YEARS, Comparison, Task, TaskResult, compared, rank_overall, run_task
from metaeval.wmt.running import stopping_draw
from metaeval.wmt.tasks import (
    ACC_EQ,
    ACCURACY,
    SEGMENT_PEARSON,
    SPA,
    SYSTEM_PEARSON,
    Statistic,
    TaskError,
    tasks_of,
)
from tests.metaeval.published import DATA
from tests.metaeval.wmt.laid_out import P_VALUES, figures, lay_out, lay_out_three, lay_out_years
from tests.metaeval.wmt.other_sets import segments_of_2017, segments_of_2021, systems_of_2017
from tests.refusals import refused, tells

# Its sums are in single precision, so some flips tie there and not here.
OF_FLIPS = 2e-3


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "wmt23"
    lay_out(folder, "en-de")
    return folder


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("three") / "wmt23"
    lay_out_three(folder)
    return folder


def printed(capsys, *words: str) -> list[dict[str, str]]:
    assert main(["wmt", *words, "--output", "csv"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


def check(rows: list[dict[str, str]], name: str) -> None:
    expected = figures(name)
    assert [row["metric"] for row in rows] == list(expected["average"])
    for title, values in expected.items():
        own = {row["metric"]: float(row[title]) for row in rows}
        assert own == pytest.approx(values, abs=2e-6, rel=5e-6), title


@pytest.mark.parametrize("name", ["folder", "tables", "above"])
def test_a_year_on_one_pair(whole: Path, name: str, capsys) -> None:
    path = {"folder": whole, "tables": DATA / "wmt23-meta", "above": whole.parent}[name]
    rows = printed(capsys, str(path), "--year", "2023", "--draws", "0")
    check(rows, "2023 en-de")


def test_a_year_on_three_pairs_with_a_human_translation_and_outliers(three: Path, capsys) -> None:
    rows = printed(capsys, str(three), "--year", "2023", "--draws", "0")
    check(rows, "2023 three")


@pytest.fixture(scope="module")
def years(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("years")
    lay_out_years(folder)
    return folder


# Sizes of differences that only rounding parts are one threshold here, and several there.
OF_THRESHOLDS = 1e-4


@pytest.mark.parametrize("year", YEARS)
def test_every_year_on_real_scores_of_other_pairs(years: Path, year: int, capsys) -> None:
    words = ("--year", str(year), "--draws", "0", "--metrics", "all", "--output", "json")
    assert main(["wmt", str(years), *words]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = figures(f"{year} years")
    average, rank = expected.pop("average"), expected.pop("mean rank")
    assert found["ranking"]["metrics"] == list(average)
    assert found["ranking"]["averages"] == pytest.approx(list(average.values()), abs=OF_FLIPS)
    own = dict(zip(average, found["ranking"]["mean_ranks"], strict=True))
    assert own == pytest.approx(rank, abs=1e-5)
    assert [task["name"] for task in found["tasks"]] == list(expected)
    for task in found["tasks"]:
        slack = {"spa": OF_FLIPS, "acc-eq": OF_THRESHOLDS}.get(task["name"].split()[-1], 2e-6)
        own = dict(zip(task["metrics"], task["values"], strict=True))
        assert own == pytest.approx(expected[task["name"]], abs=slack), task["name"]


def run(folder: Path, pair: str, statistic: Statistic, *, domain: str = "") -> TaskResult:
    declared = YEARS[2023].pairs[pair]
    evalset = read_evalset(folder, pair)
    scores = compared(evalset.of_domain(domain) if domain else evalset, declared, statistic.level)
    return run_task(Task({pair: declared}, statistic, 1.0), {pair: scores}, n_draws=0)


def values(result: TaskResult) -> dict[str, float]:
    return dict(zip(result.metrics, result.values.tolist(), strict=True))


@pytest.mark.parametrize("pair", ["en-de", "he-en", "zh-en"])
def test_the_statistics_of_2024_and_2025(three: Path, pair: str) -> None:
    expected = figures("2024 three")
    assert values(run(three, pair, SPA)) == pytest.approx(expected[f"{pair} spa"], abs=OF_FLIPS)
    assert values(run(three, pair, ACC_EQ)) == pytest.approx(expected[f"{pair} acc-eq"], abs=2e-6)


def test_soft_accuracy_of_the_whole_set(whole: Path) -> None:
    expected = figures("2024 en-de")["en-de spa"]
    found = run(whole, "en-de", SPA)
    assert list(found.metrics) == list(expected)
    assert values(found) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("statistic", YEARS[2023].statistics[1:])
def test_a_domain_uses_its_segments_and_its_own_system_scores(
    whole: Path, statistic: Statistic
) -> None:
    found = run(whole, "en-de", statistic, domain="news")
    expected = figures("news en-de")[f"en-de {statistic.name}"]
    assert values(found) == pytest.approx(expected, abs=2e-6)


def test_each_domain_has_a_ranking(whole: Path, capsys) -> None:
    words = ("wmt", str(whole), "--year", "2023", "--draws", "0", "--domain", "each")
    assert main(words) == 0
    output = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(output.out), delimiter="\t"))
    # Each warning names its domain.
    lacking = [line for line in output.err.splitlines() if line.startswith("warning: ")]
    domains = {line.removeprefix("warning: ").split(":")[0] for line in lacking}
    assert domains <= {row["domain"] for row in rows}
    assert "news" in domains
    assert list(dict.fromkeys(row["domain"] for row in rows)) == [
        "news", "social", "speech", "user_review",
    ]  # fmt: skip
    news = {row["metric"]: float(row["en-de acc-eq"]) for row in rows if row["domain"] == "news"}
    assert news == pytest.approx(figures("news en-de")["en-de acc-eq"], abs=2e-6)


def test_weights_of_every_year() -> None:
    full = {year: tasks_of(year, declared.pairs) for year, declared in YEARS.items()}
    assert {year: len(tasks) for year, tasks in full.items()} == {2023: 10, 2024: 6, 2025: 32}
    assert all(sum(t.weight for t in tasks) == pytest.approx(1) for tasks in full.values())
    assert full[2023][0].weight == pytest.approx(3 / 12)
    assert {t.weight for t in full[2025]} == {1 / 32}
    with pytest.raises(TaskError):
        tasks_of(2022, ["en-de"])
    with pytest.raises(TaskError):
        tasks_of(2024, ["en-fr"])


def test_early_stopping() -> None:
    rare, often, between = (np.arange(1000) % k == 0 for k in (1000, 1, 5))
    assert [stopping_draw(each) for each in (rare, often, between)] == [100, 100, 1000]
    late = np.r_[between[:400], np.zeros(600, dtype=bool)]
    # 80 of 400 draws; below .02 never, so all are made.
    assert stopping_draw(late) == 1000
    assert stopping_draw(np.zeros(50, dtype=bool)) == 50


def results(n_draws: int) -> Iterator[TaskResult]:
    declared = YEARS[2023].pairs["en-de"]
    evalset = read_evalset(DATA / "wmt23-meta", "en-de")
    for number, task in enumerate(tasks_of(2023, ["en-de"])):
        scores = compared(evalset, declared, task.statistic.level)
        yield run_task(task, {"en-de": scores}, n_draws=n_draws, seed=number)


# p-values of mt-metrics-eval's tests of six metrics with up to 1,000 draws: pairs of metrics in
# order of value, row by row.
TESTED = {each["task"]: each for each in json.loads(P_VALUES.read_text())}
STATISTICS = {each.name: each for each in (ACCURACY, SYSTEM_PEARSON, SEGMENT_PEARSON, SPA, ACC_EQ)}


@pytest.mark.parametrize("name", TESTED)
def test_p_values_are_those_of_mt_metrics_eval(name: str) -> None:
    metrics, expected, ranks = (TESTED[name][key] for key in ("metrics", "p", "ranks"))
    statistic = STATISTICS[name]
    declared = YEARS[2023].pairs["en-de"]
    scores = compared(read_evalset(DATA / "wmt23-meta", "en-de"), declared, statistic.level)
    chosen = {metric: scores.metrics[metric] for metric in metrics}
    found = run_task(
        Task({"en-de": declared}, statistic, 1.0),
        {"en-de": replace(scores, metrics=chosen)}, n_draws=1000, seed=3,
    )  # fmt: skip
    assert list(found.metrics) == metrics
    p, places = np.array(expected), np.triu_indices(len(metrics), 1)
    own = found.pvalues[places]
    # Both are shares of at least 100 draws.
    draws = np.array([len(found.draws[i, j]) for i, j in zip(*places, strict=True)])
    share = np.clip((p + own) / 2, 0.01, 0.99)
    assert (np.abs(own - p) < 4 * np.sqrt(2 * share * (1 - share) / draws)).all()
    # Where one p is near .05, the clusters may differ by one.
    assert np.abs(found.ranks - np.array(ranks)).max() <= 1


def test_the_overall_test_adds_the_draws_of_tasks() -> None:
    found = list(results(200))
    ranking = rank_overall(found)
    first, second = ranking.metrics[:2]
    sums = np.zeros(200)
    gap = 0.0
    for result in found:
        i, j = result.metrics.index(first), result.metrics.index(second)
        null = result.draws[i, j] if i < j else -result.draws[j, i]
        # Correlations count as (r + 1) / 2.
        is_r = result.task.statistic in (SYSTEM_PEARSON, SEGMENT_PEARSON)
        sums += 0.25 * np.tile(null, 2)[:200] / (2 if is_r else 1)
        gap += 0.25 * (result.rescaled(first) - result.rescaled(second))
    assert ranking.pvalues[0, 1] == pytest.approx((sums >= gap - 1e-9).mean())
    # The other order has the other sign.
    assert np.array_equal(found[0].null(second, first), -found[0].null(first, second))


def test_a_metric_that_lacks_an_output_is_named_and_not_filled_with_zeros(whole: Path) -> None:
    evalset = read_evalset(whole, "en-de")
    scores = evalset.metric_scores["COMET-refA", "seg"].values
    judged = np.flatnonzero(~np.isnan(evalset.human("mqm").values[0]))
    name = evalset.human("mqm").systems[0]
    scores[name][judged[0]] = np.nan
    found = compared(evalset, YEARS[2023].pairs["en-de"], "seg")
    assert found.incomplete == ("COMET",)
    assert "COMET" not in found.metrics


@pytest.mark.parametrize("n_draws", [0, 100])
def test_a_constant_metric_has_no_rank(whole: Path, n_draws: int) -> None:
    evalset, pair = read_evalset(whole, "en-de"), YEARS[2023].pairs["en-de"]
    found = []
    for task in tasks_of(2023, ["en-de"])[1:3]:
        scores = compared(evalset, pair, task.statistic.level)
        flat = scores.human.with_values(np.full(scores.human.values.shape, 0.1))
        metrics = {"BLEU": scores.metrics["BLEU"], "flat": flat, "chrF": scores.metrics["chrF"]}
        with pytest.warns(ConstantInputWarning):
            result = run_task(task, {"en-de": replace(scores, metrics=metrics)}, n_draws=n_draws)
        assert (result.metrics[2], result.ranks[2]) == ("flat", 0)
        assert result.ranks[:2].min() == 1
        found.append(result)
    ranking = rank_overall(found)
    assert (ranking.metrics[2], ranking.ranks[2]) == ("flat", 0)
    assert np.isnan([ranking.averages[2], ranking.mean_ranks[2]]).all()


def test_a_segment_that_is_listed_twice_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    shutil.copytree(DATA / "wmt23-meta", folder, copy_function=shutil.copyfile)
    path = folder / "en-de" / "documents.tsv"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines, lines[1]]) + "\n", "utf-8")
    with refused("evalset.segment-twice", kind=FormatError) as caught:
        read_evalset(folder, "en-de")
    assert caught.value.line == len(lines) + 1


@pytest.fixture
def checks(data_dir: Path) -> dict[str, dict[str, Any]]:
    path = data_dir.parent / "specs" / "estimation-checks.json"
    return {one["id"]: one for one in json.loads(path.read_text("utf-8"))["checks"]}


def test_worked_case_of_averages(whole: Path, checks: dict[str, dict[str, Any]]) -> None:
    accurate, pearson = (run(whole, "en-de", each) for each in (SPA, SYSTEM_PEARSON))

    def of_value(result: TaskResult, value: float) -> TaskResult:
        return replace(
            result, task=replace(result.task, weight=0.5), metrics=("m",),
            values=np.array([value]), ranks=np.array([1]), pvalues=np.full((1, 1), np.nan),
        )  # fmt: skip

    expected = checks["4-average-corrs"]["expected"]
    two = [of_value(accurate, 0.8), of_value(accurate, 0.6)]
    assert rank_overall(two).averages == pytest.approx([expected["spa_acc"]])
    two = [of_value(accurate, 0.7), of_value(pearson, 0.4)]
    assert rank_overall(two).averages == pytest.approx([expected["with_pearson"]])


def test_worked_case_of_clusters(checks: dict[str, dict[str, Any]]) -> None:
    p = np.array(checks["4-clusters"]["inputs"]["p"])
    p[np.tril_indices(len(p))] = 1.0
    found = rank_clusters(-np.arange(len(p)), p).ranks
    assert found.tolist() == checks["4-clusters"]["expected"]["ranks"]


def test_worked_case_of_sign_flips(checks: dict[str, dict[str, Any]]) -> None:
    given, expected = checks["4-spa-p"]["inputs"], checks["4-spa-p"]["expected"]
    for name, exact, normal in zip(
        ("d1", "d2"), expected["exact"], expected["normal"], strict=True
    ):
        values = np.array([given[name], np.zeros(len(given[name]))])
        valid = np.ones(values.shape, dtype=np.bool_)
        flips = np.array(list(product((-1.0, 1.0), repeat=values.shape[1])))
        # `pair_pvalues` counts the observed sum as one more draw.
        p = pair_pvalues(values, valid, flips)[0] * (len(flips) + 1) - 1
        assert p / len(flips) == pytest.approx(exact, abs=1e-6)
        assert normal_pvalues(values[None], valid)[0, 0] == pytest.approx(normal, abs=1e-6)


def test_the_table_of_tasks_has_our_intervals_and_their_unit(capsys) -> None:
    rows = printed(
        capsys, str(DATA / "wmt23-meta"), "--year", "2023", "--draws", "0", "--table", "tasks"
    )
    units = {row["task"]: (row["unit"], row["n_units"]) for row in rows}
    assert units["en-de acc-eq"] == ("documents", "190")
    assert units["en-de sys-pearson"] == ("systems", "12")
    for row in rows:
        if row["low"]:
            assert float(row["low"]) <= float(row["own value"]) <= float(row["high"])


@pytest.mark.parametrize("words", [("--year", "2025"), ("--year", "2023", "--language-pair", "x"),
                                   ("--year", "2023", "--human", "none"),
                                   ("--year", "2023", "--domain", "none")])  # fmt: skip
def test_what_the_folder_lacks_is_refused(words: tuple[str, ...], capsys) -> None:
    assert main(["wmt", str(DATA / "wmt23-meta"), *words]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("folder", ["none", "wmt23-meta/en-de", "README.md", "wmt17"])
def test_what_is_no_folder_of_scores_is_named(folder: str, capsys) -> None:
    assert main(["wmt", str(DATA / folder), "--year", "2023"]) == 2
    error = capsys.readouterr().err
    assert tells(error, "wmt.no-score-folder")
    assert str(DATA / folder) in error


@pytest.mark.parametrize("words", [("--draws", "-1"), ("--seed", "-1")])
def test_negative_numbers_are_refused(words: tuple[str, ...], capsys) -> None:
    assert main(["wmt", str(DATA / "wmt23-meta"), "--year", "2023", *words]) == 2
    assert tells(capsys.readouterr().err, "argument.integer")


@pytest.mark.parametrize(("output", "start"), [("latex", "\\begin{tabular}"), ("markdown", "| "),
                                               ("json", "{"), ("tsv", "metric\t")])  # fmt: skip
def test_forms(output: str, start: str, capsys) -> None:
    assert main(["wmt", str(DATA / "wmt23-meta"), "--year", "2023", "--draws", "0",
                 "--output", output]) == 0  # fmt: skip
    text = capsys.readouterr().out
    assert text.startswith(start)
    if output == "json":
        ranking = json.loads(text)["ranking"]
        assert ranking["averages"][0] == pytest.approx(
            figures("2023 en-de")["average"][ranking["metrics"][0]], abs=2e-6
        )


def test_system_scores_without_a_file_are_means_of_the_judged_outputs(whole: Path) -> None:
    evalset = read_evalset(whole, "en-de")
    lost = {key: each for key, each in evalset.metric_scores.items() if key[1] != "sys"}
    object.__setattr__(evalset, "metric_scores", lost)
    found: Comparison = compared(evalset, YEARS[2023].pairs["en-de"], SYSTEM_PEARSON.level)
    assert set((found.origins or {}).values()) == {"mean of segments"}


def named(values: np.ndarray) -> ScoreMatrix:
    n, m = values.shape
    return ScoreMatrix(values, [f"s{k}" for k in range(n)], [f"t{k}" for k in range(m)])


OTHER = {
    "wmt17 zh-en": lambda: segments_of_2017("zh-en"),
    "wmt17 de-en": lambda: segments_of_2017("de-en"),
    "wmt21 ru-en": segments_of_2021,
}


@pytest.mark.parametrize("name", OTHER)
def test_direct_assessments_of_segments(name: str) -> None:
    """Most outputs have no human score: one or two systems a segment have one in WMT17."""
    human, metrics = OTHER[name]()
    expected = figures(name)
    for metric, own in metrics.items():
        r = correlate(named(human), named(own), SEGMENT_PEARSON.measure, has_interval=False)
        assert r.statistic == pytest.approx(expected["seg-pearson"][metric], abs=2e-6)
        share = acc_eq(named(human), named(own))
        assert share.statistic == pytest.approx(expected["acc-eq"][metric], abs=OF_THRESHOLDS)


@pytest.mark.parametrize("pair", ["zh-en", "de-en"])
def test_direct_assessments_of_systems(pair: str) -> None:
    human, metrics = systems_of_2017(pair)
    expected = figures(f"wmt17 {pair}")
    for metric, own in metrics.items():
        r = system_correlation(named(human), named(own), SYSTEM_PEARSON.measure)
        assert r.statistic == pytest.approx(expected["sys-pearson"][metric], abs=2e-6)
        accuracy = pairwise_accuracy({pair: named(human)}, {pair: named(own)})
        assert accuracy.statistic == pytest.approx(expected["accuracy"][metric], abs=2e-6)
