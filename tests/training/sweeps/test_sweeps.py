"""Sweeps: grouped by setting, tested over seeds, beside judgments in WMT's formats."""

import json
import math
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from scipy import stats

from annotation.models import Output, PublishedScore, TestSet
from benchmarks.gpu import small
from core.work import sending
from metaeval.messages import p_value
from metaeval.results import plain
from metrics import catalogue
from metrics.runs import scoring
from metrics.runs import starting as runs
from metrics.scores import system_scores
from tests import refusals
from tests.training.doing import refused
from tests.world import make_campaign, make_test_set
from training import sweeps
from training.jobs import presenting
from training.jobs import starting as sweeping
from training.management.commands import train_results
from training.models import ParallelCorpus, TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row
from training.refreeeval.train import compare

SEEDS = (19, 27, 42)


@pytest.fixture
def corpus(db: None) -> ParallelCorpus:
    rows = [Row(str(n), f"Satz {n}", f"sentence {n}") for n in range(30)]
    return corpora.add(name="c", source_language="de", target_language="en", rows=rows)


def sweep(
    corpus: ParallelCorpus, vary: dict[str, Any] | None = None, seeds: Sequence[int] = SEEDS
) -> list[TrainingJob]:
    """A sweep over alpha, or over what is given, under the name alphas."""
    varied = {"alpha": (0, 30)} if vary is None else vary
    grid = sweeping.expand_grid({"batch": (5,), **varied, "seed": seeds})
    return sweeping.start_sweep(
        kind="refreeeval", name="Alphas", grid=grid, corpora=[corpus], enqueue=False
    )


def settings_of(name: str) -> list[sweeps.Setting]:
    return sweeps.group(sweeps.trainings_of(name))


def finish(job: TrainingJob, accuracy: float, variation: float | None = None) -> None:
    level = {} if variation is None else {"variation": variation}
    job.result = {"held_out": {"trained": accuracy}, "levels": {"sentence": level}}
    job.status = TrainingJob.Status.DONE
    job.save()


def test_a_job_for_every_combination_and_seed(corpus: ParallelCorpus) -> None:
    assert len(sweep(corpus, vary={"alpha": (0, 30), "negatives": (3, 7)})) == 12
    found = settings_of("alphas")
    assert [each.varied for each in found] == [
        {"alpha": alpha, "negatives": k} for alpha in (0, 30) for k in (3, 7)
    ]
    assert all(set(each.jobs) == set(SEEDS) for each in found)
    assert all(job.options["batch"] == 5 for each in found for job in each.jobs.values())


@pytest.mark.parametrize(
    ("vary", "seeds", "code", "facts"),
    [
        ({"alpha": (0, -1)}, SEEDS, "option.problem", {"option": "alpha", "minimum": 0}),
        ({"beta": (0, 1)}, SEEDS, "training.unknown-setting", {"names": ["beta"]}),
        ({"alpha": (0, 1)}, range(101), "sweep.too-many", {"n": 202, "most": 200}),
        ({}, (), "sweep.too-many", {"n": 0, "most": 200}),
    ],
)
def test_a_wrong_sweep_starts_nothing(
    corpus: ParallelCorpus,
    vary: dict[str, Any],
    seeds: Sequence[int],
    code: str,
    facts: dict[str, Any],
) -> None:
    with refusals.refused(code, **facts):
        sweep(corpus, vary=vary, seeds=seeds)
    assert not TrainingJob.objects.exists()


def test_the_tables_of_the_paper_are_sweeps_that_can_be_started(corpus: ParallelCorpus) -> None:
    for vary in sweeping.TABLES.values():
        started = sweep(corpus, vary=vary, seeds=(19,))
        assert len(started) == math.prod(map(len, vary.values()))


def test_settings_stand_in_the_order_of_the_form(corpus: ParallelCorpus) -> None:
    """PostgreSQL gives the keys of a document sorted by length."""
    for job in sweep(corpus, vary={"negatives": (3, 7), "alpha": (0, 30)}):
        job.options = dict(sorted(job.options.items(), key=lambda pair: len(pair[0])))
        job.save()
    found = sweeps.trainings_of("alphas")
    assert [list(each.varied) for each in sweeps.group(found)] == [["negatives", "alpha"]] * 4
    settings = [name for name, _ in sweeps.compare_jobs(found).settings]
    assert settings == ["negatives", "alpha", "seed"]
    assert [str(label) for label, _ in presenting.settings_of(found[0])][:3] == [
        "Encoder", "Sentence encoder", "Variant"
    ]  # fmt: skip


def test_seeds_against_a_metric_without_seeds(checks: dict[str, Any]) -> None:
    """B10: the paired t test is then the one-sample test."""
    check = checks["B10-seed-test"]
    scores = dict(enumerate(check["inputs"]["scores"]))
    found = sweeps.compare(scores, float(check["inputs"]["constant"]))
    assert found is not None
    assert math.log10(found.t) == pytest.approx(check["expected"]["log10_p"], abs=1e-4)
    assert found.epsilon == 0


def test_only_seeds_that_both_have_are_compared() -> None:
    first, second = {1: 0.5, 2: 0.6, 3: 0.8, 4: 0.9}, {2: 0.5, 3: 0.4, 4: 0.8, 9: 0.0}
    found = sweeps.compare(first, second)
    assert found is not None
    assert (found.n, found.t) == (
        3,
        pytest.approx(stats.ttest_rel([0.6, 0.8, 0.9], [0.5, 0.4, 0.8]).pvalue),
    )
    assert sweeps.compare(first, {4: 0.1}) is None


def results(*given: str) -> str:
    out = StringIO()
    call_command("train_results", *given, stdout=out)
    return out.getvalue()


def test_the_table_of_accuracies(corpus: ParallelCorpus) -> None:
    started = sweep(corpus)
    for job, accuracy in zip(started, (0.2, 0.3, 0.4, 0.5, 0.7, 0.6), strict=True):
        finish(job, accuracy, variation=-0.02)
    shown = results("alphas")
    assert "6 of 6" in shown
    assert "+0.3000 ± 0.1000, 3" in shown
    expected = stats.ttest_rel([0.5, 0.7, 0.6], [0.2, 0.3, 0.4]).pvalue
    assert f"difference +0.3000, p = .25 (permutation), {p_value(expected)} (t)" in shown
    assert "variation" in shown


def test_unfinished_trainings_are_counted_and_left_out(corpus: ParallelCorpus) -> None:
    started = sweep(corpus)
    finish(started[0], 0.2)
    assert "1 of 6" in results("alphas")
    assert "alpha=30.0               –" in results("alphas")


@pytest.fixture
def scored(corpus: ParallelCorpus, tmp_path: Path) -> tuple[TestSet, list[str]]:
    """A finished sweep of two metrics with scores of a test set."""
    started = sweep(corpus, vary={}, seeds=(1, 2))
    test_set = make_test_set(languages=("de", "en"))
    names = []
    outputs = Output.objects.filter(system__test_set=test_set).select_related("segment")
    texts = [text for output in outputs for text in (output.segment.source, output.text)]
    for layer, job in enumerate(started, start=1):
        encoder = small.bert(tmp_path / str(layer), texts)
        name = f"trained-{layer}"
        options = {"checkpoint": str(encoder), "layer": layer}
        job.metric = catalogue.configure(
            family="xbertscore", name=name, label=name, options=options
        )
        finish(job, 0.5)
        names.append(name)
        (run,) = runs.start(test_set=test_set, metrics=[name], enqueue=False).runs
        scoring.drain(run.pk, worker="test")
    return test_set, names


def values(test_set: TestSet, name: str) -> dict[tuple[str, str], float]:
    table = system_scores(test_set)
    grid = table.measures[f"{name}-f"].values
    keys = list(test_set.segments.order_by("position").values_list("key", flat=True))
    return {
        (system.name, key): grid[row, column]
        for row, system in enumerate(table.systems)
        for column, key in enumerate(keys)
    }


def test_relative_ranks(scored: tuple[TestSet, list[str]], tmp_path: Path) -> None:
    test_set, names = scored
    path = tmp_path / "darr.csv"
    pairs = [("1", "strong", "weak"), ("2", "weak", "strong"), ("3", "strong", "weak")]
    path.write_text(
        "LP DATA SID BETTER WORSE\n" + "".join(f"de-en news {' '.join(pair)}\n" for pair in pairs)
    )
    found = sweeps.relative_ranks(path, test_set, names)
    for name in names:
        cells = values(test_set, name)
        assert len(set(cells.values())) > 4
        signs = [1 if cells[b, sid] > cells[w, sid] else -1 for sid, b, w in pairs]
        assert found[name] == pytest.approx(sum(signs) / 3)
    shown = results("alphas", "--darr", str(path), "--test-set", "harbour")
    assert "daRR τ" in shown
    test_set.source_language = "zh"
    with refused("column.pair", sweeps.ColumnError, pair="zh-en"):
        sweeps.relative_ranks(path, test_set, names)


def test_several_directions_stand_in_one_table(
    scored: tuple[TestSet, list[str]], tmp_path: Path
) -> None:
    """Numbers of each direction are those of it alone; each block chooses its seed."""
    test_set, names = scored
    other = make_test_set("second", languages=("de", "en"))
    for name in [*names, "chrf"]:
        (run,) = runs.start(test_set=other, metrics=[name], enqueue=False).runs
        scoring.drain(run.pk, worker="test")
    (run,) = runs.start(test_set=test_set, metrics=["chrf"], enqueue=False).runs
    scoring.drain(run.pk, worker="test")
    path = tmp_path / "darr.csv"
    pairs = [("1", "strong", "weak"), ("2", "weak", "strong"), ("3", "strong", "weak")]
    path.write_text(
        "LP DATA SID BETTER WORSE\n" + "".join(f"de-en news {' '.join(pair)}\n" for pair in pairs)
    )
    shown = results(
        "alphas", "--darr", str(path), "--test-set", "harbour", "--test-set", "second",
        "--metric", "chrf",
    )  # fmt: skip
    rows = [line.split("\t") for line in shown.splitlines() if "\t" in line]
    assert rows[0] == ["setting", "daRR τ harbour", "daRR τ second", "average"]
    (tau,) = sweeps.relative_ranks(path, test_set, ["chrf"]).values()
    assert rows[1] == ["chrf", *[f"{tau:.4f}"] * 3]
    best = max(sweeps.relative_ranks(path, test_set, names).values())
    assert rows[2] == rows[5] == ["all", *[f"{best:.4f}"] * 3]
    with refused("command.mqm-per-test-set", kind=CommandError, files=1, sets=2):
        results("alphas", "--mqm", "x", "--test-set", "harbour", "--test-set", "second")


def test_the_best_seeds_of_table_1(data_dir: Path) -> None:
    """The row of ReFreeEval has the best average; another seed is better on one direction."""
    path = data_dir.parent / "specs" / "reference-free-checks.json"
    reported = json.loads(path.read_text("utf-8"))["reported"]
    rows = reported["refreeeval_table1_wmt18"]["rows"]
    values = [
        {19: full, 27: less} for full, less in zip(rows["ReFreeEval"], rows["sent"], strict=True)
    ]
    values[0][27] = 0.2
    found = train_results.best("full", values)
    check = reported["refreeeval_table13_avg_check"]
    assert found.of_average == check["values"]
    assert sum(found.of_average) / 4 == pytest.approx(check["avg"], abs=5e-5)
    assert found.of_each == [0.2, *found.of_average[1:]]


def test_marked_errors(scored: tuple[TestSet, list[str]], tmp_path: Path) -> None:
    test_set, names = scored
    path = tmp_path / "mqm.tsv"
    errors = [
        ("strong", "1", "Minor"), ("strong", "2", "Major"), ("strong", "3", "No-error"),
        ("weak", "1", "Major"), ("weak", "2", "Minor"), ("human", "1", "No-error"),
    ]  # fmt: skip
    lines = [f"{s}\t{key}\trater1\tAccuracy\t{severity}" for s, key, severity in errors]
    path.write_text("\n".join(["system\tseg_id\trater\tcategory\tseverity", *lines]) + "\n")
    found = sweeps.error_scores(path, test_set, names)
    gold = {"Minor": -1, "Major": -5, "No-error": 0}
    for name in names:
        cells = values(test_set, name)
        both = [(gold[sev], cells[s, key]) for s, key, sev in errors if s != "human"]
        expected = stats.kendalltau(*zip(*both, strict=True)).statistic
        assert found[name] == pytest.approx(expected)
    with refused("columns.missing-systems", sweeps.ColumnError, systems=["HT"]):
        sweeps.error_scores(path, test_set, names, ["HT"])


def test_a_file_of_another_test_set(scored: tuple[TestSet, list[str]], tmp_path: Path) -> None:
    path = tmp_path / "darr.csv"
    path.write_text("LP DATA SID BETTER WORSE\nde-en news 1 online-A online-B\n")
    with refused("column.outputs", kind=CommandError):
        results("alphas", "--darr", str(path), "--test-set", "harbour")


def test_a_campaign_and_a_metric_to_beat(scored: tuple[TestSet, list[str]]) -> None:
    test_set, _ = scored
    campaign = make_campaign(test_set)
    for place, output in enumerate(Output.objects.filter(system__test_set=test_set)):
        PublishedScore.objects.create(campaign=campaign, output=output, value=place % 3)
    (run,) = runs.start(test_set=test_set, metrics=["chrf"], enqueue=False).runs
    scoring.drain(run.pk, worker="test")
    shown = results("alphas", "--campaign", campaign.slug, "--against", "chrf")
    assert "segment τ-b" in shown
    assert "tested against" in shown


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (["none"], "sweep.unknown"),
        (["alphas", "--campaign", "none"], "command.no-campaign"),
        (["alphas", "--darr", "file"], "command.needs-test-set"),
        (["alphas", "--against", "chrf"], "command.against"),
    ],
)
def test_what_cannot_be_shown(corpus: ParallelCorpus, given: list[str], code: str) -> None:
    sweep(corpus)
    with refused(code, kind=CommandError):
        results(*given)


def test_a_sweep_of_another_kind_has_no_such_results(db: None) -> None:
    TrainingJob.objects.create(kind="remap", name="l", sweep="layers", options={"layer": 8})
    with refused("sweep.other-kind", kind=CommandError):
        results("layers")


def test_a_sweep_from_the_command_line(
    as_researcher: Client, corpus: ParallelCorpus, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sending, "send", lambda *_: True)
    given = ["--corpus", "c", "--vary", "alpha=0,30", "--seeds", "1,2", "--set", "batch=5"]
    for name in ("my-sweep", "my-sweep-2"):
        out = StringIO()
        call_command("train_sweep", "My_sweep!", *given, stdout=out)
        assert f"manage.py train_results {name}\n" in out.getvalue()
        assert [each.varied["alpha"] for each in settings_of(name)] == [0.0, 30.0]
    assert as_researcher.get("/training/").status_code == 200
    for wrong, code, named in (
        (["--corpus", "none"], "no-corpus", {"name": "none"}),
        (["--corpus", "c", "--seeds", "one"], "seeds", {"text": "one"}),
        (["--corpus", "c", "--vary", "alpha"], "setting", {"text": "alpha"}),
        (
            ["--corpus", "c", "--vary", "batch=5,10", "--set", "batch=5"],
            "twice",
            {"names": ["batch"]},
        ),
        (["--corpus", "c", "--set", "seed=5"], "twice", {"names": ["seed"]}),
    ):
        with refused(f"command.{code}", kind=CommandError, **named):
            call_command("train_sweep", "t", *wrong)


def test_the_page_says_why_a_gain_has_no_interval(
    as_researcher: Client, corpus: ParallelCorpus
) -> None:
    for n, job in enumerate(sweep(corpus)[:4]):
        gains = compare([False] * 4, [True] * n + [False] * (4 - n))
        job.result = plain({"held_out": gains})
        job.status = TrainingJob.Status.DONE
        job.save()
    page = as_researcher.get("/training/sweeps/alphas/")
    assert len(page.context["compared"].methods) == 1
    assert "held out low" not in page.text
