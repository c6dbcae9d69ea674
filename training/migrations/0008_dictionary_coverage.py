"""Results of word-by-word analyses say how much of the words their dictionary knew."""

from typing import Any

from django.db import migrations, models


def fill_in(apps: Any, schema_editor: Any) -> None:
    """Take the coverage of stored results from what their job reported."""
    results = apps.get_model("training", "PreferenceResult").objects
    jobs = apps.get_model("training", "TrainingJob").objects.filter(kind="preferences")
    for job in jobs.only("pk", "result").iterator():
        for found in (job.result or {}).get("conditions", []):
            if found.get("coverage") is not None:
                rows = results.filter(job=job, condition=found["condition"])
                rows.update(coverage=found["coverage"])


class Migration(migrations.Migration):

    dependencies = [
        ("training", "0001_squashed_0007_translations"),
    ]

    operations = [
        migrations.AddField(
            model_name="preferenceresult",
            name="coverage",
            field=models.FloatField(null=True),
        ),
        migrations.RunPython(fill_in, migrations.RunPython.noop),
    ]
