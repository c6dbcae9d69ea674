"""One named cast for all tests: a small test set, a campaign, and people by role."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.contrib.auth.models import Group, User

from annotation.models import (
    Campaign,
    Output,
    Reference,
    Segment,
    System,
    TestSet,
)
from annotation.models.corpus import content_key

PASSWORD = "correct horse"


def make_user(name: str, *roles: str) -> User:
    """A signed-up user with the named roles."""
    user = User.objects.create_user(name, password=PASSWORD)
    user.groups.set([Group.objects.get_or_create(name=role)[0] for role in roles])
    return user


def make_test_set(
    slug: str = "harbour",
    *,
    segments: int = 4,
    systems: Sequence[str] = ("strong", "weak"),
    ratio: str = "0.80",
    languages: tuple[str, str] = ("zh", "en"),
    references: bool = True,
) -> TestSet:
    """A test set whose texts are short and all different."""
    test_set = TestSet.objects.create(
        slug=slug, name=slug.title(), source_language=languages[0], target_language=languages[1]
    )
    for position in range(segments):
        segment = Segment.objects.create(
            test_set=test_set,
            position=position,
            key=str(position + 1),
            source=f"源文第{position}句，港口很安静。",
        )
        if references:
            Reference.objects.create(
                segment=segment, text=f"Sentence {position}: the harbour was quiet all morning."
            )
    for name in systems:
        add_system(test_set, name, ratio)
    return test_set


def add_system(test_set: TestSet, name: str, ratio: str = "0.80") -> System:
    """A system with an output for every segment."""
    system = System.objects.create(test_set=test_set, name=name, length_ratio=Decimal(ratio))
    for segment in test_set.segments.prefetch_related("references"):
        text = f"Sentence {segment.position} by {name[::-1]}: the harbour was quiet."
        references = [reference.text for reference in segment.references.all()]
        Output.objects.create(
            system=system,
            segment=segment,
            text=text,
            content_key=content_key(segment.source, references, text),
        )
    return system


def make_campaign(test_set: TestSet, slug: str = "harbour-80", **fields: object) -> Campaign:
    """A draft campaign over all systems of the test set."""
    defaults: dict[str, object] = {
        "name": slug.title(),
        "length_ratio": Decimal("0.80"),
        "trap_ratio": Decimal("0.80"),
        "traps_per_annotator": 2,
        "seed": 7,
    }
    campaign = Campaign.objects.create(slug=slug, test_set=test_set, **(defaults | fields))
    campaign.systems.set(test_set.systems.all())
    return campaign


@dataclass
class World:
    """The cast: `admin`, `researcher`, three annotators, one outsider, a draft campaign."""

    admin: User
    researcher: User
    annotators: list[User]
    outsider: User
    test_set: TestSet
    campaign: Campaign


def make_world() -> World:
    """Build the cast; the campaign is a draft."""
    test_set = make_test_set()
    return World(
        admin=make_user("admin", "admin"),
        researcher=make_user("researcher", "researcher"),
        annotators=[make_user(f"annotator-{n}", "annotator") for n in (1, 2, 3)],
        outsider=make_user("outsider", "annotator"),
        test_set=test_set,
        campaign=make_campaign(test_set),
    )
