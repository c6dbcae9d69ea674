"""Imported campaigns have the systems that were judged, not all of their length."""

from typing import Any

from django.db import migrations


def keep_judged(apps: Any, schema_editor: Any) -> None:
    """Drop from imported campaigns the systems without an item and without a published score."""
    campaigns = apps.get_model("annotation", "Campaign")
    items = apps.get_model("annotation", "Item")
    scores = apps.get_model("annotation", "PublishedScore")
    for campaign in campaigns.objects.filter(origin="imported"):
        own = items.objects.filter(campaign=campaign)
        published = scores.objects.filter(campaign=campaign)
        judged = {
            *own.exclude(system=None).values_list("system", flat=True).distinct(),
            *own.exclude(output=None).values_list("output__system", flat=True).distinct(),
            *published.exclude(system=None).values_list("system", flat=True).distinct(),
            *published.exclude(output=None).values_list("output__system", flat=True).distinct(),
        }
        unjudged = set(campaign.systems.values_list("pk", flat=True)) - judged
        if judged and unjudged:
            campaign.systems.remove(*unjudged)


class Migration(migrations.Migration):
    """What is stored already becomes what an import stores now."""

    dependencies = [("annotation", "0025_secret")]

    operations = [migrations.RunPython(keep_judged, migrations.RunPython.noop)]
