"""Working time by annotator: paid time, and active time as browsers report it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum

from annotation.models import Campaign, Judgment
from annotation.pay.offers import HOUR_MS, pay_for

COLUMNS = ("annotator", "rated", "paid_hours", "active_hours", "pay", "currency")


def working_time() -> dict[str, Any]:
    """Return columns for annotators: `paid_ms` and `active_ms` of all judgments and revisions.

    Impossible reports of browsers do not count as active time.
    """
    own = Judgment.objects.filter(assignment__annotator=OuterRef("pk")).order_by()
    grouped = own.values("assignment__annotator")
    paid = grouped.annotate(n=Sum("paid_ms")).values("n")
    active = grouped.annotate(n=Sum("active_ms", filter=Q(time_doubt=""))).values("n")
    return {"paid_ms": Subquery(paid), "active_ms": Subquery(active)}


def rows(campaign: Campaign, codes: Mapping[int, str] | None = None) -> Iterator[Sequence[Any]]:
    """Yield the rows of a table of all annotators under `COLUMNS`; hours in decimals.

    `codes` has completion codes by id, which become the last column; others have an empty one.
    """
    people: QuerySet[Any] = campaign.annotators.annotate(
        completed=Count("assignments__completed_at"), **working_time()
    )
    for person in people.order_by("pk"):
        paid, active = person.paid_ms or 0, person.active_ms or 0
        yield (
            person.label,
            person.completed,
            round(paid / HOUR_MS, 4),
            round(active / HOUR_MS, 4),
            pay_for(campaign, paid),
            campaign.currency if campaign.hourly_rate is not None else "",
            *(() if codes is None else (codes.get(person.pk, ""),)),
        )
