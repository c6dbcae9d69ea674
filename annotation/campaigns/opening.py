"""Open a campaign: make its items, assign them or put them into the pool, admit annotators."""

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
from annotation.models.campaign import KINDS
from annotation.notices import tell_closed
from annotation.prefill.suggestions import fill_items
from annotation.prefill.trial import is_trial
from annotation.protocols import Layout
from core.text import batched
from metaeval.messages import message

IMPORTED = message(
    "campaign.imported",
    "An imported campaign cannot be opened, because its annotators have no accounts here.",
)
ARCHIVED = message("campaign.archived", "This campaign is archived. Restore it first.")


@transaction.atomic
def open_campaign(*, campaign: Campaign) -> Campaign:
    """Make the items, assign them unless there is a pool, and admit annotators.

    Raises ValidationError with everything that is missing; nothing is stored then.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_status(campaign, Campaign.Status.DRAFT)
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
    require_status(campaign, Campaign.Status.OPEN)
    campaign.status = Campaign.Status.CLOSED
    campaign.closed_at = timezone.now()
    campaign.save(update_fields=["status", "closed_at"])
    tell_closed(campaign)
    return campaign


@transaction.atomic
def reopen_campaign(*, campaign: Campaign) -> Campaign:
    """Take judgments again. Raises ValidationError unless the campaign is closed."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_status(campaign, Campaign.Status.CLOSED)
    _check_listed(campaign)
    if campaign.origin == Campaign.Origin.IMPORTED:
        raise ValidationError([IMPORTED])
    campaign.status, campaign.closed_at = Campaign.Status.OPEN, None
    campaign.save(update_fields=["status", "closed_at"])
    return campaign


def _check_listed(campaign: Campaign) -> None:
    if is_archived(campaign):
        raise ValidationError([ARCHIVED])


def _give_out(
    campaign: Campaign,
    annotators: Sequence[Annotator],
    targets: Screens,
    traps: Sequence[Item],
    maker: ControlMaker,
) -> None:
    """Assign equal numbers of targets to annotators, with control items made from them.

    Controls are stored after all are drawn, so that annotators with the same partner share them.
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
    positions = {index: number for number, index in enumerate(share)}
    partners = [None if each.partner is None else positions[each.partner] for each in controls]
    rng = campaign.hidden_rng("order", annotator.label)
    spacing = campaign.control_spacing
    try:
        return spaced_order(
            len(share), [*partners, *[None] * n_gold], spacing, rng=rng, n_even=n_gold
        )
    except CrowdedError as error:
        n_controls = len(controls) + n_gold
        raise ValidationError(
            [
                message(
                    "campaign.no-room-for-controls",
                    "{annotator} has {targets} screens of outputs and {controls} of control "
                    "items. With at least {spacing} screens between two control items, and "
                    "between a control item and the output that it is compared with, there is "
                    "room for at most {most} control items. Reduce their number or the distance "
                    "between them.",
                    annotator=annotator.label,
                    targets=len(share),
                    controls=n_controls,
                    spacing=spacing,
                    most=most_controls(len(share), spacing),
                )
            ]
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
    """Make control items that the pool can draw from, for annotators who get their partners.

    It is not known yet who gets which items. If 2c + 8 controls of a kind are expected among the
    partners of one annotator, almost every annotator finds the c that they should get.
    """
    load = _expected_load(campaign, n_annotators, targets)
    for kind, count in maker.counts().items():
        size = min(len(targets), ceil((2 * count + 8) * len(targets) / max(1.0, load)))
        n = _store(maker.bank(kind, size))
        if n < min(count, len(targets)):
            raise ValidationError(
                [
                    message(
                        "campaign.too-few-controls",
                        "Control items of the kind “{kind}” can be made from only {n} of {total} "
                        "screens, and each annotator should get {wanted}.",
                        kind=KINDS[kind],
                        n=n,
                        total=len(targets),
                        wanted=count,
                    )
                ]
            )


def _expected_load(campaign: Campaign, n_annotators: int, targets: Screens) -> float:
    """Return how many screens an annotator of the pool is expected to see."""
    if campaign.items_per_annotator:
        return campaign.items_per_annotator * len(targets) / max(1, targets.n_items)
    return len(targets) * campaign.annotators_per_item / max(1, n_annotators)


def _store(controls: Iterator[Control]) -> int:
    """Store the items of controls, each once; return the number of controls."""
    n = 0
    for batch in batched(controls, BATCH):
        n += len(batch)
        items = {id(item): item for each in batch for item in each.items if item.pk is None}
        Item.objects.bulk_create(list(items.values()), batch_size=BATCH)
    return n
