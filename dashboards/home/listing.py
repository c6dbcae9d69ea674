"""The list of campaigns for an address: search, filters, order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import (
    Case,
    Exists,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from annotation.access import run_campaigns, visible_campaigns
from annotation.filters import FilterError
from annotation.models import Assignment, Campaign, listed
from metaeval.messages import message

Status = Campaign.Status
STATES = {
    "": _("Any status"),
    Status.OPEN: _("Open"),
    Status.DRAFT: _("Drafts"),
    Status.CLOSED: _("Closed"),
}
ORDERS = {
    "open": _("Open first"),
    "rated": _("Rated first"),
    "activity": _("Last activity"),
    "newest": _("Newest"),
    "name": _("Name"),
    "study": _("Study"),
}
_OPEN = Case(
    When(status=Status.OPEN, then=Value(0)),
    When(status=Status.DRAFT, then=Value(1)),
    default=Value(2),
    output_field=IntegerField(),
)
_RATED = Exists(
    Assignment.objects.filter(annotator__campaign=OuterRef("pk"), completed_at__isnull=False)
)
_SORTED: dict[str, tuple[str, ...]] = {
    "open": ("open", "-created_at", "pk"),
    "rated": ("-rated", "open", "-created_at", "pk"),
    "activity": ("-activity", "pk"),
    "newest": ("-created_at", "pk"),
    "name": ("name", "pk"),
    "study": ("study", "test_set__name", "-length_ratio", "name"),
}
NAMES = frozenset({"q", "status", "study", "sort", "mine", "page"})


@dataclass(frozen=True)
class Choice:
    """The choices of an address."""

    q: str = ""
    status: str = ""
    study: str = ""
    sort: str = "open"
    mine: bool = False

    @property
    def is_narrowed(self) -> bool:
        """Whether the list is filtered."""
        return bool(self.q or self.status or self.study or self.mine)


def read_choice(query: QueryDict, user: Any) -> Choice:
    """Read an address; raise FilterError for an unknown value.

    By default, open campaigns come first for users who run campaigns, and rated ones for others.
    """
    for name, known in (("status", STATES), ("sort", ("", *ORDERS)), ("mine", ("", "1"))):
        if (given := query.get(name, "")) not in known:
            raise FilterError(
                message(
                    "filter.choice",
                    "{name} must be one of {choices}, not “{value}”.",
                    name=name,
                    choices=[str(each) for each in known if each],
                    value=given,
                )
            )
    text = {name: query.get(name, "").strip() for name in ("q", "status", "study", "sort")}
    text["sort"] = text["sort"] or ("open" if run_campaigns(user).exists() else "rated")
    return Choice(**text, mine=query.get("mine") == "1")


def campaigns_of(user: Any, choice: Choice) -> QuerySet[Campaign]:
    """Return the campaigns that a user may read and an address chooses, in its order."""
    rows = listed(visible_campaigns(user)).select_related("test_set")
    if choice.mine:
        rows = rows.filter(pk__in=run_campaigns(user).values("pk"))
    if choice.status:
        rows = rows.filter(status=choice.status)
    if choice.study:
        rows = rows.filter(study=choice.study)
    for word in choice.q.split():
        rows = rows.filter(_has(word))
    if choice.sort == "activity":
        given = Assignment.objects.filter(annotator__campaign=OuterRef("pk")).order_by()
        last = Subquery(given.values("annotator__campaign").values(n=Max("completed_at")))
        rows = rows.annotate(activity=Coalesce(last, "closed_at", "opened_at", "created_at"))
    elif choice.sort in ("open", "rated"):
        rows = rows.annotate(open=_OPEN, rated=_RATED)
    return rows.order_by(*_SORTED[choice.sort])


def _has(word: str) -> Q:
    """Return a condition: a word is in a name, or is a language or pair (`zh`, `en-zh`)."""
    found = Q(name__icontains=word) | Q(slug__icontains=word) | Q(study__icontains=word)
    found |= Q(test_set__name__icontains=word)
    source, _, target = word.partition("-")
    if target:
        languages = Q(test_set__source_language__iexact=source)
        return found | languages & Q(test_set__target_language__iexact=target)
    return (
        found
        | Q(test_set__source_language__iexact=word)
        | Q(test_set__target_language__iexact=word)
    )


def studies_of(user: Any) -> Sequence[str]:
    """Return the studies among the campaigns that a user may read."""
    rows = listed(visible_campaigns(user)).exclude(study="")
    return list(rows.order_by("study").values_list("study", flat=True).distinct())
