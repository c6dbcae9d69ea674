"""The app that fits and trains metrics."""

from django.apps import AppConfig


class TrainingConfig(AppConfig):
    name = "training"

    def ready(self) -> None:
        from training.translation.likelihood import options

        options.register()
