"""Stage 2: sample items, plant traps, and give every annotator an order of their own.

Everything random follows from the campaign's seed, so that opening the same campaign over the
same test set with the same annotators gives the same items in the same orders.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Max
from django.utils import timezone

from annotation.access import ANNOTATOR
from annotation.models import Annotator, Assignment, Campaign, Item, Output
from annotation.tokens import new_token
from annotation.traps import cut_text

BATCH = 2_000


@dataclass(frozen=True)
class Invitation:
    """An annotator with the secret of their personal link, which is known only now."""

    annotator: Annotator
    token: str


def require_status(campaign: Campaign, status: Campaign.Status, verb: str) -> None:
    """Raise ValidationError unless the campaign stands at `status`."""
    if campaign.status != status:
        raise ValidationError(
            f"This campaign is {campaign.get_status_display().lower()}; only one that is "
            f"{status.label.lower()} can be {verb}."
        )


@transaction.atomic
def add_annotators(
    *, campaign: Campaign, users: Iterable[User] = (), links: int = 0
) -> list[Invitation]:
    """Add existing accounts, and `links` new people who come by a personal link.

    Raises ValidationError unless the campaign is a draft, or if an account is in it already.
    """
    require_status(campaign, Campaign.Status.DRAFT, "given annotators")
    users = list(users)
    known = set(campaign.annotators.filter(user__in=users).values_list("user_id", flat=True))
    if known:
        names = ", ".join(user.get_username() for user in users if user.pk in known)
        raise ValidationError(f"Already an annotator of this campaign: {names}.")
    taken = set(campaign.annotators.values_list("label", flat=True))
    free = (label for number in range(1, 10_000) if (label := f"A{number}") not in taken)
    for user in users:
        Annotator.objects.create(campaign=campaign, user=user, label=next(free))
    return [_invite(campaign, next(free)) for _ in range(links)]


def _invite(campaign: Campaign, label: str) -> Invitation:
    user = User.objects.create_user(f"{campaign.slug}-{label}".lower())
    user.set_unusable_password()
    user.save(update_fields=["password"])
    user.groups.add(Group.objects.get(name=ANNOTATOR))
    annotator = Annotator.objects.create(campaign=campaign, user=user, label=label)
    return renew_link(annotator=annotator)


def renew_link(*, annotator: Annotator) -> Invitation:
    """Give an annotator a new personal link; the old one stops working.

    Raises ValidationError for imported annotators, and for accounts that can do more than rate:
    a link is a password, and must not open a researcher's or an admin's account.
    """
    user = annotator.user
    if user is None:
        raise ValidationError("This annotator was imported and has no account.")
    if user.is_staff or user.is_superuser or user.groups.exclude(name=ANNOTATOR).exists():
        raise ValidationError("A personal link is only for accounts that can do nothing but rate.")
    token, annotator.token_hash = new_token()
    annotator.save(update_fields=["token_hash"])
    return Invitation(annotator, token)


@transaction.atomic
def open_campaign(*, campaign: Campaign) -> Campaign:
    """Plant the items, assign them, and let annotators in.

    Raises ValidationError, naming what is missing, and stores nothing then.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_status(campaign, Campaign.Status.DRAFT, "opened")
    annotators = list(campaign.annotators.order_by("pk"))
    _check(campaign, annotators)
    targets = _plant_targets(campaign)
    traps = _plant_traps(campaign)
    _assign(campaign, annotators, targets, traps)
    campaign.status = Campaign.Status.OPEN
    campaign.opened_at = timezone.now()
    campaign.save(update_fields=["status", "opened_at"])
    return campaign


@transaction.atomic
def close_campaign(*, campaign: Campaign) -> Campaign:
    """Stop taking judgments. Raises ValidationError unless the campaign is open."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_status(campaign, Campaign.Status.OPEN, "closed")
    campaign.status = Campaign.Status.CLOSED
    campaign.closed_at = timezone.now()
    campaign.save(update_fields=["status", "closed_at"])
    return campaign


@transaction.atomic
def reopen_campaign(*, campaign: Campaign) -> Campaign:
    """Take judgments again. Raises ValidationError unless the campaign is closed."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_status(campaign, Campaign.Status.CLOSED, "reopened")
    if campaign.origin == Campaign.Origin.IMPORTED:
        raise ValidationError("An imported campaign cannot be opened: its annotators are gone.")
    campaign.status, campaign.closed_at = Campaign.Status.OPEN, None
    campaign.save(update_fields=["status", "closed_at"])
    return campaign


def _check(campaign: Campaign, annotators: Sequence[Annotator]) -> None:
    if not campaign.systems.exists():
        raise ValidationError("Choose at least one system to judge.")
    if campaign.systems.exclude(length_ratio=campaign.length_ratio).exists():
        raise ValidationError("All systems must have the length ratio of the campaign.")
    if len(annotators) < campaign.annotators_per_item:
        raise ValidationError(
            f"Each item is to be rated by {campaign.annotators_per_item} annotators, and this "
            f"campaign has {len(annotators)}. Add annotators first."
        )
    unreferenced = campaign.test_set.segments.filter(references__isnull=True).count()
    if campaign.shown_text == Campaign.ShownText.REFERENCE and unreferenced:
        raise ValidationError(
            f"{unreferenced} segments of the test set have no reference to show. "
            "Show the source instead."
        )


def _plant_targets(campaign: Campaign) -> list[Item]:
    outputs = Output.objects.filter(system__in=campaign.systems.all()).order_by("pk")
    items = [
        Item(campaign=campaign, segment_id=segment, output_id=output)
        for output, segment in outputs.values_list("pk", "segment_id")
    ]
    return Item.objects.bulk_create(items, batch_size=BATCH)


def _plant_traps(campaign: Campaign) -> list[Item]:
    if not campaign.traps_per_annotator:
        return []
    cuts = possible_traps(campaign)
    if len(cuts) < campaign.traps_per_annotator:
        raise ValidationError(
            f"Only {len(cuts)} segments are long enough to be cut, so there can be at most "
            f"{len(cuts)} traps, not {campaign.traps_per_annotator}."
        )
    chosen = random.Random(f"{campaign.seed}:traps").sample(cuts, campaign.traps_per_annotator)
    items = [
        Item(campaign=campaign, kind=Item.Kind.TRAP, segment_id=segment, text=text)
        for segment, text in chosen
    ]
    return Item.objects.bulk_create(items, batch_size=BATCH)


def possible_traps(campaign: Campaign) -> list[tuple[int, str]]:
    """Return (segment id, cut text) for every segment whose target can be cut.

    The target is the reference that annotators see, or without references the output of one
    system drawn at random.
    """
    language = campaign.test_set.target_language
    cuts = (
        (segment, cut_text(text, campaign.trap_ratio, language))
        for segment, text in _complete_targets(campaign)
    )
    return [(segment, text) for segment, text in cuts if text]


def _complete_targets(campaign: Campaign) -> Iterable[tuple[int, str]]:
    rows = campaign.test_set.segments.filter(references__isnull=False).order_by(
        "position", "references__name"
    )
    first: dict[int, str] = {}
    for segment, text in rows.values_list("pk", "references__text"):
        first.setdefault(segment, text)
    if first:
        return first.items()
    systems = list(campaign.systems.order_by("name"))
    system = random.Random(f"{campaign.seed}:trap-system").choice(systems)
    return system.outputs.order_by("segment__position").values_list("segment_id", "text")


def _assign(
    campaign: Campaign,
    annotators: Sequence[Annotator],
    targets: Sequence[Item],
    traps: Sequence[Item],
) -> None:
    """Targets go round the annotators in equal shares; traps go to everyone."""
    shares = share_out(
        len(targets), len(annotators), campaign.annotators_per_item, seed=campaign.seed
    )
    for annotator, share in zip(annotators, shares, strict=True):
        items = [targets[index] for index in share] + list(traps)
        random.Random(f"{campaign.seed}:{annotator.label}").shuffle(items)
        Assignment.objects.bulk_create(
            [
                Assignment(annotator=annotator, item=item, position=position)
                for position, item in enumerate(items)
            ],
            batch_size=BATCH,
        )


def share_out(n_items: int, n_annotators: int, per_item: int, *, seed: int) -> list[list[int]]:
    """Give every item to `per_item` different annotators, with loads that differ by at most 1.

    Returns one list of item indices per annotator. The items are dealt in random order, so that
    no annotator gets one system or one document only.
    """
    order = list(range(n_items))
    random.Random(f"{seed}:shares").shuffle(order)
    shares: list[list[int]] = [[] for _ in range(n_annotators)]
    for turn, item in enumerate(order):
        for step in range(per_item):
            shares[(turn * per_item + step) % n_annotators].append(item)
    return [sorted(share) for share in shares]


def progress(campaign: Campaign) -> list[dict[str, object]]:
    """Return label, account, assigned, completed and last activity of every annotator."""
    counted = campaign.annotators.annotate(
        assigned=Count("assignments"),
        completed=Count("assignments__completed_at"),
        last=Max("assignments__completed_at"),
    )
    fields = ("pk", "label", "user__username", "is_simulated", "token_hash")
    return list(counted.order_by("pk").values(*fields, "assigned", "completed", "last"))
