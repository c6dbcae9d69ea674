"""The site as an app: it has the checks."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings

from config.redaction import start_reports


class SiteConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        """Register the checks, and report errors where the site wants them."""
        import_module("config.checks")
        if settings.SENTRY_DSN:
            start_reports(
                settings.SENTRY_DSN,
                release=settings.VERSION,
                secrets=(settings.SECRET_KEY, settings.OIDC_CLIENT_SECRET),
            )
