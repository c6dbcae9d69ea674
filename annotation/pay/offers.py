"""Compute pay for working time, and the expected pay for a number of items."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from annotation.models import Campaign
from annotation.protocols.published import PACES

CENT = Decimal("0.01")
HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Offer:
    """What annotators read about pay: a rate, and an amount for `minutes` of work.

    Minutes and amount are None if there is no published time for the items.
    """

    rate: Decimal
    currency: str
    minutes: int | None = None
    amount: Decimal | None = None


def pay_for(campaign: Campaign, milliseconds: int) -> Decimal | None:
    """Return the pay of working time, to the cent; None without a rate.

    >>> pay_for(Campaign(hourly_rate=Decimal("15.00")), 20 * 60_000)
    Decimal('5.00')
    """
    if campaign.hourly_rate is None:
        return None
    paid = Decimal(campaign.hourly_rate) * milliseconds / HOUR_MS
    return paid.quantize(CENT, rounding=ROUND_HALF_UP)


def offer(campaign: Campaign, n_items: int | None) -> Offer | None:
    """Return the offer that is shown before the first of `n_items` items; None if it is not shown.

    The time of an item is the mean of the published range of its protocol (`PACES`).
    """
    if not campaign.shows_pay or campaign.hourly_rate is None:
        return None
    pace = PACES.get(campaign.protocol)
    rate_only = Offer(campaign.hourly_rate, campaign.currency)
    if pace is None or not n_items:
        return rate_only
    seconds = n_items * (pace.low + pace.high) / 2
    return Offer(
        rate_only.rate,
        rate_only.currency,
        minutes=max(1, round(seconds / 60)),
        amount=pay_for(campaign, round(seconds * 1000)),
    )
