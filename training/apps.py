"""The app that fits and trains metrics."""

from django.apps import AppConfig


class TrainingConfig(AppConfig):
    name = "training"

    def ready(self) -> None:
        from training import kinds  # noqa: F401  fills what models and jobs look up
        from training.translation.likelihood import options

        options.register()
