"""Imports of data sets become imports of files; those that had not ended are checked again."""

from typing import Any

from django.conf import settings
from django.db import migrations

from core.messages import as_json
from metaeval.messages import plural

ENDED = {"stored": "stored", "refused": "refused", "expired": "cancelled"}


def judgments(n: int) -> dict[str, Any]:
    return as_json(plural("count.judgments", "{n} judgment", "{n} judgments", n=n))


def move(apps: Any, schema_editor: Any) -> None:
    source = apps.get_model("metrics", "DatasetImport").objects
    target = apps.get_model("annotation", "FileImport").objects
    for row in source.order_by("pk").iterator():
        stores = bool(row.choice.get("store")) or row.state == "storing"
        door = "data-set" if row.dataset else "mt-metrics-eval"
        fields = {"status": row.status, "report": row.report, "message": row.message}
        if row.state == "expired":
            fields["status"] = "cancelled"
        elif row.state not in ENDED:
            fields = {"held": held(row, door), "digest": f"moved {row.pk}"}
        moved = target.create(
            door=door,
            name=row.name,
            choices={"store": stores},
            state=ENDED.get(row.state, "checking"),
            queue=row.queue,
            stored=stored(row),
            created_by_id=row.created_by_id,
            **fields,
        )
        target.filter(pk=moved.pk).update(created_at=row.created_at)


def held(row: Any, door: str) -> dict[str, str]:
    """Write what was sent to the folder of files that wait; workers find the row by themselves."""
    from annotation.uploads import InputFile, waiting

    archive = {} if row.dataset else {"archive": InputFile.holding(row.name, bytes(row.content))}
    values = {"dataset": row.dataset} if row.dataset else row.choice
    sent = waiting.Sent(door, archive, values)
    return waiting.hold(waiting.keep(sent, row.created_by_id), row.created_by_id)


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
