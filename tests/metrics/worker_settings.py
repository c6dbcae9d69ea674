"""Settings of the worker processes in test_workers: metrics of their own, and a queue.

Only tests name this module; a worker of anybody else knows neither the metrics nor the queue.
"""

import os
from dataclasses import replace

from kombu import Queue

from config.environment import env_int
from metrics import registry
from tests.metrics.fakes import make_info
from tests.settings import *  # noqa: F403

CELERY_TASK_ALWAYS_EAGER = False
# The other tests have none.
DATABASE_IDLE_SECONDS = env_int("DATABASE_IDLE_SECONDS", 30)
QUEUE = os.environ["TEST_QUEUE"]
CELERY_TASK_QUEUES = [Queue(QUEUE, routing_key=QUEUE, expires=600)]
CELERY_TASK_DEFAULT_QUEUE = CELERY_TASK_DEFAULT_EXCHANGE = QUEUE

IMPORT_DOORS = {"judgments": "tests.metrics.doors.gated"}

registry.METRICS.update(
    {name: (replace(info, queue=QUEUE), path) for name, (info, path) in registry.METRICS.items()}
)
for _class in ("Counting", "Gated", "Deadly"):
    registry.METRICS[_class.lower()] = (
        make_info(_class.lower(), QUEUE),
        f"tests.metrics.fakes:{_class}",
    )
