"""The trial that is built in: the shares of its conditions, and what stands against it."""

from collections.abc import Iterator, Mapping

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.models import Campaign, Item, OutputSuggestions, Prefill
from annotation.prefill.keeping import NOTHING_TO_CHECK, require_draft
from annotation.prefill.suggestions import Condition
from annotation.protocols import Layout
from annotation.protocols.base import TARGET

CONDITIONS = (Condition.BLANK, Condition.PREFILLED, Condition.PLANTED, Condition.WITHHELD)
LAYOUTS = (Layout.SINGLE, Layout.GRID)
NEEDS_GOLD = (
    "Errors can be planted and withheld only where somebody has adjudicated the errors of some "
    "outputs: give those, or set both shares to 0."
)
NO_MORE_FITTING = (
    "What is suggested does not fit the protocol, which was changed since: give it again, or "
    "suggest nothing."
)


def is_trial(campaign: Campaign) -> bool:
    """Whether a trial is built into a campaign."""
    if not campaign.is_prefilled:
        return False
    prefill = Prefill.objects.filter(campaign=campaign).first()
    return prefill is not None and prefill.is_trial


def shares_of(prefill: Prefill) -> dict[Condition, int]:
    """The share of each condition, in percent."""
    return {condition: getattr(prefill, condition) for condition in CONDITIONS}


@transaction.atomic
def set_shares(campaign: Campaign, shares: Mapping[Condition, int], *, seed: int) -> Prefill:
    """Set the shares of a draft's trial. Raises ValidationError where they make none."""
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_draft(campaign)
    prefill = Prefill.objects.filter(campaign=campaign).first()
    if prefill is None:
        raise ValidationError(NOTHING_TO_CHECK)
    total = sum(shares.values())
    if total != 100 or min(shares.values()) < 0:
        raise ValidationError(f"The four shares must make 100 percent, not {total}.")
    if shares[Condition.PREFILLED] < 100 and not shares[Condition.BLANK]:
        raise ValidationError("Without blank documents nothing can be compared: give them a share.")
    for condition, share in shares.items():
        setattr(prefill, condition, share)
    prefill.seed = seed
    if faults := list(_gold_faults(prefill)):
        raise ValidationError(faults)
    prefill.save()
    return prefill


def _gold_faults(prefill: Prefill) -> Iterator[str]:
    wants = prefill.planted or prefill.withheld
    if wants and not prefill.outputs.filter(gold__isnull=False).exists():
        yield NEEDS_GOLD


def prefill_faults(campaign: Campaign) -> Iterator[str]:
    """Yield a sentence for everything that keeps suggestions, or a trial, from being opened."""
    if campaign.is_prefilled and not _fits(campaign):
        yield NO_MORE_FITTING
    if not is_trial(campaign):
        return
    yield from _gold_faults(campaign.prefill)
    if campaign.items.filter(kind=Item.Kind.TARGET).exists():
        yield "The items of this campaign were imported with their shares: it can have no trial."
    if campaign.assignment_mode != Campaign.Mode.STATIC:
        yield "A trial needs fixed shares: what each person is shown is drawn when it opens."
    if campaign.judging.layout not in LAYOUTS:
        yield "A trial is built into protocols of single outputs and of documents in columns."
    if campaign.annotators.filter(excluded_at=None).count() == 1:
        yield "A trial compares within and between people: add a second annotator."
    if _n_controls(campaign):
        yield (
            "In a trial nobody sees an output twice, and traps would stand out without "
            "suggestions: set traps, bad references, repeats and references as outputs to 0."
        )


def _fits(campaign: Campaign) -> bool:
    """Whether the protocol, which may have been changed since, takes what is suggested."""
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
