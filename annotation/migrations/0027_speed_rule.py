"""What becomes of ratings that are given faster than anyone can read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """A setting of campaigns, and a reason to stop an annotator."""

    dependencies = [("annotation", "0026_judged_systems")]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="speed_rule",
            field=models.CharField(
                choices=[
                    ("off", "Nothing happens"),
                    ("slow", "Slow down: a rating is taken once its texts can be read"),
                    ("stop", "Stop the annotator until an admin has decided"),
                ],
                default="off",
                max_length=4,
            ),
        ),
        migrations.AlterField(
            model_name="stop",
            name="reason",
            field=models.CharField(
                choices=[
                    ("test", "Comprehension test"),
                    ("checks", "Attention checks"),
                    ("speed", "Faster than anyone can read"),
                ],
                max_length=10,
            ),
        ),
    ]
