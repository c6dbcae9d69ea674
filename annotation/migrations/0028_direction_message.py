"""The reason for a direction of scores is a message; two settings have clearer labels."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Texts that are stored already stay as they are, and so do the values of settings."""

    dependencies = [("annotation", "0027_speed_rule")]

    operations = [
        migrations.AlterField(
            model_name="campaign",
            name="direction",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="assignment_mode",
            field=models.CharField(
                choices=[
                    ("static", "Fixed"),
                    ("pool", "Open pool"),
                    ("active", "Active"),
                    ("dynamic", "Dynamic"),
                ],
                default="static",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="stop",
            name="reason",
            field=models.CharField(
                choices=[
                    ("test", "Comprehension test"),
                    ("checks", "Control items"),
                    ("speed", "Faster than anyone can read"),
                ],
                max_length=10,
            ),
        ),
    ]
