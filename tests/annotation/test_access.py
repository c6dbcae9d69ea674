"""Every address with every role, for a private and a public campaign.

An address that is missing from the table fails the test, so that whoever adds a page decides who
may open it.
"""

import zlib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.test import Client
from django.urls import reverse

from annotation.access import run_campaigns, runs_campaign, visible_campaigns
from annotation.campaigns import add_annotators, open_campaign
from annotation.entry.links import create_link
from annotation.models import Assignment, Campaign, Membership, Output
from metrics.families.bertscore.options import make_info
from metrics.imported import store
from metrics.imported.storing import withdraw
from metrics.models import ConfiguredMetric, DatasetImport, MetricImport, MetricRun
from tests.addresses import fill, routes
from tests.world import World, make_campaign, make_test_set, make_user
from training.models import CorpusText, ParallelCorpus, TrainingJob, Translation
from training.translation.requests import Request

ROLES = (
    "anonymous", "annotator", "researcher", "member", "other", "owner", "appointed", "site",
)  # fmt: skip
Statuses = dict[str, int]


def each(**statuses: int) -> Statuses:
    """A status for every role; `readers` stands for all that are not named."""
    rest = statuses.pop("readers", 200)
    return {role: statuses.get(role, rest) for role in ROLES}


READ = each(anonymous=302, annotator=403)
API = each(anonymous=403, annotator=403)
CREATE = each(anonymous=302, annotator=403, researcher=403, member=403, appointed=403)
CREATED = CREATE | {"other": 422, "owner": 422, "site": 422}
IMPORTS = each(anonymous=403, annotator=403, readers=400, researcher=403, member=403, appointed=403)
SITE = each(anonymous=302, readers=403, annotator=403, site=200)
# The test set of the table belongs to nobody.
SHARE = each(anonymous=302, annotator=403, readers=403, site=422)
RATE = each(anonymous=302, annotator=200, readers=404)
ALL = each(anonymous=200, annotator=200)


def hidden(table: Statuses) -> Statuses:
    """As `table`, but those who may not see the private campaign find nothing."""
    return table | {"researcher": 404, "other": 404}


def run(done: int = 302) -> tuple[Statuses, Statuses]:
    """A change to a campaign, sent by POST: for the public and for the private campaign."""
    refused = {"researcher": 403, "member": 403, "other": 403}
    table = each(anonymous=302, annotator=403, readers=done) | refused
    return table, hidden(table)


CAMPAIGN = (READ, hidden(READ))
NOTHING_THERE = each(anonymous=302, annotator=403, readers=404)
UNNAMED = each(anonymous=302, annotator=403, readers=400)
CAMPAIGN_API = (API, hidden(API))
# Readers who neither began an import nor run the site.
NOT_THEIRS = ("researcher", "member", "other", "appointed")
# Name of the address -> method, statuses for the public campaign, for the private one.
TABLE: Mapping[str, tuple[str, Statuses, Statuses]] = {
    "login": ("GET", *[each(anonymous=200, annotator=302, readers=302)] * 2),
    "logout": ("GET", *[each(readers=405, annotator=405, anonymous=405)] * 2),
    "set_language": ("POST", *[each(anonymous=302, annotator=302, readers=302)] * 2),
    "home": ("GET", *[each(anonymous=302, annotator=200, readers=302)] * 2),
    "glossary": ("GET", READ, READ),
    "set-appearance": ("POST", *[each(anonymous=302, annotator=302, readers=302)] * 2),
    "own-account": ("GET", *[each(anonymous=302, annotator=200)] * 2),
    "accounts": ("GET", SITE, SITE),
    "account": ("GET", SITE, SITE),
    "account-roles": ("POST", *[SITE | {"site": 302}] * 2),
    "account-reset": ("POST", SITE, SITE),
    "account-activate": ("POST", *[SITE | {"site": 302}] * 2),
    "account-deactivate": ("POST", *[SITE | {"site": 302}] * 2),
    "account-link": ("GET", *[each(readers=404, annotator=404, anonymous=404)] * 2),
    "schema": ("GET", ALL, ALL),
    "testsets": ("GET", READ, READ),
    "testset": ("GET", READ, READ),
    "testset-share": ("POST", SHARE, SHARE),
    "testset-share-remove": ("POST", *[SHARE | {"site": 404}] * 2),
    "testset-owner": ("POST", *[SITE | {"site": 422}] * 2),
    "preferences": ("GET", READ, READ),
    "preferences-data": ("GET", READ, READ),
    "preferences-figure": ("GET", *[each(anonymous=302, annotator=403, readers=404)] * 2),
    "preferences-start": ("GET", READ, READ),
    "preference-table": ("GET", READ, READ),
    "preference-table-data": ("GET", READ, READ),
    "testset-upload": ("GET", CREATE, CREATE),
    "campaigns": ("GET", READ, READ),
    "campaign-new": ("GET", CREATE, CREATE),
    "campaign": ("GET", *CAMPAIGN),
    "campaign-edit": ("GET", *run()),
    "campaign-open": ("POST", *run()),
    "campaign-close": ("POST", *run()),
    "campaign-preview": ("GET", *run(200)),
    "campaign-file": ("GET", *CAMPAIGN),
    "campaign-from-file": ("POST", *[CREATED] * 2),
    "annotator-decide": ("POST", *run()),
    "campaign-instructions": ("POST", *run(422)),
    "campaign-import": ("GET", CREATE, CREATE),
    "campaign-items": ("GET", *run(200)),
    "campaign-items-delete": ("POST", *run()),
    "monitor": ("GET", *CAMPAIGN),
    "monitor-data": ("GET", *CAMPAIGN),
    "monitor-remarks": ("GET", *CAMPAIGN),
    "power": ("GET", READ, READ),
    "power-data": ("GET", READ, READ),
    "campaign-power": ("GET", *CAMPAIGN),
    "campaign-power-data": ("GET", *CAMPAIGN),
    "export": ("GET", *CAMPAIGN),
    "export-file": ("GET", *CAMPAIGN),
    "access": ("GET", *CAMPAIGN),
    "campaign-privacy": ("POST", *run()),
    "member-add": ("POST", *run(422)),
    "member-remove": ("POST", *run()),
    "people-add": ("POST", *run(422)),
    "links-hide": ("POST", *run()),
    "invitation-renew": ("POST", *run()),
    "invitation-revoke": ("POST", *run()),
    "access-link-add": ("POST", *run(422)),
    "access-link-revoke": ("POST", *run()),
    "codes-check": ("POST", *run(422)),
    "access-link": ("GET", *[each(readers=404, annotator=404, anonymous=404)] * 2),
    "consent": ("GET", *[RATE | {"annotator": 302}] * 2),
    "background": ("GET", *[RATE | {"annotator": 302}] * 2),
    "quality": ("GET", *CAMPAIGN),
    "quality-data": ("GET", *CAMPAIGN),
    "judgments-data": ("GET", *CAMPAIGN),
    "dashboard": ("GET", *CAMPAIGN),
    "dashboard-data": ("GET", *CAMPAIGN),
    "whatif": ("GET", *CAMPAIGN),
    "whatif-data": ("GET", *CAMPAIGN),
    "samplesize": ("GET", *CAMPAIGN),
    "samplesize-data": ("GET", *CAMPAIGN),
    "compare": ("GET", READ, READ),
    "compare-data": ("GET", READ, READ),
    "campaign-setup": ("GET", *CAMPAIGN),
    "results": ("GET", *CAMPAIGN),
    "results-data": ("GET", *CAMPAIGN),
    "results-figure": ("GET", *CAMPAIGN),
    "correlations": ("GET", *CAMPAIGN),
    "correlations-data": ("GET", *CAMPAIGN),
    "dashboard-figure": ("GET", *CAMPAIGN),
    "whatif-figure": ("GET", *CAMPAIGN),
    "samplesize-figure": ("GET", *CAMPAIGN),
    "scatter-figure": ("GET", *CAMPAIGN),
    "systems-figure": ("GET", *CAMPAIGN),
    "correlations-figure": ("GET", *CAMPAIGN),
    "significance": ("GET", *CAMPAIGN),
    "significance-data": ("GET", *CAMPAIGN),
    "significance-figure": ("GET", *CAMPAIGN),
    "layers": ("GET", *CAMPAIGN),
    "layers-data": ("GET", *CAMPAIGN),
    "layers-figure": ("GET", *CAMPAIGN),
    "study-layers": ("GET", *CAMPAIGN),
    "study-layers-data": ("GET", *CAMPAIGN),
    "study-layers-figure": ("GET", *CAMPAIGN),
    "scatter": ("GET", *CAMPAIGN),
    "scatter-data": ("GET", *CAMPAIGN),
    "output": ("GET", *CAMPAIGN),
    "systems-pair": ("GET", *CAMPAIGN),
    "systems-pair-data": ("GET", *CAMPAIGN),
    "systems-pair-figure": ("GET", *CAMPAIGN),
    "metrics-pair": ("GET", *CAMPAIGN),
    "metrics-pair-data": ("GET", *CAMPAIGN),
    "metrics-pair-figure": ("GET", *CAMPAIGN),
    "selection": ("GET", *[NOTHING_THERE] * 2),
    "selection-delete": ("POST", *[NOTHING_THERE] * 2),
    "selection-save": ("POST", UNNAMED, hidden(UNNAMED)),
    "systems": ("GET", *CAMPAIGN),
    "systems-data": ("GET", *CAMPAIGN),
    "shortness": ("GET", *CAMPAIGN),
    "shortness-data": ("GET", *CAMPAIGN),
    "report": ("GET", *CAMPAIGN),
    "report-file": ("GET", *CAMPAIGN),
    "bundle": ("GET", *CAMPAIGN),
    "bundle-file": ("GET", *CAMPAIGN),
    "study-significance": ("GET", *CAMPAIGN),
    "study-significance-data": ("GET", *CAMPAIGN),
    "study-significance-figure": ("GET", *CAMPAIGN),
    "study-systems": ("GET", *CAMPAIGN),
    "study-systems-data": ("GET", *CAMPAIGN),
    "study-report": ("GET", *CAMPAIGN),
    "personal-link": ("GET", *[each(readers=404, annotator=404, anonymous=404)] * 2),
    "annotate": ("GET", *[RATE | {"annotator": 302}] * 2),
    "annotate-ahead": ("GET", RATE, RATE),
    "annotate-done": ("GET", *[RATE | {"annotator": 302}] * 2),
    "annotate-history": ("GET", RATE, RATE),
    "item": ("GET", RATE, RATE),
    "metrics": ("GET", READ, READ),
    "metric": ("GET", READ, READ),
    "metric-add": ("GET", SITE, SITE),
    "metric-configure": ("GET", SITE, SITE),
    "judges": ("GET", READ, READ),
    "judge-template": ("GET", READ, READ),
    "judge-template-add": ("GET", SITE, SITE),
    "models": ("GET", READ, READ),
    "model-check": ("POST", *[SITE | {"site": 404}] * 2),
    "workers": ("GET", READ, READ),
    "runs": ("GET", READ, READ),
    "run": ("GET", READ, READ),
    "run-start": ("GET", READ, READ),
    "run-cancel": ("POST", *[READ | dict.fromkeys(ROLES[2:], 302)] * 2),
    "metric-scores": ("GET", READ, READ),
    "metric-scores-sets": ("GET", CREATE, CREATE),
    "mtme-import": ("GET", CREATE, CREATE),
    "dataset-list": ("GET", CREATE, CREATE),
    "dataset-import": ("GET", *[CREATE | {"other": 404}] * 2),
    # The test set belongs to nobody, so only site admins may add to it.
    "metric-scores-withdraw": ("POST", *[SITE | {"site": 302}] * 2),
    "studies": ("GET", READ, READ),
    "study": ("GET", *CAMPAIGN),
    "study-data": ("GET", *CAMPAIGN),
    "study-figure": ("GET", *CAMPAIGN),
    "study-printed": ("GET", *CAMPAIGN),
    "study-printed-data": ("GET", *CAMPAIGN),
    "study-printed-figure": ("GET", *CAMPAIGN),
    "matrix": ("GET", READ, READ),
    "matrix-data": ("GET", READ, READ),
    "matrix-figure": ("GET", *[each(anonymous=302, annotator=403, readers=404)] * 2),
    "study-quality": ("GET", *CAMPAIGN),
    "study-quality-data": ("GET", *CAMPAIGN),
    "api-root": ("GET", API, API),
    "api-testset-list": ("GET", API, API),
    "api-testset-detail": ("GET", API, API),
    "api-testset-segments": ("GET", API, API),
    "api-campaign-list": ("GET", API, API),
    "api-campaign-detail": ("GET", *CAMPAIGN_API),
    "api-campaign-file": ("GET", *CAMPAIGN_API),
    "api-judgment-list": ("GET", API, API),
    "jobs": ("GET", READ, READ),
    "job": ("GET", READ, READ),
    "job-cancel": ("POST", *[READ | dict.fromkeys(ROLES[2:], 302)] * 2),
    "job-resume": ("POST", *[READ | dict.fromkeys(ROLES[2:], 302)] * 2),
    "sweep": ("GET", READ, READ),
    "training-kinds": ("GET", READ, READ),
    "training-start": ("GET", READ, READ),
    "translations": ("GET", READ, READ),
    "translation": ("GET", READ, READ),
    "translation-start": ("GET", READ, READ),
    "translation-cancel": ("POST", *[READ | dict.fromkeys(ROLES[2:], 302)] * 2),
    "translation-resume": ("POST", *[READ | dict.fromkeys(ROLES[2:], 302)] * 2),
    "corpora": ("GET", READ, READ),
    "corpus-upload": ("GET", READ, READ),
    "corpus": ("GET", READ, READ),
    "archive": ("GET", READ, READ),
    "changes": ("GET", SITE, SITE),
    "manage": ("GET", *CAMPAIGN),
    "manage-act": ("POST", *run()),
    "manage-delete": (
        "GET",
        *[hidden_if | {"member": 403, "appointed": 403} for hidden_if in run(200)],
    ),
    "api-thing": ("GET", *CAMPAIGN_API),
    "api-thing-deed": ("POST", *[table | {"anonymous": 403} for table in run(200)]),
    "api-job-list": ("GET", API, API),
    "api-job-detail": ("GET", API, API),
    "api-job-cancel": ("POST", *[API | dict.fromkeys(ROLES[2:], 409)] * 2),
    "api-translation-list": ("GET", API, API),
    "api-translation-detail": ("GET", API, API),
    "api-translation-cancel": ("POST", *[API | dict.fromkeys(ROLES[2:], 409)] * 2),
    "api-translation-resume": ("POST", *[API | dict.fromkeys(ROLES[2:], 409)] * 2),
    "api-job-resume": ("POST", *[API | dict.fromkeys(ROLES[2:], 409)] * 2),
    "api-corpus-list": ("GET", API, API),
    "api-corpus-detail": ("GET", API, API),
    "api-run-list": ("GET", API, API),
    "api-run-detail": ("GET", API, API),
    "api-run-failed": ("GET", API, API),
    "api-run-cancel": ("POST", *[API | dict.fromkeys(ROLES[2:], 409)] * 2),
    "api-metric-list": ("GET", API, API),
    "api-metric-detail": ("GET", API, API),
    "api-metric-retire": ("POST", *[SITE | {"anonymous": 403, "site": 409}] * 2),
    "api-metric-import-list": ("GET", API, API),
    "api-metric-import-detail": ("GET", API, API),
    "api-import-judgments": ("POST", *[IMPORTS] * 2),
    "api-import-human-scores": ("POST", *[IMPORTS] * 2),
    "api-mtme-import-list": ("GET", API, API),
    "api-mtme-import-detail": ("GET", *[API | dict.fromkeys(NOT_THEIRS, 404)] * 2),
    "api-dataset-import-list": ("GET", API, API),
    "api-dataset-import-detail": ("GET", *[API | dict.fromkeys(NOT_THEIRS, 404)] * 2),
    "api-metric-import-withdraw": ("POST", *[SITE | {"anonymous": 403, "site": 409}] * 2),
    "api-checkpoint-list": ("GET", API, API),
    "api-worker-list": ("GET", API, API),
    "api-result-list": ("GET", API, API),
    "api-result-detail": ("GET", *CAMPAIGN_API),
}
KINDS = ["public", "private"]
# Addresses that take a study's name where others take a campaign's.
STUDIES = {
    "study", "study-data", "study-figure",
    "study-printed", "study-printed-data", "study-printed-figure",
    "study-quality", "study-quality-data",
    "study-significance", "study-significance-data", "study-significance-figure",
    "study-layers", "study-layers-data", "study-layers-figure",
    "study-systems", "study-systems-data", "study-report",
}  # fmt: skip
PREFERENCES = {f"preferences{part}" for part in ("", "-data", "-figure", "-start")}
SHARES = {"testset-share", "testset-share-remove", "testset-owner"}
TEST_SETS = SHARES | {
    "testset", "run-start", "api-testset-detail", "api-testset-segments",
} | PREFERENCES  # fmt: skip
TEST_SETS |= {"metric-scores", "metric-scores-withdraw"}


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
    make_campaign(world.test_set, "elsewhere", created_by=people["other"])
    for name, role in (("member", "researcher"), ("appointed", "admin")):
        Membership.objects.create(campaign=campaign, user=people[name], role=role)
    Campaign.objects.filter(pk=campaign.pk).update(created_by=people["owner"])
    for pk, dataset in ((1, ""), (2, "wmt17")):
        DatasetImport.objects.create(
            pk=pk, name="sent", dataset=dataset, created_by=people["owner"]
        )
    return people


@pytest.fixture(params=KINDS)
def campaign(world: World, request: pytest.FixtureRequest) -> Campaign:
    made = make_campaign(
        world.test_set, "looked-at", study="port", is_private=request.param == "private"
    )
    add_annotators(campaign=made, users=world.annotators)
    MetricRun.objects.create(pk=1, test_set=world.test_set, metric="bleu", status="done")
    system = world.test_set.systems.first()
    assert system is not None
    imported = store(world.test_set, "COMET", {}, {system.name: 0.5}).row
    withdraw(world.test_set, "imported-comet")
    MetricImport.objects.filter(pk=imported.pk).update(id=1)  # type: ignore[union-attr]
    configured = make_info("configured", "Configured", "acme/x", layers=2, shown=())
    ConfiguredMetric.objects.create(
        name="configured", label="Configured", family="bertscore",
        description={**vars(configured), "options": {}},
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
    return open_campaign(campaign=made)


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
        "name": "configured",
        "template": "error-spans",
        "kind": "campaign",
        "which": campaign.slug,
        "family": "bertscore",
    }


def exceptions(world: World, campaign: Campaign) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield what fills some addresses otherwise, by their names."""
    annotator = campaign.annotators.order_by("pk").first()
    last = Membership.objects.create(campaign=campaign, user=world.outsider)
    link, _ = create_link(campaign=campaign, actor=world.admin)
    pks = {"member-remove": last.pk, "access-link-revoke": link.pk, "api-dataset-import-detail": 2}
    pks |= {name: world.outsider.pk for name in TABLE if name.startswith("account")}
    of_annotator = ("annotator-decide", "invitation-renew", "invitation-revoke")
    pks |= dict.fromkeys(of_annotator, annotator.pk)
    pks["output"] = Output.objects.filter(system__campaigns=campaign).first().pk
    yield from ((name, {"pk": str(pk)}) for name, pk in pks.items())
    yield from ((name, {"slug": campaign.study}) for name in STUDIES)
    yield from ((name, {"slug": campaign.test_set.slug}) for name in TEST_SETS)
    yield from ((name, {"name": "chrf"}) for name in TABLE if name.startswith("api-metric"))
    yield "training-start", {"kind": "remap"}
    yield from ((name, {"verb": "restore"}) for name in ("manage-act", "api-thing-deed"))


def requests(world: World, campaign: Campaign, role: str) -> Iterator[tuple[str, str, int]]:
    """Yield method, address and expected status; what no campaign has a say in, once."""
    usual, others = values(world, campaign), dict(exceptions(world, campaign))
    for name, route in routes():
        method, *tables = TABLE[name]
        if tables[0] == tables[1] and not campaign.is_private:
            continue
        formats = ["csv"] if name == "export-file" else ["json", "csv"]
        chosen = {key: [value] for key, value in (usual | others.get(name, {})).items()}
        for address in fill(route, chosen | {"fmt": formats}):
            yield method, address, tables[campaign.is_private][role]


def test_the_table_names_every_address() -> None:
    assert {name for name, _ in routes()} == set(TABLE)


@pytest.mark.usefixtures("unlogged", "kept_state")
@pytest.mark.parametrize("role", ROLES)
def test_every_address_with_every_role(
    world: World, campaign: Campaign, client: Client, role: str, settings: Any
) -> None:
    settings.ANALYSES_IN_PLACE = False  # who may ask for numbers is known before there are any
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
    assert wrong == []


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
    public = make_campaign(world.test_set, "seen-by-all", study="port")
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
