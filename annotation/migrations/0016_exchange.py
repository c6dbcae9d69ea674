from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0014_own_answers'),
    ]

    operations = [
        migrations.AddField(
            model_name='item',
            name='rules',
            field=models.JSONField(blank=True, null=True),
        ),
    ]
