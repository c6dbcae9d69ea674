"""What working time is paid, and what a share of items is expected to bring."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from annotation.models import Campaign
from annotation.protocols.published import PACES

CENT = Decimal("0.01")
HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Offer:
    """What an annotator reads of pay: a rate, and for `minutes` of work an amount, None where no
    published time says how long the items take."""

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
    """Return what is told before the first of so many items; None where nothing is to be told.

    An item takes the middle of the times that are published for its protocol (`PACES`).
    """
    if not campaign.shows_pay or campaign.hourly_rate is None:
        return None
    pace = PACES.get(campaign.protocol)
    told = Offer(campaign.hourly_rate, campaign.currency)
    if pace is None or not n_items:
        return told
    seconds = n_items * (pace.low + pace.high) / 2
    return Offer(
        told.rate,
        told.currency,
        minutes=max(1, round(seconds / 60)),
        amount=pay_for(campaign, round(seconds * 1000)),
    )
