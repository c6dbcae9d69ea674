"""The app that shows judgments and scores side by side; it owns no tables."""

from django.apps import AppConfig


class DashboardsConfig(AppConfig):
    name = "dashboards"
