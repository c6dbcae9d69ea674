"""Published scores may be better when lower; test sets know whether a file gave their order."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def note_file_order(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Test sets that came with an imported campaign may have the order of its judgments.

    Such a campaign has the address of the test set, perhaps with the name of a score behind it.
    """
    test_sets = apps.get_model('annotation', 'TestSet').objects
    imported = apps.get_model('annotation', 'Campaign').objects.filter(origin='imported')
    unknown = {
        test_set
        for test_set, slug, campaign in imported.values_list(
            'test_set', 'test_set__slug', 'slug'
        )
        if f'{campaign}-'.startswith(f'{slug}-')
    }
    for test_set in test_sets.exclude(pk__in=unknown):
        test_set.is_in_file_order = True
        test_set.save(update_fields=['is_in_file_order'])


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0023_human_systems'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='lower_is_better',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='campaign',
            name='direction',
            field=models.CharField(blank=True, default='', max_length=300),
        ),
        migrations.AddField(
            model_name='testset',
            name='is_in_file_order',
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(note_file_order, migrations.RunPython.noop),
    ]
