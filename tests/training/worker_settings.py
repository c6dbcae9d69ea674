"""Settings of the worker processes in test_killed: all kinds of jobs go to the test's queue."""

from dataclasses import replace

from tests.metrics.worker_settings import *  # noqa: F403
from tests.metrics.worker_settings import QUEUE
from training.kinds import KINDS

KINDS.update({key: replace(kind, queue=QUEUE) for key, kind in KINDS.items()})
