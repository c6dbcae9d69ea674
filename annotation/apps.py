"""The app that collects judgments."""

import warnings

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        """Keep statistics' warnings out of the server's log: pages show them to their readers."""
        from metaeval import StatisticsWarning

        warnings.filterwarnings("ignore", category=StatisticsWarning)
