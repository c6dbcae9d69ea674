"""Store suggestions of a draft by output, and copy them to its items when it is opened."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.models import Campaign, Item, OutputSuggestions, Prefill
from annotation.prefill.suggestions import as_stored, key_of, offered
from annotation.protocols import Span
from core.batches import batched
from metaeval.messages import message

BATCH = 1_000
NO_SPANS = message(
    "prefill.no-spans",
    "Errors can be suggested only if annotators mark errors. This protocol has no error marking.",
)
NOT_A_DRAFT = message(
    "prefill.not-a-draft",
    "Suggestions cannot be changed after a campaign was opened, because annotators would see "
    "different ones.",
)
NOTHING_TO_CHECK = message("prefill.nothing-suggested", "Add suggested errors first.")
NO_ERRORS = message("prefill.no-errors", "The file has no errors for the outputs of this campaign.")

Spans = Mapping[int, Sequence[Span]]


def require_draft(campaign: Campaign) -> None:
    """Raise ValidationError unless suggestions of a campaign can be changed."""
    if campaign.judging.spans is None:
        raise ValidationError([NO_SPANS])
    if campaign.status != Campaign.Status.DRAFT:
        raise ValidationError([NOT_A_DRAFT])


@transaction.atomic
def keep_suggestions(
    campaign: Campaign,
    spans: Spans,
    *,
    source: str,
    label: str,
    details: Mapping[str, Any],
    user: Any = None,
) -> Prefill:
    """Store suggested errors by primary key of the output, replacing earlier ones.

    Absent outputs get no suggestions. Raises ValidationError if the campaign is not a draft.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_draft(campaign)
    if not any(spans.values()):
        raise ValidationError([NO_ERRORS])
    about = {"source": source, "label": label[:200], "details": details, "created_by": user}
    prefill, _ = Prefill.objects.update_or_create(
        campaign=campaign, defaults=about, create_defaults=about | {"seed": campaign.seed}
    )
    _keep(prefill, "spans", spans)
    campaign.items.update(suggestions=None)
    campaign.is_prefilled = True
    campaign.save(update_fields=["is_prefilled"])
    return prefill


@transaction.atomic
def keep_gold(campaign: Campaign, spans: Spans, *, label: str) -> Prefill:
    """Store adjudicated errors; an output with an empty list is adjudicated as correct.

    Raises ValidationError if the campaign is not a draft or has no suggestions.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_draft(campaign)
    prefill = Prefill.objects.filter(campaign=campaign).first()
    if prefill is None:
        raise ValidationError([NOTHING_TO_CHECK])
    _keep(prefill, "gold", spans)
    prefill.gold_label = label[:200]
    prefill.save(update_fields=["gold_label"])
    return prefill


@transaction.atomic
def drop(campaign: Campaign) -> None:
    """Delete all suggestions. Raises ValidationError if the campaign is not a draft."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_draft(campaign)
    Prefill.objects.filter(campaign=campaign).delete()
    campaign.items.update(suggestions=None)
    campaign.is_prefilled = False
    campaign.save(update_fields=["is_prefilled"])


def _keep(prefill: Prefill, field: str, spans: Spans) -> None:
    prefill.outputs.update(**{field: None})
    rows = [
        OutputSuggestions(
            prefill=prefill, output_id=output, **{field: [key_of(span) for span in own]}
        )
        for output, own in spans.items()
    ]
    OutputSuggestions.objects.bulk_create(
        rows,
        batch_size=BATCH,
        update_conflicts=True,
        update_fields=[field],
        unique_fields=["prefill", "output"],
    )
    prefill.outputs.filter(spans__isnull=True, gold__isnull=True).delete()


def suggested_in(campaign: Campaign, outputs: Sequence[int]) -> dict[int, list[Span]]:
    """Return the suggestions for some outputs of a campaign, before or after opening."""
    if not campaign.is_prefilled:
        return {}
    stored = OutputSuggestions.objects.filter(prefill__campaign=campaign, output__in=outputs)
    found = dict(stored.exclude(spans__isnull=True).values_list("output_id", "spans"))
    spans = {output: [Span(*each) for each in own or ()] for output, own in found.items()}
    items = campaign.items.filter(output__in=outputs, suggestions__isnull=False)
    for output, own in items.values_list("output_id", "suggestions"):
        spans.setdefault(output, [each.span for each in offered(own, "")])
    return spans


def fill_items(campaign: Campaign) -> None:
    """Copy the suggestions to the items of a campaign that is being opened.

    A repeat gets the suggestions of its output. Items imported with suggestions keep theirs.
    """
    items = campaign.items.exclude(output=None).filter(suggestions__isnull=True)
    rows = OutputSuggestions.objects.filter(prefill__campaign=campaign).exclude(spans__isnull=True)
    spans = dict(rows.values_list("output_id", "spans"))
    for batch in batched(items.only("pk", "output_id").iterator(BATCH), BATCH):
        changed = []
        for item in batch:
            if own := spans.get(item.output_id or 0):
                item.suggestions = as_stored(Span(*span) for span in own)
                changed.append(item)
        Item.objects.bulk_update(changed, ["suggestions"])
