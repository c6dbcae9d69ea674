"""The app that compares judgments with scores."""

from django.apps import AppConfig


class DashboardsConfig(AppConfig):
    name = "dashboards"
