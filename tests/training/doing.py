"""A job as a worker does it, in the process of the test."""

from core.work import working
from training.jobs.work import trainings
from training.models import TrainingJob


def work_off(job: TrainingJob) -> TrainingJob:
    """Take a job, where it waits, and do it; return it as it is then."""
    working.do_one(trainings, TrainingJob.objects.filter(pk=job.pk))
    return TrainingJob.objects.get(pk=job.pk)
