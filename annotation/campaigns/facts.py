"""What a campaign is, in one line: direction, length, size, progress, state; and a study."""

from collections.abc import Sequence

from django.db.models import Count

from annotation.models import Annotator, Campaign, Judgment, Output, System
from annotation.pool.completion import wanted
from core.caching import ttl_cache
from core.database.prepared import Statement, stand_in_key
from core.text import pluralize

CAMPAIGN = stand_in_key(1)
_people = Statement(
    lambda: (
        Annotator.objects.order_by()
        .filter(campaign=CAMPAIGN, excluded_at=None)
        .values("campaign")
        .annotate(n=Count("pk"))
        .values_list("n")
    )
)


def facts(campaign: Campaign) -> list[str]:
    """Return the line's parts. Four counts of the database, three of them of the last moment."""
    n_systems, n_segments, rated = ttl_cache(
        ("facts", campaign.pk, campaign.status), lambda: _sizes(campaign)
    )
    return [
        f"{campaign.test_set.source_language} → {campaign.test_set.target_language}",
        *([f"length {campaign.percent}"] if campaign.length_ratio != 1 else []),
        f"{pluralize(n_systems, 'system')}, {pluralize(n_segments, 'segment')}",
        _ratings(campaign, *rated),
        campaign.get_status_display().lower(),
    ]


def _sizes(campaign: Campaign) -> tuple[int, int, tuple[int, int]]:
    """Systems, segments, and the ratings that are there and wanted."""
    done, total, _ = wanted(campaign)
    return campaign.systems.count(), campaign.test_set.segments.count(), (done, total)


def _ratings(campaign: Campaign, done: int, total: int) -> str:
    people = sum(n for (n,) in _people.values({CAMPAIGN: campaign.pk}))
    if not people:
        return (
            "scores published without judgments"
            if campaign.origin == Campaign.Origin.IMPORTED
            else "no annotators"
        )
    by = pluralize(people, "annotator")
    if campaign.is_simulated:
        by = pluralize(people, "simulated annotator")
    return f"{done:,} of {total:,} ratings by {by}"


def has_scores(campaign: Campaign) -> bool:
    """Whether humans have said anything of its outputs, here or in what was published, a moment
    ago."""
    return ttl_cache(("has scores", campaign.pk), lambda: _has_scores(campaign))


def _has_scores(campaign: Campaign) -> bool:
    judgments = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    return judgments.exists() or campaign.published_scores.exists()


def study_facts(campaigns: Sequence[Campaign]) -> list[str]:
    """Return the same line for several campaigns. Two counts of the database, of the last
    moment."""
    key = ("study", *(campaign.pk for campaign in campaigns))
    n_outputs, n_ratings = ttl_cache(key, lambda: _sizes_of_all(campaigns))
    states = {campaign.get_status_display().lower() for campaign in campaigns}
    return [
        pluralize(len(campaigns), "campaign"),
        pluralize(n_outputs, "output"),
        pluralize(n_ratings, "rating"),
        *([f"all {states.pop()}"] if len(states) == 1 and len(campaigns) > 1 else sorted(states)),
    ]


def _sizes_of_all(campaigns: Sequence[Campaign]) -> tuple[int, int]:
    """Outputs and ratings."""
    systems = System.objects.filter(campaigns__in=campaigns)
    outputs = Output.objects.filter(system__in=systems)
    ratings = Judgment.objects.filter(
        is_current=True, assignment__annotator__campaign__in=campaigns
    )
    return outputs.count(), ratings.count()
