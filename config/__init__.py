"""Settings, URLs and the Celery app. Importing the app here lets `shared_task` find it."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
