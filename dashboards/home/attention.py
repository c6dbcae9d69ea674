"""List what needs the attention of a user, each with the page where it is done."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone

from annotation.access import reviewed_campaigns, run_campaigns
from annotation.adjudication import disagreements
from annotation.models import Annotator, Assignment, Campaign, Item, Judgment, listed
from annotation.models.assignment import OPEN, SIZE, count_by_annotator, count_practice
from core.work.models import Work
from metaeval.messages import Message, message, plural
from metrics.models import MetricRun


@dataclass
class Progress:
    """Existing and missing ratings, without practice, and the time of the last one."""

    rated: int = 0
    missing: int = 0
    last: datetime | None = None
    n_people: int = 0

    @property
    def total(self) -> int:
        """The number of planned ratings."""
        return self.rated + self.missing

    @property
    def percent(self) -> int:
        """The share of existing ratings; 100 only where none is missing."""
        return self.rated * 100 // self.total if self.total else 0


def read_progress(campaigns: Sequence[Campaign]) -> dict[int, Progress]:
    """Return the progress of each campaign by its key."""
    found: dict[int, Progress] = defaultdict(Progress)
    people = Annotator.objects.filter(campaign__in=campaigns, excluded_at=None)
    by_people = people.values_list("campaign").order_by()
    for pk, n, last in by_people.annotate(Count("pk"), Max("answered_at")):
        found[pk].n_people, found[pk].last = n, last
    counted, practice = count_by_annotator(people, with_open=True), count_practice(campaigns)
    for annotator, (pk, counts) in counted.items():
        rated, n_open = practice.get(annotator, (0, 0))
        found[pk].rated += counts.answered - rated
        found[pk].missing += counts.open - n_open
        found[pk].last = max(filter(None, (found[pk].last, counts.last)), default=None)
    for pk, n in _unclaimed(campaigns):
        found[pk].missing += n
    return found


def _unclaimed(campaigns: Sequence[Campaign]) -> list[tuple[int, int]]:
    """Count the unclaimed ratings of open pools; those on one screen are claimed together."""
    pools = [c for c in campaigns if c.assignment_mode != Campaign.Mode.STATIC]
    items = Item.objects.filter(campaign__in=pools) if pools else Item.objects.none()
    single = items.filter(screen=None, wanted__gt=0).values_list("campaign").order_by()
    screens = items.exclude(screen=None).values_list("campaign", "screen").order_by()
    found = list(single.annotate(n=Sum("wanted")))
    wanted = screens.annotate(n=Sum("wanted"), size=SIZE).filter(n__gt=0)
    return found + [(pk, n * size) for pk, _, n, size in wanted]


SILENT = timedelta(days=7)
RECENT = timedelta(days=14)
SHOWN = 6
LOOKED_AT = 200
Status = Campaign.Status
SET_UP = message("need.set-up-action", "Set up and open")
COMPLETE = message("need.complete", "All ratings are complete.")
CLOSE = message("need.close-action", "Review and close")
REMIND = message("need.remind-action", "Remind annotators")
VIEW_ERROR = message("need.error-action", "View error")
UNSCORED = message("need.unscored", "No metric has scored the judged outputs.")
SCORE = message("need.score-action", "Score outputs")
DECIDE = message("need.decide-action", "Decide")


@dataclass(frozen=True)
class Need:
    """A fact about a campaign or a run, and what to do: on a page, of the object `key`."""

    name: str
    text: Message
    action: Message
    page: str
    key: str | int

    @property
    def href(self) -> str:
        """The address of the page."""
        return reverse(self.page, args=[self.key])


def under_way(user: Any) -> list[Campaign]:
    """Return the drafts and open campaigns that a user runs."""
    rows = listed(run_campaigns(user)).filter(status__in=(Status.OPEN, Status.DRAFT))
    rows = rows.only("slug", "name", "status", "assignment_mode", "opened_at")
    return list(rows.order_by("-created_at")[:LOOKED_AT])


def needs(user: Any, campaigns: Sequence[Campaign]) -> tuple[list[Need], int]:
    """Return what needs attention, the most urgent first, and the number of further needs."""
    # What is being rated comes before what has not been opened.
    ordered = sorted(campaigns, key=lambda campaign: campaign.status == Status.DRAFT)
    found = [
        *_of_runs(user),
        *_of_campaigns(ordered),
        *_unscored(user),
        *_to_decide(user),
    ]
    return found[:SHOWN], max(0, len(found) - SHOWN)


def _of_campaigns(campaigns: Sequence[Campaign]) -> Iterator[Need]:
    """What is missing is counted, and what exists is not: most ratings of a site exist."""
    keys = [campaign.pk for campaign in campaigns]
    rows = Annotator.objects.filter(campaign__in=keys, excluded_at=None).order_by()
    by_campaign = rows.values_list("campaign").annotate(Count("pk"), Max("answered_at"))
    people = {pk: (n, last) for pk, n, last in by_campaign}
    opened = [campaign for campaign in campaigns if campaign.status == Status.OPEN]
    waiting = Assignment.objects.filter(
        OPEN,
        annotator__campaign__in=[campaign.pk for campaign in opened],
        annotator__excluded_at=None,
    ).exclude(item__kind=Item.Kind.TUTORIAL)
    unfinished = set(waiting.order_by().values_list("annotator__campaign", flat=True).distinct())
    unfinished |= {pk for pk, n in _unclaimed(opened) if n}
    complete = {pk for pk, (_, last) in people.items() if last} - unfinished
    # Imported ratings have left no time at their annotators.
    if unknown := people.keys() - complete - unfinished:
        answers = Assignment.objects.filter(annotator=OuterRef("pk"), completed_at__isnull=False)
        rated = rows.filter(Exists(answers), campaign__in=unknown)
        complete |= set(rated.values_list("campaign", flat=True).distinct())
    for campaign in campaigns:
        n_people, last = people.get(campaign.pk, (0, None))
        name, slug = campaign.name, campaign.slug
        if campaign.status == Status.DRAFT:
            yield Need(name, _draft(n_people), SET_UP, "campaign-setup", slug)
        elif campaign.pk in complete:
            yield Need(name, COMPLETE, CLOSE, "monitor", slug)
        elif silent := silence(last or campaign.opened_at):
            yield Need(name, silent, REMIND, "monitor", slug)


def silence(since: datetime | None) -> Message | None:
    """Return how long nobody has rated; None for less than a week, or if that is unknown."""
    if since is None or timezone.now() - since <= SILENT:
        return None
    return plural(
        "need.silent",
        "There have been no ratings for {n} day.",
        "There have been no ratings for {n} days.",
        n=(timezone.now() - since).days,
    )


def _draft(n_people: int) -> Message:
    if not n_people:
        return message("need.draft-without-annotators", "This draft has no annotators.")
    return plural(
        "need.draft",
        "This draft has {n} annotator.",
        "This draft has {n} annotators.",
        n=n_people,
    )


def _of_runs(user: Any) -> Iterator[Need]:
    """Recently failed runs that were not repeated, over the test sets of the user's campaigns."""
    later = MetricRun.objects.filter(
        test_set=OuterRef("test_set"), metric=OuterRef("metric"), pk__gt=OuterRef("pk")
    )
    failed = listed(MetricRun.objects.filter(status=Work.Status.FAILED)).filter(
        ~Exists(later),
        test_set__in=run_campaigns(user).values("test_set"),
        created_at__gt=timezone.now() - RECENT,
    )
    for run in failed.select_related("test_set")[:SHOWN]:
        text = message("need.failed", "The run on {test_set} failed.", test_set=run.test_set.name)
        yield Need(run.label, text, VIEW_ERROR, "run", run.pk)


def _unscored(user: Any) -> Iterator[Need]:
    """The user's campaigns with judgments that no metric has scored."""
    found = _judged(user).values_list("name", "test_set__slug")
    for name, test_set in found[:SHOWN]:
        yield Need(name, UNSCORED, SCORE, "run-start", test_set)


def _to_decide(user: Any) -> Iterator[Need]:
    """Campaigns with disagreements that a reviewer can decide."""
    for campaign in listed(reviewed_campaigns(user)).order_by("name")[:SHOWN]:
        waiting = disagreements(campaign).filter(is_decided=False).count()
        text = plural(
            "need.to-decide",
            "{n} item needs a decision.",
            "{n} items need a decision.",
            n=waiting,
        )
        yield Need(campaign.name, text, DECIDE, "adjudication", campaign.slug)


def _judged(user: Any) -> QuerySet[Campaign]:
    scored = MetricRun.objects.filter(test_set=OuterRef("test_set"))
    imported = Campaign.objects.filter(
        pk=OuterRef("pk"), test_set__metric_imports__withdrawn_at=None,
        test_set__metric_imports__isnull=False,
    )  # fmt: skip
    judgments = Judgment.objects.filter(assignment__annotator__campaign=OuterRef("pk"))
    closed = listed(run_campaigns(user)).filter(status=Status.CLOSED)
    return closed.filter(~Exists(scored), ~Exists(imported), Exists(judgments))
