"""One installation with something at every address, and an account of every role."""

import json
import uuid
import zlib
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from annotation.access import ANNOTATOR, CAMPAIGN_ADMIN
from annotation.campaigns import add_annotators, open_campaign
from annotation.models import (
    AccessLink,
    Annotator,
    ApiToken,
    Assignment,
    Campaign,
    FileImport,
    Judgment,
    Membership,
    Output,
    Project,
    ProjectMember,
    SignIn,
    TestSetShare,
)
from annotation.models.people import hash_token
from annotation.web import password  # noqa: F401 - it marks sign-ins once it is imported
from core.messages import as_json
from dashboards.models import Selection
from extensions.neural.bertscore.options import bertscore_info
from metrics.imported import store
from metrics.models import ConfiguredMetric, MetricImport, MetricRun
from tests.world import World, make_user, make_world
from training.models import CorpusText, ParallelCorpus, TrainingJob, Translation
from training.translation.requests import Request


@dataclass
class Places:
    """What can be asked for, and who asks."""

    world: World
    campaign: Campaign
    people: dict[str, User | None]
    item: str
    keys: dict[str, int]
    superuser: User

    def key(self, route: str) -> str:
        """The primary key that a route asks for, by what stands before it there.

        `LookupError` where none is known: keys are not the same in every run, so none is guessed.
        """
        fitting = [str(key) for before, key in self.keys.items() if f"{before}/<pk>" in route]
        if "<pk>" in route and not fitting:
            raise LookupError(route)
        return fitting[0] if fitting else ""

    def clients(self) -> dict[str, Client]:
        """A signed-in client for every role."""
        found = {}
        for role, user in self.people.items():
            found[role] = Client()
            if user is not None:
                found[role].force_login(user)
        return found


def make_places() -> Places:
    """Build it; `fit` is the name of whatever has a name."""
    world = make_world()
    campaign = world.campaign
    Campaign.objects.filter(pk=campaign.pk).update(study="port")
    add_annotators(campaign=campaign, users=world.annotators)
    campaign = open_campaign(campaign=Campaign.objects.get(pk=campaign.pk))
    mine = Assignment.objects.filter(annotator__user=world.annotators[0]).order_by("position")
    for number, assignment in enumerate(mine[:4]):
        Judgment.objects.create(assignment=assignment, score=20 * number, submit_key=uuid.uuid4())
    _make_metrics(world)
    _make_training(world)
    people = {
        "anonymous": None,
        ANNOTATOR: world.annotators[0],
        "researcher": world.researcher,
        CAMPAIGN_ADMIN: make_user("campaign-admin", CAMPAIGN_ADMIN),
        "site admin": world.admin,
    }
    keys = _make_keys(campaign, world)
    superuser = User.objects.create_superuser("superuser")
    return Places(world, campaign, people, str(mine[5].public_id), keys, superuser)


def _make_keys(campaign: Campaign, world: World) -> dict[str, int]:
    """Rows at the addresses that name them by key, each by what stands before it there."""
    researcher = world.researcher
    link = AccessLink.objects.create(campaign=campaign, token_hash=hash_token("link"))
    invited = world.annotators[1]
    Annotator.objects.filter(user=invited).update(token_hash=hash_token("personal"))
    rows: dict[str, Any] = {
        "testsets/<slug>/shares": TestSetShare(test_set=world.test_set, user=researcher),
        "projects/<slug>/members": ProjectMember(
            project=Project.objects.create(slug="port", name="Port"), user=researcher
        ),
        "members": Membership(campaign=campaign, user=researcher),
        "sign-ins": SignIn(user=world.admin, created_at=timezone.now(), seen_at=timezone.now()),
        "tokens": ApiToken(user=world.admin, name="fit", expires_at=timezone.now()),
        "selections": Selection(campaign=campaign, owner=world.admin, name="fit", query=""),
    }
    for row in rows.values():
        row.save()
    person = Annotator.objects.get(user=invited)
    found = {
        "annotators": person,
        "people": person,
        "systems": world.test_set.systems.first(),
        "links": link,
        "imports/metric-scores": MetricImport.objects.first(),
        "imports/files": FileImport.objects.get(),
        "runs": MetricRun.objects.first(),
        "jobs": TrainingJob.objects.first(),
        "translations": Translation.objects.first(),
        "outputs": Output.objects.filter(system__test_set=world.test_set).first(),
        "user": researcher,
        "accounts": researcher,
        "group": Group.objects.first(),
    }
    nobody = {"stops": 0, "adjudication": 0, "factors": 0}
    return {before: row.pk for before, row in (rows | found).items()} | nobody


def _make_metrics(world: World) -> None:
    MetricRun.objects.create(test_set=world.test_set, metric="bleu", status="done")
    store(world.test_set, "COMET", {}, {"strong": 0.5})
    FileImport.objects.create(door="judgments", name="fit", created_by=world.admin)
    info = bertscore_info("fit", "Fit", "acme/x", layers=2, shown=())
    described = json.loads(json.dumps({**vars(info), "options": {}}, default=as_json))
    ConfiguredMetric.objects.create(
        name="fit", label="Fit", family="bertscore", description=described
    )


def _make_training(world: World) -> None:
    corpus = ParallelCorpus.objects.create(
        name="fit", source_language="zh", target_language="en", n_pairs=1,
        sha256="", report={"read": 1, "kept": 1, "left_out": {}, "examples": {}},
    )  # fmt: skip
    CorpusText.objects.create(corpus=corpus, packed=zlib.compress("一\tone\n".encode()))
    job = TrainingJob.objects.create(kind="remap", name="fit", sweep="fit", status="done")
    job.corpora.add(corpus)
    asked = Request("plain", Decimal(1)).as_json()
    Translation.objects.create(
        test_set=world.test_set, name="fit", model="fit", request=asked, status="done"
    )
