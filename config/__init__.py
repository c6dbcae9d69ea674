"""Settings, URLs and the Celery app. Celery and `shared_task` find the app here."""

import os

from core import gc_tuning

gc_tuning.relax()
# Before the app is made: only then Celery sets Django up and looks for modules in this folder.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from core.work.brokers import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
