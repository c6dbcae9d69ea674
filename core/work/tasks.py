"""The Celery tasks: a message says that a row of a kind waits; the row that comes first is done.

A task goes on with the next rows for a few seconds, so that small ones do not wait for a message
each, and passes on what it leaves.
"""

import math

from celery import Task

from config.celery import app
from core.work import processes, registry, sending
from core.work.working import due, work_off

TASK_SECONDS = 5.0


def _work(task: Task, name: str, pk: int) -> None:
    """Work for a while, in the place of one who asked where tasks are run there."""
    processes.call_it(task.request.hostname or "in place")
    seconds = math.inf if task.request.is_eager else TASK_SECONDS
    kind, queues = registry.get(name), set(app.amqp.queues.consume_from)
    rows = due(kind, queues)
    if work_off(kind, rows, seconds=seconds) and seconds < math.inf:
        processes.end_if_asked()
        left = kind.choose(rows)
        if left is not None and not processes.is_stopping():
            sending.send(kind, left.pk, left.queue)


work = app.task(_work, name="work.short", bind=True)
# Where it takes hours the message is acknowledged at once.
work_long = app.task(_work, name="work.long", bind=True, acks_late=False)
