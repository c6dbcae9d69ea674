"""Resources are deleted as a whole, and every action leaves an entry."""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.campaigns import add_annotators, close_campaign, open_campaign, reopen_campaign
from annotation.models import (
    Annotator,
    Archived,
    Assignment,
    Campaign,
    ChangeEntry,
    ErrorSpan,
    Item,
    Judgment,
    Output,
    System,
    TestSet,
)
from core.messages import messages_of
from dashboards.models import Analysis
from lifecycle import services
from lifecycle.resources import RESOURCE_TYPES
from metaeval.messages import Message
from metrics.imported import store
from metrics.models import ImportedScores, MetricImport, MetricRun, MetricSignature
from metrics.scores import latest_signatures
from tests.refusals import refused as refused_by
from tests.world import World, add_system, make_campaign, make_test_set, make_user
from training.models import TrainingJob, Translation

CAMPAIGNS, SETS, SYSTEMS = (
    RESOURCE_TYPES["campaign"],
    RESOURCE_TYPES["test-set"],
    RESOURCE_TYPES["system"],
)


def refused(action: Callable[..., Any], *args: Any, **options: Any) -> list[str]:
    """The codes of a refusal."""
    with pytest.raises(ValidationError) as caught:
        action(*args, **options)
    return [each.code for each in messages_of(caught.value)]


def judged(world: World) -> Campaign:
    """A closed campaign with an account, two personal links, three judgments, one revised."""
    campaign = world.campaign
    made = add_annotators(campaign=campaign, users=world.annotators[:1], links=2)
    open_campaign(campaign=campaign)
    first, second = Assignment.objects.filter(annotator=made[0].annotator)[:2]
    for assignment, revision, is_current in (
        (first, 1, False),
        (first, 2, True),
        (second, 1, True),
    ):
        judgment = Judgment.objects.create(
            assignment=assignment, revision=revision, is_current=is_current, score=60,
            submit_key=uuid.uuid4(),
        )  # fmt: skip
    ErrorSpan.objects.create(judgment=judgment, side="target", start=0, end=2, severity="minor")
    return close_campaign(campaign=campaign)


def rows() -> dict[str, int]:
    """How many rows every table has."""
    with connection.cursor() as cursor:
        names = [n for n in connection.introspection.table_names(cursor) if "_" in n]
        counts = {}
        for name in names:
            cursor.execute(f'SELECT COUNT(*) FROM "{name}"')  # noqa: S608
            counts[name] = cursor.fetchone()[0]
    return counts


def test_what_has_judgments_is_archived_first_and_needs_its_name(world: World) -> None:
    campaign = judged(world)
    codes = refused(services.delete, CAMPAIGNS, campaign, world.admin, typed=campaign.name)
    assert codes == ["lifecycle.campaign-judged"]
    services.archive(CAMPAIGNS, campaign, world.admin)
    before = rows()
    codes = refused(services.delete, CAMPAIGNS, campaign, world.admin, typed="harbour")
    assert codes == ["lifecycle.type-name"]
    assert rows() == before
    entry = services.delete(CAMPAIGNS, campaign, world.admin, typed=campaign.name, reason="a trial")
    assert entry.counts["judgment"] == 3
    assert entry.counts["error span"] == 1
    assert entry.counts["annotator"] == 3
    assert entry.counts["personal link account"] == 2
    assert (entry.actor_name, entry.reason, entry.key) == ("admin", "a trial", "harbour-80")


def test_a_deleted_campaign_leaves_nothing_but_its_entries(world: World) -> None:
    before = rows()
    campaign = make_campaign(world.test_set, "trial")
    campaign = judged(World(**vars(world) | {"campaign": campaign}))
    services.archive(CAMPAIGNS, campaign, world.admin)
    services.delete(CAMPAIGNS, campaign, world.admin, typed=campaign.name)
    added = {name: n - before[name] for name, n in rows().items() if n != before[name]}
    assert added == {"annotation_changeentry": 2}  # archived, deleted
    assert User.objects.filter(pk=world.annotators[0].pk).exists()


def test_people_with_a_part_elsewhere_keep_their_account(world: World) -> None:
    campaign = judged(world)
    linked = campaign.annotators.exclude(user=world.annotators[0]).order_by("pk")
    stays, goes = [annotator.user for annotator in linked]
    Annotator.objects.create(
        campaign=make_campaign(world.test_set, "other"), user=stays, label="A1"
    )
    services.archive(CAMPAIGNS, campaign, world.admin)
    services.delete(CAMPAIGNS, campaign, world.admin, typed=campaign.name)
    assert set(User.objects.filter(pk__in=[stays.pk, goes.pk])) == {stays}


def test_nothing_goes_that_was_not_confirmed(world: World) -> None:
    seen = services.digest(CAMPAIGNS, world.campaign)
    add_annotators(campaign=world.campaign, links=1)
    codes = refused(services.delete, CAMPAIGNS, world.campaign, world.admin, seen=seen)
    assert codes == ["lifecycle.changed"]
    assert Campaign.objects.filter(pk=world.campaign.pk).exists()


def test_nobody_rates_in_what_is_put_away(world: World) -> None:
    add_annotators(campaign=world.campaign, links=3)
    open_campaign(campaign=world.campaign)
    world.campaign.refresh_from_db()
    for action in (services.archive, services.delete):
        codes = refused(action, CAMPAIGNS, world.campaign, world.admin)
        assert codes == ["lifecycle.campaign-open"]
    close_campaign(campaign=world.campaign)
    world.campaign.refresh_from_db()
    services.archive(CAMPAIGNS, world.campaign, world.admin)
    codes = refused(lambda: reopen_campaign(campaign=world.campaign))
    assert codes == ["campaign.archived"]
    services.restore(CAMPAIGNS, world.campaign, world.admin)
    assert reopen_campaign(campaign=world.campaign).status == "open"
    assert not Archived.objects.exists()


def test_documents_under_way_are_cancelled(world: World, monkeypatch: Any) -> None:
    row = Analysis.objects.create(kind="trust", campaign=world.campaign, question="1")
    states = []
    erase = CAMPAIGNS.erase
    monkeypatch.setattr(
        CAMPAIGNS, "erase",
        lambda thing: (states.append(Analysis.objects.get(pk=row.pk).status), erase(thing)),
    )  # fmt: skip
    services.delete(CAMPAIGNS, world.campaign, world.admin)
    assert states == ["cancelled"]


def test_a_copy_is_a_draft_with_the_same_design_and_nobody_in_it(world: World) -> None:
    campaign = judged(world)
    Campaign.objects.filter(pk=campaign.pk).update(question="How good?", time_cap_seconds=99)
    campaign.refresh_from_db()
    made = services.copy(CAMPAIGNS, campaign, world.admin)
    assert (made.status, made.question, made.time_cap_seconds) == ("draft", "How good?", 99)
    assert set(made.systems.all()) == set(campaign.systems.all())
    assert made.created_by == world.admin
    assert (made.opened_at, made.annotators.count(), made.items.count()) == (None, 0, 0)
    again = services.copy(CAMPAIGNS, campaign, world.admin)
    assert again.name == f"{made.name} (2)"
    assert len({campaign.secret, made.secret, again.secret}) == 3


def test_a_test_set_is_kept_while_it_is_judged_and_goes_with_its_scores(world: World) -> None:
    assert refused(services.delete, SETS, world.test_set, world.admin) == [
        "lifecycle.test-set-judged"
    ]
    before = rows()
    test_set = make_test_set("port")
    store(test_set, "COMET", {("strong", "1"): 0.5}, {})
    run = MetricRun.objects.create(test_set=test_set, metric="bleu")
    run.systems.set(test_set.systems.all())
    Translation.objects.create(test_set=test_set, name="t", model="m", request={"share": "1"})
    services.delete(SETS, test_set, world.admin)
    left = {name: n - before[name] for name, n in rows().items() if n != before[name]}
    # The metric stays: it may have scores elsewhere.
    assert left == {"annotation_changeentry": 1, "metrics_configuredmetric": 1}


def test_a_system_goes_with_runs_that_scored_nothing_else(world: World) -> None:
    judged_system = world.test_set.systems.get(name="strong")
    assert refused(services.delete, SYSTEMS, judged_system, world.admin) == [
        "lifecycle.system-judged"
    ]
    extra = add_system(world.test_set, "extra")
    alone, both = (MetricRun.objects.create(test_set=world.test_set, metric="bleu") for _ in "ab")
    alone.systems.set([extra])
    both.systems.set([extra, judged_system])
    services.delete(SYSTEMS, extra, world.admin)
    assert list(MetricRun.objects.all()) == [both]
    assert not Output.objects.filter(system__name="extra").exists()


def test_names_stay_unique_and_are_recorded(world: World) -> None:
    system = System.objects.get(test_set=world.test_set, name="strong")
    assert refused(services.rename, SYSTEMS, system, world.admin, "weak")
    system.refresh_from_db()
    services.rename(SYSTEMS, system, world.admin, " stronger ")
    assert System.objects.get(pk=system.pk).name == "stronger"
    entry = ChangeEntry.objects.get()
    assert (entry.action, entry.name) == ("renamed", "stronger")
    assert isinstance(entry.reason, Message)
    assert entry.reason.parameters == {"name": "strong"}
    assert refused(services.rename, SYSTEMS, system, world.admin, "  ") == ["form.blank"]


def test_the_older_import_is_shown_again(world: World) -> None:
    for score in (0.5, 0.6):
        store(world.test_set, "COMET", {("strong", "1"): score}, {})
    older, newer = MetricImport.objects.order_by("pk")
    services.delete(RESOURCE_TYPES["import"], newer, world.admin)
    assert list(MetricImport.objects.all()) == [older]
    assert list(MetricSignature.objects.all()) == [older.signature]
    assert ImportedScores.objects.count() == 1


def test_an_import_that_is_put_away_is_withdrawn_and_comes_back(world: World) -> None:
    store(world.test_set, "COMET", {("strong", "1"): 0.5}, {})
    (only,) = MetricImport.objects.all()
    imports = RESOURCE_TYPES["import"]
    for _ in range(2):
        services.archive(imports, only, world.admin)
        only.refresh_from_db()
    assert (imports.is_archived(only), only.withdrawn_by) == (True, world.admin)
    assert list(imports.archived(world.admin)) == [only]
    assert not latest_signatures(world.test_set)
    # Another one came meanwhile: what is brought back takes its place.
    store(world.test_set, "COMET", {("strong", "1"): 0.6}, {})
    services.restore(imports, only, world.admin)
    assert [one.pk for one in MetricImport.objects.filter(withdrawn_at=None)] == [only.pk]
    assert [each.pk for each in latest_signatures(world.test_set).values()] == [only.signature_id]
    assert [e.action for e in ChangeEntry.objects.order_by("pk")] == ["archived", "restored"]
    codes = refused(services.rename, imports, only, world.admin, "x")
    assert codes == ["lifecycle.fixed-name", "lifecycle.fixed-scores"]


def test_a_metric_goes_with_all_its_scores(world: World) -> None:
    row = store(world.test_set, "COMET", {("strong", "1"): 0.5}, {}).metric
    services.rename(RESOURCE_TYPES["metric"], row, world.admin, "COMET of elsewhere")
    row.refresh_from_db()
    assert row.info.label == row.label == "COMET of elsewhere"
    services.delete(RESOURCE_TYPES["metric"], row, world.admin)
    assert not MetricSignature.objects.exists()
    assert not ImportedScores.objects.exists()


def test_files_go_with_their_job_and_only_then(
    world: World, django_capture_on_commit_callbacks: Any
) -> None:
    metric = store(world.test_set, "COMET", {("strong", "1"): 0.5}, {}).metric
    job = TrainingJob.objects.create(kind="remap", name="fit", metric=metric)
    file = Path(job.folder) / "projection.npz"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"1")
    codes = refused(services.delete, RESOURCE_TYPES["job"], job, world.admin)
    assert codes == ["lifecycle.job-metric"]
    TrainingJob.objects.update(metric=None)
    job.refresh_from_db()
    with django_capture_on_commit_callbacks(execute=True):
        entry = services.delete(RESOURCE_TYPES["job"], job, world.admin)
        assert file.exists()  # until the rows are gone for good
    assert not file.parent.exists()
    assert entry.counts == {"checkpoint folder": 1}


def test_the_command(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("lifecycle", "show", "campaign", "harbour-80")
    assert "also deletes: nothing else" in capsys.readouterr().out
    call_command("lifecycle", "rename", "campaign", "harbour-80", "--name", "Pier")
    call_command("lifecycle", "archive", "campaign", "harbour-80")
    call_command("lifecycle", "delete", "campaign", "harbour-80")
    actions = ChangeEntry.objects.order_by("pk").values_list("action", "actor_name")
    assert list(actions) == [(a, "command") for a in ("renamed", "archived", "deleted")]
    with refused_by("command.no-resource", kind=CommandError, key="harbour-80"):
        call_command("lifecycle", "show", "campaign", "harbour-80")


def test_only_owners_and_site_admins_delete(world: World) -> None:
    owner = make_user("owner", "campaign admin")
    Campaign.objects.update(created_by=owner)
    TestSet.objects.update(created_by=owner)
    for kind, thing in ((CAMPAIGNS, Campaign.objects.get()), (SETS, TestSet.objects.get())):
        assert kind.may_delete(owner, thing)
        assert kind.may_delete(world.admin, thing)
        assert not kind.may_delete(world.researcher, thing)
        assert not kind.may_delete(make_user(f"other-{kind.name}", "campaign admin"), thing)
    owner.groups.clear()
    assert not CAMPAIGNS.may_delete(User.objects.get(pk=owner.pk), Campaign.objects.get())
    assert Item.objects.count() == 0
