"""Jobs wait, run and end as all background work does (`config.work`)."""

from typing import Any

import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone


def fill(apps: Any, schema_editor: Any) -> None:
    """Name each job's queue, and let what ran under the old claims go on from what it saved."""
    jobs = apps.get_model("training", "TrainingJob").objects
    for job in jobs.all():
        # Every kind went to the queue of GPUs, unless its options named another.
        jobs.filter(pk=job.pk).update(queue=job.options.get("queue") or "gpu")
    # Attempts were counted when they began, and are now when they have failed.
    jobs.filter(attempts__gt=0).update(attempts=models.F("attempts") - 1)
    jobs.filter(status__in=("queued", "running")).update(attempts=0)
    jobs.filter(status="running").update(expires_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [
        ("metrics", "0009_dataset_import"),
        ("training", "0005_job_is_here"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="trainingjob",
            name="job_stale",
        ),
        migrations.RemoveField(
            model_name="trainingjob",
            name="claim",
        ),
        migrations.RemoveField(
            model_name="trainingjob",
            name="heartbeat_at",
        ),
        migrations.AddField(
            model_name="preferenceresult",
            name="rules",
            field=models.PositiveSmallIntegerField(default=1),
        ),
        migrations.AddField(
            model_name="trainingjob",
            name="expires_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="trainingjob",
            name="lacks",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="trainingjob",
            name="not_before",
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AddField(
            model_name="trainingjob",
            name="owner",
            field=models.CharField(blank=True, default="", max_length=60),
        ),
        migrations.AddField(
            model_name="trainingjob",
            name="priority",
            field=models.SmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="trainingjob",
            name="queue",
            field=models.CharField(default="cpu", max_length=60),
        ),
        migrations.AddField(
            model_name="trainingjob",
            name="requires",
            field=models.CharField(blank=True, default="", max_length=200),
        ),
        migrations.AddField(
            model_name="trainingjob",
            name="sent_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="trainingjob",
            name="message",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.AddIndex(
            model_name="trainingjob",
            index=models.Index(fields=["status", "queue"], name="job_status"),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
