"""The built-in trial of suggestions: the shares of its conditions, and what prevents it."""

from collections.abc import Iterator, Mapping

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.models import Campaign, Item, OutputSuggestions, Prefill
from annotation.prefill.suggestions import NOTHING_TO_CHECK, Condition, require_draft
from annotation.protocols import Layout
from annotation.protocols.base import TARGET
from metaeval.messages import Message, message

CONDITIONS = (Condition.BLANK, Condition.PREFILLED, Condition.PLANTED, Condition.WITHHELD)
LAYOUTS = (Layout.SINGLE, Layout.GRID)
NEEDS_GOLD = message(
    "trial.needs-gold",
    "Errors can be planted and withheld only if the errors of some outputs have been adjudicated. "
    "Add adjudicated errors, or set both shares to 0.",
)
NO_MORE_FITTING = message(
    "prefill.not-fitting",
    "The protocol was changed and no longer fits the suggested errors. Add the suggested errors "
    "again, or remove them.",
)
NO_BLANK = message(
    "trial.no-blank",
    "Without blank documents there is no comparison. Give blank documents a share above 0.",
)
IMPORTED = message(
    "trial.imported",
    "The items of this campaign were imported with their assignment, so it cannot have a trial.",
)
NOT_FIXED = message(
    "trial.not-fixed",
    "A trial needs fixed assignment, because its conditions are drawn when the campaign opens.",
)
OTHER_LAYOUT = message(
    "trial.other-layout",
    "A trial needs a protocol that shows single outputs, or documents by several systems.",
)
ONE_ANNOTATOR = message(
    "trial.one-annotator",
    "A trial compares annotators with themselves and with each other. Add a second annotator.",
)
WITH_CONTROLS = message(
    "trial.with-controls",
    "In a trial no annotator sees an output twice, and traps without suggestions would be "
    "conspicuous. Set traps, bad references, repeats and references as outputs to 0.",
)


def is_trial(campaign: Campaign) -> bool:
    """Return whether a campaign has a built-in trial."""
    if not campaign.is_prefilled:
        return False
    prefill = Prefill.objects.filter(campaign=campaign).first()
    return prefill is not None and prefill.is_trial


def shares_of(prefill: Prefill) -> dict[Condition, int]:
    """Return the share of each condition, in percent."""
    return {condition: getattr(prefill, condition) for condition in CONDITIONS}


@transaction.atomic
def set_shares(campaign: Campaign, shares: Mapping[Condition, int], *, seed: int) -> Prefill:
    """Set the shares of a draft's trial. Raises ValidationError if they are not possible."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_draft(campaign)
    prefill = Prefill.objects.filter(campaign=campaign).first()
    if prefill is None:
        raise ValidationError([NOTHING_TO_CHECK])
    total = sum(shares.values())
    if total != 100 or min(shares.values()) < 0:
        raise ValidationError(
            [
                message(
                    "trial.shares",
                    "The four shares must add up to 100%. They add up to {total}%.",
                    total=total,
                )
            ]
        )
    if shares[Condition.PREFILLED] < 100 and not shares[Condition.BLANK]:
        raise ValidationError([NO_BLANK])
    for condition, share in shares.items():
        setattr(prefill, condition, share)
    prefill.seed = seed
    if faults := list(_gold_faults(prefill)):
        raise ValidationError(faults)
    prefill.save()
    return prefill


def _gold_faults(prefill: Prefill) -> Iterator[Message]:
    wants = prefill.planted or prefill.withheld
    if wants and not prefill.outputs.filter(gold__isnull=False).exists():
        yield NEEDS_GOLD


def prefill_faults(campaign: Campaign) -> Iterator[Message]:
    """Yield everything about suggestions or a trial that prevents opening the campaign."""
    if campaign.is_prefilled and not _fits(campaign):
        yield NO_MORE_FITTING
    if not is_trial(campaign):
        return
    yield from _gold_faults(campaign.prefill)
    if campaign.items.filter(kind=Item.Kind.TARGET).exists():
        yield IMPORTED
    if campaign.assignment_mode != Campaign.Mode.STATIC:
        yield NOT_FIXED
    if campaign.judging.layout not in LAYOUTS:
        yield OTHER_LAYOUT
    if campaign.annotators.filter(excluded_at=None).count() == 1:
        yield ONE_ANNOTATOR
    if _n_controls(campaign):
        yield WITH_CONTROLS


def _fits(campaign: Campaign) -> bool:
    """Return whether the suggestions fit the protocol, which may have been changed."""
    scheme = campaign.judging.spans
    if scheme is None:
        return False
    sides = {TARGET, *(scheme.sides if campaign.shown_text == Campaign.ShownText.SOURCE else ())}
    rows = OutputSuggestions.objects.filter(prefill__campaign=campaign, spans__isnull=False)
    return all(
        side in sides
        and severity in scheme.severity_keys
        and (not category or category in scheme.category_keys)
        for spans in rows.values_list("spans", flat=True)
        for side, _, _, severity, category in spans or ()
    )


def _n_controls(campaign: Campaign) -> int:
    return (
        campaign.traps_per_annotator
        + campaign.bad_references_per_annotator
        + campaign.repeats_per_annotator
        + campaign.references_per_annotator
    )
