"""The app that fits and trains metrics."""

from importlib import import_module

from django.apps import AppConfig


class TrainingConfig(AppConfig):
    name = "training"

    def ready(self) -> None:
        """Fill what models and jobs look up by name."""
        import_module("training.kinds")
