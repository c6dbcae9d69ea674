"""Check and start preference analyses; everything is stored or nothing."""

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.models import Reference, TestSet
from metaeval.messages import Message, message
from metrics import catalogue
from metrics.base import MetricInfo
from training.jobs import starting
from training.models import ParallelCorpus, PreferenceFile, TrainingJob
from training.perturbations.files import GivenFile, LineError
from training.preferences import altering, judging
from training.preferences.options import KIND, listed

NO_REFERENCES = message(
    "preferences.no-references",
    "This test set has no references. Preference analyses alter references.",
)


def start(
    *,
    test_set: TestSet,
    metrics: Iterable[str],
    conditions: Iterable[str],
    files: Mapping[str, GivenFile],
    seed: int = 0,
    corpora: Sequence[ParallelCorpus] = (),
    user: Any = None,
    enqueue: bool = True,
) -> tuple[TrainingJob, bool]:
    """Start an analysis; return it, and False if the same one is already running.

    ``files`` are those of conditions, by condition. ValidationError has errors by field:
    ``metrics``, ``conditions``, or a condition for its file.
    """
    chosen = [name for name in altering.CONDITIONS if name in set(conditions)]
    used = {name: files[name] for name in chosen if name in files}
    infos = check(test_set, metrics, chosen, used)
    given = {
        "test_set": test_set.slug,
        "metrics": ",".join(info.name for info in infos),
        "conditions": ",".join(chosen),
        "seed": seed,
        "queue": "gpu" if any(info.queue != "cpu" for info in infos) else "cpu",
    }
    with transaction.atomic():
        TestSet.objects.select_for_update().get(pk=test_set.pk)  # two clicks at once start one
        if running := _same(given, used, corpora):
            return running, False
        name = f"preferences-{test_set.slug}"[: starting.LONGEST_NAME]
        job = starting.start(
            kind=KIND,
            name=name,
            given=given,
            corpora=corpora,
            project=test_set.project,
            user=user,
            enqueue=enqueue,
        )
        PreferenceFile.objects.bulk_create(
            _row(job, condition, file) for condition, file in used.items()
        )
    return job, True


def check(
    test_set: TestSet,
    metrics: Iterable[str],
    conditions: Sequence[str],
    files: Mapping[str, GivenFile],
) -> list[MetricInfo]:
    """Return the metrics; ValidationError has all errors by field."""
    wanted, known = list(dict.fromkeys(metrics)), catalogue.infos()
    refused = judging.refusals(test_set)
    errors: dict[str, list[Message]] = {"metrics": [], "conditions": []}
    errors["metrics"] += [
        message("preferences.no-metric", "There is no metric {metric}.", metric=name)
        for name in wanted
        if name not in known
    ]
    errors["metrics"] += [refused[name] for name in wanted if name in refused]
    if not wanted:
        errors["metrics"].append(
            message("preferences.no-metric-chosen", "Choose at least one metric.")
        )
    if not conditions:
        errors["conditions"].append(
            message("preferences.no-condition-chosen", "Choose at least one condition.")
        )
    if not Reference.objects.filter(segment__test_set=test_set).exists():
        errors["conditions"].append(NO_REFERENCES)
    else:
        errors |= {each: _file_errors(test_set, each, files.get(each)) for each in conditions}
    if any(errors.values()):
        raise ValidationError(
            {field: ValidationError(found) for field, found in errors.items() if found}
        )
    return [known[name] for name in wanted]


def _file_errors(test_set: TestSet, condition: str, file: GivenFile | None) -> list[Message]:
    if file is None and condition in altering.NEEDS_FILE:
        return [altering.needs_file(condition)]
    if file is None:
        return []
    try:
        altering.check_file(test_set, condition, file)
    except LineError as error:
        return [error.message]
    return []


def _same(
    given: Mapping[str, Any],
    files: Mapping[str, GivenFile],
    corpora: Sequence[ParallelCorpus],
) -> TrainingJob | None:
    """Find a running analysis with the same settings, files and corpora."""
    active = TrainingJob.objects.filter(kind=KIND, status__in=TrainingJob.ACTIVE)
    digests = {condition: _digest(file) for condition, file in files.items()}
    wanted = {corpus.pk for corpus in corpora}
    for job in active.prefetch_related("files", "corpora"):
        is_same = job.options == given and {each.pk for each in job.corpora.all()} == wanted
        if is_same and {each.condition: each.sha256 for each in job.files.all()} == digests:
            return job
    return None


def _row(job: TrainingJob, condition: str, file: GivenFile) -> PreferenceFile:
    return PreferenceFile(
        job=job,
        condition=condition,
        name=file.name,
        sha256=_digest(file),
        packed=zlib.compress(file.content, 6),
    )


def _digest(file: GivenFile) -> str:
    return hashlib.sha256(file.content).hexdigest()


def files_of(job: int) -> dict[str, GivenFile]:
    """Return the files of an analysis by condition."""
    rows = PreferenceFile.objects.filter(job=job)
    return {row.condition: GivenFile(row.name, zlib.decompress(bytes(row.packed))) for row in rows}


def under_way(test_set: TestSet) -> list[TrainingJob]:
    """Return the queued and running analyses of a test set, newest first."""
    active = TrainingJob.objects.filter(kind=KIND, status__in=TrainingJob.ACTIVE)
    return list(active.filter(options__test_set=test_set.slug))


def ended(test_set: TestSet) -> TrainingJob | None:
    """Return the newest analysis of a test set, if it has ended."""
    rows = TrainingJob.objects.filter(kind=KIND, options__test_set=test_set.slug)
    last = rows.first()
    return None if last is None or last.is_active else last


def metrics_of(job: TrainingJob) -> list[str]:
    """Return the names of the metrics of an analysis."""
    return listed(str(job.options["metrics"]))
