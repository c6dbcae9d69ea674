"""The app that scores outputs with automatic metrics."""

from django.apps import AppConfig


class MetricsConfig(AppConfig):
    name = "metrics"
