"""Projects: who sees and runs what they hold, and what their limits refuse."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client
from django.urls import reverse

from annotation import projects
from annotation.access import (
    may_change_test_set,
    may_share_test_set,
    readable,
    reviewed_campaigns,
    reviews_campaign,
    run_campaigns,
    visible_campaigns,
    visible_projects,
    visible_test_sets,
)
from annotation.campaign_files.storing import form_data, open_file
from annotation.forms.campaign.form import CampaignForm
from annotation.models import (
    AuditEntry,
    Campaign,
    Membership,
    Project,
    ProjectMember,
    Reference,
    Segment,
    TestSet,
    TestSetShare,
)
from annotation.uploads import InputFile, Report
from annotation.uploads.quota import bytes_of, stored
from lifecycle import services
from lifecycle.resources import RESOURCE_TYPES
from metrics import imported
from metrics.models import MetricRun
from metrics.runs.starting import start
from tests.addresses import fill, routes
from tests.annotation.campaign_files.test_round_trip import smallest
from tests.annotation.views.test_views_uploads import OUTPUT, REFERENCE, SOURCE, confirm, form, send
from tests.refusals import refused, tells
from tests.world import World, make_campaign, make_test_set, make_user
from training.jobs import starting as trainings
from training.models import TrainingJob, Translation
from training.translation.requests import Request

SECRET = "narwhal"


@dataclass
class Harbour:
    """A project with everything in it, and people beside it."""

    project: Project
    test_set: TestSet
    campaign: Campaign
    admin: User
    reader: User
    reviewer: User
    other: User


@pytest.fixture
def harbour(world: World) -> Harbour:
    people = {
        "head": make_user("head", "campaign admin"),
        "reader": make_user("reader", "researcher"),
        "reviewer": make_user("reviewer", "researcher"),
        "other": make_user("other", "campaign admin"),
    }
    project = projects.create(name=f"{SECRET} project", actor=people["head"])
    for name in ("reader", "reviewer"):
        role = "researcher" if name == "reader" else "reviewer"
        projects.set_member(project=project, username=name, role=role, actor=people["head"])
    test_set = make_test_set(f"{SECRET}-set", systems=(f"{SECRET}-system", "weak"))
    campaign = make_campaign(test_set, f"{SECRET}-80", study=f"{SECRET}-study")
    for row in (test_set, campaign):
        type(row).objects.filter(pk=row.pk).update(project=project, is_private=True)
        row.refresh_from_db()
    return Harbour(project, test_set, campaign, *people.values())


@pytest.fixture
def full(harbour: Harbour) -> Harbour:
    """The project with rows of every kind whose pages and lists could show names."""
    MetricRun.objects.create(test_set=harbour.test_set, metric="bleu", status="done")
    MetricRun.objects.create(test_set=harbour.test_set, metric="chrf", status="running")
    imported.store(harbour.test_set, "bleu", {}, {f"{SECRET}-system": 0.5})
    asked = Request("plain", Decimal(1)).as_json()
    Translation.objects.create(
        test_set=harbour.test_set, name=f"{SECRET}-translation", model="m", request=asked
    )
    TrainingJob.objects.create(
        kind="remap", name=f"{SECRET}-job", sweep=f"{SECRET}-sweep", project=harbour.project
    )
    Campaign.objects.filter(pk=harbour.campaign.pk).update(status="closed")
    return harbour


def everywhere() -> Iterator[str]:
    """Every list, and the pages of what is public; `test_access` asks for those of the project."""
    values = {"slug": ["harbour"], "kind": ["campaign"], "which": ["harbour-80"]}
    for name, route in routes():
        if name not in ("logout", "schema") and not re.search("<(token|pk|fmt)>", route):
            yield from fill(route, values | {"format": ["json"], "name": ["bleu"]})
    yield f"/search/?q={SECRET}"


def test_nobody_else_reads_a_word_of_it(full: Harbour, client: Client, settings: Any) -> None:
    settings.ANALYSES_IN_PLACE = False
    shown = {}
    for user in (full.other, full.admin):
        client.force_login(user)
        pages = ((address, client.get(address)) for address in everywhere())
        found = ((each, page) for each, page in pages if page.status_code in (200, 202))
        read = {each: b"".join(page).decode("utf-8", "replace") for each, page in found}
        # The page repeats what was asked for: in the field, in links and in the sentence.
        for asked in (f'value="{SECRET}"', f'?q={SECRET}"', f"“{SECRET}”"):
            read = {address: text.replace(asked, "") for address, text in read.items()}
        shown[user.username] = {address for address, text in read.items() if SECRET in text}
    assert shown["other"] == set()
    lists = {"/campaigns/", "/testsets/", "/metrics/", "/metrics/bleu/", "/projects/"}
    lists |= {f"/search/?q={SECRET}", "/api/campaigns/", "/api/test-sets/", "/api/runs/"}
    lists |= {"/api/jobs/", "/api/translations/", "/api/projects/"}
    assert lists <= shown["head"]


def test_roles_of_a_project_are_roles_in_its_campaigns(harbour: Harbour, world: World) -> None:
    campaign, test_set = harbour.campaign, harbour.test_set
    assert campaign in visible_campaigns(harbour.admin)
    assert campaign in run_campaigns(harbour.admin)
    assert campaign in visible_campaigns(harbour.reader)
    assert campaign not in run_campaigns(harbour.reader)
    assert campaign in reviewed_campaigns(harbour.reviewer)
    assert reviews_campaign(harbour.reviewer, campaign)
    assert not reviews_campaign(harbour.reader, campaign)
    sees = [harbour.admin, harbour.reader, world.admin]
    without = [harbour.reviewer, harbour.other, world.researcher]
    assert [test_set in visible_test_sets(user) for user in sees] == [True] * 3
    assert [test_set in visible_test_sets(user) for user in without] == [False] * 3
    assert may_change_test_set(harbour.admin, test_set)
    assert may_share_test_set(harbour.admin, test_set)
    assert not may_change_test_set(harbour.reader, test_set)
    assert not may_share_test_set(harbour.other, test_set)
    # A role needs an account that may read at all.
    harbour.admin.groups.clear()
    demoted = User.objects.get(pk=harbour.admin.pk)
    assert not run_campaigns(demoted).exists()
    assert not visible_projects(demoted).exists()


def test_what_is_in_no_project_is_as_before(harbour: Harbour, world: World) -> None:
    for user in (harbour.admin, harbour.reader, harbour.other, world.researcher):
        assert world.campaign in visible_campaigns(user)
        assert world.test_set in visible_test_sets(user)
    assert world.campaign in visible_campaigns(harbour.reviewer)
    assert world.campaign not in run_campaigns(harbour.admin)


def test_a_reviewer_of_one_campaign_is_blind_in_the_whole_project(harbour: Harbour) -> None:
    second = make_campaign(harbour.test_set, "second", project=harbour.project, is_private=True)
    Membership.objects.create(campaign=second, user=harbour.reader, role="reviewer")
    assert not visible_campaigns(harbour.reader).filter(project=harbour.project).exists()
    assert second in reviewed_campaigns(harbour.reader)
    assert harbour.test_set not in visible_test_sets(harbour.reader)


def test_a_public_campaign_over_a_private_test_set_shows_nothing(
    harbour: Harbour, world: World
) -> None:
    Campaign.objects.filter(pk=harbour.campaign.pk).update(is_private=False)
    assert harbour.campaign not in visible_campaigns(world.researcher)
    TestSet.objects.filter(pk=harbour.test_set.pk).update(is_private=False)
    assert harbour.campaign in visible_campaigns(world.researcher)
    # Its reviewers stay blind.
    assert harbour.campaign not in visible_campaigns(harbour.reviewer)
    assert harbour.test_set not in visible_test_sets(harbour.reviewer)


@pytest.mark.parametrize("way", ["share", "owner", "campaign", "campaign owner"])
def test_what_else_lets_one_read_a_private_test_set(harbour: Harbour, way: str) -> None:
    run = MetricRun.objects.create(test_set=harbour.test_set, metric="bleu")
    runs = readable(MetricRun.objects.all(), harbour.other)
    assert run not in runs
    if way == "share":
        TestSetShare.objects.create(test_set=harbour.test_set, user=harbour.other)
    elif way == "owner":
        TestSet.objects.filter(pk=harbour.test_set.pk).update(created_by=harbour.other)
    elif way == "campaign":
        Membership.objects.create(campaign=harbour.campaign, user=harbour.other)
    else:
        Campaign.objects.filter(pk=harbour.campaign.pk).update(created_by=harbour.other)
    assert harbour.test_set in visible_test_sets(harbour.other)
    assert run in readable(MetricRun.objects.all(), harbour.other)


def test_new_campaigns_over_its_test_set_are_in_it_and_private(harbour: Harbour) -> None:
    data = form_data({"name": "New", "traps_per_annotator": 0}, harbour.test_set)
    asked = CampaignForm(data, test_set=harbour.test_set)
    assert asked.is_valid(), asked.errors
    made = asked.create(harbour.admin)
    assert (made.project, made.is_private) == (harbour.project, True)
    # Copied by somebody outside, it does not become part of the project.
    TestSet.objects.filter(pk=harbour.test_set.pk).update(is_private=False)
    copied = services.copy_campaign(made, harbour.other)
    assert copied.project is None


def put(user: User, kind: str, row: Any, project: str, *, is_private: bool = True) -> Any:
    client = Client()
    client.force_login(user)
    address = f"/api/things/{kind}/{getattr(row, RESOURCE_TYPES[kind].key)}/project/"
    sent = {"project": project, "private": is_private}
    return client.post(address, sent, content_type="application/json")


def test_admins_of_a_project_move_what_it_holds(harbour: Harbour, world: World) -> None:
    slug = harbour.project.slug
    second = projects.create(name="Second", actor=harbour.admin)
    job = TrainingJob.objects.create(kind="remap", name="job", project=harbour.project)
    of_texts = TrainingJob.objects.create(
        kind="preferences", name="p", options={"test_set": harbour.test_set.slug}
    )
    for kind, row in (
        ("test-set", harbour.test_set), ("campaign", harbour.campaign), ("job", job),
    ):  # fmt: skip
        assert put(harbour.reader, kind, row, second.slug).status_code == 403
        assert put(harbour.other, kind, row, second.slug).status_code == 404
        moved = put(harbour.admin, kind, row, second.slug)
        assert moved.status_code == 200, moved.json()
        row.refresh_from_db()
        assert row.project == second
    of_texts.refresh_from_db()
    assert of_texts.project == second
    assert harbour.test_set.n_bytes == bytes_of(harbour.test_set) > 0
    actions = set(AuditEntry.objects.values_list("project__slug", "action"))
    assert {(second.slug, "put in"), (slug, "taken out")} <= actions
    assert AuditEntry.objects.filter(campaign=harbour.campaign, action="project").exists()
    # Not into a project that one does not run.
    ProjectMember.objects.filter(project=second, user=harbour.admin).update(role="researcher")
    refusal = put(harbour.admin, "test-set", harbour.test_set, "")
    assert refusal.status_code == 403
    mine = make_test_set("mine")
    TestSet.objects.filter(pk=mine.pk).update(created_by=harbour.admin)
    assert put(harbour.admin, "test-set", mine, second.slug).status_code == 409
    with pytest.raises(PermissionDenied):
        projects.move(mine, second, is_private=True, actor=harbour.admin)
    assert put(world.admin, "test-set", harbour.test_set, "", is_private=False).status_code == 200
    harbour.test_set.refresh_from_db()
    assert (harbour.test_set.project, harbour.test_set.is_private) == (None, False)


def test_a_project_is_deleted_once_it_is_empty(harbour: Harbour) -> None:
    kind, project = RESOURCE_TYPES["project"], harbour.project
    with refused("project.not-empty"):
        services.delete(kind, project, harbour.admin)
    for row in (harbour.test_set, harbour.campaign):
        type(row).objects.filter(pk=row.pk).update(project=None)
    job = TrainingJob.objects.create(kind="remap", name="job", project=project)
    with refused("project.not-empty"):
        services.delete(kind, project, harbour.admin)
    job.delete()
    services.delete(kind, project, harbour.admin)
    assert not Project.objects.exists()


def test_an_upload_into_a_project(harbour: Harbour, client: Client) -> None:
    client.force_login(harbour.admin)
    page = client.get(reverse("testset-upload"), {"project": harbour.project.slug})
    assert f'<option value="{harbour.project.slug}" selected>' in page.text
    confirm(client, send(client, project=harbour.project.slug))
    made = TestSet.objects.get(name="Weather")
    assert (made.project, made.is_private) == (harbour.project, True)
    # Every line once; two systems have the same outputs.
    size = len((SOURCE + REFERENCE + OUTPUT * 2).replace("\n", "").encode())
    assert made.n_bytes == bytes_of(made) == size


def test_an_upload_by_somebody_else(harbour: Harbour, client: Client) -> None:
    client.force_login(harbour.other)
    page = send(client, project=harbour.project.slug)
    assert tells(page.text, "access.no-project")
    assert Segment.objects.filter(test_set__name="Weather").count() == 0


def test_names_in_use_there_tell_others_nothing(harbour: Harbour, client: Client) -> None:
    """What others store has the short names that it would have without the project."""
    client.force_login(harbour.admin)
    for _ in range(2):  # sent twice, it is stored once
        confirm(client, send(client, project=harbour.project.slug))
    inside = TestSet.objects.get(name="Weather")
    values = form_data({"name": "Pilot", "systems": ["strong"], "length_ratio": "0.8"}, inside)
    first = CampaignForm(values, test_set=inside).create(harbour.admin)
    slug = f"{first.slug}-2"
    assert services.copy_campaign(first, harbour.admin).slug.startswith("pilot-copy-")
    assert CampaignForm(values, test_set=inside).create(harbour.admin).slug == slug

    client.force_login(harbour.other)
    confirm(client, send(client))
    outside = TestSet.objects.get(slug="weather")
    assert outside.created_by == harbour.other
    values = form_data({"name": "Pilot", "systems": ["strong"], "length_ratio": "0.8"}, outside)
    assert CampaignForm(values, test_set=outside).create(harbour.other).slug == "pilot"
    values["is_private"] = "on"
    own = CampaignForm(values, test_set=outside).create(harbour.other).slug
    assert re.fullmatch("pilot-[0-9a-f]{8}", own)
    for hidden in (inside.slug, first.slug):
        assert re.fullmatch("(weather|pilot)-[0-9a-f]{8}", hidden)
    assert own != first.slug


@pytest.mark.parametrize("names", [("测试一", "测试二"), ("Pilot 1", "Pilot 1!"), ("Été", "Ete")])
def test_two_names_are_two_test_sets_of_a_project(
    harbour: Harbour, client: Client, names: tuple[str, str]
) -> None:
    client.force_login(harbour.admin)
    for name in names:
        confirm(client, send(client, name=name, project=harbour.project.slug))
    assert TestSet.objects.filter(name__in=names).values("slug").distinct().count() == 2


def test_a_campaign_file_with_the_name_of_what_is_hidden_is_stored_beside_it(
    harbour: Harbour, client: Client
) -> None:
    client.force_login(harbour.admin)
    confirm(client, send(client, name="Smallest", project=harbour.project.slug))
    values = smallest()
    values["texts"]["name"] = "Smallest"
    report = Report()
    file = InputFile.holding("c.json", json.dumps(values).encode())
    opened = open_file(file, report, user=harbour.other)
    assert report.errors == []
    assert opened is not None
    assert opened.campaign.test_set.created_by == harbour.other


def test_storage_has_a_limit(harbour: Harbour, world: World, client: Client) -> None:
    size = len((SOURCE + REFERENCE + OUTPUT * 2).replace("\n", "").encode())
    # The rows of the fixture were not counted.
    Project.objects.filter(pk=harbour.project.pk).update(max_bytes=size - 1)
    client.force_login(harbour.admin)
    sent = form(project=harbour.project.slug)
    page = client.post("/api/test-sets/", sent)
    assert page.status_code == 400
    text = page.json()["problems"][0]["message"] if "problems" in page.json() else page.text
    assert str(size) in str(text)
    assert not TestSet.objects.filter(name="Weather").exists()
    assert not Reference.objects.filter(segment__test_set__name="Weather").exists()
    Project.objects.filter(pk=harbour.project.pk).update(max_bytes=size)
    assert client.post("/api/test-sets/", form(project=harbour.project.slug)).status_code == 201
    assert stored(harbour.project) == size
    with refused("project.storage"):
        services.put(
            RESOURCE_TYPES["test-set"], world.test_set, world.admin, harbour.project.slug,
            is_private=True,
        )  # fmt: skip
    world.test_set.refresh_from_db()
    assert world.test_set.project is None


def test_runs_and_trainings_have_a_limit(harbour: Harbour, world: World) -> None:
    Project.objects.filter(pk=harbour.project.pk).update(max_starts=2)
    harbour.test_set.refresh_from_db()
    started = start(test_set=harbour.test_set, metrics=["bleu", "chrf", "ter"], enqueue=False)
    assert [run.metric for run in started.runs] == ["bleu", "chrf"]
    assert [each.code for each in started.refused] == ["project.starts"]
    assert started.refused[0].parameters["used"] == 2
    # What was deleted was started.
    MetricRun.objects.all().delete()
    given = {"campaign": harbour.campaign.slug}
    with refused("project.starts"):
        trainings.start(kind="head", name="h", given=given, project=harbour.project)
    # Others go on.
    assert len(start(test_set=world.test_set, metrics=["bleu"], enqueue=False).runs) == 1


def test_trainings_read_what_their_user_may_read(harbour: Harbour) -> None:
    given = {"campaign": harbour.campaign.slug}
    with refused("head.no-campaign"):
        trainings.start(kind="head", name="h", given=given, user=harbour.other)
    trainings.start(kind="head", name="h", given=given, user=harbour.reader)


def test_the_page_is_for_members_and_the_limits_for_site_admins(
    harbour: Harbour, world: World, client: Client
) -> None:
    address = harbour.project.get_absolute_url()
    for user, status in ((harbour.reader, 200), (harbour.reviewer, 404), (harbour.other, 404)):
        client.force_login(user)
        assert client.get(address).status_code == status
    client.force_login(harbour.admin)
    page = client.get(address)
    assert {each.kind.name: each.n for each in page.context["held"]} == {
        "campaign": 1, "test-set": 1, "run": 0, "job": 0,
    }  # fmt: skip
    assert client.post(f"{address}limits/", {"max_starts": 3}).status_code == 403
    api = f"/api/projects/{harbour.project.slug}/"
    limits = {"max_starts": 3, "max_bytes": None}
    assert client.patch(api, limits, content_type="application/json").status_code == 403
    client.force_login(world.admin)
    assert client.post(f"{address}limits/", {"max_bytes": "1.5"}).status_code == 302
    harbour.project.refresh_from_db()
    assert harbour.project.max_bytes == 1.5 * 1024**2
    changed = client.patch(api, limits, content_type="application/json").json()
    assert (changed["max_starts"], changed["max_bytes"]) == (3, None)
    assert changed["used"]["max_starts"] == 0


def test_people_of_a_project(harbour: Harbour, world: World, client: Client) -> None:
    client.force_login(harbour.admin)
    address = harbour.project.get_absolute_url()
    page = client.post(f"{address}members/", {"username": "annotator-1", "role": "researcher"})
    assert tells(page.text, "people.only-rates")
    client.post(f"{address}members/", {"username": "other", "role": "admin"})
    assert harbour.campaign in run_campaigns(harbour.other)
    member = harbour.project.members.get(user=harbour.other)
    assert client.post(f"{address}members/{member.pk}/remove/").status_code == 302
    assert harbour.campaign not in visible_campaigns(harbour.other)
    api = f"/api/projects/{harbour.project.slug}/members/"
    sent = {"username": "other", "role": "reviewer"}
    made = client.post(api, sent, content_type="application/json")
    assert made.status_code == 201, made.json()
    assert {row["username"] for row in client.get(api).json()["results"]} == {
        "head", "reader", "reviewer", "other",
    }  # fmt: skip
    assert client.delete(f"{api}{made.json()['id']}/").status_code == 204
    client.force_login(harbour.reader)
    assert client.post(api, sent, content_type="application/json").status_code == 403


def test_a_project_by_programs(world: World, client: Client) -> None:
    client.force_login(make_user("maker", "campaign admin"))
    made = client.post("/api/projects/", {"name": "Ocean"}, content_type="application/json")
    assert made.status_code == 201
    again = client.post("/api/projects/", {"name": "Ocean"}, content_type="application/json")
    assert again.status_code == 400
    client.force_login(world.researcher)
    refusal = client.post("/api/projects/", {"name": "Sea"}, content_type="application/json")
    assert refusal.status_code == 403
    assert client.get("/api/projects/").json()["results"] == []
    with pytest.raises(ValidationError):
        projects.create(name="Ocean", actor=world.admin)


def test_creating_a_project_tells_nothing_of_those_of_others(world: World, client: Client) -> None:
    """The same answer, whether or not another group has a project of this name."""
    client.force_login(make_user("other", "campaign admin"))
    client.post("/api/projects/", {"name": "Ocean"}, content_type="application/json")
    client.force_login(make_user("maker", "campaign admin"))
    shapes = set()
    for name in ("Ocean", "River"):
        made = client.post("/api/projects/", {"name": name}, content_type="application/json")
        stem, _, suffix = made.json()["slug"].rpartition("-")
        shapes.add((made.status_code, stem == name.lower(), len(suffix)))
    assert shapes == {(201, True, projects.SUFFIX)}
    assert Project.objects.filter(name="Ocean").count() == 2


def test_the_page_counts_what_a_project_holds(harbour: Harbour, client: Client) -> None:
    client.force_login(harbour.admin)
    page = client.get(harbour.project.get_absolute_url()).text
    headings = re.findall(r'<h2 id="held-[\w-]+">\s*(.*?)\s*<', page)
    assert {"Campaigns", "Test sets", "Metric runs"} <= set(headings)
