"""The engine of metric runs alone, and through Celery on any broker."""
