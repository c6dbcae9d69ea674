"""Suggestions of a draft: kept by output, and put into its items when it is opened."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.models import Campaign, Item, OutputSuggestions, Prefill
from annotation.prefill.suggestions import as_stored, key_of, offered
from annotation.protocols import Span
from core.batches import batched

BATCH = 1_000
NO_SPANS = "Errors can be suggested where the protocol has annotators mark errors."
NOT_A_DRAFT = "Suggestions are settled before a campaign opens: people would see different ones."
NOTHING_TO_CHECK = "Say first what is suggested."

Spans = Mapping[int, Sequence[Span]]


def require_draft(campaign: Campaign) -> None:
    """Raise ValidationError unless suggestions of a campaign can be changed."""
    if campaign.judging.spans is None:
        raise ValidationError(NO_SPANS)
    if campaign.status != Campaign.Status.DRAFT:
        raise ValidationError(NOT_A_DRAFT)


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
    """Suggest these errors, by primary key of the output, instead of any before.

    An output that is absent has none. Raises ValidationError for a campaign that is no draft.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_draft(campaign)
    if not any(spans.values()):
        raise ValidationError("There is no error in these for the outputs of this campaign.")
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
    """Keep adjudicated errors; an output with none of them is adjudicated correct.

    Raises ValidationError for a campaign that is no draft or suggests nothing.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_draft(campaign)
    prefill = Prefill.objects.filter(campaign=campaign).first()
    if prefill is None:
        raise ValidationError(NOTHING_TO_CHECK)
    _keep(prefill, "gold", spans)
    prefill.gold_label = label[:200]
    prefill.save(update_fields=["gold_label"])
    return prefill


@transaction.atomic
def drop(campaign: Campaign) -> None:
    """Suggest nothing. Raises ValidationError for a campaign that is no draft."""
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
    """Return what is suggested of some outputs of a campaign, opened or not."""
    if not campaign.is_prefilled:
        return {}
    kept = OutputSuggestions.objects.filter(prefill__campaign=campaign, output__in=outputs)
    found = dict(kept.exclude(spans__isnull=True).values_list("output_id", "spans"))
    spans = {output: [Span(*each) for each in own or ()] for output, own in found.items()}
    items = campaign.items.filter(output__in=outputs, suggestions__isnull=False)
    for output, stored in items.values_list("output_id", "suggestions"):
        spans.setdefault(output, [each.span for each in offered(stored, "")])
    return spans


def fill_items(campaign: Campaign) -> None:
    """Put what is suggested into the items of a campaign that is being opened.

    A repeat gets what its output got before. Items that came with suggestions keep them.
    """
    items = campaign.items.exclude(output=None).filter(suggestions__isnull=True)
    kept = OutputSuggestions.objects.filter(prefill__campaign=campaign).exclude(spans__isnull=True)
    spans = dict(kept.values_list("output_id", "spans"))
    for batch in batched(items.only("pk", "output_id").iterator(BATCH), BATCH):
        changed = []
        for item in batch:
            if own := spans.get(item.output_id or 0):
                item.suggestions = as_stored(Span(*span) for span in own)
                changed.append(item)
        Item.objects.bulk_update(changed, ["suggestions"])
