"""The site as an app: it has the checks."""

from importlib import import_module

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        """Register the checks."""
        import_module("config.checks")
