"""The tables of a new database."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotation', '0001_squashed_0022_indexes'),
        ('metrics', '0001_squashed_0016_scores_by_signature_and_content'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ParallelCorpus',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=60, unique=True)),
                ('source_language', models.CharField(max_length=20)),
                ('target_language', models.CharField(max_length=20)),
                ('n_pairs', models.PositiveIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('report', models.JSONField()),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name_plural': 'parallel corpora',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='CorpusText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('corpus', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='text', to='training.parallelcorpus')),
                ('packed', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='TrainingJob',
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
                ('name', models.CharField(max_length=60)),
                ('sweep', models.CharField(blank=True, db_index=True, default='', max_length=60)),
                ('options', models.JSONField(default=dict)),
                ('progress', models.JSONField(default=dict)),
                ('result', models.JSONField(default=dict)),
                ('metric', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='jobs', to='metrics.configuredmetric')),
                ('is_here', models.BooleanField(default=False)),
                ('lacks', models.JSONField(default=dict)),
                ('worker', models.CharField(blank=True, default='', max_length=200)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('corpora', models.ManyToManyField(blank=True, related_name='jobs', to='training.parallelcorpus')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['status', 'queue'], name='job_status')],
            },
        ),
        migrations.CreateModel(
            name='PreferenceResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='preferences', to='training.trainingjob')),
                ('test_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='preferences', to='annotation.testset')),
                ('metric', models.CharField(max_length=60)),
                ('condition', models.CharField(max_length=20)),
                ('measure', models.CharField(max_length=80)),
                ('label', models.CharField(max_length=160)),
                ('signature', models.TextField()),
                ('n', models.PositiveIntegerField()),
                ('statistic', models.FloatField(null=True)),
                ('low', models.FloatField(null=True)),
                ('high', models.FloatField(null=True)),
                ('mean', models.FloatField(null=True)),
                ('median', models.FloatField(null=True)),
                ('ties', models.FloatField(null=True)),
                ('differences', models.BinaryField()),
                ('rules', models.PositiveSmallIntegerField(default=1)),
            ],
            options={
                'ordering': ['pk'],
                'indexes': [models.Index(fields=['test_set', 'condition'], name='preference_of_set')],
                'constraints': [models.UniqueConstraint(fields=('job', 'condition', 'measure'), name='preference_result_once')],
            },
        ),
        migrations.CreateModel(
            name='PreferenceFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='training.trainingjob')),
                ('condition', models.CharField(max_length=20)),
                ('name', models.CharField(max_length=255)),
                ('sha256', models.CharField(max_length=64)),
                ('packed', models.BinaryField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('job', 'condition'), name='preference_file_once')],
            },
        ),
        migrations.CreateModel(
            name='Translation',
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
                ('test_set', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='translations', to='annotation.testset')),
                ('name', models.CharField(max_length=120)),
                ('model', models.TextField()),
                ('job', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='translations', to='training.trainingjob')),
                ('request', models.JSONField(default=dict)),
                ('progress', models.JSONField(default=dict)),
                ('result', models.JSONField(default=dict)),
                ('system', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='translation', to='annotation.system')),
                ('is_here', models.BooleanField(default=False)),
                ('lacks', models.JSONField(default=dict)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['status', 'queue'], name='translation_status')],
            },
        ),
        migrations.CreateModel(
            name='TranslatedText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('translation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='texts', to='training.translation')),
                ('segment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.segment')),
                ('text', models.TextField(blank=True)),
                ('wanted', models.PositiveIntegerField(null=True)),
                ('length', models.PositiveIntegerField()),
                ('pieces', models.PositiveIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('translation', 'segment'), name='translated_once')],
            },
        ),
    ]
