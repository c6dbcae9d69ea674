"""The app that fits and trains metrics."""

from django.apps import AppConfig


class TrainingConfig(AppConfig):
    name = "training"
