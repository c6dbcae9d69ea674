"""The way to an open campaign in five steps, and what comes next at every page of a campaign."""

from dataclasses import dataclass, replace

from django.urls import reverse

from annotation.campaigns.readiness import hindrances
from annotation.models import Campaign, Judgment
from annotation.web.navigation import Link


@dataclass(frozen=True)
class Step:
    """A step: `about` says what it is or what it lacks; without an address it cannot be gone to."""

    label: str
    about: str
    address: str = ""
    is_done: bool = False
    is_current: bool = False


FIRST = (
    Step("Texts", "a test set and outputs"),
    Step("Task", "what annotators are asked"),
    Step("People", "who rates, by which links"),
    Step("Try it", "as annotators will see it"),
    Step("Open", "annotators can start"),
)
NAMES = ("texts", "task", "people", "preview", "open")
# Pages of a campaign by the step that they belong to.
STEP_OF = {
    "overview": "task",
    "instructions": "task",
    "items": "task",
    "access": "people",
    "preview": "preview",
}


def first_steps(name: str) -> list[Step]:
    """Return the steps where there is no campaign yet."""
    here = NAMES.index(name)
    return [
        replace(step, is_done=number < here, is_current=number == here)
        for number, step in enumerate(FIRST)
    ]


def steps(campaign: Campaign, page: str) -> list[Step]:
    """Return the steps of a draft, each with where it stands."""
    current = STEP_OF.get(page, "")
    missing = hindrances(campaign)
    people = campaign.annotators.filter(excluded_at=None).count()
    lacks_people = any("Add annotators" in sentence for sentence in missing)
    slug = campaign.slug
    found = [
        Step("Texts", campaign.test_set.name, campaign.test_set.get_absolute_url(), is_done=True),
        Step("Task", str(campaign.judging.label), reverse("campaign-setup", args=[slug]), True),
        Step(
            "People",
            f"needs {campaign.annotators_per_item}, has {people}"
            if lacks_people
            else ("1 person" if people == 1 else f"{people} people"),
            reverse("access", args=[slug]),
            not lacks_people and people > 0,
        ),
        Step("Try it", FIRST[3].about, reverse("campaign-preview", args=[slug])),
        Step("Open", "ready" if not missing else _needs(lacks_people)),
    ]
    return [
        replace(step, is_current=name == current) for name, step in zip(NAMES, found, strict=True)
    ]


def _needs(lacks_people: bool) -> str:
    return "needs: people" if lacks_people else "needs: another design"


def next_step(campaign: Campaign) -> tuple[str, Link] | None:
    """Return what to do next with a campaign that is no draft, and the link that does it."""
    if campaign.origin != Campaign.Origin.COLLECTED:
        return None
    slug, is_open = campaign.slug, campaign.status == Campaign.Status.OPEN
    judged = Judgment.objects.filter(assignment__annotator__campaign=campaign).exists()
    if is_open and not judged:
        return "Send each person their link.", _link("People", "access", slug)
    if is_open:
        return "Answers are coming in.", _link("See how far they are", "monitor", slug)
    if not judged:
        return "It was closed before anybody answered.", _link(
            "Open it again", "campaign-setup", slug
        )
    address = reverse("run-start", args=[campaign.test_set.slug])
    return "No more judgments are taken.", Link("Score the outputs with metrics", address, False)


def _link(label: str, name: str, slug: str) -> Link:
    return Link(label, reverse(name, args=[slug]), False)
