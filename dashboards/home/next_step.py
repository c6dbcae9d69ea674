"""Return the next step of a campaign from its stored state, and the steps of a draft."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum, auto

from django.db.models import F, Q
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.campaigns.facts import has_scores
from annotation.campaigns.readiness import hindrances
from annotation.filters import Filters
from annotation.models import Campaign, Judgment, Output
from annotation.models.assignment import wanted
from annotation.quality.exclusions import REASSIGN
from annotation.web.navigation import FIRST, FIRST_NAMES, Link, Step
from dashboards.comparisons import statistics
from dashboards.correlations.document import DEFAULT
from dashboards.documents import kinds
from dashboards.documents.computing import data_of, digest, unpack
from dashboards.documents.reasons import LABELS, Verdict
from dashboards.models import Analysis
from metaeval.messages import Message, message, plural
from metrics.imported.storing import shown_imports
from metrics.models import MetricRun

TABLE, TRUST = f"correlations:{statistics.parse(DEFAULT).key}", "trust"


@dataclass
class Leader:
    """The metric with the largest τ of a campaign's results as they were last computed.

    `verdict` is that on its judgments, `states` are those of the data behind both. There is no
    leader where the judgments do not support the numbers.
    """

    label: str = ""
    value: float | None = None
    verdict: Verdict | None = None
    states: set[str] = field(default_factory=set)

    @property
    def is_apart(self) -> bool:
        """Whether the verdict and the number use different states of the data."""
        return len(self.states) > 1

    @property
    def is_refused(self) -> bool:
        """Whether the judgments do not support any number."""
        return self.verdict == Verdict.DO_NOT_USE

    @property
    def trust(self) -> Message | None:
        """The label of the verdict."""
        return LABELS[self.verdict] if self.verdict else None


def read_leaders(campaigns: Sequence[Campaign]) -> dict[int, Leader]:
    """Return the leaders of campaigns by primary key, from stored default results. One query."""
    filters = Filters.from_query(QueryDict()).as_json()
    asked = [digest(kind, row.pk, filters) for row in campaigns for kind in (TABLE, TRUST)]
    rows = Analysis.objects.filter(question__in=asked).exclude(as_of=None)
    found: dict[int, Leader] = {}
    stored = rows.values_list("campaign_id", "kind", "payload", "basis")
    for pk, kind, payload, basis in stored:
        document = unpack(payload, kinds.load(kind).DOCUMENT)
        if pk is None or document is None:
            continue
        leader = found.setdefault(pk, Leader())
        leader.states.add(data_of(basis))
        if kind == TRUST:
            leader.verdict = document.verdict
            continue
        known = [metric for metric in document.metrics if metric.value is not None]
        if known:
            first = max(known, key=lambda metric: metric.value)
            leader.label, leader.value = first.label, first.value
    return found


# Pages of a campaign by the step of a draft that they belong to.
STEP_OF = {
    "overview": "task",
    "instructions": "task",
    "items": "task",
    "access": "people",
    "preview": "preview",
}


class State(StrEnum):
    """The state of a campaign; each has one next step."""

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


# The next step of each state: the label of a link, and the page of the campaign that it leads to.
# An empty page is another address.
STEPS = {
    State.WITHOUT_TEXTS: (gettext_noop("Add systems to the test set"), ""),
    State.WITHOUT_PEOPLE: (gettext_noop("Add annotators"), "access"),
    State.HINDERED: (gettext_noop("Show what is missing"), "overview"),
    State.READY: (gettext_noop("Open campaign"), "overview"),
    State.NOT_STARTED: (gettext_noop("Send annotators their links"), "access"),
    State.UNDER_WAY: (gettext_noop("View progress"), "monitor"),
    State.EXCLUDED: (gettext_noop("Reassign their items"), "monitor"),
    State.RATED: (gettext_noop("Close campaign"), "overview"),
    State.UNJUDGED: (gettext_noop("Reopen campaign"), "overview"),
    State.ALL_EXCLUDED: (gettext_noop("Review exclusions"), "monitor"),
    State.SCORING: (gettext_noop("View runs"), ""),
    State.SCORING_FAILED: (gettext_noop("View error"), ""),
    State.UNSCORED: (gettext_noop("Score outputs"), ""),
    State.SCORED: (gettext_noop("Compute results"), "results"),
    State.REFUSED: (gettext_noop("Review annotators"), "monitor"),
    State.COMPUTED: (gettext_noop("Read results"), "results"),
}
ADDRESSES = {"overview": "campaign-setup"}


@dataclass(frozen=True)
class NextStep:
    """The state of a campaign, and the link to its next step."""

    state: State
    sentence: Message
    link: Link


def next_step(campaign: Campaign, page: str) -> NextStep | None:
    """Return the next step for a page of the campaign; None where the step is on that page."""
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
    return NextStep(state, sentence, Link(gettext(label), address, is_current=False))


def _elsewhere(state: State, campaign: Campaign) -> str:
    slug = campaign.test_set.slug
    if state == State.WITHOUT_TEXTS:
        return str(campaign.test_set.get_absolute_url())
    if state == State.UNSCORED:
        return reverse("run-start", args=[slug])
    return f"{reverse('runs')}?testset={slug}"


def state_of(campaign: Campaign) -> tuple[State, Message] | None:
    """Return the state of a campaign and its description.

    None where there is no next step: an import without judgments and without scores.
    """
    if campaign.status == Campaign.Status.DRAFT:
        return _of_draft(campaign, _people(campaign))
    if campaign.status == Campaign.Status.OPEN:
        return _of_open(campaign)
    return _of_closed(campaign)


def _people(campaign: Campaign) -> int:
    return campaign.annotators.filter(excluded_at=None).count()


def _of_draft(campaign: Campaign, people: int) -> tuple[State, Message]:
    missing = hindrances(campaign)
    if missing and not campaign.systems.exists():
        return State.WITHOUT_TEXTS, message("campaign.no-systems", "The campaign has no systems.")
    is_fixed = campaign.assignment_mode == Campaign.Mode.STATIC
    if is_fixed and people < campaign.annotators_per_item:
        return State.WITHOUT_PEOPLE, plural(
            "campaign.too-few-annotators",
            "The campaign needs {n} annotator and has {people}.",
            "The campaign needs {n} annotators and has {people}.",
            n=campaign.annotators_per_item,
            people=people,
        )
    if not people and not campaign.access_links.exists():
        return State.WITHOUT_PEOPLE, message(
            "campaign.no-annotators", "The campaign has no annotators."
        )
    if missing:
        return State.HINDERED, missing[0]
    return State.READY, message("campaign.ready", "The campaign can be opened.")


def _of_open(campaign: Campaign) -> tuple[State, Message]:
    if not Judgment.objects.filter(assignment__annotator__campaign=campaign).exists():
        return State.NOT_STARTED, message("campaign.not-started", "Nobody has rated an output yet.")
    if n := _excluded(campaign):
        return State.EXCLUDED, plural(
            "campaign.excluded",
            "The items of {n} excluded annotator have not been reassigned.",
            "The items of {n} excluded annotators have not been reassigned.",
            n=n,
        )
    done, total, is_complete = wanted(campaign)
    if is_complete:
        return State.RATED, message(
            "campaign.complete", "All {total} ratings are complete.", total=total
        )
    return State.UNDER_WAY, message(
        "campaign.progress", "{done} of {total} ratings are complete.", done=done, total=total
    )


def _excluded(campaign: Campaign) -> int:
    """Count excluded annotators whose items have not been reassigned since."""
    given = Q(audit__action=REASSIGN, audit__created_at__gte=F("excluded_at"))
    excluded = campaign.annotators.filter(excluded_at__isnull=False, assignments__isnull=False)
    return excluded.exclude(pk__in=campaign.annotators.filter(given)).distinct().count()


def _of_closed(campaign: Campaign) -> tuple[State, Message] | None:
    is_imported = campaign.origin == Campaign.Origin.IMPORTED
    if not has_scores(campaign):
        if is_imported:
            return None
        return State.UNJUDGED, message(
            "campaign.unjudged", "The campaign was closed before anybody rated."
        )
    people = campaign.annotators.all()
    if (
        people.exists()
        and not people.filter(excluded_at=None, assignments__completed_at__isnull=False).exists()
    ):
        return State.ALL_EXCLUDED, message(
            "campaign.all-excluded", "All annotators who rated are excluded."
        )
    return _of_scores(campaign) or _of_results(campaign)


def _of_scores(campaign: Campaign) -> tuple[State, Message] | None:
    """Return the state of scoring; None where every judged system has a score."""
    runs = MetricRun.objects.filter(
        test_set=campaign.test_set_id, systems__in=campaign.systems.all()
    )
    if runs.filter(status__in=MetricRun.ACTIVE).exists():
        return State.SCORING, message("campaign.scoring", "Metrics are scoring the outputs.")
    if shown_imports(campaign.test_set):
        return None
    scored = runs.filter(status=MetricRun.Status.DONE).values("systems")
    missing = campaign.systems.exclude(pk__in=scored)
    if not Output.objects.filter(system__in=missing).exclude(text="").exists():
        return None
    last = runs.order_by("-pk").first()
    if last is not None and last.status == MetricRun.Status.FAILED:
        return State.SCORING_FAILED, message(
            "campaign.scoring-failed", "The last metric run over the outputs failed."
        )
    n, total = missing.count(), campaign.systems.count()
    if n == total:
        return State.UNSCORED, message("campaign.unscored", "No metric has scored the outputs.")
    return State.UNSCORED, message(
        "campaign.partly-unscored",
        "No metric has scored the outputs of {n} of {total} systems.",
        n=n,
        total=total,
    )


def _of_results(campaign: Campaign) -> tuple[State, Message]:
    leader = read_leaders([campaign]).get(campaign.pk)
    if leader is None or not leader.states:
        return State.SCORED, message("campaign.scored", "Judgments and metric scores are complete.")
    if leader.is_refused:
        return State.REFUSED, message(
            "campaign.refused", "The judgments do not support a conclusion."
        )
    return State.COMPUTED, message("campaign.computed", "The results have been computed.")


def steps(campaign: Campaign, page: str) -> list[Step]:
    """Return the steps of a draft, each with its state."""
    people = _people(campaign)
    state, _ = _of_draft(campaign, people)
    has_texts = state != State.WITHOUT_TEXTS
    has_people = people > 0 and state not in (State.WITHOUT_TEXTS, State.WITHOUT_PEOPLE)
    slug, texts, task = campaign.slug, campaign.test_set, str(campaign.judging.label)
    found = [
        Step(gettext("Texts"), texts.name if has_texts else gettext("needs systems"),
             texts.get_absolute_url(), has_texts),
        Step(gettext("Task"), task, reverse("campaign-setup", args=[slug]), is_done=True),
        Step(
            FIRST[2].label,
            gettext("needs %(needed)d, has %(people)d")
            % {"needed": campaign.annotators_per_item, "people": people}
            if state == State.WITHOUT_PEOPLE and campaign.assignment_mode == Campaign.Mode.STATIC
            else ngettext("%(n)d annotator", "%(n)d annotators", people) % {"n": people},
            reverse("access", args=[slug]),
            has_people,
        ),
        Step(FIRST[3].label, FIRST[3].about, reverse("campaign-preview", args=[slug])),
        Step(gettext("Open"), _about_open(state)),
    ]  # fmt: skip
    current = STEP_OF.get(page, "")
    return [
        replace(step, is_current=name == current)
        for name, step in zip(FIRST_NAMES, found, strict=True)
    ]


def _about_open(state: State) -> str:
    return {
        State.WITHOUT_TEXTS: gettext("needs systems"),
        State.WITHOUT_PEOPLE: gettext("needs annotators"),
        State.HINDERED: gettext("needs another design"),
    }.get(state, gettext("ready"))
