"""How many ratings are there, and how many are wanted."""

from django.db.models import Count, Max, Q, Sum

from annotation.models import Assignment, Campaign, Item

# Practice does not count.
_RATING = ~Q(item__kind=Item.Kind.TUTORIAL)
OPEN = Q(completed_at=None, released_at=None)
GIVEN = {
    "rated": Count("completed_at", filter=_RATING),
    "open": Count("pk", filter=OPEN & _RATING),
}
# Items that a screen shows: of the systems on it, `n_columns` are drawn in dynamic assignment.
SIZE = Count("pk") * Max("n_columns") / Count("column", distinct=True)


def wanted(campaign: Campaign) -> tuple[int, int, bool]:
    """Return ratings that are there, ratings wanted in all, and whether that is complete.

    Practice and excluded annotators count on neither side.
    """
    counts = Assignment.objects.filter(
        annotator__campaign=campaign, annotator__excluded_at=None
    ).aggregate(**GIVEN)
    return count_wanted(campaign, counts["rated"], counts["open"])


def count_wanted(campaign: Campaign, rated: int, n_open: int) -> tuple[int, int, bool]:
    """In an open pool the ratings that no one has claimed yet are wanted too: `Item.wanted`
    stands on the first item of a screen and holds for all of it."""
    unclaimed = 0
    if campaign.assignment_mode != Campaign.Mode.STATIC:
        rows = campaign.items.values("screen").annotate(ratings=Sum("wanted"), size=SIZE)
        needed = rows.filter(ratings__gt=0).values_list("screen", "ratings", "size").order_by()
        unclaimed = sum(n if screen is None else n * size for screen, n, size in needed)
    missing = n_open + unclaimed
    return rated, rated + missing, rated > 0 and missing == 0
