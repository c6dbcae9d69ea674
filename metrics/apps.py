"""The app that scores outputs with automatic metrics."""

from collections import ChainMap

from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "metrics"

    def ready(self) -> None:
        from core import extensions
        from metrics import registry
        from metrics.workers import reporter, slots  # noqa: F401  connect to the signals of workers

        known = ChainMap(*extensions.imported("metrics"))
        registry.extend(extensions.merged("families"), known)
