"""What a campaign is, in words: one line of facts, that of a study, and its design."""

from collections.abc import Iterator, Sequence

from annotation.campaigns.effort import controls, describe_effort
from annotation.models import Campaign, Judgment, Output, System
from annotation.models.assignment import wanted
from annotation.prefill.trial import shares_of
from core.caching import ttl_cache
from core.text import pluralize

SPEED: dict[str, str] = {Campaign.SpeedRule.SLOW: "slowed down", Campaign.SpeedRule.STOP: "stopped"}


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
    people = campaign.annotators.filter(excluded_at=None).count()
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


def describe(campaign: Campaign) -> list[tuple[str, str]]:
    """Return names and values of what was decided, without what plays no part."""
    if campaign.origin == Campaign.Origin.IMPORTED:
        return [("Assignment", "as imported")]
    return [
        ("Annotators per item", str(campaign.annotators_per_item)),
        *_assignment(campaign),
        ("Controls for each", ", ".join(_controls(campaign)) or "none"),
        *_suggested(campaign),
        *_people(campaign),
        *describe_effort(campaign),
    ]


def _assignment(campaign: Campaign) -> Iterator[tuple[str, str]]:
    yield "Assignment", campaign.get_assignment_mode_display()
    if campaign.assignment_mode == Campaign.Mode.STATIC:
        return
    if campaign.assignment_mode == Campaign.Mode.DYNAMIC:
        n, cold = campaign.exploration_percent, pluralize(campaign.cold_start, "document")
        yield "Systems drawn evenly", f"on {n} % of screens, and until each has {cold}"
    if campaign.items_per_annotator:
        yield "Most items an annotator", f"{campaign.items_per_annotator:,}"
    if campaign.max_same_source:
        yield "Most items over one source", str(campaign.max_same_source)
    yield "Unanswered items go back", f"after {campaign.claim_minutes:,} minutes"


def _controls(campaign: Campaign) -> Iterator[str]:
    percent = f"{(campaign.trap_ratio * 100).normalize():f}%"
    if n := campaign.traps_per_annotator:
        yield f"{n:,} traps cut to {percent}"
    if n := campaign.bad_references_per_annotator:
        yield pluralize(n, "bad reference")
    if n := campaign.repeats_per_annotator:
        yield pluralize(n, "repeat")
    if n := campaign.references_per_annotator:
        yield f"{n:,} references as outputs"
    if n := campaign.rotated_checks:
        yield f"up to {pluralize(n, 'check')} with moved words"
    if n := campaign.check_percent:
        yield f"one before a screen in {n} % of cases"
    if controls(campaign) and campaign.control_spacing:
        yield f"at least {campaign.control_spacing} screens apart"


def _suggested(campaign: Campaign) -> Iterator[tuple[str, str]]:
    if not campaign.is_prefilled:
        return
    prefill = campaign.prefill
    yield "Suggested errors", f"from {prefill.label}"
    if prefill.is_trial:
        shares = [f"{share} % {condition}" for condition, share in shares_of(prefill).items()]
        yield "Trial", ", ".join(shares)


def _people(campaign: Campaign) -> Iterator[tuple[str, str]]:
    asked = [
        *(["consent"] if campaign.consent else []),
        *(["background"] if campaign.asks_background else []),
        *(["a comprehension test"] if campaign.comprehension else []),
    ]
    if asked:
        yield "Asked first", " and ".join(asked)
    if campaign.stop_after:
        yield "Stopped after", pluralize(campaign.stop_after, "failed check")
    if campaign.speed_rule != Campaign.SpeedRule.OFF:
        yield "Faster than anyone can read", SPEED[campaign.speed_rule]
    if campaign.shows_context:
        yield "Can be opened", "the document around a segment"
    if campaign.edit_minutes is not None:
        minutes = f"for {campaign.edit_minutes:,} minutes" if campaign.edit_minutes else "never"
        yield "Answers can be revised", minutes
    most, words = f"{campaign.time_cap_seconds:,}", campaign.seconds_per_word.normalize()
    by_word = f"{most} seconds a screen and {words:f} for each word"
    yield "Paid at most", by_word if words else f"{most} seconds a screen"
    told = [address for address in (campaign.notify_email, campaign.notify_webhook) if address]
    if told:
        yield "Told when complete", ", ".join(told)
    if campaign.is_private:
        yield "Seen by", "members only"
