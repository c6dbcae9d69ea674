"""Opening a campaign: plant its items, give them out or leave them to the pool, let people in."""

from collections.abc import Iterator, Sequence
from itertools import chain
from math import ceil

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from annotation.campaigns.conditions import give_out_trial
from annotation.campaigns.layouts import BATCH, Screens, next_screen, plant_targets
from annotation.campaigns.people import require_status
from annotation.campaigns.readiness import faults
from annotation.campaigns.shares import (
    assign,
    assign_imported,
    has_imported_items,
    screens_of,
    share_out,
)
from annotation.controls import (
    Control,
    ControlMaker,
    CrowdedError,
    plant_checks,
    plant_traps,
    spaced_order,
)
from annotation.controls.spacing import most_controls
from annotation.models import Annotator, Campaign, Item, is_archived
from annotation.notices import tell_closed
from annotation.prefill.keeping import fill_items
from annotation.prefill.trial import is_trial
from annotation.protocols import Layout
from core.batches import batched


@transaction.atomic
def open_campaign(*, campaign: Campaign) -> Campaign:
    """Plant the items, assign them unless there is a pool, and let annotators in.

    Raises ValidationError, naming what is missing, and stores nothing then.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_status(campaign, Campaign.Status.DRAFT, "opened")
    _check_listed(campaign)
    annotators = list(campaign.annotators.filter(excluded_at=None).order_by("pk"))
    if found := faults(campaign):
        raise ValidationError(found)
    if has_imported_items(campaign):
        assign_imported(campaign, annotators)
    else:
        _plant(campaign, annotators)
    if campaign.is_prefilled:
        fill_items(campaign)
    campaign.status = Campaign.Status.OPEN
    campaign.opened_at = timezone.now()
    campaign.save(update_fields=["status", "opened_at"])
    return campaign


def _plant(campaign: Campaign, annotators: Sequence[Annotator]) -> None:
    targets = plant_targets(campaign)
    if is_trial(campaign):
        give_out_trial(campaign, annotators, targets)
        return
    plant_checks(campaign, next_screen(campaign))
    traps = plant_traps(campaign) if campaign.judging.layout == Layout.SINGLE else []
    maker = ControlMaker(campaign, targets, next_screen(campaign))
    if campaign.assignment_mode == Campaign.Mode.STATIC:
        _give_out(campaign, annotators, targets, traps, maker)
    else:
        _fill_bank(campaign, len(annotators), targets, maker)


@transaction.atomic
def close_campaign(*, campaign: Campaign) -> Campaign:
    """Stop taking judgments. Raises ValidationError unless the campaign is open."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_status(campaign, Campaign.Status.OPEN, "closed")
    campaign.status = Campaign.Status.CLOSED
    campaign.closed_at = timezone.now()
    campaign.save(update_fields=["status", "closed_at"])
    tell_closed(campaign)
    return campaign


@transaction.atomic
def reopen_campaign(*, campaign: Campaign) -> Campaign:
    """Take judgments again. Raises ValidationError unless the campaign is closed."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_status(campaign, Campaign.Status.CLOSED, "reopened")
    _check_listed(campaign)
    if campaign.origin == Campaign.Origin.IMPORTED:
        raise ValidationError("An imported campaign cannot be opened: its annotators are gone.")
    campaign.status, campaign.closed_at = Campaign.Status.OPEN, None
    campaign.save(update_fields=["status", "closed_at"])
    return campaign


def _check_listed(campaign: Campaign) -> None:
    if is_archived(campaign):
        raise ValidationError("This campaign is archived. Restore it first.")


def _give_out(
    campaign: Campaign,
    annotators: Sequence[Annotator],
    targets: Screens,
    traps: Sequence[Item],
    maker: ControlMaker,
) -> None:
    """Targets go round the annotators in equal shares, with controls made from each share.

    Controls are stored once all are drawn, so that annotators with the same partner share them.
    """
    shares = share_out(
        len(targets), len(annotators), campaign.annotators_per_item,
        rng=campaign.hidden_rng("shares"),
    )  # fmt: skip
    common = [Control(Item.Kind.TRAP, None, [trap]) for trap in traps]
    drawn = [
        maker.draw(share, annotator.label, campaign.hidden_rng("own", annotator.label))
        for annotator, share in zip(annotators, shares, strict=True)
    ]
    _store(control for controls in drawn for control in controls)
    tutorial = screens_of(campaign, Item.Kind.TUTORIAL)
    gold = screens_of(campaign, Item.Kind.GOLD)
    for annotator, share, own in zip(annotators, shares, drawn, strict=True):
        order = _order(campaign, annotator, share, [*common, *own], len(gold))
        assign(annotator, chain(tutorial, _screens(order, share, targets, [*common, *own], gold)))


def _order(
    campaign: Campaign,
    annotator: Annotator,
    share: Sequence[int],
    controls: Sequence[Control],
    n_gold: int,
) -> list[int]:
    place = {index: number for number, index in enumerate(share)}
    partners = [None if each.partner is None else place[each.partner] for each in controls]
    rng = campaign.hidden_rng("order", annotator.label)
    spacing = campaign.control_spacing
    try:
        return spaced_order(
            len(share), [*partners, *[None] * n_gold], spacing, rng=rng, n_even=n_gold
        )
    except CrowdedError as error:
        n_controls = len(controls) + n_gold
        raise ValidationError(
            f"{annotator.label} has {len(share):,} screens of targets and {n_controls:,} of "
            f"controls. With at least {spacing} screens between two controls, and between a "
            f"control and its partner, they do not fit: there is room for "
            f"{most_controls(len(share), spacing):,} controls at the very most. Ask for fewer "
            "controls, or for less space between them."
        ) from error


def _screens(
    order: Sequence[int],
    share: Sequence[int],
    targets: Screens,
    controls: Sequence[Control],
    gold: Sequence[Sequence[int]],
) -> Iterator[Sequence[int]]:
    extra = [[item.pk for item in control.items] for control in controls]
    extra += [list(screen) for screen in gold]
    for number in order:
        yield targets[share[number]] if number < len(share) else extra[number - len(share)]


def _fill_bank(
    campaign: Campaign, n_annotators: int, targets: Screens, maker: ControlMaker
) -> None:
    """Plant controls that the pool can draw from, for whoever gets their partners.

    Nobody knows yet who gets what. With 2c + 8 controls of a kind expected among the partners of
    one annotator, almost everybody finds the c that they are to get.
    """
    load = _expected_load(campaign, n_annotators, targets)
    for kind, count in maker.counts().items():
        size = min(len(targets), ceil((2 * count + 8) * len(targets) / max(1.0, load)))
        n = _store(maker.bank(kind, size))
        if n < min(count, len(targets)):
            raise ValidationError(
                f"Only {n:,} of {len(targets):,} screens can be made into a control of the kind "
                f"“{kind.label}”, and each annotator is to get {count:,}."
            )


def _expected_load(campaign: Campaign, n_annotators: int, targets: Screens) -> float:
    """How many screens an annotator of the pool is likely to see."""
    if campaign.items_per_annotator:
        return campaign.items_per_annotator * len(targets) / max(1, targets.n_items)
    return len(targets) * campaign.annotators_per_item / max(1, n_annotators)


def _store(controls: Iterator[Control]) -> int:
    """Store the items of controls, each once; returns how many controls there were."""
    n = 0
    for batch in batched(controls, BATCH):
        n += len(batch)
        items = {id(item): item for each in batch for item in each.items if item.pk is None}
        Item.objects.bulk_create(list(items.values()), batch_size=BATCH)
    return n
