"""The engine of metric runs by itself, and through Celery on any broker."""
