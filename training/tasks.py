"""Celery shells: take an id, call the stage."""

from threading import Event

from celery import Task, shared_task
from celery.signals import worker_shutting_down

from training import working

_stopping = Event()


def stop_jobs(**_: object) -> None:
    """Let the job in hand save and go, so that a worker stops within seconds."""
    _stopping.set()


worker_shutting_down.connect(stop_jobs)


@shared_task(bind=True)  # type: ignore[untyped-decorator]
def work_off_job(self: Task, pk: int) -> None:
    """Work a job off, or do nothing where another worker has it."""
    worker = self.request.hostname or "in place"
    working.work_off(pk, worker=worker, should_stop=_stopping.is_set)
