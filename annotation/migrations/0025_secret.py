"""Give every campaign a secret of its own, from which hidden draws come from now on."""

from django.db import migrations, models

from annotation.models.campaign import new_secret


def give_secrets(apps, schema_editor):
    campaigns = apps.get_model("annotation", "Campaign").objects.using(schema_editor.connection.alias)
    for pk in campaigns.values_list("pk", flat=True):
        campaigns.filter(pk=pk).update(secret=new_secret())


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0024_score_directions_and_file_order"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="secret",
            field=models.CharField(default=new_secret, editable=False, max_length=64),
        ),
        migrations.RunPython(give_secrets, migrations.RunPython.noop),
    ]
