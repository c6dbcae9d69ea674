"""Imports and comparisons of hashes wait, run and end as all background work (`config.work`)."""

from typing import Any

import django.db.models.functions.datetime
from django.db import migrations, models


def fill(apps: Any, schema_editor: Any) -> None:
    """Those that wait for a person have been worked on; those that wait for a worker still do."""
    imports = apps.get_model("metrics", "DatasetImport").objects
    imports.update(queue="slow")
    imports.exclude(state__in=("checking", "storing")).update(status="done")


class Migration(migrations.Migration):
    dependencies = [
        ("metrics", "0010_slices"),
    ]

    operations = [
        migrations.RemoveField(
            model_name="datasetimport",
            name="taken_at",
        ),
        migrations.AddField(
            model_name="datasetimport",
            name="attempts",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="datasetimport",
            name="expires_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="datasetimport",
            name="message",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.AddField(
            model_name="datasetimport",
            name="not_before",
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
        ),
        migrations.AddField(
            model_name="datasetimport",
            name="owner",
            field=models.CharField(blank=True, default="", max_length=60),
        ),
        migrations.AddField(
            model_name="datasetimport",
            name="priority",
            field=models.SmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="datasetimport",
            name="queue",
            field=models.CharField(default="cpu", max_length=60),
        ),
        migrations.AddField(
            model_name="datasetimport",
            name="requires",
            field=models.CharField(blank=True, default="", max_length=200),
        ),
        migrations.AddField(
            model_name="datasetimport",
            name="sent_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="datasetimport",
            name="status",
            field=models.CharField(
                choices=[
                    ("queued", "Queued"),
                    ("running", "Running"),
                    ("done", "Done"),
                    ("failed", "Failed"),
                    ("cancelled", "Cancelled"),
                ],
                default="queued",
                max_length=10,
            ),
        ),
        migrations.RemoveField(
            model_name='worker',
            name='checks',
        ),
        migrations.CreateModel(
            name='HashCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='queued', max_length=10)),
                ('queue', models.CharField(default='cpu', max_length=60)),
                ('priority', models.SmallIntegerField(default=0)),
                ('requires', models.CharField(blank=True, default='', max_length=200)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('owner', models.CharField(blank=True, default='', max_length=60)),
                ('not_before', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('message', models.TextField(blank=True, default='')),
                ('host', models.CharField(max_length=200)),
                ('checkpoint', models.CharField(max_length=500)),
                ('problems', models.JSONField(default=list)),
                ('size', models.PositiveBigIntegerField(null=True)),
                ('checked_at', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('host', 'checkpoint'), name='hash_check_once')],
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
