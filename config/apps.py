"""The site as an app: it has checks, and looks after the work of all others."""

from importlib import import_module

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        """Register the checks and tasks; connect to the signals of workers."""
        for module in ("config.checks", "core.work.tasks", "core.work.reconciling"):
            import_module(module)
