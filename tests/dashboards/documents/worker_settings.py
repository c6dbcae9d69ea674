"""Settings of the worker processes in test_processes: an analysis that waits for the test."""

from tests.settings import *  # noqa: F403

CELERY_TASK_ALWAYS_EAGER = ANALYSES_IN_PLACE = False
CELERY_IMPORTS = ["tests.dashboards.documents.gate"]
