"""What to do next with a campaign, from its state as it is stored; and the steps of a draft."""

from dataclasses import dataclass, replace
from enum import StrEnum, auto

from django.db.models import F, Q
from django.urls import reverse

from annotation.campaigns.facts import has_scores
from annotation.campaigns.readiness import hindrances
from annotation.models import Campaign, Judgment, Output
from annotation.models.assignment import wanted
from annotation.quality.exclusions import REASSIGN
from annotation.web.navigation import FIRST, FIRST_NAMES, Link, Step
from core.text import pluralize
from dashboards.home.leaders import read_leaders
from metrics.imported.storing import shown_imports
from metrics.models import MetricRun

# Pages of a campaign by the step of a draft that they belong to.
STEP_OF = {
    "overview": "task",
    "instructions": "task",
    "items": "task",
    "access": "people",
    "preview": "preview",
}


class State(StrEnum):
    """How far a campaign is. Each state asks for one thing."""

    WITHOUT_TEXTS = auto()
    WITHOUT_PEOPLE = auto()
    HINDERED = auto()
    READY = auto()
    NOT_STARTED = auto()
    UNDER_WAY = auto()
    EXCLUDED = auto()
    RATED = auto()
    UNJUDGED = auto()
    ALL_EXCLUDED = auto()
    SCORING = auto()
    SCORING_FAILED = auto()
    UNSCORED = auto()
    SCORED = auto()
    REFUSED = auto()
    COMPUTED = auto()


# What each state asks for: the label of a link, and the page of the campaign that it leads to. An
# empty page is another address.
STEPS = {
    State.WITHOUT_TEXTS: ("Add systems to the test set", ""),
    State.WITHOUT_PEOPLE: ("Add annotators", "access"),
    State.HINDERED: ("See what is missing", "overview"),
    State.READY: ("Open the campaign", "overview"),
    State.NOT_STARTED: ("Send each annotator their link", "access"),
    State.UNDER_WAY: ("See the progress", "monitor"),
    State.EXCLUDED: ("Give their items to others", "quality"),
    State.RATED: ("Close the campaign", "overview"),
    State.UNJUDGED: ("Open it again", "overview"),
    State.ALL_EXCLUDED: ("Review the exclusions", "quality"),
    State.SCORING: ("See the runs", ""),
    State.SCORING_FAILED: ("See why", ""),
    State.UNSCORED: ("Score the outputs", ""),
    State.SCORED: ("Compute the results", "results"),
    State.REFUSED: ("Review the annotators", "quality"),
    State.COMPUTED: ("Read the results", "results"),
}
ADDRESSES = {"overview": "campaign-setup"}


@dataclass(frozen=True)
class NextStep:
    """Where a campaign stands, and the link that takes it further."""

    state: State
    sentence: str
    link: Link


def next_step(campaign: Campaign, page: str) -> NextStep | None:
    """Return what to do next, seen from a page of the campaign; None where that page does it."""
    found = state_of(campaign)
    if found is None:
        return None
    state, sentence = found
    label, target = STEPS[state]
    if target == page:
        return None
    address = (
        reverse(ADDRESSES.get(target, target), args=[campaign.slug])
        if target
        else _elsewhere(state, campaign)
    )
    return NextStep(state, sentence, Link(label, address, is_current=False))


def _elsewhere(state: State, campaign: Campaign) -> str:
    slug = campaign.test_set.slug
    if state == State.WITHOUT_TEXTS:
        return str(campaign.test_set.get_absolute_url())
    if state == State.UNSCORED:
        return reverse("run-start", args=[slug])
    return f"{reverse('runs')}?testset={slug}"


def state_of(campaign: Campaign) -> tuple[State, str] | None:
    """Return the state of a campaign and a sentence that says it.

    None where nothing can be done: an import without judgments and without scores.
    """
    if campaign.status == Campaign.Status.DRAFT:
        return _of_draft(campaign, _people(campaign))
    if campaign.status == Campaign.Status.OPEN:
        return _of_open(campaign)
    return _of_closed(campaign)


def _people(campaign: Campaign) -> int:
    return campaign.annotators.filter(excluded_at=None).count()


def _of_draft(campaign: Campaign, people: int) -> tuple[State, str]:
    missing = hindrances(campaign)
    if missing and not campaign.systems.exists():
        return State.WITHOUT_TEXTS, "The campaign has no system to judge."
    is_fixed = campaign.assignment_mode == Campaign.Mode.STATIC
    if is_fixed and people < campaign.annotators_per_item:
        needed = pluralize(campaign.annotators_per_item, "annotator")
        return State.WITHOUT_PEOPLE, f"The campaign needs {needed} and has {people:,}."
    if not people and not campaign.access_links.exists():
        return State.WITHOUT_PEOPLE, "The campaign has no annotators."
    if missing:
        return State.HINDERED, missing[0]
    return State.READY, "The campaign can be opened."


def _of_open(campaign: Campaign) -> tuple[State, str]:
    if not Judgment.objects.filter(assignment__annotator__campaign=campaign).exists():
        return State.NOT_STARTED, "Nobody has rated an output yet."
    if n := _excluded(campaign):
        whose = pluralize(n, "excluded annotator")
        return State.EXCLUDED, f"Nobody has taken over the items of {whose}."
    done, total, is_complete = wanted(campaign)
    if is_complete:
        return State.RATED, f"All {total:,} ratings are there."
    return State.UNDER_WAY, f"{done:,} of {total:,} ratings are there."


def _excluded(campaign: Campaign) -> int:
    """Count excluded annotators whose items nobody has given to others since."""
    given = Q(audit__action=REASSIGN, audit__created_at__gte=F("excluded_at"))
    excluded = campaign.annotators.filter(excluded_at__isnull=False, assignments__isnull=False)
    return excluded.exclude(pk__in=campaign.annotators.filter(given)).distinct().count()


def _of_closed(campaign: Campaign) -> tuple[State, str] | None:
    is_imported = campaign.origin == Campaign.Origin.IMPORTED
    if not has_scores(campaign):
        if is_imported:
            return None
        return State.UNJUDGED, "It was closed before anybody answered."
    people = campaign.annotators.all()
    if (
        people.exists()
        and not people.filter(excluded_at=None, assignments__completed_at__isnull=False).exists()
    ):
        return State.ALL_EXCLUDED, "All annotators who rated are excluded."
    return _of_scores(campaign) or _of_results(campaign)


def _of_scores(campaign: Campaign) -> tuple[State, str] | None:
    """Return what metrics still have to do; None where every judged system has a score."""
    runs = MetricRun.objects.filter(
        test_set=campaign.test_set_id, systems__in=campaign.systems.all()
    )
    if runs.filter(status__in=MetricRun.ACTIVE).exists():
        return State.SCORING, "Metrics are scoring the outputs."
    if shown_imports(campaign.test_set):
        return None
    scored = runs.filter(status=MetricRun.Status.DONE).values("systems")
    missing = campaign.systems.exclude(pk__in=scored)
    if not Output.objects.filter(system__in=missing).exclude(text="").exists():
        return None
    last = runs.order_by("-pk").first()
    if last is not None and last.status == MetricRun.Status.FAILED:
        return State.SCORING_FAILED, "The last metric run over the outputs failed."
    n, total = missing.count(), campaign.systems.count()
    if n == total:
        return State.UNSCORED, "No metric has scored the outputs."
    return State.UNSCORED, f"No metric has scored the outputs of {n:,} of {total:,} systems."


def _of_results(campaign: Campaign) -> tuple[State, str]:
    leader = read_leaders([campaign]).get(campaign.pk)
    if leader is None or not leader.states:
        return State.SCORED, "Judgments and metric scores are there."
    if leader.is_refused:
        return State.REFUSED, "The judgments do not support a conclusion."
    return State.COMPUTED, "The results are computed."


def steps(campaign: Campaign, page: str) -> list[Step]:
    """Return the steps of a draft, each with where it stands."""
    people = _people(campaign)
    state, _ = _of_draft(campaign, people)
    has_texts = state != State.WITHOUT_TEXTS
    has_people = people > 0 and state not in (State.WITHOUT_TEXTS, State.WITHOUT_PEOPLE)
    slug, texts, task = campaign.slug, campaign.test_set, str(campaign.judging.label)
    found = [
        Step("Texts", texts.name if has_texts else "needs: systems", texts.get_absolute_url(),
             has_texts),
        Step("Task", task, reverse("campaign-setup", args=[slug]), is_done=True),
        Step(
            "People",
            f"needs {campaign.annotators_per_item}, has {people}"
            if state == State.WITHOUT_PEOPLE and campaign.assignment_mode == Campaign.Mode.STATIC
            else ("1 person" if people == 1 else f"{people} people"),
            reverse("access", args=[slug]),
            has_people,
        ),
        Step("Try it", FIRST[3].about, reverse("campaign-preview", args=[slug])),
        Step("Open", _about_open(state)),
    ]  # fmt: skip
    current = STEP_OF.get(page, "")
    return [
        replace(step, is_current=name == current)
        for name, step in zip(FIRST_NAMES, found, strict=True)
    ]


def _about_open(state: State) -> str:
    return {
        State.WITHOUT_TEXTS: "needs: systems",
        State.WITHOUT_PEOPLE: "needs: people",
        State.HINDERED: "needs: another design",
    }.get(state, "ready")
