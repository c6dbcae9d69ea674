"""One named cast for all tests: a small test set, a campaign, and people by role."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.db.models import Value
from django.db.models.functions import Concat

# What receives a sign-in, as in a server, which loads all pages before anybody signs in.
import annotation.entry.accounts
import annotation.entry.sign_ins
import annotation.interface
import annotation.web.password  # noqa: F401
from annotation.demo import load_demo
from annotation.models import (
    Campaign,
    Output,
    Reference,
    Segment,
    System,
    TestSet,
)
from annotation.models.corpus import content_key
from metrics.runs import scoring, starting
from tests.shared import rows_once

PASSWORD = "correct horse"


def make_user(name: str, *roles: str) -> User:
    """A signed-up user with the named roles."""
    return make_users({name: roles})[0]


def make_users(roles: Mapping[str, Sequence[str]]) -> list[User]:
    """Signed-up users with the roles that each of them has."""
    password = _hashed(PASSWORD, tuple(settings.PASSWORD_HASHERS))
    users = User.objects.bulk_create([User(username=name, password=password) for name in roles])
    groups = {each.name: each for each in Group.objects.all()}
    pairs = [
        (user, role) for user, held in zip(users, roles.values(), strict=True) for role in held
    ]
    memberships = User.groups.through
    memberships.objects.bulk_create([memberships(user=u, group=groups[role]) for u, role in pairs])
    return users


@cache
def _hashed(password: str, hashers: tuple[str, ...]) -> str:
    return make_password(password)


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
    rows = Segment.objects.bulk_create(
        [
            Segment(
                test_set=test_set, position=position, key=str(position + 1),
                source=f"源文第{position}句，港口很安静。",
            )
            for position in range(segments)
        ]
    )  # fmt: skip
    if references:
        texts = (f"Sentence {n}: the harbour was quiet all morning." for n in range(segments))
        Reference.objects.bulk_create(
            [Reference(segment=row, text=text) for row, text in zip(rows, texts, strict=True)]
        )
    for name in systems:
        add_system(test_set, name, ratio)
    return test_set


def add_system(test_set: TestSet, name: str, ratio: str = "0.80") -> System:
    """A system with an output for every segment."""
    system = System.objects.create(test_set=test_set, name=name, length_ratio=Decimal(ratio))
    outputs = []
    for segment in test_set.segments.prefetch_related("references"):
        text = f"Sentence {segment.position} by {name[::-1]}: the harbour was quiet."
        references = [reference.text for reference in segment.references.all()]
        key = content_key(segment.source, references, text)
        outputs.append(Output(system=system, segment=segment, text=text, content_key=key))
    Output.objects.bulk_create(outputs)
    return system


def make_campaign(test_set: TestSet, slug: str = "harbour-80", **fields: object) -> Campaign:
    """A draft campaign over all systems of the test set."""
    defaults: dict[str, object] = {
        "name": slug.title(),
        "length_ratio": Decimal("0.80"),
        "trap_ratio": Decimal("0.80"),
        "traps_per_annotator": 2,
        "seed": 7,
        "secret": "7" * 64,
    }
    campaign = Campaign.objects.create(slug=slug, test_set=test_set, **(defaults | fields))
    campaign.systems.set(test_set.systems.all())
    return campaign


def make_demo() -> None:
    """The demo, beside which the cast keeps its names."""
    rows_once("demo", _make_demo)


def make_scored_demo(*metrics: str) -> None:
    """The demo, all its outputs scored."""
    rows_once("-".join(("demo", *metrics)), partial(_score_demo, metrics))


def make_dataset(name: str, *metrics: str) -> TestSet:
    """A published data set, all its outputs scored, and its last test set."""
    rows_once("-".join((name, *metrics)), partial(_import_dataset, name, metrics))
    return TestSet.objects.latest("pk")


def score(test_set: TestSet, *metrics: str) -> None:
    """Have the outputs scored here and now."""
    for run in starting.start(test_set=test_set, metrics=metrics, enqueue=False).runs:
        scoring.drain(run.pk, worker="test")
        run.refresh_from_db()
        assert run.status == "done", run.message


def _score_demo(metrics: Sequence[str]) -> None:
    make_demo()
    for test_set in TestSet.objects.all():
        score(test_set, *metrics)


def _import_dataset(name: str, metrics: Sequence[str]) -> None:
    if not metrics:
        call_command("import_dataset", name)
    else:
        score(make_dataset(name), *metrics)


def _make_demo() -> None:
    load_demo()
    User.objects.update(username=Concat(Value("demo-"), "username"))


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
    names = [f"annotator-{n}" for n in (1, 2, 3)]
    roles = {"admin": ["admin"], "researcher": ["researcher"]}
    roles |= {name: ["annotator"] for name in (*names, "outsider")}
    admin, researcher, *annotators, outsider = make_users(roles)
    campaign = make_campaign(test_set)
    return World(admin, researcher, annotators, outsider, test_set, campaign)
