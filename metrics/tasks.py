"""Celery shells: take an id, call the stage."""

from threading import Event

from celery import Task, shared_task
from celery.signals import worker_shutting_down

from metrics import scoring

_stopping = Event()


def stop_scoring(**_: object) -> None:
    """Let the run in hand go after its chunk, so that a worker stops within seconds."""
    _stopping.set()


worker_shutting_down.connect(stop_scoring)


@shared_task(bind=True)  # type: ignore[untyped-decorator]
def score_run(self: Task, run_id: int) -> None:
    """Work a run off, or do nothing where another worker has it."""
    worker = self.request.hostname or "in place"
    scoring.work_off(run_id, worker=worker, should_stop=_stopping.is_set)
