"""Settings of a sweep against the first: tests as in scipy, and warnings."""

import html
from typing import Any

import pytest
from django.test import Client
from scipy import stats

from tests.house.templates.seen import seen
from tests.training.sweeps.test_sweeps import finish, settings_of, sweep
from training import sweeps
from training.models import ParallelCorpus
from training.parallel import corpora
from training.parallel.reading import Row

SEEDS = (19, 27, 42, 55, 76)
FIRST = (0.61, 0.64, 0.58, 0.66, 0.6)
SECOND = (0.68, 0.66, 0.67, 0.7, 0.61)
PAGE = "/training/sweeps/alphas/"


@pytest.fixture
def corpus(db: None) -> ParallelCorpus:
    rows = [Row(str(n), f"Satz {n}", f"sentence {n}") for n in range(3)]
    return corpora.add(name="c", source_language="de", target_language="en", rows=rows)


def finished(corpus: ParallelCorpus, *accuracies: tuple[float, ...]) -> None:
    """A sweep over alpha whose settings have finished with the given number of seeds."""
    sweep(corpus, vary={"alpha": [10.0 * n for n in range(len(accuracies))]}, seeds=SEEDS)
    for setting, values in zip(settings_of("alphas"), accuracies, strict=True):
        for seed, value in zip(SEEDS, values, strict=False):
            finish(setting.jobs[seed], value)


def test_the_tests_are_those_of_scipy(corpus: ParallelCorpus) -> None:
    finished(corpus, FIRST, SECOND, FIRST[:3])
    found = sweeps.over_seeds(sweeps.trainings_of("alphas"))
    assert found is not None
    assert found.first == "alpha=0.0"
    row, same = found.rows
    assert (row.setting, row.n, same.n) == ("alpha=10.0", 5, 3)
    assert row.difference == pytest.approx(sum(SECOND) / 5 - sum(FIRST) / 5)
    assert row.t == pytest.approx(stats.ttest_rel(SECOND, FIRST).pvalue)
    assert row.wilcoxon == pytest.approx(stats.wilcoxon(SECOND, FIRST).pvalue)
    # All five differences are positive, so two of the 32 ways to flip their signs are as extreme.
    assert row.permutation == pytest.approx(2 / 32)
    # Every quantile of the setting lies above that of the first.
    assert row.epsilon < 0.2
    assert (same.t, same.wilcoxon, same.difference) == (None, None, 0)
    assert sweeps.NO_SPREAD in found.warnings


def test_a_setting_with_one_common_seed_is_not_tested(corpus: ParallelCorpus) -> None:
    finished(corpus, FIRST, SECOND[:1], SECOND[:2])
    found = sweeps.over_seeds(sweeps.trainings_of("alphas"))
    assert found is not None
    assert [row.setting for row in found.rows] == ["alpha=20.0"]
    assert found.untested == ["alpha=10.0"]


def test_one_setting_has_nothing_to_differ_from(corpus: ParallelCorpus) -> None:
    sweep(corpus, vary={}, seeds=SEEDS)
    assert sweeps.over_seeds(sweeps.trainings_of("alphas")) is None


def test_the_page_shows_the_differences(as_researcher: Client, corpus: ParallelCorpus) -> None:
    finished(corpus, FIRST, SECOND, ())
    page = as_researcher.get(PAGE).content.decode()
    p = stats.ttest_rel(SECOND, FIRST).pvalue
    cells = "".join(f'<td class="num">{cell}</td>' for cell in ("5", "0.046", f"{p:.4g}"))
    assert f'<th scope="row">alpha=10.0</th>{cells}' in seen(page)
    tested = sweeps.over_seeds(sweeps.trainings_of("alphas"))
    assert tested is not None
    (few,) = [each for each in tested.warnings if "smallest" in each.parameters]
    # All 2 ** 5 signs of five differences are as likely; the test is two-sided.
    assert few.parameters["smallest"] == 2 / 2**5
    assert few.text in html.unescape(page)
    assert "fewer than two seeds have finished with both: alpha=20.0." in page
    assert "manage.py train_results alphas" in page


def test_before_two_seeds_have_finished_there_is_a_sentence_alone(
    as_researcher: Client, corpus: ParallelCorpus
) -> None:
    finished(corpus, FIRST[:1], SECOND)
    page = as_researcher.get(PAGE).content.decode()
    assert "fewer than two seeds have finished with both: alpha=10.0." in page
    assert 'id="differences-table"' not in page


def test_sweeps_of_other_kinds_have_no_such_table(as_researcher: Client, db: Any) -> None:
    from training.models import TrainingJob

    for layer in (8, 12):
        TrainingJob.objects.create(kind="remap", name="l", sweep="alphas", options={"layer": layer})
    assert 'id="differences"' not in as_researcher.get(PAGE).content.decode()
