"""From parallel text in the database to a trained metric's row in the table of correlations."""

from typing import Any

import numpy as np
import pytest

from annotation.models import Output, PublishedScore
from dashboards.correlations.agreement import correlate
from metrics import catalogue
from metrics.base import SegmentInput
from metrics.models import MetricRun
from metrics.runs import scoring
from metrics.runs import starting as runs
from tests.training.doing import run_job
from tests.world import make_campaign, make_test_set
from training.jobs import starting as jobs
from training.models import TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row


@pytest.fixture
def trained(
    db: None, corpus: Any, recipe: Any, settings: Any, tmp_path: Any
) -> tuple[TrainingJob, Any]:
    settings.TRAINED_DIR = tmp_path
    rows = [Row(str(number), *pair) for number, pair in enumerate(corpus.pairs)]
    stored = corpora.add(name="news", source_language="de", target_language="en", rows=rows)
    chosen = recipe(variant="full")
    job = jobs.start(
        kind="refreeeval", name="News", given=chosen.as_json(), corpora=[stored], enqueue=False
    )
    run_job(job)
    return TrainingJob.objects.get(pk=job.pk), corpus


def test_parallel_text_becomes_a_row_of_the_table(trained: tuple[TrainingJob, Any]) -> None:
    job, _ = trained
    assert (job.status, job.message) == ("done", "")
    assert set(job.result["levels"]) == {"sentence", "word"}
    name = f"news-{job.pk}"
    info = catalogue.get(name)
    assert (info.family, info.option("layer")) == ("refreeeval", 2)
    test_set = make_test_set(languages=("de", "en"))
    campaign = make_campaign(test_set)
    for place, output in enumerate(Output.objects.filter(system__test_set=test_set)):
        PublishedScore.objects.create(campaign=campaign, output=output, value=place % 3)
    (run,) = runs.start(test_set=test_set, metrics=[name], enqueue=False).runs
    scoring.work_off(run.pk, worker="test")
    assert MetricRun.objects.get(pk=run.pk).status == "done"
    (row,) = [row for row in correlate(campaign).rows if row.metric == name]
    assert (row.n, row.n_missing) == (8, 0)
    assert -1 <= row.tau <= 1


def test_the_metric_scores_what_was_trained(trained: tuple[TrainingJob, Any]) -> None:
    """Training's own forward pass and the registered metric give the same F1."""
    from training.refreeeval.data import Example
    from training.refreeeval.levels import score_candidates
    from training.refreeeval.student import Student

    job, corpus = trained
    assert job.metric is not None
    source, target = corpus.pairs[0]
    metric = catalogue.load(job.metric.name, source_language="de", target_language="en")
    f1 = metric.score([SegmentInput(source, target, ())])[0, 2]
    student = Student(metric.info.checkpoint, 2, 64)
    student.model.eval()
    ours = score_candidates(student, [Example(source, (target,), 0)])
    np.testing.assert_allclose(ours.detach().numpy().ravel(), f1, atol=1e-5)
