"""The tables of a new database."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotation', '0001_squashed_0022_indexes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Analysis',
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
                ('kind', models.CharField(max_length=40)),
                ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='analyses', to='annotation.campaign')),
                ('filters', models.JSONField(default=dict)),
                ('question', models.CharField(max_length=64, unique=True)),
                ('payload', models.BinaryField(default=b'')),
                ('basis', models.CharField(blank=True, max_length=64)),
                ('as_of', models.DateTimeField(blank=True, null=True)),
                ('seconds', models.FloatField(blank=True, null=True)),
                ('problem', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['status', 'queue'], name='analysis_waiting')],
            },
        ),
        migrations.CreateModel(
            name='Selection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='selections', to='annotation.campaign')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=80)),
                ('note', models.TextField(blank=True, max_length=2000)),
                ('query', models.TextField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'name'), name='selection_name')],
            },
        ),
    ]
