"""The app that scores outputs with automatic metrics."""

from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "metrics"

    def ready(self) -> None:
        from metrics.workers import reporter, slots  # noqa: F401  connect to the signals of workers
