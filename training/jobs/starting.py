"""Start, cancel and resume training jobs, for pages, commands and the API.

Jobs that ended early continue from what they saved. `work` runs them.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain, count, product
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils.text import slugify

from annotation.access import visible_campaigns, visible_test_sets
from annotation.models import Project
from annotation.projects import count_start, refuse_start
from core.work import claims
from core.work.models import Now
from core.work.sending import send_on_commit
from metaeval.messages import Message, message, plural
from metaeval.reasons import reason_of
from metrics import options
from metrics.workers import idle
from training.contract import KINDS, TrainingKind, no_campaign
from training.jobs import saving
from training.jobs.work import command_here
from training.models import ParallelCorpus, TrainingJob

# The resulting metric is named after the job and its number.
LONGEST_NAME = 45
NO_CORPUS = message("training.no-corpus", "Choose a parallel corpus.")


def check(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked settings of a job; ValidationError has the errors by setting."""
    if kind not in KINDS:
        raise refusal(
            message("training.unknown-kind", "There is no kind of job named “{kind}”.", kind=kind)
        )
    chosen = KINDS[kind]
    known = {option.name for option in chosen.options}
    unknown = sorted(set(given) - known)
    if unknown:
        raise refusal(
            message(
                "training.unknown-setting",
                "{kind} does not have these settings: {names}.",
                kind=chosen.label,
                names=unknown,
            )
        )
    cleaned, errors = dict[str, Any](), dict[str, Message]()
    for option in chosen.options:
        try:
            cleaned |= options.clean_all([option], given)
        except ValueError as error:
            errors[option.name] = reason_of(error)
    errors = errors or chosen.conflicts(cleaned)
    if errors:
        raise ValidationError({name: refusal(error) for name, error in errors.items()})
    return chosen.settle(cleaned)


def refusal(error: Message) -> ValidationError:
    """Return a refusal that consists of one message."""
    return ValidationError([error])


def slug_of(name: str) -> str:
    """Return a name in the form of addresses and metrics: a–z, digits, hyphens.

    ValidationError if nothing is left, or too much for the name of a metric.
    """
    slug = slugify(slugify(name).replace("_", "-"))
    if not slug or len(slug) > LONGEST_NAME:
        raise refusal(
            message(
                "training.name-invalid",
                "Enter a name of at most {most} letters a–z and digits.",
                most=LONGEST_NAME,
            )
        )
    return slug


def missing(kind: TrainingKind, chosen: Mapping[str, Any]) -> list[Message]:
    """Return what keeps every worker from doing a job with these settings."""
    return idle.missing(chosen.get("queue") or kind.queue, kind.checkpoints(chosen))


@transaction.atomic
def start(
    *,
    kind: str,
    name: str,
    given: Mapping[str, Any],
    corpora: Sequence[ParallelCorpus] = (),
    project: Project | None = None,
    sweep: str = "",
    user: Any = None,
    enqueue: bool = True,
    here: bool = False,
) -> TrainingJob:
    """Start a job; if `here`, the process of the caller runs it.

    ValidationError if its settings or its corpus are wrong, if the user may not read its campaign
    or test set, or if the project may start no more.
    """
    cleaned = check(kind, given)
    _require_readable(cleaned, user)
    if KINDS[kind].needs_corpus and not corpora:
        raise refusal(NO_CORPUS)
    if reason := refuse_start(project):
        raise refusal(reason)
    count_start(project)
    job = TrainingJob.objects.create(
        kind=kind,
        name=slug_of(name),
        options=cleaned,
        queue=cleaned.get("queue") or KINDS[kind].queue,
        project=project,
        sweep=sweep,
        is_here=here,
        created_by=user,
    )
    job.corpora.set(corpora)
    if enqueue and not here:
        send_on_commit([job])
    return job


def _require_readable(chosen: Mapping[str, Any], user: Any) -> None:
    """Refuse texts and judgments that the user may not read, as if there were none."""
    if user is None:
        return
    slug = str(chosen.get("campaign", ""))
    if slug and not visible_campaigns(user).filter(slug=slug).exists():
        raise ValidationError({"campaign": refusal(no_campaign(slug))})
    slug = str(chosen.get("test_set", ""))
    if slug and not visible_test_sets(user).filter(slug=slug).exists():
        unknown = message("training.no-test-set", "There is no test set {test_set}.", test_set=slug)
        raise ValidationError({"test_set": refusal(unknown)})


def cancel(job: TrainingJob) -> bool:
    """Cancel a job; its worker stops at its next report, and what it saved stays."""
    rows = TrainingJob.objects.filter(pk=job.pk)
    with transaction.atomic():
        return bool(claims.cancel(rows) and rows.update(finished_at=Now()))


Status = TrainingJob.Status


@transaction.atomic
def resume(job: TrainingJob, *, here: bool = False) -> None:
    """Continue a job: by a worker, or in this process if `here`.

    ValidationError says why it cannot: it is done, it is running, or its folder is in use.
    """
    if job.status == Status.DONE:
        raise refusal(
            message(
                "training.job-done",
                "Job {number}, {name}, is already done.",
                number=str(job.pk),
                name=job.name,
            )
        )
    if holder := saving.holder(job.folder):
        raise refusal(
            message(
                "training.job-in-use",
                "Job {number}, {name}, is being trained by {holder}.",
                number=str(job.pk),
                name=job.name,
                holder=holder,
            )
        )
    resumed = TrainingJob.objects.filter(_has_stopped(), pk=job.pk).update(
        status=Status.QUEUED, is_here=here, owner="", message="", attempts=0, finished_at=None
    )
    if not resumed:
        raise ValidationError([_running(job), _seen(job)])
    job.refresh_from_db()
    if not here:
        send_on_commit([job])


def _has_stopped() -> Q:
    """Match jobs that failed, were cancelled or stopped reporting, and those of dead commands.

    The command of a job was started on this machine and has ended if the job's folder is free.
    """
    ended = Q(status__in=(Status.FAILED, Status.CANCELLED))
    silent = Q(status=Status.RUNNING, expires_at__lt=Now())
    was_here = Q(worker__in=("", command_here()), status__in=TrainingJob.ACTIVE)
    return ended | silent | Q(is_here=True) & was_here


def _running(job: TrainingJob) -> Message:
    return message(
        "training.job-running",
        "Job {number}, {name}, is already queued or running.",
        number=str(job.pk),
        name=job.name,
    )


def _seen(job: TrainingJob) -> Message:
    if job.status == Status.QUEUED:
        return message("training.job-waits", "It is waiting for a worker.")
    return message(
        "training.job-seen",
        "{worker} last reported at {at:moment} UTC.",
        worker=job.worker,
        at=job.heartbeat_at,
    )


def left_by_command(
    *, kind: str, name: str, given: Mapping[str, Any], corpora: Sequence[ParallelCorpus]
) -> TrainingJob | None:
    """Return the newest job that the same command started here and did not finish, or None.

    ValidationError as :func:`jobs.start`.
    """
    chosen, wanted = check(kind, given), {corpus.pk for corpus in corpora}
    begun = TrainingJob.objects.filter(kind=kind, name=slug_of(name), is_here=True)
    for job in begun.exclude(status=Status.DONE).order_by("-pk"):
        if job.options == chosen and {corpus.pk for corpus in job.corpora.all()} == wanted:
            return job
    return None


MOST_JOBS = 200
# Settings that the ReFreeEval paper varies: rules (table 11) and the released one, α (table 12),
# c2, the rows of its ablation (tables 1 to 3), seeds (table 14). Table 13 has two more values of c2
# that it does not name; the final metric has 1e-20.
SEEDS = (19, 27, 42, 55, 76, 80, 99, 153, 178, 200)
TABLES: dict[str, dict[str, tuple[Any, ...]]] = {
    "perturbation": {"rule": ("clauses", "released", "shuffle", "repeat")},
    "alpha": {"alpha": (0.0, 5.0, 10.0, 50.0, 100.0, 500.0)},
    "c2": {"c2": (0.0, 1e-20, 1e-15, 1e-10, 1e-5)},
    "ablation": {"variant": ("word-level", "fluency", "sent-fa", "sent-level", "full")},
    "seeds": {},
}
Grid = list[dict[str, Any]]


def expand_grid(values: Mapping[str, Sequence[Any]]) -> Grid:
    """Return every combination of values, as the settings of one job each.

    ValidationError if there is none, or more than MOST_JOBS.
    """
    n_jobs = math.prod(map(len, values.values()))
    if not 0 < n_jobs <= MOST_JOBS:
        raise refusal(
            plural(
                "sweep.too-many",
                "These settings would start {n} job. A sweep has 1 to {most} jobs.",
                "These settings would start {n} jobs. A sweep has 1 to {most} jobs.",
                n=n_jobs,
                most=MOST_JOBS,
            )
        )
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


@transaction.atomic
def start_sweep(
    *,
    kind: str,
    name: str,
    grid: Grid,
    corpora: Sequence[ParallelCorpus] = (),
    project: Project | None = None,
    user: Any = None,
    enqueue: bool = True,
) -> list[TrainingJob]:
    """Start all jobs or none; several share the name of a sweep. Errors as :func:`jobs.start`."""
    sweep = free_name(name) if len(grid) > 1 else ""
    shared: dict[str, Any] = {"kind": kind, "name": name, "corpora": corpora, "sweep": sweep}
    shared["project"] = project
    return [start(**shared, given=given, user=user, enqueue=enqueue) for given in grid]


def free_name(name: str) -> str:
    """Return a name that no sweep has."""
    base = slug_of(name)
    taken = set(TrainingJob.objects.exclude(sweep="").values_list("sweep", flat=True).distinct())
    numbered = (f"{base}-{number}" for number in count(2))
    return next(each for each in chain([base], numbered) if each not in taken)
