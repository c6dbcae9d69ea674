"""What a campaign is, in one line: direction, length, size, progress, state."""

from annotation.counted import counted
from annotation.models import Campaign, Judgment
from annotation.monitor.completion import wanted


def facts(campaign: Campaign) -> list[str]:
    """Return the line's parts. Four counts of the database."""
    return [
        f"{campaign.test_set.source_language} → {campaign.test_set.target_language}",
        *([f"length {campaign.percent}"] if campaign.length_ratio != 1 else []),
        f"{counted(campaign.systems.count(), 'system')}, "
        f"{counted(campaign.test_set.segments.count(), 'segment')}",
        _ratings(campaign),
        campaign.get_status_display().lower(),
    ]


def _ratings(campaign: Campaign) -> str:
    done, total, _ = wanted(campaign)
    people = campaign.annotators.filter(excluded_at=None).count()
    if not people:
        return (
            "scores published without judgments"
            if campaign.origin == Campaign.Origin.IMPORTED
            else "no annotators"
        )
    kind = "simulated " if campaign.is_simulated else ""
    return f"{done:,} of {total:,} ratings by {counted(people, kind + 'annotator')}"


def has_scores(campaign: Campaign) -> bool:
    """Whether humans have said anything of its outputs, here or in what was published."""
    judgments = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    return judgments.exists() or campaign.published_scores.exists()
