"""Celery shells: take an id, call the stage."""

from threading import Event

from celery import Task, shared_task
from celery.signals import worker_shutting_down

from metrics import agenda

_stopping = Event()


def stop_scoring(**_: object) -> None:
    """Let the runs in hand go after the next slice, so that a worker stops within seconds."""
    _stopping.set()


worker_shutting_down.connect(stop_scoring)


@shared_task(bind=True)  # type: ignore[untyped-decorator]
def score_run(self: Task, run_id: int) -> None:
    """Work on what waits in the queues of this worker: that run, or others that come first."""
    agenda.work(
        queues=set(self.app.amqp.queues.consume_from),
        worker=self.request.hostname or "in place",
        hinted=run_id,
        should_stop=_stopping.is_set,
    )
