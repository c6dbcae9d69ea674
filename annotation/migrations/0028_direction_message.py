"""The reason for a direction of scores is a message, which may be longer than a line."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Texts that are stored already stay as they are."""

    dependencies = [("annotation", "0027_speed_rule")]

    operations = [
        migrations.AlterField(
            model_name="campaign",
            name="direction",
            field=models.TextField(blank=True, default=""),
        ),
    ]
