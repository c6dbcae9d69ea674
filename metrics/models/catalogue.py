"""Metrics that an admin or a training run added, and imports of published sets."""

import re
from typing import Any

from django.conf import settings
from django.db import models

from core.messages import invalid
from metaeval.messages import from_json
from metrics.base import MetricInfo
from metrics.registry import METRICS


def validate_metric_name(name: str) -> None:
    """Refuse a name that cannot be part of an address, a file's name or a command."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]*", name):
        raise invalid(
            "metric.name-invalid",
            "Use only a–z, 0–9, +, . and - in the name, and begin with a letter or digit.",
        )


class ConfiguredMetric(models.Model):
    """A metric that an admin or a training run added: a family of the registry with its options.

    `description` holds the fields of its :class:`MetricInfo` as they were made, so that scores
    stay readable where the checkpoint is not. Rows are never changed, only retired.
    """

    name = models.CharField(
        max_length=60,
        unique=True,
        validators=[validate_metric_name],
    )
    label = models.CharField(max_length=80)
    family = models.CharField(max_length=40)
    description = models.JSONField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["family", "label", "name"]

    def __str__(self) -> str:
        return self.label

    @property
    def info(self) -> MetricInfo:
        """The description of the metric."""
        fields = {key: _read(key, value) for key, value in self.description.items()}
        # What was stored before this field was renamed.
        fields["notes"] = fields.pop("remarks", fields.get("notes", ""))
        return MetricInfo(**fields)


def _read(key: str, value: Any) -> Any:
    if key == "options":
        return tuple(value.items())
    if isinstance(value, dict):
        return from_json(value)
    return tuple(value) if isinstance(value, list) else value


def find_info(name: str) -> MetricInfo | None:
    """Return the description of a metric, retired or not; None for an unknown one."""
    if name in METRICS:
        return METRICS[name][0]
    row = ConfiguredMetric.objects.filter(name=name).first()
    return row.info if row else None
