"""Create the group of those who upload test sets, and create and run campaigns of their own."""

from django.db import migrations


def create_group(apps, schema_editor):
    apps.get_model("auth", "Group").objects.get_or_create(name="campaign admin")


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_protocols"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]
    operations = [migrations.RunPython(create_group, migrations.RunPython.noop)]
