"""Mark human translations among the stored systems: correlations of metrics leave them out."""

from django.db import migrations, models
from django.db.models import Count, F

from metaeval.scores.human_systems import is_reference, looks_human, reference_letter


def mark(apps, schema_editor):
    """Mark systems that have the name of a human translation, or a reference's texts."""
    System = apps.get_model("annotation", "System")
    Output = apps.get_model("annotation", "Output")
    Reference = apps.get_model("annotation", "Reference")
    sets = set(Reference.objects.order_by().values_list("segment__test_set", flat=True).distinct())
    filled = Output.objects.order_by().exclude(text="")
    totals = dict(filled.values_list("system").annotate(n=Count("pk")))
    references = {}
    equal = (
        filled.filter(segment__references__text=F("text"))
        .values_list("system", "segment__references__name")
        .annotate(n=Count("pk"))
    )
    for system, name, n in equal.order_by("-segment__references__name"):
        if is_reference(n, totals[system]):
            references[system] = name
    for pk, name, test_set in System.objects.values_list("pk", "name", "test_set"):
        reference, is_named = references.get(pk, ""), looks_human(name)
        if is_named and test_set not in sets:
            reference = reference_letter(name).upper()
        if reference or is_named:
            System.objects.filter(pk=pk).update(is_human=True, reference=reference)


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0001_squashed_0022_indexes"),
    ]

    operations = [
        migrations.AddField(
            model_name='system',
            name='is_human',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='system',
            name='reference',
            field=models.CharField(blank=True, default='', max_length=40),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
