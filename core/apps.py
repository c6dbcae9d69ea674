"""What every app uses, as an app: it looks after the background work of all others."""

from importlib import import_module

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "core"

    def ready(self) -> None:
        """Register the tasks, and connect to the signals of workers."""
        for module in ("core.work.working", "core.work.reconciling"):
            import_module(module)
