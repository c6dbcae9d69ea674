"""The app that scores outputs with automatic metrics."""

from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "metrics"

    def ready(self) -> None:
        from core import extensions
        from metrics import registry

        registry.FAMILIES.update(extensions.merged("families"))
        for known in extensions.imported("metrics"):
            registry.METRICS.update(known)
