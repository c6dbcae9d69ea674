"""Who may add to a test set: its owner, those it is shared with, site admins, and no one else."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation import test_sets, uploads
from annotation.access import CAMPAIGN_ADMIN, may_change_test_set
from annotation.models import AuditEntry, System, TestSet, TestSetShare
from tests.annotation.views.test_views_interchange import send as send_campaign
from tests.annotation.views.test_views_uploads import OUTPUT, confirm, form, send, sent
from tests.extensions.formats.appraise.batches import item, tasks
from tests.refusals import refused, tells
from tests.world import World, make_user

REFUSED = "“Weather” belongs to owner and is not shared with you."


@pytest.fixture
def owner(world: World) -> User:
    return make_user("owner", CAMPAIGN_ADMIN)


@pytest.fixture
def colleague(world: World) -> User:
    return make_user("colleague", CAMPAIGN_ADMIN)


@pytest.fixture
def weather(owner: User, client: Client) -> TestSet:
    """A test set that its owner uploaded on the page."""
    client.force_login(owner)
    confirm(client, send(client))
    return TestSet.objects.get(slug="weather")


def one_more(client: Client) -> Any:
    """Send one more system, up to the preview."""
    late = {"source": "", "references": [], "systems": [sent("late.txt", OUTPUT)]}
    sent_form = {name: value for name, value in form(**late).items() if value}
    return client.post(reverse("testset-upload"), sent_form, follow=True)


def names(test_set: TestSet) -> set[str]:
    return set(test_set.systems.values_list("name", flat=True))


def test_who_uploads_owns(weather: TestSet, owner: User, client: Client) -> None:
    assert weather.created_by == owner
    page = confirm(client, one_more(client))
    assert "Systems: 1, outputs: 3." in page.text
    assert names(weather) == {"strong", "weak", "late"}


def test_a_colleague_is_refused_in_the_dry_run(
    weather: TestSet, colleague: User, client: Client
) -> None:
    client.force_login(colleague)
    preview = one_more(client)
    assert (preview.status_code, REFUSED in preview.text) == (422, True)
    assert "Add systems" not in client.get(weather.get_absolute_url()).text
    confirm(client, preview)
    assert names(weather) == {"strong", "weak"}


def test_sharing_lets_a_colleague_add_and_its_end_holds_between_preview_and_store(
    weather: TestSet, owner: User, colleague: User, client: Client
) -> None:
    test_sets.share(test_set=weather, username="colleague", actor=owner)
    client.force_login(colleague)
    preview = one_more(client)
    assert preview.status_code == 200
    test_sets.unshare(shared=TestSetShare.objects.get(), actor=owner)
    assert REFUSED in confirm(client, preview).text
    assert names(weather) == {"strong", "weak"}
    test_sets.share(test_set=weather, username="colleague", actor=owner)
    confirm(client, one_more(client))
    assert "late" in names(weather)


def test_what_is_stored_already_may_be_sent_again(
    weather: TestSet, colleague: User, client: Client
) -> None:
    client.force_login(colleague)
    assert tells(confirm(client, send(client)).text, "import.unchanged")


def test_site_admins_may_and_commands_do_not_ask(
    weather: TestSet, world: World, client: Client, tmp_path: Any
) -> None:
    client.force_login(world.admin)
    assert one_more(client).status_code == 200
    (tmp_path / "late.txt").write_text(OUTPUT)
    call_command("import_testset", "weather", "--system", str(tmp_path / "late.txt"))
    assert "late" in names(weather)


def test_nobody_owns_what_a_command_stored(world: World, colleague: User) -> None:
    assert not may_change_test_set(colleague, world.test_set)
    assert may_change_test_set(world.admin, world.test_set)
    draft = uploads.TestSetDraft(
        slug="harbour", name="Harbour", source_language="zh", target_language="en",
        systems=[uploads.SystemDraft("late", outputs={str(n): "text" for n in range(1, 5)})],
    )  # fmt: skip
    with refused("test-set.no-owner"):
        uploads.store(draft, user=colleague)
    test_sets.set_owner(test_set=world.test_set, username="colleague", actor=world.admin)
    world.test_set.refresh_from_db()
    uploads.store(draft, user=colleague)
    assert System.objects.filter(test_set=world.test_set, name="late").exists()


def test_a_role_taken_away_ends_ownership(weather: TestSet, owner: User) -> None:
    owner.groups.clear()
    assert not may_change_test_set(User.objects.get(pk=owner.pk), weather)


def test_an_imported_campaign_cannot_change_a_colleagues_test_set(
    world: World, owner: User, colleague: User, client: Client
) -> None:
    client.force_login(owner)
    client.post(send_campaign(client, tasks([item(1)])).url)
    client.force_login(colleague)
    address = send_campaign(client, tasks([item(1), item(1, system="sysB")])).url
    for answer in (client.get(address), client.post(address)):
        assert (answer.status_code, "belongs to owner" in answer.text) == (422, True)
    assert not System.objects.filter(name="sysB").exists()


def test_the_owner_shares_on_the_page(weather: TestSet, colleague: User, client: Client) -> None:
    page = reverse("testset-share", args=["weather"])
    assert client.post(page, {"username": "nobody"}).status_code == 422
    answer = client.post(page, {"username": "researcher"})
    assert tells(answer.text, "account.no-uploads")
    shown = client.post(page, {"username": "colleague"}, follow=True).text
    assert tells(shown, "test-set.shared", account="colleague")
    client.post(page, {"username": "colleague"})
    assert TestSetShare.objects.count() == 1
    client.post(reverse("testset-share-remove", args=["weather", TestSetShare.objects.get().pk]))
    assert TestSetShare.objects.count() == 0
    assert (
        client.post(
            reverse("testset-owner", args=["weather"]), {"username": "colleague"}
        ).status_code
        == 403
    )
    entries = AuditEntry.objects.order_by("pk").values_list("action", "actor__username", "test_set")
    assert list(entries) == [
        ("test set shared", "owner", weather.pk),
        ("test set shared no more", "owner", weather.pk),
    ]


def test_a_site_admin_names_another_owner(
    weather: TestSet, owner: User, colleague: User, world: World, client: Client
) -> None:
    test_sets.share(test_set=weather, username="colleague", actor=owner)
    client.force_login(world.admin)
    client.post(reverse("testset-owner", args=["weather"]), {"username": "colleague"})
    weather.refresh_from_db()
    assert (weather.created_by, weather.shares.count()) == (colleague, 0)
    last = AuditEntry.objects.latest("pk")
    assert last.details == {"account": "colleague", "before": "owner"}
    client.force_login(owner)
    assert one_more(client).status_code == 422
    page = reverse("testset-share", args=["weather"])
    assert client.post(page, {"username": "owner"}).status_code == 403
