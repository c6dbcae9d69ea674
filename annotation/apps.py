"""The app that collects judgments."""

import warnings

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        """Keep statistics' warnings out of the server's log: pages show them to their readers."""
        from metaeval import StatisticsWarning

        warnings.filterwarnings("ignore", category=StatisticsWarning)
        post_migrate.connect(create_roles, sender=self)


def create_roles(using: str, **_: object) -> None:
    """Create the groups of the roles, also after `flush`, which empties every table."""
    from django.contrib.auth.models import Group

    from annotation.access import ROLES

    if Group._meta.db_table in connections[using].introspection.table_names():
        for name in ROLES:
            Group.objects.using(using).get_or_create(name=name)
