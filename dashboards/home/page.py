"""The page of all campaigns, the home page of researchers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
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
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _

from annotation.access import (
    is_admin,
    researcher_required,
    run_campaigns,
    signed_in,
    visible_campaigns,
)
from annotation.filters import FilterError
from annotation.models import Annotator, Assignment, Campaign, listed
from annotation.web.parameters import Parameters, page_of, takes
from dashboards.home import attention
from dashboards.home.attention import Progress, read_progress
from dashboards.home.next_step import Leader, read_leaders
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
_ANSWERS = Assignment.objects.filter(annotator=OuterRef("pk"), completed_at__isnull=False)
# By annotator, or PostgreSQL reads the answers of other campaigns until it finds one.
_RATED = Exists(Annotator.objects.filter(Exists(_ANSWERS), campaign=OuterRef("pk")))
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
        people = Annotator.objects.filter(campaign=OuterRef("pk")).order_by()
        last = Subquery(people.values("campaign").values(n=Max("answered_at")))
        rows = rows.annotate(activity=Coalesce(last, "closed_at", "opened_at", "created_at"))
    elif choice.sort in ("open", "rated"):
        rows = rows.annotate(open=_OPEN)
    if choice.sort == "rated":
        rows = rows.annotate(rated=_RATED)
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


PER_PAGE = 20
# Closed campaigns without a study are folded if there are more.
MOST_CLOSED = 3


@dataclass(frozen=True)
class Line:
    """One campaign of the list."""

    campaign: Campaign
    progress: Progress
    leader: Leader | None


@dataclass(frozen=True)
class Group:
    """Lines that are shown together: a study, a single campaign, or closed ones without a study.

    `is_folded` says whether only the group's own line is shown at first.
    """

    study: str
    lines: Sequence[Line]
    is_folded: bool

    @property
    def n_open(self) -> int:
        """The number of open campaigns."""
        return sum(line.campaign.status == Campaign.Status.OPEN for line in self.lines)

    @property
    def rated(self) -> int:
        """The number of existing ratings."""
        return sum(line.progress.rated for line in self.lines)

    @property
    def total(self) -> int:
        """The number of planned ratings."""
        return sum(line.progress.total for line in self.lines)

    @property
    def last(self) -> datetime | None:
        """The time of the last rating."""
        return max(filter(None, (line.progress.last for line in self.lines)), default=None)


def grouped(lines: Sequence[Line], choice: Choice) -> list[Group]:
    """Return lines in groups, each where its first line is.

    What a reader looked for, or put in an order of single campaigns, is not folded.
    """
    if choice.is_narrowed or choice.sort not in ("open", "rated", "study"):
        return [Group("", lines, is_folded=False)]
    is_closed = [
        not line.campaign.study and line.campaign.status == Campaign.Status.CLOSED for line in lines
    ]
    folds_closed = sum(is_closed) > MOST_CLOSED
    found: dict[object, list[Line]] = {}
    for line, closed in zip(lines, is_closed, strict=True):
        alone = "" if closed and folds_closed else line.campaign.pk
        found.setdefault(line.campaign.study or alone, []).append(line)
    return [
        Group(group[0].campaign.study, group, is_folded=len(group) > 1) for group in found.values()
    ]


@researcher_required
@takes(Parameters(NAMES))
def campaign_list(request: HttpRequest) -> HttpResponse:
    """Show open tasks, and campaigns with progress, leading metric and last activity."""
    user = signed_in(request)
    choice = read_choice(request.GET, user)
    page = page_of(request, campaigns_of(user, choice), PER_PAGE)
    shown, mine = list(page), [] if choice.is_narrowed else attention.under_way(user)
    progress = read_progress(shown)
    leaders = read_leaders([c for c in shown if c.status != Campaign.Status.DRAFT])
    found, more = ([], 0) if choice.is_narrowed else attention.needs(user, mine)
    query = request.GET.copy()
    query.pop("page", None)
    context = {
        "section": "campaigns",
        "choice": choice,
        "page": page,
        "groups": grouped([Line(c, progress[c.pk], leaders.get(c.pk)) for c in shown], choice),
        "needs": found,
        "more": more,
        "query": query.urlencode(),
        "states": STATES.items(),
        "orders": ORDERS.items(),
        "studies": studies_of(user),
        "creates": is_admin(user),
        "rates": _rates(request),
    }
    return render(request, "dashboards/home.html", context)


def _rates(request: HttpRequest) -> bool:
    """Return whether the user also has something to rate."""
    parts = Annotator.objects.filter(user=signed_in(request), excluded_at=None)
    return parts.filter(campaign__status=Campaign.Status.OPEN).exists()
