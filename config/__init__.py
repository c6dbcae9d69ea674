"""Settings, URLs and the Celery app. Celery finds the app here (`celery -A config`)."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
