"""What needs the people who run campaigns: each a sentence with the page where it is done."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotation.access import reviewed_campaigns, run_campaigns
from annotation.adjudication.disagreements import disagreements
from annotation.models import Campaign, Judgment, listed
from core.text import pluralize
from core.work.models import Work
from dashboards.home.progress import Progress
from metrics.models import MetricRun

SILENT = timedelta(days=7)
RECENT = timedelta(days=14)
SHOWN = 6
LOOKED_AT = 200
Status = Campaign.Status


@dataclass(frozen=True)
class Need:
    """What is the matter with a campaign or a run, and what to do."""

    name: str
    text: str
    action: str
    href: str


def under_way(user: Any) -> list[Campaign]:
    """Return the drafts and open campaigns that a user runs."""
    rows = listed(run_campaigns(user)).filter(status__in=(Status.OPEN, Status.DRAFT))
    return list(rows.select_related("test_set").order_by("-created_at")[:LOOKED_AT])


def needs(
    user: Any, campaigns: Sequence[Campaign], progress: Mapping[int, Progress]
) -> tuple[list[Need], int]:
    """Return what needs a user, the most pressing first, and how much more there is."""
    found = [
        *_of_runs(user),
        *(need for campaign in campaigns for need in _of(campaign, progress[campaign.pk])),
        *_unscored(user),
        *_to_decide(user),
    ]
    return found[:SHOWN], max(0, len(found) - SHOWN)


def _of(campaign: Campaign, state: Progress) -> Iterator[Need]:
    if campaign.status == Status.DRAFT:
        setup = reverse("campaign-setup", args=[campaign.slug])
        people = pluralize(state.n_people, "annotator") if state.n_people else "nobody to rate it"
        yield Need(campaign.name, f"is a draft with {people}.", "Set up and open", setup)
    elif state.is_complete:
        monitor = reverse("monitor", args=[campaign.slug])
        yield Need(campaign.name, f"has all {state.total:,} ratings.", "Look, and close", monitor)
    elif (since := state.last or campaign.opened_at) and timezone.now() - since > SILENT:
        days = (timezone.now() - since).days
        monitor = reverse("monitor", args=[campaign.slug])
        yield Need(
            campaign.name, f"has had no rating for {days} days.", "Remind its people", monitor
        )


def _of_runs(user: Any) -> Iterator[Need]:
    """Runs that failed lately and were not repeated since, over the test sets of own campaigns."""
    later = MetricRun.objects.filter(
        test_set=OuterRef("test_set"), metric=OuterRef("metric"), pk__gt=OuterRef("pk")
    )
    failed = listed(MetricRun.objects.filter(status=Work.Status.FAILED)).filter(
        ~Exists(later),
        test_set__in=run_campaigns(user).values("test_set"),
        created_at__gt=timezone.now() - RECENT,
    )
    for run in failed.select_related("test_set")[:SHOWN]:
        text = f"over {run.test_set.name} failed."
        yield Need(run.label, text, "See why", run.get_absolute_url())


def _unscored(user: Any) -> Iterator[Need]:
    """Own campaigns with judgments over texts that no metric has scored."""
    for campaign in _judged(user).select_related("test_set")[:SHOWN]:
        start = reverse("run-start", args=[campaign.test_set.slug])
        yield Need(campaign.name, "is judged, and no metric has scored it.", "Score it", start)


def _to_decide(user: Any) -> Iterator[Need]:
    """Campaigns that stand nowhere else for a reviewer."""
    for campaign in listed(reviewed_campaigns(user)).order_by("name")[:SHOWN]:
        waiting = disagreements(campaign).filter(is_decided=False).count()
        queue = reverse("adjudication", args=[campaign.slug])
        yield Need(campaign.name, f"has {pluralize(waiting, 'item')} to decide.", "Decide", queue)


def _judged(user: Any) -> QuerySet[Campaign]:
    scored = MetricRun.objects.filter(test_set=OuterRef("test_set"))
    imported = Campaign.objects.filter(
        pk=OuterRef("pk"), test_set__metric_imports__withdrawn_at=None,
        test_set__metric_imports__isnull=False,
    )  # fmt: skip
    judgments = Judgment.objects.filter(assignment__annotator__campaign=OuterRef("pk"))
    closed = listed(run_campaigns(user)).filter(status=Status.CLOSED)
    return closed.filter(~Exists(scored), ~Exists(imported), Exists(judgments))
