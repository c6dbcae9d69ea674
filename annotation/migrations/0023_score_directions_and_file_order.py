from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0001_squashed_0022_indexes'),
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
    ]
