"""One person's data: exported, erased as each campaign decided, deleted when its time is over."""

import json
import re
import uuid
from datetime import timedelta
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow.parquet
import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.accounts import personal, retention, tokens
from annotation.campaigns import close_campaign
from annotation.entry import links
from annotation.exports import FORMATS
from annotation.filters import EVERYTHING
from annotation.filters.chosen import filtered_report
from annotation.models import (
    Annotator,
    Assignment,
    AuditEntry,
    Campaign,
    ChangeEntry,
    DataRule,
    ErrorSpan,
    Judgment,
    Letter,
    OriginalFile,
)
from annotation.quality.columns import read_columns
from core.commands import RefusedCommandError
from lifecycle import services
from tests.annotation.entry.test_links import PROLIFIC, make_link, make_open
from tests.refusals import refused, tells
from tests.world import PASSWORD, World, make_user

MAIL = "annotator@example.org"
NOTE = "a comment of this annotator"


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_open(world, asks_background=True)


def enter(world: World, campaign: Campaign, person: str = "5f00aa") -> Annotator:
    """Somebody who came from Prolific, with everything that can be stored about them."""
    link, _ = make_link(world, campaign, provider="prolific")
    visit = {name: value for name, value in PROLIFIC.items() if name != "PROLIFIC_PID"}
    annotator = links.let_in(link=link, external_id=f"prolific:{person}", details=visit)
    Annotator.objects.filter(pk=annotator.pk).update(background={"expertise": "student"})
    User.objects.filter(pk=annotator.user_id).update(email=MAIL, first_name="Given name")
    Letter.objects.create(
        annotator=annotator, sheet=uuid.uuid4(), address=MAIL, subject="s", body="b", status="done",
        site="http://testserver", asked_by=world.admin,
    )  # fmt: skip
    annotator.refresh_from_db()
    return annotator


def rate(annotator: Annotator, n: int = 3) -> list[Judgment]:
    """The first `n` outputs of the campaign, rated."""
    now = timezone.now()
    items = annotator.campaign.items.filter(kind="target").order_by("pk")[:n]
    made = []
    for position, item in enumerate(items):
        assignment = Assignment.objects.create(
            annotator=annotator, item=item, position=position, completed_at=now
        )
        made.append(
            Judgment.objects.create(
                assignment=assignment, score=10 * position, submit_key=uuid.uuid4(), comment=NOTE,
                started_at=now, submitted_at=now,
            )
        )  # fmt: skip
    ErrorSpan.objects.create(judgment=made[0], side="target", start=1, end=2, severity="minor")
    return made


def exported(user: User) -> list[dict[str, Any]]:
    return list(personal.rows_about(user))


def of_table(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["table"] == name]


def test_an_export_has_all_tables_and_nobody_else(world: World, campaign: Campaign) -> None:
    annotator, other = enter(world, campaign), enter(world, campaign, "another")
    judgments = rate(annotator)
    rate(other, 2)
    rows = exported(annotator.user)
    (account,) = of_table(rows, "auth.User")
    assert (account["email"], account["roles"]) == (MAIL, ["annotator"])
    (person,) = of_table(rows, "annotation.Annotator")
    assert person["external_id"] == "prolific:5f00aa"
    assert person["background"] == {"expertise": "student"}
    assert [row["id"] for row in of_table(rows, "annotation.Judgment")] == [
        each.pk for each in judgments
    ]
    assert {row["comment"] for row in of_table(rows, "annotation.Judgment")} == {NOTE}
    assert all(row["submitted_at"] for row in of_table(rows, "annotation.Judgment"))
    names = ("Assignment", "ErrorSpan", "Letter", "AuditEntry")
    assert [len(of_table(rows, f"annotation.{name}")) for name in names] == [3, 1, 1, 1]
    assert "another" not in json.dumps(rows, default=str)
    owned = {each.pk for each in Assignment.objects.filter(annotator=annotator)}
    assert {row["assignment_id"] for row in of_table(rows, "annotation.Judgment")} == owned


def test_an_export_has_nothing_that_lets_anybody_in(world: World) -> None:
    scopes = ["read"]
    token = tokens.make(user=world.admin, name="laptop", scopes=scopes, days=1)
    world.campaign.created_by = world.admin
    world.campaign.save()
    rows = exported(world.admin)
    text = json.dumps(rows, default=str)
    stored = (world.admin.password, token, world.admin.api_tokens.get().token_hash)
    assert [secret for secret in (*stored, world.campaign.secret) if secret in text] == []
    assert [row["name"] for row in of_table(rows, "annotation.ApiToken")] == ["laptop"]
    (named,) = of_table(rows, "annotation.Campaign")
    assert named == {
        "table": "annotation.Campaign", "id": world.campaign.pk, "as": "created_by",
        "name": "Harbour-80",
    }  # fmt: skip


def test_admins_get_the_file_and_the_log_says_so(
    world: World, campaign: Campaign, as_admin: Client
) -> None:
    annotator = enter(world, campaign)
    address = reverse("account-export", args=[annotator.user_id])
    answer = as_admin.post(address)
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert {json.loads(line)["table"] for line in lines} >= {"auth.User", "annotation.Annotator"}
    assert "no-store" in answer["Cache-Control"]
    entry = ChangeEntry.objects.get(action="exported")
    assert (entry.actor_name, entry.key) == ("admin", str(annotator.user_id))


@pytest.mark.parametrize("decision", ["", "pseudonym", "remove"])
def test_erasing_follows_the_campaign(world: World, campaign: Campaign, decision: str) -> None:
    annotator, other = enter(world, campaign), enter(world, campaign, "another")
    rate(annotator)
    rate(other, 2)
    before = annotator.user.username
    if decision:
        DataRule.objects.create(campaign=campaign, erasure=decision)
    assert len(read_columns(campaign)) == 5
    done = personal.erase(actor=world.admin, user=annotator.user)
    removed = 3 if decision == "remove" else 0
    assert done == (3 - removed, removed)
    assert len(read_columns(campaign)) == 5 - removed
    assert Judgment.objects.count() == 5 - removed
    annotator = Annotator.objects.select_related("user").get(pk=annotator.pk)
    user = annotator.user
    assert (annotator.external_id, annotator.background, annotator.n_removed) == ("", None, removed)
    assert (annotator.excluded_at is not None) is (decision == "remove")
    assert (user.email, user.first_name, user.is_active) == ("", "", False)
    assert not user.has_usable_password()
    stored = json.dumps(exported(user), default=str)
    secrets = (MAIL, 'Given name"', "5f00aa", "study7", "session9", before)
    assert [word for word in secrets if word in stored] == []
    assert before not in json.dumps(list(ChangeEntry.objects.values()), default=str)
    entry = AuditEntry.objects.get(action="erased")
    assert (entry.annotator, entry.details) == (
        annotator, {"kept": 3 - removed, "removed": removed}
    )  # fmt: skip
    # The other person's row is as it was.
    assert Annotator.objects.get(pk=other.pk).external_id == "prolific:another"
    assert Letter.objects.get().annotator == other


def test_result_pages_say_how_many_were_removed(
    world: World, campaign: Campaign, as_admin: Client
) -> None:
    annotator = enter(world, campaign)
    rate(annotator)
    rate(enter(world, campaign, "another"), 2)
    DataRule.objects.create(campaign=campaign, erasure="remove")
    personal.erase(actor=world.admin, user=annotator.user)
    for name in ("quality", "monitor", "campaign"):
        page = as_admin.get(reverse(name, args=[campaign.slug]), follow=True)
        assert tells(page.text, "facts.removed", n=3), name


def test_pages_ask_for_the_name_and_end_every_session(
    world: World, campaign: Campaign, as_admin: Client
) -> None:
    user = make_user("somebody", "annotator", "researcher")
    inside = Client()
    assert inside.login(username="somebody", password=PASSWORD)
    address = reverse("account-erase", args=[user.pk])
    assert as_admin.get(address).status_code == 200
    assert as_admin.post(address, {"typed": "wend"}).status_code == 422
    assert User.objects.filter(username="somebody").exists()
    assert as_admin.post(address, {"typed": " somebody "}).status_code == 302
    assert not User.objects.filter(username="somebody").exists()
    assert inside.get("/account/").status_code == 302
    user.refresh_from_db()
    assert (user.groups.count(), user.sign_ins.count()) == (0, 0)
    assert "somebody" not in as_admin.get("/changes/").text


def test_nobody_erases_themselves_or_who_is_above_them(world: World, as_admin: Client) -> None:
    above = User.objects.create_superuser("above")
    for user, status in ((world.admin, 422), (above, 403)):
        address = reverse("account-erase", args=[user.pk])
        assert as_admin.post(address, {"typed": user.username}).status_code == status
        assert User.objects.filter(username=user.username).exists()


def test_members_of_campaigns_are_renamed_in_decisions(world: World, as_admin: Client) -> None:
    as_admin.post(
        reverse("member-add", args=["harbour-80"]), {"username": "researcher", "role": "admin"}
    )
    entry = AuditEntry.objects.get(action="member set")
    assert entry.details["account"] == "researcher"
    personal.erase(actor=world.admin, user=world.researcher)
    entry.refresh_from_db()
    assert entry.details["account"] == f"erased-{world.researcher.pk}"


def test_commands(world: World, campaign: Campaign, tmp_path: Path) -> None:
    annotator = enter(world, campaign)
    rate(annotator)
    name, path = annotator.user.username, tmp_path / "person.jsonl"
    call_command("personal_data", export=name, output=path, by="admin", stdout=StringIO())
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert (len(of_table(rows, "annotation.Judgment")), rows[0]["email"]) == (3, MAIL)
    for code, wrong in (
        ("command.no-admin", {"erase": name}),
        ("command.no-account", {"erase": "nobody", "by": "admin"}),
        ("command.no-output", {"export": name, "by": "admin"}),
        ("accounts.yourself", {"erase": "admin", "by": "admin"}),
    ):
        with refused(code, kind=RefusedCommandError):
            call_command("personal_data", **wrong)
    told = StringIO()
    call_command("personal_data", erase=name, by="admin", stdout=told)
    assert "3 judgments kept, 0 removed" in told.getvalue()
    assert ChangeEntry.objects.filter(actor_name="admin").count() == 2


def stored(annotator: Annotator) -> tuple[bool, bool, bool]:
    """Whether address, platform id and background are there."""
    annotator = Annotator.objects.select_related("user").get(pk=annotator.pk)
    addresses = {annotator.user.email, *annotator.letters.values_list("address", flat=True)}
    return addresses != {""}, annotator.external_id != "", annotator.background is not None


def test_data_is_deleted_when_its_time_is_over(world: World, campaign: Campaign) -> None:
    annotator = enter(world, campaign)
    rate(annotator)
    DataRule.objects.create(
        campaign=campaign, addresses_days=3, platform_ids_days=7, backgrounds_days=0
    )
    now = timezone.now()
    assert list(retention.forget_due(now + timedelta(days=99))) == []  # it is open
    campaign = close_campaign(campaign=campaign)
    closed = campaign.closed_at
    assert closed is not None
    for days, left in (
        (0, (True, True, False)),
        (2.9, (True, True, False)),
        (3, (False, True, False)),
        (6.9, (False, True, False)),
        (7, (False, False, False)),
    ):
        list(retention.forget_due(closed + timedelta(days=days)))
        assert stored(annotator) == left, days
    assert list(retention.forget_due(closed + timedelta(days=99))) == []
    entries = AuditEntry.objects.filter(action="forgot").order_by("pk")
    assert [{k: n for k, n in each.details.items() if n} for each in entries] == [
        {"backgrounds": 1}, {"addresses": 2}, {"platform_ids": 1}
    ]  # fmt: skip
    text = json.dumps(exported(annotator.user), default=str)
    assert [word for word in (MAIL, "5f00aa", "study7") if word in text] == []
    assert Judgment.objects.count() == 3


def test_a_campaign_that_opens_again_keeps_its_data(world: World, campaign: Campaign) -> None:
    annotator = enter(world, campaign)
    DataRule.objects.create(campaign=campaign, platform_ids_days=0)
    Campaign.objects.update(closed_at=timezone.now())
    assert list(retention.forget_due(timezone.now() + timedelta(days=1))) == []
    assert stored(annotator) == (True, True, True)


def test_addresses_of_accounts_that_do_more_are_theirs(world: World) -> None:
    """A password, another role, or another campaign that still needs the address."""
    first, second = make_open(world), world.campaign
    people = []
    for user in (make_user("pass", "annotator"), make_user("reader", "researcher"), None):
        annotator = enter(world, first, f"p{len(people)}") if user is None else None
        if user is not None:
            User.objects.filter(pk=user.pk).update(email=MAIL)
            annotator = Annotator.objects.create(campaign=first, user=user, label=user.username)
        assert annotator is not None
        people.append(annotator)
    User.objects.filter(username="reader").update(password="!x")
    Annotator.objects.create(campaign=second, user=people[2].user, label="A1")
    DataRule.objects.create(campaign=first, addresses_days=0)
    close_campaign(campaign=first)
    later = timezone.now() + timedelta(days=1)
    list(retention.forget_due(later))
    assert list(User.objects.exclude(email="").values_list("email", flat=True)) == [MAIL] * 3
    DataRule.objects.create(campaign=second, addresses_days=0)
    Campaign.objects.filter(pk=second.pk).update(status="closed", closed_at=timezone.now())
    list(retention.forget_due(later))
    left = User.objects.exclude(email="").order_by("username").values_list("username", flat=True)
    assert list(left) == ["pass", "reader"]


def test_the_rule_is_set_by_who_runs_the_campaign(
    world: World, campaign: Campaign, as_admin: Client
) -> None:
    address = reverse("data-rule", args=[campaign.slug])
    sent = {
        "erasure": "remove",
        "platform_ids_days": "30",
        "addresses_days": "",
    }
    assert as_admin.post(address, sent | {"backgrounds_days": "3651"}).status_code == 422
    assert as_admin.post(address, sent | {"erasure": "x"}).status_code == 422
    assert not DataRule.objects.exists()
    for _ in range(2):
        assert as_admin.post(address, sent).status_code == 302
    rule = DataRule.objects.get()
    found = (rule.erasure, rule.platform_ids_days, rule.addresses_days, rule.backgrounds_days)
    assert found == ("remove", 30, None, None)
    entry = AuditEntry.objects.get(action="data rule")
    assert entry.details == {"erasure": "remove", "platform_ids_days": 30}
    client = Client()
    client.force_login(world.researcher)
    assert client.post(address, sent).status_code == 403


def test_copies_have_the_rule_of_their_campaign(world: World) -> None:
    DataRule.objects.create(campaign=world.campaign, erasure="remove", addresses_days=9)
    made = services.copy_campaign(world.campaign, world.admin)
    assert (made.data_rule.erasure, made.data_rule.addresses_days) == ("remove", 9)
    assert DataRule.objects.count() == 2


def test_decisions_as_a_file_for_who_runs_the_campaign(
    world: World, campaign: Campaign, as_admin: Client
) -> None:
    annotator = enter(world, campaign)
    as_admin.post(
        reverse("annotator-decide", args=[campaign.slug, annotator.pk, "exclude"]),
        {"reason": "说明"},
    )
    answer = as_admin.get(reverse("audit-file", args=[campaign.slug]))
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row["action"] for row in rows] == list(
        campaign.audit.order_by("pk").values_list("action", flat=True)
    )
    last = rows[-1]
    assert (last["action"], last["actor"], last["annotator"]) == (
        "exclude",
        "admin",
        annotator.label,
    )
    assert "说明" in text
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    client = Client()
    client.force_login(world.researcher)
    assert client.get(reverse("audit-file", args=[campaign.slug])).status_code == 403
    token = tokens.make(user=world.admin, name="t", scopes=["read"], days=1)
    program = Client(headers={"Authorization": f"Bearer {token}"})
    assert program.get(reverse("audit-file", args=[campaign.slug])).status_code == 200


@pytest.mark.parametrize("decision", ["pseudonym", "remove"])
def test_people_who_were_imported(
    world: World, campaign: Campaign, decision: str, tmp_path: Path, as_admin: Client
) -> None:
    annotator = enter(world, campaign)
    rate(annotator)
    Annotator.objects.filter(pk=annotator.pk).update(user=None, label="Given name")
    OriginalFile.objects.create(campaign=campaign, content='{"user": "Given name"}')
    DataRule.objects.create(campaign=campaign, erasure=decision)
    path = tmp_path / "person.jsonl"
    given = ("--campaign", campaign.slug, "--by", "admin")
    with refused("command.no-annotator", kind=RefusedCommandError):
        call_command("personal_data", "--export", "A9", *given)
    call_command("personal_data", "--export", "Given name", *given, "--output", str(path))
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["label"] for row in of_table(rows, "annotation.Annotator")] == ["Given name"]
    assert len(of_table(rows, "annotation.Judgment")) == 3
    assert not personal.SECRET & {name for row in rows for name in row}
    other = enter(world, campaign, "another")
    with refused("personal.has-account"):
        personal.erase_imported(actor=world.admin, annotator=other)
    with pytest.raises(PermissionDenied):
        personal.erase_imported(actor=world.researcher, annotator=annotator)
    call_command("personal_data", "--erase", "Given name", *given)
    annotator.refresh_from_db()
    removed = 3 * (decision == "remove")
    assert (annotator.label, annotator.external_id) == (f"erased-{annotator.pk}", "")
    assert annotator.n_removed == removed
    assert Judgment.objects.filter(assignment__annotator=annotator).count() == 3 - removed
    assert not OriginalFile.objects.exists()
    # The API and the page of exports say what is missing.
    assert as_admin.get(f"/api/campaigns/{campaign.slug}/").json()["n_removed"] == removed
    assert (f"-{removed}-removed-" in FORMATS["csv"].file_name(campaign)) == bool(removed)
    table = pyarrow.parquet.read_schema(BytesIO(b"".join(FORMATS["parquet"].pieces(campaign))))
    assert int(table.metadata[b"judgments_removed"]) == removed
    with ZipFile(BytesIO(b"".join(FORMATS["mtme"].pieces(campaign)))) as archive:
        notes = [archive.read(name).decode() for name in archive.namelist() if "README" in name]
    assert re.findall(r"(\d+) judgments? of", "".join(notes)) == [str(removed)] * bool(removed)
    page = as_admin.get(reverse("export", args=[campaign.slug])).text
    assert tells(page, "facts.removed") == bool(removed)
    warnings = [each.code for each in filtered_report(campaign, EVERYTHING).warnings]
    assert ("facts.removed" in warnings) == bool(removed)
