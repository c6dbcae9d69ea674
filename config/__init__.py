"""Settings, URLs and the Celery app. Celery and `shared_task` find the app here."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
