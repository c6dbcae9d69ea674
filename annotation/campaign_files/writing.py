"""Write a stored campaign as the values of its file."""

import json
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.db.models import Q

from annotation.campaign_files.parsing import SCHEMA
from annotation.campaign_files.suggesting import written
from annotation.models import Campaign, Item, Output, TestSet
from annotation.prefill.suggestions import key_of, offered
from annotation.uploads.media.attachments import written_attachments

OWN = "own"
FIELDS = {
    part: [name for name in properties["properties"] if name not in ("preset", "practice")]
    for part, properties in json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"].items()
    if part in ("task", "checks")
}
ITEM = (
    "kind", "text", "batch", "screen", "place", "column", "n_columns", "note", "low", "high",
    "feedback", "rules",
)  # fmt: skip


def to_values(campaign: Campaign, *, with_secret: bool = False) -> dict[str, Any]:
    """Return everything that makes the campaign again, without judgments and without links.

    With the secret, the same items are drawn in the same orders; who has it can predict them.
    """
    systems = list(campaign.systems.order_by("name").values_list("name", flat=True))
    task = {name: _plain(getattr(campaign, name)) for name in FIELDS["task"] if name != "systems"}
    checks = {name: _plain(getattr(campaign, name)) for name in FIELDS["checks"]}
    if campaign.status != Campaign.Status.DRAFT:
        # They exist already, as items.
        checks["rotated_checks"] = 0
    return {
        "touchstone": 1,
        "texts": _texts(campaign.test_set),
        "task": task | {"systems": systems},
        "checks": {"practice": False} | checks,
        "instructions": _instructions(campaign),
        "items": list(_items(campaign)),
        "people": campaign.annotators.filter(excluded_at=None).count(),
        **({"secret": campaign.secret} if with_secret else {}),
        **({"suggestions": suggested} if (suggested := written(campaign)) else {}),
    }


def _plain(value: Any) -> Any:
    return str(value.normalize()) if isinstance(value, Decimal) else value


def _texts(test_set: TestSet) -> dict[str, Any]:
    head = ("name", "slug", "source_language", "target_language", "description")
    segments = test_set.segments.order_by("position").prefetch_related("references")
    return {name: getattr(test_set, name) for name in head} | {
        "segments": [
            {
                "id": segment.key,
                "source": "" if (segment.beside or {}).get("is_source") else segment.source,
                "document": segment.document,
                **({"domain": segment.domain} if segment.domain else {}),
                "references": {each.name: each.text for each in segment.references.all()},
                **written_attachments(segment.beside or {}),
            }
            for segment in segments
        ],
        "systems": _systems(test_set),
    }


def _systems(test_set: TestSet) -> list[dict[str, Any]]:
    outputs: dict[int, dict[str, str]] = defaultdict(dict)
    rows = Output.objects.filter(system__test_set=test_set).order_by("segment__position")
    for system, key, text in rows.values_list("system_id", "segment__key", "text"):
        outputs[system][key] = text
    return [
        {
            "name": system.name,
            "length_ratio": _plain(system.length_ratio),
            "is_human": system.is_human,
            "outputs": outputs[system.pk],
        }
        for system in test_set.systems.order_by("-length_ratio", "name")
    ]


def _instructions(campaign: Campaign) -> dict[str, dict[str, str]]:
    rows = campaign.translations.order_by("language")
    translated = {
        row.language: {"instructions": row.instructions, "consent": row.consent} for row in rows
    }
    own = {"instructions": campaign.instructions, "consent": campaign.consent}
    return {OWN: own} | translated


def _items(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Yield items that were added or imported; planted ones follow from the secret."""
    brought = Q(kind__in=(Item.Kind.GOLD, Item.Kind.TUTORIAL)) | ~Q(batch="")
    rows = list(
        campaign.items.filter(brought)
        .order_by("pk")
        .select_related("segment", "system", "output__system")
    )
    places = {item.pk: place for place, item in enumerate(rows)}
    for item in rows:
        system = item.system or (item.output.system if item.output else None)
        values = {
            "kind": item.kind,
            "segment": item.segment.key,
            "system": system.name if system else None,
            "partner": places.get(item.partner_id) if item.partner_id else None,
            **{name: getattr(item, name) for name in ITEM[1:]},
            "suggestions": [key_of(each.span) for each in offered(item.suggestions, "")] or None,
        }
        yield {name: value for name, value in values.items() if value not in (None, "")}
