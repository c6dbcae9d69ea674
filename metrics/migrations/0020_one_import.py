"""Imports of data sets become imports of files; what nobody had confirmed is cancelled."""

from typing import Any

from django.conf import settings
from django.db import migrations

from core.messages import as_json
from metaeval.messages import plural

ENDED = ("stored", "refused")


def judgments(n: int) -> dict[str, Any]:
    return as_json(plural("count.judgments", "{n} judgment", "{n} judgments", n=n))


def move(apps: Any, schema_editor: Any) -> None:
    source = apps.get_model("metrics", "DatasetImport").objects.defer("content")
    target = apps.get_model("annotation", "FileImport").objects
    for row in source.order_by("pk").iterator():
        state = row.state if row.state in ENDED else "cancelled"
        moved = target.create(
            door="data-set" if row.dataset else "mt-metrics-eval",
            name=row.name,
            choices={"store": bool(row.choice.get("store"))},
            state=state,
            status=row.status if state in ENDED else "cancelled",
            queue=row.queue,
            attempts=row.attempts,
            message=row.message,
            report=row.report,
            stored=stored(row),
            created_by_id=row.created_by_id,
        )
        target.filter(pk=moved.pk).update(created_at=row.created_at)


def stored(row: Any) -> dict[str, Any]:
    found = [each for one in row.found.get("sets", []) for each in one["campaigns"]]
    numbers = {each["slug"]: each["judgments"] for each in found}
    sets = row.stored.get("sets", [])
    if not sets:
        return {}
    return {
        "results": [
            {
                "slug": each["slug"],
                "is_new": each["is_new"],
                "n_judgments": (n := numbers.get(each["slug"], 0)),
                "contents": [judgments(n)],
            }
            for one in sets
            for each in one["campaigns"]
        ],
        "test_sets": [one["test_set"] for one in sets],
    }


class Migration(migrations.Migration):
    dependencies = [
        ("metrics", "0019_templates_from_files"),
        ("annotation", "0036_identity"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RunPython(move, migrations.RunPython.noop, elidable=True),
        migrations.DeleteModel("DatasetImport"),
    ]
