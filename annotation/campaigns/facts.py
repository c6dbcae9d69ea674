"""Describe a campaign or a study: a line of facts, and the design as names and values."""

from collections.abc import Iterator, Sequence

from django.db.models import Count, Q, Sum

from annotation.campaigns.effort import controls, describe_effort
from annotation.campaigns.people import STATES
from annotation.campaigns.sampling import describe_sample
from annotation.models import Campaign, Judgment, Output, System
from annotation.models.assignment import wanted
from annotation.prefill.trial import shares_of
from core.caching import ttl_cache
from metaeval.messages import Message, message, plural

Values = Sequence[Message | str]
Line = tuple[Message, Message | Values]
ASSIGNMENT: dict[str, Message] = {
    Campaign.Mode.STATIC: message(
        "assignment.static",
        "Fixed: every annotator’s items are assigned when the campaign opens",
    ),
    Campaign.Mode.POOL: message(
        "assignment.pool", "Open pool: the next item is the one that lacks most ratings"
    ),
    Campaign.Mode.ACTIVE: message(
        "assignment.active",
        "Active: the next items are of systems whose difference is still uncertain",
    ),
    Campaign.Mode.DYNAMIC: message(
        "assignment.dynamic",
        "Dynamic: the systems of every screen are drawn, systems with high scores most often",
    ),
}
SPEED: dict[str, Message] = {
    Campaign.SpeedRule.SLOW: message("design.slowed", "slowed down"),
    Campaign.SpeedRule.STOP: message("design.stopped", "stopped"),
}
NO_ANNOTATORS = message("facts.no-annotators", "no annotators")
PUBLISHED = message("facts.published", "scores published without judgments")


def facts(campaign: Campaign) -> list[Message]:
    """Return the parts of the line of facts. Four counting queries, three of them cached."""
    n_systems, n_segments, rated = ttl_cache(
        ("facts", campaign.pk, campaign.status), lambda: _sizes(campaign)
    )
    people = campaign.annotators.aggregate(
        n=Count("pk", filter=Q(excluded_at=None)), removed=Sum("n_removed")
    )
    length = message("facts.length", "length ratio {percent}", percent=campaign.percent)
    return [
        message(
            "facts.direction",
            "{source} → {target}",
            source=campaign.test_set.source_language,
            target=campaign.test_set.target_language,
        ),
        *([length] if campaign.length_ratio != 1 else []),
        plural("facts.systems", "{n} system", "{n} systems", n=n_systems),
        plural("facts.segments", "{n} segment", "{n} segments", n=n_segments),
        _ratings(campaign, people["n"], *rated),
        *([removed(people["removed"])] if people["removed"] else []),
        STATES[campaign.status],
    ]


def _sizes(campaign: Campaign) -> tuple[int, int, tuple[int, int]]:
    """Count systems, segments, and the existing and wanted ratings."""
    done, total, _ = wanted(campaign)
    return campaign.systems.count(), campaign.segments.count(), (done, total)


def n_removed(campaign: Campaign) -> int:
    """Return how many judgments of erased persons were removed."""
    return campaign.annotators.aggregate(n=Sum("n_removed"))["n"] or 0


def removed(n: int) -> Message:
    """Say how many judgments of erased persons were removed."""
    return plural(
        "facts.removed",
        "{n} judgment of an erased person removed",
        "{n} judgments of erased persons removed",
        n=n,
    )


def _ratings(campaign: Campaign, n: int, done: int, total: int) -> Message:
    if not n:
        return PUBLISHED if campaign.origin == Campaign.Origin.IMPORTED else NO_ANNOTATORS
    if campaign.is_simulated:
        return plural(
            "facts.simulated-ratings",
            "{done} of {total} ratings by {n} simulated annotator",
            "{done} of {total} ratings by {n} simulated annotators",
            n=n,
            done=done,
            total=total,
        )
    return plural(
        "facts.ratings",
        "{done} of {total} ratings by {n} annotator",
        "{done} of {total} ratings by {n} annotators",
        n=n,
        done=done,
        total=total,
    )


def has_scores(campaign: Campaign) -> bool:
    """Return whether a campaign has human scores, collected or published (cached briefly)."""
    return ttl_cache(("has scores", campaign.pk), lambda: _has_scores(campaign))


def _has_scores(campaign: Campaign) -> bool:
    judgments = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    return judgments.exists() or campaign.has_published_scores


def study_facts(campaigns: Sequence[Campaign]) -> list[Message]:
    """Return the line of facts of several campaigns. Two counting queries, cached briefly."""
    key = ("study", *(campaign.pk for campaign in campaigns))
    n_outputs, n_ratings = ttl_cache(key, lambda: _sizes_of_all(campaigns))
    states = sorted({campaign.status for campaign in campaigns})
    is_same = len(states) == 1 and len(campaigns) > 1
    return [
        plural("facts.campaigns", "{n} campaign", "{n} campaigns", n=len(campaigns)),
        plural("facts.outputs", "{n} output", "{n} outputs", n=n_outputs),
        plural("facts.n-ratings", "{n} rating", "{n} ratings", n=n_ratings),
        *([message("facts.all", "all {state}", state=STATES[states[0]])] if is_same else []),
        *([] if is_same else [STATES[state] for state in states]),
    ]


def _sizes_of_all(campaigns: Sequence[Campaign]) -> tuple[int, int]:
    """Count outputs and ratings."""
    whole = [campaign for campaign in campaigns if campaign.sample is None]
    judged = Q(system__in=System.objects.filter(campaigns__in=whole))
    for campaign in campaigns:
        if campaign.sample is not None:
            judged |= Q(pk__in=campaign.outputs)
    outputs = Output.objects.filter(judged)
    ratings = Judgment.objects.filter(
        is_current=True, assignment__annotator__campaign__in=campaigns
    )
    return outputs.count(), ratings.count()


def describe(campaign: Campaign) -> list[tuple[Message, Values]]:
    """Return the names and values of the design's settings, without those that have no effect."""
    return [
        (name, [value] if isinstance(value, Message) else value) for name, value in _lines(campaign)
    ]


def _lines(campaign: Campaign) -> Iterator[Line]:
    if part := list(describe_sample(campaign)):
        yield message("design.sample", "Part of the test set"), part
    if campaign.origin == Campaign.Origin.IMPORTED:
        yield ASSIGNED, message("design.as-imported", "as imported")
        return
    yield message("design.annotators", "Annotators per item"), [f"{campaign.annotators_per_item:,}"]
    yield from _assignment(campaign)
    planted = list(_controls(campaign)) or message("design.none", "none")
    yield message("design.controls", "Control items per annotator"), planted
    yield from _suggested(campaign)
    yield from _people(campaign)
    yield from describe_effort(campaign)


ASSIGNED = message("design.assignment", "Assignment")


def _minutes(n: int) -> Message:
    return plural("design.minutes", "after {n} minute", "after {n} minutes", n=n)


def _assignment(campaign: Campaign) -> Iterator[Line]:
    yield ASSIGNED, ASSIGNMENT[campaign.assignment_mode]
    if campaign.assignment_mode == Campaign.Mode.STATIC:
        return
    if campaign.assignment_mode == Campaign.Mode.DYNAMIC:
        yield (
            message("design.drawn-evenly", "Systems drawn evenly"),
            plural(
                "design.drawn-evenly-on",
                "on {percent}% of screens, and until each system has {n} document",
                "on {percent}% of screens, and until each system has {n} documents",
                n=campaign.cold_start,
                percent=campaign.exploration_percent,
            ),
        )
    if campaign.items_per_annotator:
        yield (
            message("design.most-items", "Maximum items per annotator"),
            [f"{campaign.items_per_annotator:,}"],
        )
    if campaign.max_same_source:
        yield (
            message("design.most-of-source", "Maximum items per annotator and source"),
            [f"{campaign.max_same_source:,}"],
        )
    yield (
        message("design.returned", "Unanswered items return to the pool"),
        _minutes(campaign.claim_minutes),
    )


def _controls(campaign: Campaign) -> Iterator[Message]:
    percent = f"{(campaign.trap_ratio * 100).normalize():f}%"
    if n := campaign.traps_per_annotator:
        yield plural(
            "design.traps",
            "{n} trap cut to {percent}",
            "{n} traps cut to {percent}",
            n=n,
            percent=percent,
        )
    if n := campaign.bad_references_per_annotator:
        yield plural("design.bad-references", "{n} bad reference", "{n} bad references", n=n)
    if n := campaign.repeats_per_annotator:
        yield plural("design.repeats", "{n} repeat", "{n} repeats", n=n)
    if n := campaign.references_per_annotator:
        yield plural(
            "design.references", "{n} reference as output", "{n} references as outputs", n=n
        )
    if n := campaign.rotated_checks:
        yield plural(
            "design.rotated",
            "up to {n} check with moved words",
            "up to {n} checks with moved words",
            n=n,
        )
    if n := campaign.check_percent:
        yield message(
            "design.chance", "before each screen with a probability of {percent}%", percent=n
        )
    if controls(campaign) and (n := campaign.control_spacing):
        yield plural("design.apart", "at least {n} screen apart", "at least {n} screens apart", n=n)


def _suggested(campaign: Campaign) -> Iterator[Line]:
    if not campaign.is_prefilled:
        return
    prefill = campaign.prefill
    yield (
        message("design.suggested", "Suggested errors"),
        message("design.suggested-from", "from {label}", label=prefill.label),
    )
    if prefill.is_trial:
        shares = (
            message("design.condition", "{share}% {condition}", share=share, condition=each.label)
            for each, share in shares_of(prefill).items()
        )
        yield message("design.trial", "Trial"), list(shares)


def _people(campaign: Campaign) -> Iterator[Line]:
    asked = [
        *([message("design.consent", "consent")] if campaign.consent else []),
        *([message("design.background", "background")] if campaign.asks_background else []),
        *([message("design.test", "comprehension test")] if campaign.comprehension else []),
    ]
    if asked:
        yield message("design.first", "Before the first item"), asked
    if n := campaign.stop_after:
        yield (
            message("design.stop-after", "Annotators are stopped after"),
            plural("design.failed", "{n} failed control item", "{n} failed control items", n=n),
        )
    if campaign.speed_rule != Campaign.SpeedRule.OFF:
        yield (
            message("design.too-fast", "Annotators who answer faster than anyone can read"),
            SPEED[campaign.speed_rule],
        )
    if campaign.shows_context:
        yield (
            message("design.opened", "Annotators can open"),
            message("design.context", "the document around a segment"),
        )
    if campaign.edit_minutes is not None:
        yield (
            message("design.revised", "Answers can be revised"),
            plural(
                "design.revised-for",
                "for {n} minute",
                "for {n} minutes",
                n=campaign.edit_minutes,
            )
            if campaign.edit_minutes
            else message("design.never-revised", "never"),
        )
    words = campaign.seconds_per_word.normalize()
    yield (
        message("design.paid", "Paid time"),
        message(
            "design.paid-by-word",
            "at most {seconds} seconds per screen and {more} for each word",
            seconds=campaign.time_cap_seconds,
            more=float(words),
        )
        if words
        else message(
            "design.paid-most",
            "at most {seconds} seconds per screen",
            seconds=campaign.time_cap_seconds,
        ),
    )
    if addresses := [each for each in (campaign.notify_email, campaign.notify_webhook) if each]:
        yield message("design.notified", "Notified when complete"), addresses
    if campaign.is_private:
        yield (
            message("design.visible-to", "Visible to"),
            message("design.members", "members only"),
        )
