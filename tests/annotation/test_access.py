"""Every address with every role, for a private and a public campaign.

An address that is missing from the table fails the test, so that whoever adds a page decides who
may open it.
"""

import zlib
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.template.base import Template
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from annotation.access import run_campaigns, runs_campaign, visible_campaigns
from annotation.campaigns import add_annotators, open_campaign
from annotation.entry.links import create_link
from annotation.models import (
    Assignment,
    Campaign,
    FileImport,
    Membership,
    Output,
    Project,
    ProjectMember,
    TestSet,
)
from core.messages import as_json
from dashboards.documents.computing import QUICK, SLOW
from extensions.neural.bertscore.options import bertscore_info
from metaeval.messages import Message
from metrics.imported import store
from metrics.imported.storing import withdraw
from metrics.models import ConfiguredMetric, MetricImport, MetricRun, Worker
from tests.addresses import fill, routes
from tests.annotation.roles import (
    KINDS,
    OF_TEST_SETS,
    PROJECTS,
    ROLES,
    STUDIES,
    TABLE,
    TEST_SETS,
    of_project,
)
from tests.world import World, make_campaign, make_test_set, make_user
from training.models import CorpusText, ParallelCorpus, TrainingJob, Translation
from training.translation.requests import Request


def cast(world: World, campaign: Campaign) -> dict[str, User | None]:
    """One user for every role; `other` runs a campaign too, but not this one."""
    people = {
        "anonymous": None,
        "annotator": world.annotators[0],
        "researcher": world.researcher,
        "member": make_user("member", "researcher"),
        "other": make_user("other", "campaign admin"),
        "owner": make_user("owner", "campaign admin"),
        "appointed": make_user("appointed", "researcher"),
        "site": world.admin,
    }
    make_campaign(make_test_set("elsewhere"), "elsewhere", created_by=people["other"])
    for name, role in (("member", "researcher"), ("appointed", "admin")):
        if campaign.project:
            ProjectMember.objects.create(project=campaign.project, user=people[name], role=role)
        else:
            Membership.objects.create(campaign=campaign, user=people[name], role=role)
    Campaign.objects.filter(pk=campaign.pk).update(created_by=people["owner"])
    FileImport.objects.create(pk=1, door="judgments", name="sent", created_by=people["owner"])
    return people


@pytest.fixture(params=KINDS)
def campaign(world: World, request: pytest.FixtureRequest) -> Campaign:
    made = make_campaign(
        world.test_set, "looked-at", study="port", is_private=request.param != "public",
        shows_context=True,
    )  # fmt: skip
    world.test_set.segments.update(document="news")
    add_annotators(campaign=made, users=world.annotators)
    MetricRun.objects.create(pk=1, test_set=world.test_set, metric="bleu", status="done")
    system = world.test_set.systems.first()
    assert system is not None
    imported = store(world.test_set, "COMET", {}, {system.name: 0.5}).row
    withdraw(world.test_set, "imported-comet")
    MetricImport.objects.filter(pk=imported.pk).update(id=1)  # type: ignore[union-attr]
    configured = bertscore_info("configured", "Configured", "acme/x", layers=2, shown=())
    assert isinstance(configured.description, Message)
    described = as_json(configured.description)
    ConfiguredMetric.objects.create(
        name="configured", label="Configured", family="bertscore",
        description={**vars(configured), "description": described, "options": {}},
    )  # fmt: skip
    corpus = ParallelCorpus.objects.create(
        name="configured", source_language="zh", target_language="en", n_pairs=1,
        sha256="", report={"read": 1, "kept": 1, "left_out": {}, "examples": {}},
    )  # fmt: skip
    CorpusText.objects.create(corpus=corpus, packed=zlib.compress("一\tone\n".encode()))
    job = TrainingJob.objects.create(pk=1, kind="remap", name="fit", sweep="1", status="done")
    job.corpora.add(corpus)
    asked = Request("plain", Decimal(1)).as_json()
    Translation.objects.create(
        pk=1, test_set=world.test_set, name="fit", model="fit", request=asked, status="done"
    )
    project = Project.objects.create(slug="port", name="Port")
    if request.param == "project":
        TestSet.objects.filter(pk=world.test_set.pk).update(project=project, is_private=True)
        Campaign.objects.filter(pk=made.pk).update(project=project)
        job.project = project
        job.save()
    return open_campaign(campaign=Campaign.objects.get(pk=made.pk))


def values(world: World, campaign: Campaign) -> dict[str, str]:
    """What fills the variable parts of an address, if nothing else does."""
    annotator = campaign.annotators.order_by("pk").first()
    item = Assignment.objects.filter(annotator=annotator).first()
    return {
        "slug": campaign.slug,
        "public_id": str(item.public_id),
        "pk": "1",
        "figure": "intervals",
        "verb": "exclude",
        "format": "json",
        "token": "guess",
        "template": "error-spans",
        "name": "configured",
        "kind": "campaign",
        "which": campaign.slug,
        "family": "bertscore",
    }


def exceptions(world: World, campaign: Campaign) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what fills some addresses otherwise, by their names."""
    annotator = campaign.annotators.order_by("pk").first()
    last = Membership.objects.create(campaign=campaign, user=world.outsider)
    link, _ = create_link(campaign=campaign, actor=world.admin)
    pks = {"member-remove": last.pk, "access-link-revoke": link.pk}
    pks |= {name: world.outsider.pk for name in TABLE if name.startswith("account")}
    of_annotator = ("annotator-decide", "invitation-renew", "invitation-revoke")
    pks |= dict.fromkeys(of_annotator, annotator.pk)
    pks |= {name: annotator.pk for name in TABLE if name.startswith("api-people")}
    pks |= {"api-links-revoke": link.pk, "api-members-detail": last.pk}
    pks["system-human"] = world.test_set.systems.first().pk
    pks["output"] = Output.objects.filter(system__campaigns=campaign).first().pk
    yield from ((name, {"pk": str(pk)}) for name, pk in pks.items())
    yield from ((name, {"slug": campaign.study}) for name in STUDIES)
    yield from ((name, {"slug": "port"}) for name in PROJECTS)
    yield from ((name, {"slug": campaign.test_set.slug}) for name in TEST_SETS)
    yield from ((name, {"name": "chrf"}) for name in TABLE if name.startswith("api-metric"))
    yield "training-start", {"kind": "remap"}
    yield "study-paper-file", {"slug": campaign.study, "name": "table-6"}
    yield from ((name, {"verb": "restore"}) for name in ("manage-act", "api-resource-action"))


def requests(world: World, campaign: Campaign, role: str) -> Iterator[tuple[str, str, int]]:
    """Yield method, address and expected status; what no campaign has a say in, once."""
    usual, others = values(world, campaign), defaultdict[str, dict[str, str]](dict)
    for name, values_of_it in exceptions(world, campaign):
        others[name] |= values_of_it
    for name, route in routes():
        method, *tables = TABLE[name]
        table = tables[campaign.is_private]
        is_of_project = name in OF_TEST_SETS | TEST_SETS
        if campaign.project and name in PROJECTS:
            continue
        if campaign.project and is_of_project:
            table = of_project(name, table)
        elif tables[0] == tables[1] and (campaign.project or not campaign.is_private):
            continue
        # Every address with half of the roles in each format.
        formats = (
            ["csv"] if name == "export-file" or (len(name) + ROLES.index(role)) % 2 else ["json"]
        )
        chosen = {key: [value] for key, value in (usual | others[name]).items()}
        for address in fill(route, chosen | {"fmt": formats}):
            yield method, address, table[role]


def test_the_table_names_every_address() -> None:
    assert {name for name, _ in routes()} == set(TABLE)


@pytest.fixture
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may see a page is known before it is drawn: thousands of them take most of the time."""
    monkeypatch.setattr(Template, "render", lambda *_: SafeString(""))


@pytest.mark.usefixtures("unlogged", "kept_state", "_undrawn")
@pytest.mark.parametrize("role", ROLES)
def test_every_address_with_every_role(
    world: World, campaign: Campaign, client: Client, role: str, settings: Any
) -> None:
    settings.ANALYSES_IN_PLACE = False  # who may ask for numbers is known before there are any
    later = timezone.now() + timedelta(days=1)  # however long the walk takes
    Worker.objects.create(  # /readyz asks for one
        uid="a", name="w", host="h", pid=1, queues=[QUICK, SLOW], started_at=later, seen_at=later
    )
    user = cast(world, campaign)[role]
    if user is not None:
        client.force_login(user)
    wrong = []
    for method, address, expected in list(requests(world, campaign, role)):
        status = getattr(client, method.lower())(address).status_code
        if (200 if status == 202 else status) != expected:
            wrong.append((method, address, status, expected))
        if method == "POST":
            Campaign.objects.filter(pk=campaign.pk).update(
                status="open", is_private=campaign.is_private
            )
    assert not wrong, "\n".join(map(str, wrong))


def test_anonymous_visitors_are_sent_to_sign_in(campaign: Campaign, client: Client) -> None:
    address = campaign.get_absolute_url()
    assert client.get(address)["Location"] == f"{reverse('login')}?next={address}"


def test_lists_leave_out_private_campaigns(
    world: World, campaign: Campaign, client: Client
) -> None:
    people = cast(world, campaign)
    lists = [
        "/campaigns/", "/studies/", world.test_set.get_absolute_url(),
        "/api/campaigns/", "/api/results/",
    ]  # fmt: skip
    for role in ROLES[2:]:
        client.force_login(people[role])
        sees = not campaign.is_private or role not in ("researcher", "other")
        for address in lists:
            text = client.get(address).text
            assert (campaign.slug in text or "/studies/port/" in text) == sees, (role, address)


def test_judgments_of_private_campaigns_are_left_out(
    world: World, campaign: Campaign, client: Client
) -> None:
    row = Assignment.objects.filter(annotator__campaign=campaign).first()
    row.judgments.create(score=5, submit_key="00000000-0000-4000-8000-000000000001")
    people = cast(world, campaign)
    for role in ROLES[2:]:
        client.force_login(people[role])
        sees = not campaign.is_private or role not in ("researcher", "other")
        assert client.get("/api/judgments/").json()["count"] == sees, role


def test_a_study_shows_what_one_may_see(world: World, campaign: Campaign, client: Client) -> None:
    public = make_campaign(make_test_set("other"), "seen-by-all", study="port")
    Campaign.objects.filter(pk=public.pk).update(status="closed")
    client.force_login(world.researcher)
    data = client.get("/studies/port/correlations.json").json()
    shown = {row["campaign"] for row in data["campaigns"]}
    assert shown == ({"seen-by-all"} if campaign.is_private else {"seen-by-all", "looked-at"})


def test_campaign_admins_run_what_they_created_while_they_have_the_role(world: World) -> None:
    owner = make_user("owner", "campaign admin")
    mine = make_campaign(world.test_set, "mine", created_by=owner, is_private=True)
    assert set(run_campaigns(owner)) == {mine}
    assert set(visible_campaigns(owner)) == {mine, world.campaign}
    owner.groups.clear()
    demoted = User.objects.get(pk=owner.pk)
    assert not runs_campaign(demoted, mine)
    assert not visible_campaigns(demoted).exists()


def test_a_membership_gives_an_annotator_nothing(world: World) -> None:
    outsider = world.outsider
    Membership.objects.create(campaign=world.campaign, user=outsider, role="admin")
    for user in (outsider, AnonymousUser()):
        assert not visible_campaigns(user).exists()
        assert not runs_campaign(user, world.campaign)


def test_buttons_are_for_those_who_may_press_them(world: World, client: Client) -> None:
    campaign = make_campaign(make_test_set("port"), "port-80")
    people = cast(world, campaign)
    for role in ROLES[2:]:
        client.force_login(people[role])
        page = client.get(campaign.get_absolute_url()).text
        assert ("Open campaign" in page) == (role in ("owner", "appointed", "site")), role
        creates = role in ("owner", "other", "site")
        assert ("New campaign" in client.get("/campaigns/").text) == creates, role


def test_a_campaign_admin_creates_and_then_runs(world: World, client: Client) -> None:
    user = make_user("campaign-admin", "campaign admin")
    client.force_login(user)
    page = client.get(f"{reverse('campaign-new')}?testset={world.test_set.slug}")
    form = page.context["form"]
    data = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    data |= {"systems": ["strong", "weak"], "traps_per_annotator": 0, "name": "Of mine"}
    data = {name: value for name, value in data.items() if value is not None}
    response = client.post(f"{reverse('campaign-new')}?testset={world.test_set.slug}", data)
    assert response.status_code == 302
    assert runs_campaign(user, Campaign.objects.get(name="Of mine"))
