from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0015_grid_protocols'),
    ]

    operations = [
        migrations.AddField(
            model_name='item',
            name='rules',
            field=models.JSONField(blank=True, null=True),
        ),
    ]
