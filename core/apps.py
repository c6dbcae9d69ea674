"""The app with shared code and the background jobs of all other apps."""

from importlib import import_module

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"

    def ready(self) -> None:
        """Register the tasks, and connect to the signals of workers."""
        for module in ("core.work.working", "core.work.reconciling"):
            import_module(module)
