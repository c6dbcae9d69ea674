"""Pay: working time by annotator, the paid limit of a screen, and the expected pay of items."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.db.models import Q, QuerySet, Sum

from annotation.added import AddedUp
from annotation.models import Campaign, Judgment
from annotation.models.assignment import count_by_annotator
from annotation.protocols import Layout
from annotation.protocols.published import PACES
from core.text import words_in

# Compute the maximum paid seconds of a screen from the campaign's limit and the words on it. A
# document by one system counts as many screens as it has parts to be rated.


def limit_of(campaign: Campaign, texts: Sequence[str]) -> int:
    """Return the maximum paid seconds of a screen with these texts to be rated."""
    most = campaign.time_cap_seconds
    if campaign.judging.layout == Layout.DOCUMENT:
        most *= len(texts)
    if not campaign.seconds_per_word:
        return most
    n_words = sum(words_in(text, campaign.test_set.target_language) for text in texts)
    return most + round(campaign.seconds_per_word * n_words)


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


# Working time by annotator: paid time, and active time as browsers report it.

COLUMNS = ("annotator", "rated", "paid_hours", "active_hours", "pay", "currency")


Times = Mapping[int, tuple[int, int]]


def _with(times: Times, rows: QuerySet[Judgment]) -> Times:
    summed = rows.values_list("assignment__annotator").annotate(
        paid=Sum("paid_ms", default=0),
        active=Sum("active_ms", filter=Q(time_doubt=""), default=0),
    )
    found = dict(times)
    for pk, paid, active in summed:
        before = times.get(pk, (0, 0))
        found[pk] = before[0] + paid, before[1] + active
    return found


_times = AddedUp[Times]("times", {}, _with)


def working_time(campaign: Campaign) -> Times:
    """Return paid and active milliseconds of annotators with judgments, of all their revisions.

    Impossible reports of browsers do not count as active time.
    """
    return _times.of(campaign)


def rows(campaign: Campaign, codes: Mapping[int, str] | None = None) -> Iterator[Sequence[Any]]:
    """Yield the rows of a table of all annotators under `COLUMNS`; hours in decimals.

    `codes` has completion codes by id, which become the last column; others have an empty one.
    """
    times, counts = working_time(campaign), count_by_annotator(campaign.annotators.all())
    for person in campaign.annotators.order_by("pk"):
        paid, active = times.get(person.pk, (0, 0))
        yield (
            person.label,
            counts[person.pk][1].answered,
            round(paid / HOUR_MS, 4),
            round(active / HOUR_MS, 4),
            pay_for(campaign, paid),
            campaign.currency if campaign.hourly_rate is not None else "",
            *(() if codes is None else (codes.get(person.pk, ""),)),
        )
