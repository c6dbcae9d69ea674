"""The app that shows judgments and scores side by side; its one table can be computed again."""

from django.apps import AppConfig


class DashboardsConfig(AppConfig):
    name = "dashboards"
