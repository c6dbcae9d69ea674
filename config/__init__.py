"""Settings, URLs and the Celery app. Celery and `shared_task` find the app here."""

from config import gc_tuning

gc_tuning.relax()

from core.work.brokers import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
